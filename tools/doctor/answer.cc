// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/doctor/answer.h"

#include <cmath>
#include <cstdio>

#include "tools/output.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace doctor {

namespace {

// Three digits are more than a probe knows.
std::string Short(double number) {
  char text[32];
  snprintf(text, sizeof(text), number < 10 ? "%.1f" : "%.0f", number);
  return text;
}

// In JSON, a tenth of a microsecond.
double Round(double number) { return std::round(number * 10) / 10; }

std::string MicrosOf(const Latency& latency) {
  return latency.count == 0 ? "-" : Short(latency.median);
}

Json ToJson(const Latency& latency) {
  Json json;
  json["count"] = latency.count;
  json["low_micros"] = Round(latency.low);
  json["median_micros"] = Round(latency.median);
  json["high_micros"] = Round(latency.high);
  return json;
}

Json ToJson(const Place& place) {
  Json json;
  json["directory"] = place.directory;
  json["kind"] = NameOf(place.kind);
  json["file_system"] = place.mount.type;
  json["mount_point"] = place.mount.point;
  json["mount_options"] = place.mount.options;
  json["dax"] = place.mount.IsDax();
  json["device"] = place.device.name;
  json["model"] = place.device.model;
  json["rotates"] = place.device.rotates;
  json["sector"] = place.device.sector;
  json["size_bytes"] = place.size;
  json["free_bytes"] = place.free;
  json["writable"] = place.writable;
  json["probed"] = place.probe.done();
  json["not_probed"] = place.probe.skipped + place.probe.failed;
  const std::pair<const char*, const Latency*> all[] = {{"sync", &place.probe.sync},
                                                        {"device_sync", &place.probe.device_sync},
                                                        {"read", &place.probe.read}};
  for (const auto& [name, latency] : all) {
    if (latency->count != 0) {
      json[name] = ToJson(*latency);
    }
  }
  return json;
}

Json ToJson(const Gain& gain) {
  Json json;
  json["of"] = gain.of;
  json["low"] = gain.low;
  json["high"] = gain.high;
  json["formula"] = gain.formula;
  for (const GainFigure& figure : gain.figures) {
    json["figures"][figure.name] = {{"low", figure.low}, {"high", figure.high}};
  }
  return json;
}

void LinesOf(const Gain& gain, Call* call) {
  char range[96];
  snprintf(range, sizeof(range), "%.2f to %.2f", gain.low, gain.high);
  call->Line(std::string("  gain: ") + range + " times: " + gain.of);
  call->Line("  formula: " + gain.formula);
  for (const GainFigure& figure : gain.figures) {
    char text[96];
    snprintf(text, sizeof(text), "%.3g to %.3g", figure.low, figure.high);
    call->Line("    " + figure.name + ": " + text);
  }
}

void LinesOf(const Advice& advice, Call* call) {
  if (!advice.fits) {
    call->Line(std::string(advice.preset->name) + ": missing: " + advice.why);
    return;
  }
  call->Line(std::string(advice.preset->name) + ": fits: " + advice.why);
  call->Line("  command: " + advice.command);
  if (advice.gain.known()) {
    LinesOf(advice.gain, call);
  }
  call->Line("  measure: " + advice.measure);
}

}  // namespace

void AnswerMachine(const Machine& machine, Call* call) {
  call->Facts("cpus: " + std::to_string(machine.cpus) +
              "\ncpu_limit: " + (machine.cpu_limit > 0 ? Short(machine.cpu_limit) : "none") +
              "\nmemory_bytes: " + std::to_string(machine.memory) + "\navailable_memory_bytes: " +
              std::to_string(machine.available) + "\navailable_memory_from: " + machine.from +
              "\nopen_files: " + std::to_string(machine.open_files) + "\nio_uring: " +
              (machine.io_uring.empty() ? "works" : "cannot be used: " + machine.io_uring) + "\n");
  Json* const json = &call->json["machine"];
  (*json)["cpus"] = machine.cpus;
  (*json)["cpu_limit"] = machine.cpu_limit;
  (*json)["memory_bytes"] = machine.memory;
  (*json)["available_memory_bytes"] = machine.available;
  (*json)["available_memory_from"] = machine.from;
  (*json)["open_files"] = machine.open_files;
  (*json)["most_open_files"] = machine.most_open_files;
  (*json)["io_uring"] = machine.io_uring.empty();
  (*json)["io_uring_error"] = machine.io_uring;
}

void AnswerPlaces(const std::vector<Place>& places, Call* call) {
  Table table({"directory", "kind", "file system", "device", ">size", ">free", ">sync us",
               ">device sync us", ">read us"});
  call->json["directories"] = Json::array();
  for (const Place& place : places) {
    table.Add({place.directory, NameOf(place.kind),
               place.mount.type + (place.mount.IsDax() ? " dax" : ""),
               place.device.name.empty() ? "-" : place.device.name,
               BytesFor(place.size, call->human), BytesFor(place.free, call->human),
               MicrosOf(place.probe.sync), MicrosOf(place.probe.device_sync),
               MicrosOf(place.probe.read)});
    call->json["directories"].push_back(ToJson(place));
  }
  call->Line("");
  table.PrintTo(call);
  for (const Place& place : places) {
    if (!place.probe.skipped.empty()) {
      call->Line("not probed: " + place.directory + ": " + place.probe.skipped);
    }
  }
}

void AnswerAdvice(const std::vector<Advice>& all, const Load& load, Call* call) {
  call->Line("");
  call->json["presets"] = Json::array();
  for (const Advice& advice : all) {
    LinesOf(advice, call);
    Json json;
    json["preset"] = advice.preset->name;
    json["fits"] = advice.fits;
    json[advice.fits ? "why" : "missing"] = advice.why;
    if (advice.fits) {
      json["command"] = advice.command;
      json["measure"] = advice.measure;
    }
    if (advice.gain.known()) {
      json["gain"] = ToJson(advice.gain);
    }
    call->json["presets"].push_back(json);
  }
  call->json["assumed_data"] = load.data == 0;
  if (load.data == 0) {
    call->Line("--data was not given: half of what is free is assumed");
  }
}

void AnswerMend(const std::vector<std::string>& mend, Call* call) {
  for (const std::string& each : mend) {
    call->Line("mend: " + each);
  }
  call->json["mend"] = mend;
  call->problems = !mend.empty();
}

}  // namespace doctor
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
