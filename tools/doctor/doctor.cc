// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier doctor: looks at a machine, and says which preset fits.

#include <algorithm>
#include <memory>

#include "tools/command.h"
#include "tools/doctor/answer.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using doctor::Kind;
using doctor::Place;

struct Arguments {
  std::vector<std::string> directories;
  doctor::Load load;
  bool no_probe = false;
};

// Of a progress line.
constexpr uint64_t kUnits = 1000;

Status FindPlaces(const Arguments& arguments, std::vector<Place>* places) {
  std::vector<Mount> mounts;
  Status s = ReadMounts(/*root=*/"", &mounts);
  const std::vector<std::string> directories =
      arguments.directories.empty() ? doctor::LocalDirectories(mounts) : arguments.directories;
  for (size_t i = 0; s.ok() && i < directories.size(); i++) {
    Place place;
    s = doctor::LookAt(/*root=*/"", directories[i], mounts, &place);
    const bool known = std::any_of(places->begin(), places->end(), [&](const Place& other) {
      return other.directory == place.directory;
    });
    if (s.ok() && !known) {
      places->push_back(place);
    }
  }
  return s.ok() && places->empty()
             ? Status::NotFound("no local file system that can be written to: name a directory")
             : s;
}

// Why a directory is not probed; empty if it is.
std::string WhyNoProbe(const Place& place, bool no_probe) {
  return no_probe                      ? "--no-probe"
         : place.kind == Kind::kMemory ? "it is memory"
         : !place.writable             ? "it cannot be written to"
         : !place.HasRoom()            ? "less than 1G is free"
                                       : "";
}

void ProbeAll(bool no_probe, const Progress& progress, std::vector<Place>* places) {
  uint64_t done = 0;
  for (Place& place : *places) {
    place.probe.skipped = WhyNoProbe(place, no_probe);
    if (place.probe.skipped.empty()) {
      const Status s = doctor::Probe(
          place.directory,
          [&](double share) {
            if (progress != nullptr) {
              progress(done + static_cast<uint64_t>(share * kUnits), places->size() * kUnits);
            }
          },
          &place.probe);
      place.probe.failed = s.ok() ? "" : s.ToString();
    }
    if (place.mount.type == "btrfs") {
      // There a sync of a file without a name does less than one of a log.
      place.probe.sync = doctor::Latency();
    }
    done += kUnits;
  }
}

// The plugins of the build.
std::set<std::string> Plugins() {
  std::set<std::string> plugins;
  for (const Command& command : Commands()) {
    if (!command.verbs.empty()) {
      plugins.insert(command.plugin);
    }
  }
  return plugins;
}

// Says of a size that is 0 and cannot be; empty if there is none.
std::string ZeroOf(const Arguments& arguments) {
  const std::string flag = "--value";
  return arguments.load.value == 0 ? flag + ": no such value: 0" : "";
}

Status Run(const Arguments& arguments, Call* call) {
  doctor::Machine machine;
  std::vector<Place> places;
  Status s = doctor::LookAtMachine(/*root=*/"", &machine);
  s = s.ok() ? FindPlaces(arguments, &places) : s;
  if (!s.ok()) {
    return s;
  }
  ProbeAll(arguments.no_probe, call->progress, &places);
  doctor::AnswerMachine(machine, call);
  doctor::AnswerPlaces(places, call);
  doctor::AnswerAdvice(doctor::Advise(machine, places, arguments.load, Plugins()), arguments.load,
                       call);
  doctor::AnswerMend(doctor::ToMend(machine, places), call);
  return s;
}

}  // namespace

Command DoctorCommand() {
  const auto arguments = std::make_shared<Arguments>();
  Command command("doctor", "which preset fits on this machine");
  command.Add(
      Verb("", "Looks at a machine, and says which preset fits.")
          .Help("It measures each directory for about 3 seconds, by scratch files of 64 MiB in all "
                "that have no name and are gone at the end. It changes nothing else.")
          .Help("A gain is a range, by the formula that is printed. It is no promise: measure your "
                "own load.")
          .Positionals("DIR",
                       "where a database or a part of it may be; default: all local file systems",
                       &arguments->directories)
          .Bytes("data", "keys and values of the database; default: half of what is free",
                 &arguments->load.data)
          .Bytes("value", "of a usual value; default: 1K", &arguments->load.value)
          .Percent("hot", "of the data that most reads go to; default: \"5%\"",
                   &arguments->load.hot)
          .Switch("no-probe", "measure nothing: no gains are known then", &arguments->no_probe)
          .PrintsBytes()
          .MayBeOpen("yes")
          .Problems("if something should be mended")
          .Check([arguments](const Call&) { return ZeroOf(*arguments); })
          .Run([arguments](Call* call) { return Run(*arguments, call); }));
  return command;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
