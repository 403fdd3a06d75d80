// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier preset: RocksDB's options for a machine and its data, with the arithmetic.

#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "tools/output.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using preset::Plan;
using preset::Preset;
using preset::Presets;
using preset::Request;

// Declares a flag.
void AddFlag(const std::string& name, Request* to, Verb* verb) {
  static const std::map<std::string, std::function<void(Verb*, Request*)>> flags = {
      {"data",
       [](Verb* v, Request* r) { v->Bytes("data", "keys and values of the database", &r->data); }},
      {"value", [](Verb* v, Request* r) { v->Bytes("value", "of a usual value", &r->value); }},
      {"hot",
       [](Verb* v, Request* r) {
         v->Percent("hot", "of the data that most reads go to, \"5%\"", &r->hot);
       }},
      {"writes",
       [](Verb* v, Request* r) {
         v->Rate("writes", "records that are written in a second, \"20K/s\"", &r->writes);
       }},
      {"fast",
       [](Verb* v, Request* r) { v->Text("fast", "DIR", "folder on the fast device", &r->fast); }},
      {"slow",
       [](Verb* v, Request* r) { v->Text("slow", "DIR", "folder on the slow device", &r->slow); }},
      {"families",
       [](Verb* v, Request* r) {
         v->Text("families", "LIST", "column families of one device, \"users=fast;log_*=slow\"",
                 &r->families);
       }},
      {"device",
       [](Verb* v, Request* r) {
         v->Text("device", "PATH", "log device: a partition or a file", &r->device);
       }},
      {"standby",
       [](Verb* v, Request* r) {
         v->Text("standby", "DIR", "folder on another disk, for when --device stalls", &r->standby);
       }},
      {"fast-size",
       [](Verb* v, Request* r) {
         v->Bytes("fast-size", "instead of what is free at --fast", &r->fast_size);
       }},
      {"slow-size",
       [](Verb* v, Request* r) {
         v->Bytes("slow-size", "instead of what is free at --slow", &r->slow_size);
       }},
      {"device-size",
       [](Verb* v, Request* r) {
         v->Bytes("device-size", "instead of the size of --device", &r->device_size);
       }},
      {"memory",
       [](Verb* v, Request* r) {
         v->Bytes("memory", "for RocksDB; default: what is available, or a cgroup's limit",
                  &r->memory);
       }},
      {"budget",
       [](Verb* v, Request* r) {
         v->Bytes("budget", "instead of all that there is room for", &r->budget);
       }},
      {"memtable",
       [](Verb* v, Request* r) {
         v->Bytes("memtable", "write_buffer_size; default: 64M", &r->memtable);
       }},
  };
  flags.at(name)(verb, to);
}

std::vector<std::string> HeadOf(const Preset& preset, const Plan& plan) {
  std::vector<std::string> head = {
      std::string("Preset ") + preset.name + " of rocktier. " + preset.summary,
      "docs/presets.md says what to change by hand" +
          (std::string(preset.page) == "presets.md"
               ? "."
               : std::string(", docs/") + preset.page + " what to watch."),
      "", "Arithmetic, in powers of 1024:"};
  for (const std::string& line : plan.figures.Lines()) {
    head.push_back("  " + line);
  }
  for (const std::string& note : plan.notes) {
    head.push_back("");
    std::istringstream lines(Wrap("Note: " + note, "", "", /*width=*/98));
    for (std::string line; std::getline(lines, line);) {
      head.push_back(line);
    }
  }
  return head;
}

Status Print(const Preset& preset, const Request& request, Call* call) {
  Plan plan;
  const Status s = preset.make(request, &plan);
  call->json["preset"] = preset.name;
  call->json["arithmetic"] = plan.figures.ToJson();
  if (!s.ok()) {
    return s;
  }
  call->json["notes"] = plan.notes;
  call->json["options"] = plan.file.ToJson();
  call->json["uri"] = plan.uri;
  call->json["uri_flag"] = plan.uri_flag;
  if (request.uri && plan.uri.empty()) {
    return preset::Refuse(std::string(preset.name) + " has no URI: all is in the OPTIONS file");
  }
  call->text = request.uri ? plan.uri + "\n" : plan.file.ToString(HeadOf(preset, plan));
  return s;
}

// Returns the flag of a size that is 0 and cannot be; empty if there is none.
std::string ZeroOf(const Preset& preset, const Request& request) {
  const std::map<std::string, uint64_t> sizes = {{"data", request.data}, {"value", request.value}};
  for (const char* const name : preset.required) {
    const auto size = sizes.find(name);
    if (size != sizes.end() && size->second == 0) {
      return "--" + size->first;
    }
  }
  return request.memtable == 0 ? "--memtable" : "";
}

Verb VerbOf(const Preset& preset) {
  const auto request = std::make_shared<Request>();
  Verb verb(preset.name, preset.summary);
  verb.Help(std::string("Plugins: ") + preset.plugins + ". It prints an OPTIONS file of RocksDB.");
  for (const char* const name : preset.required) {
    AddFlag(name, request.get(), &verb);
    verb.Required();
  }
  for (const char* const name : preset.optional) {
    AddFlag(name, request.get(), &verb);
  }
  verb.Switch("uri", "print what db_bench takes as --fs_uri or --secondary_cache_uri",
              &request->uri);
  verb.Check([&preset, request](const Call&) {
    const std::string flag = ZeroOf(preset, *request);
    return flag.empty() ? "" : flag + ": no such value: 0";
  });
  verb.Run([&preset, request](Call* call) { return Print(preset, *request, call); });
  return verb;
}

Verb ListVerb() {
  return Verb("ls", "Prints the presets.").PrintsList().Run([](Call* call) {
    Table table({"preset", "plugins", "what it does"});
    call->json = Json::array();
    for (const Preset& preset : Presets()) {
      table.Add({preset.name, preset.plugins, preset.summary});
      Json each;
      each["preset"] = preset.name;
      each["plugins"] = preset.plugins;
      each["summary"] = preset.summary;
      call->json.push_back(each);
    }
    table.PrintTo(call);
    return Status::OK();
  });
}

}  // namespace

Command PresetCommand() {
  Command command("preset", "options for a machine and its data");
  command.Help(
      "A preset prints a complete OPTIONS file of RocksDB. Sizes are computed from the data and "
      "the machine; the arithmetic is in its comments.");
  command.Add(ListVerb());
  for (const Preset& preset : Presets()) {
    command.Add(VerbOf(preset));
  }
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
