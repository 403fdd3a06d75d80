// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// rocktier wal: the sub-command of raw_wal_fs, over the functions for tools in raw_wal_fs.h.

#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_type.h"
#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

using raw_wal_fs::RawWalDeviceInfo;
using raw_wal_fs::RawWalFrame;
using raw_wal_fs::RawWalLogInfo;
using raw_wal_fs::RawWalOptions;

constexpr char kHelp[] =
    "Makes and looks at log devices of raw_wal_fs, and moves logs onto them and off.\n"
    "\n"
    "Usage: rocktier wal format DEVICE [--size=BYTES] [--segment-size=BYTES] [--block-size=BYTES]\n"
    "                           [--force]\n"
    "       rocktier wal df DEVICE [--json]\n"
    "       rocktier wal ls DEVICE [--json]\n"
    "       rocktier wal dump DEVICE [--log=ID]...\n"
    "       rocktier wal rm DEVICE --log=ID... [--force]\n"
    "       rocktier wal check DEVICE [--json]\n"
    "       rocktier wal recover DEVICE [--force]\n"
    "       rocktier wal adopt DEVICE DATABASE [--force]\n"
    "       rocktier wal export DEVICE DATABASE [--force]\n"
    "       rocktier wal import DEVICE DATABASE\n"
    "\n"
    "DEVICE is a block device or a file. Sizes may end in K, M, G or T.\n"
    "\n"
    "  format   makes an empty log device; creates a file of --size bytes if DEVICE does not "
    "exist.\n"
    "           Refuses a device that holds anything unless --force, which destroys it.\n"
    "  df       prints how much of the device is used\n"
    "  ls       prints the logs on the device; \"no file\" if the directory in which a log was "
    "created\n"
    "           is there and, with its archive, holds no file of it\n"
    "  dump     prints the frames of the logs, or of those given\n"
    "  rm       frees the space of logs that nobody knows any more. Refuses a log that has a file, "
    "or\n"
    "           might have, as where its directory is missing, unless --force: the database loses "
    "it\n"
    "           then. A database that was moved, or is not mounted, still needs its logs.\n"
    "  check    reads every log and verifies every frame, and changes nothing\n"
    "  recover  looks for logs on a device whose first MiB is damaged, and says what there is; "
    "--force\n"
    "           writes what was there anew, and nothing else\n"
    "  adopt    says what would be lost if a database became the owner of its logs that is not "
    "opened\n"
    "           because it was copied, moved to another file system, or put back from a copy; "
    "--force\n"
    "           makes it that. A newer copy of it, wherever it is, loses these logs then\n"
    "  export   turns the logs of a database into plain files, which stock RocksDB reads. DATABASE "
    "is\n"
    "           its folder, also if it has a wal_dir. It must be closed. Can be run again after "
    "an\n"
    "           interruption. --force takes logs of which a part is missing, too.\n"
    "  import   brings the plain logs of a database onto the device\n"
    "\n"
    "Exit status: 0; 1 if check found damage, or adopt something to do; 2 for wrong usage and "
    "errors.\n";

struct Arguments {
  RawWalOptions options;
  std::string directory;
  std::vector<std::string> logs;
  bool json = false;
};

enum Flag : int { kSize = 1, kSegmentSize, kBlockSize, kForce, kLog, kJson, kShowHelp };

// An action of `rocktier wal`, and what it takes.
struct Action {
  const char* name;
  bool with_directory;
  std::set<int> flags;
};

const Action kActions[] = {
    {"format", false, {kSize, kSegmentSize, kBlockSize, kForce}},
    {"df", false, {kJson}},
    {"ls", false, {kJson}},
    {"dump", false, {kLog}},
    {"rm", false, {kLog, kForce}},
    {"check", false, {kJson}},
    {"recover", false, {kForce}},
    {"adopt", true, {kForce}},
    {"export", true, {kForce}},
    {"import", true, {}},
};

// Digits, and nothing else but what follows them in `*rest`.
bool ParseNumber(const char* text, uint64_t* result, const char** rest) {
  char* end = nullptr;
  errno = 0;
  *result = strtoull(text, &end, 10);
  *rest = end;
  return *text >= '0' && *text <= '9' && errno == 0;
}

bool ParseSize(const char* text, uint64_t* result) {
  uint64_t number;
  const char* end;
  if (!ParseNumber(text, &number, &end)) {
    return false;
  }
  const char* unit = *end == '\0' ? "" : strchr("KMGT", *end);
  if (unit == nullptr || (*end != '\0' && end[1] != '\0')) {
    return false;
  }
  const int shift = *end == '\0' ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 40;
  *result = number << shift;
  return *result >> shift == number && *result <= INT64_MAX;
}

void PrintUsage(const RawWalDeviceInfo& info, bool json) {
  const uint64_t damaged = info.segments_damaged.size();
  if (json) {
    printf(
        "{\"uuid\":\"%s\",\"block_size\":%u,\"segment_size\":%llu,\"segments\":%llu,"
        "\"segments_used\":%llu,\"segments_free\":%llu,\"segments_damaged\":%llu,\"epoch\":%llu,"
        "\"logs\":%zu}\n",
        info.uuid.c_str(), info.block_size, (unsigned long long)info.segment_size,
        (unsigned long long)info.segments, (unsigned long long)info.segments_used,
        (unsigned long long)info.segments_free, (unsigned long long)damaged,
        (unsigned long long)info.epoch, info.logs.size());
    return;
  }
  printf(
      "uuid          %s\nblock_size    %u\nsegment_size  %llu\nsegments      %llu\n"
      "  used        %llu\n  free        %llu\n  damaged     %llu\nlogs          %zu\n"
      "opened        %llu times for writing\n",
      info.uuid.c_str(), info.block_size, (unsigned long long)info.segment_size,
      (unsigned long long)info.segments, (unsigned long long)info.segments_used,
      (unsigned long long)info.segments_free, (unsigned long long)damaged, info.logs.size(),
      (unsigned long long)info.epoch);
}

void PrintLogs(const RawWalDeviceInfo& info, bool json) {
  if (!json) {
    printf("%-12s %10s %12s %12s  %s\n", "id", "segments", "bytes", "durable", "created as");
  }
  std::string separator = "[";
  for (const RawWalLogInfo& log : info.logs) {
    if (json) {
      printf(
          "%s{\"id\":\"%s\",\"segments\":%llu,\"bytes\":%llu,\"durable\":%llu,\"name\":%s,"
          "\"file\":%s,\"missing\":%s,\"unknown\":%s,\"problem\":%s}",
          separator.c_str(), log.id.c_str(), (unsigned long long)log.segments,
          (unsigned long long)log.bytes, (unsigned long long)log.durable, Quote(log.name).c_str(),
          Quote(log.file).c_str(), log.missing ? "true" : "false", Quote(log.unknown).c_str(),
          Quote(log.problem).c_str());
      separator = ",";
      continue;
    }
    const bool renamed = !log.file.empty() && log.file != log.name;
    printf("%-12s %10llu %12llu %12llu  %s%s%s%s%s%s%s%s\n", log.id.c_str(),
           (unsigned long long)log.segments, (unsigned long long)log.bytes,
           (unsigned long long)log.durable, Printable(log.name).c_str(), renamed ? "  now " : "",
           renamed ? Printable(log.file).c_str() : "", log.missing ? "  no file" : "",
           log.unknown.empty() ? "" : "  not known: ", Printable(log.unknown).c_str(),
           log.problem.empty() ? "" : "  ", Printable(log.problem).c_str());
  }
  if (json) {
    printf("%s]\n", info.logs.empty() ? "[" : "");
  }
}

int PrintFrames(const RawWalDeviceInfo& info, const Arguments& arguments) {
  const std::vector<std::string>& only = arguments.logs;
  for (const std::string& id : only) {
    if (std::none_of(info.logs.begin(), info.logs.end(),
                     [&id](const RawWalLogInfo& log) { return log.id == id; })) {
      fprintf(stderr, "rocktier wal dump: device=%s: has no log %s; 'rocktier wal ls' has them\n",
              arguments.options.device.c_str(), id.c_str());
      return kExitError;
    }
  }
  for (const RawWalLogInfo& log : info.logs) {
    if (!only.empty() && std::find(only.begin(), only.end(), log.id) == only.end()) {
      continue;
    }
    printf("log %s, created as %s\n%16s %16s %10s %16s\n", log.id.c_str(),
           Printable(log.name).c_str(), "position", "offset", "length", "durable");
    for (const RawWalFrame& frame : log.frames) {
      printf("%16llu %16llu %10u %16llu\n", (unsigned long long)frame.position,
             (unsigned long long)frame.offset, frame.length, (unsigned long long)frame.durable);
    }
  }
  return kExitOk;
}

int PrintProblems(const RawWalDeviceInfo& info, bool json) {
  uint64_t problems = info.segments_damaged.size();
  uint64_t frames = 0;
  for (const RawWalLogInfo& log : info.logs) {
    problems += log.problem.empty() ? 0 : 1;
    frames += log.frames.size();
    if (!json && !log.problem.empty()) {
      printf("log %s (%s): %s\n", log.id.c_str(), Printable(log.name).c_str(),
             Printable(log.problem).c_str());
    }
  }
  for (size_t i = 0; !json && i < info.segments_damaged.size(); i++) {
    printf("segment %llu: its header is damaged\n", (unsigned long long)info.segments_damaged[i]);
  }
  printf(json ? "{\"logs\":%zu,\"frames\":%llu,\"problems\":%llu}\n"
              : "%zu logs, %llu frames, %llu problems\n",
         info.logs.size(), (unsigned long long)frames, (unsigned long long)problems);
  return problems == 0 ? kExitOk : kExitProblems;
}

int Look(const std::string& action, const Arguments& arguments) {
  RawWalDeviceInfo info;
  {
    ProgressBar bar;
    const Status s =
        InspectLogDevice(arguments.options.device, action != "df", &info, bar.Callback());
    if (!s.ok()) {
      return Report("wal " + action, s);
    }
  }
  if (action == "check") {
    return PrintProblems(info, arguments.json);
  }
  if (action == "dump") {
    return PrintFrames(info, arguments);
  }
  if (action == "df") {
    PrintUsage(info, arguments.json);
  } else {
    PrintLogs(info, arguments.json);
  }
  return kExitOk;
}

int Remove(const Arguments& arguments) {
  std::vector<RawWalLogInfo> removed;
  const Status s = RemoveLogs(arguments.options, arguments.logs, &removed);
  for (const RawWalLogInfo& log : removed) {
    printf("freed log %s, created as %s: %llu segments\n", log.id.c_str(),
           Printable(log.name).c_str(), (unsigned long long)log.segments);
  }
  return Report("wal rm", s);
}

int Recover(const Arguments& arguments) {
  RawWalDeviceInfo info;
  Status s;
  {
    ProgressBar bar;
    s = RecoverLogDevice(arguments.options, &info, bar.Callback());
  }
  if (s.ok()) {
    printf("uuid %s, segment_size %llu, block_size %u: %llu of %llu segments have a header\n",
           info.uuid.c_str(), (unsigned long long)info.segment_size, info.block_size,
           (unsigned long long)info.segments_used, (unsigned long long)info.segments);
    printf(arguments.options.force ? "superblocks written\n"
                                   : "nothing was written; --force writes the superblocks anew\n");
  }
  return Report("wal recover", s);
}

int Adopt(const Arguments& arguments) {
  raw_wal_fs::RawWalAdoption adoption;
  const Status s = AdoptLogs(arguments.options, arguments.directory, &adoption);
  const struct {
    const char* what;
    const std::vector<std::string>& names;
  } kFindings[] = {{"has the log of another directory", adoption.foreign},
                   {"loses its log to this database", adoption.losers},
                   {"has no log on the device", adoption.missing},
                   {"stays on the device, as no file of this database names it", adoption.unnamed}};
  for (const auto& finding : kFindings) {
    for (const std::string& name : finding.names) {
      printf("%s: %s\n", finding.what, Printable(name).c_str());
    }
  }
  if (s.ok() && !adoption.foreign.empty() && !arguments.options.force) {
    printf("nothing was changed; --force adopts %zu logs\n", adoption.foreign.size());
    return kExitProblems;
  }
  if (s.ok()) {
    printf("%zu logs adopted\n", adoption.foreign.size());
  }
  return Report("wal adopt", s);
}

int MoveLogs(const std::string& action, const Arguments& arguments) {
  uint64_t logs = 0;
  Status s;
  {
    ProgressBar bar;
    s = action == "export"
            ? ExportLogs(arguments.options, arguments.directory, &logs, bar.Callback())
            : ImportLogs(arguments.options, arguments.directory, &logs, bar.Callback());
  }
  if (s.ok()) {
    printf("%llu logs %s\n", (unsigned long long)logs,
           action == "export" ? "are plain files now" : "are on the device now");
  }
  return Report("wal " + action, s);
}

// False after telling what is wrong, or showing the help.
bool Parse(const std::string& command, int argc, char** argv, const Action& action,
           Arguments* result, int* status) {
  static const option kOptions[] = {{"size", required_argument, nullptr, kSize},
                                    {"segment-size", required_argument, nullptr, kSegmentSize},
                                    {"block-size", required_argument, nullptr, kBlockSize},
                                    {"force", no_argument, nullptr, kForce},
                                    {"log", required_argument, nullptr, kLog},
                                    {"json", no_argument, nullptr, kJson},
                                    {"help", no_argument, nullptr, kShowHelp},
                                    {}};
  opterr = 0;
  *status = kExitError;
  uint64_t block_size = 0;
  int index = 0;
  for (int c = 0; (c = getopt_long(argc, argv, ":", kOptions, &index)) != -1;) {
    bool good = true;
    if (c < kShowHelp && action.flags.count(c) == 0) {
      UsageError(command, std::string("takes no --") + kOptions[index].name);
      return false;
    }
    switch (c) {
      case kSize:
        good = ParseSize(optarg, &result->options.size);
        break;
      case kSegmentSize:
        good = ParseSize(optarg, &result->options.segment_size);
        break;
      case kBlockSize:
        good = ParseSize(optarg, &block_size) && block_size <= UINT32_MAX;
        result->options.block_size = static_cast<uint32_t>(block_size);
        break;
      case kForce:
        result->options.force = true;
        break;
      case kLog:
        result->logs.emplace_back(optarg);
        break;
      case kJson:
        result->json = true;
        break;
      case kShowHelp:
        fputs(kHelp, stdout);
        *status = kExitOk;
        return false;
      default:
        UsageError(command,
                   std::string("unknown option, or its value is missing: ") + argv[optind - 1]);
        return false;
    }
    if (!good) {
      UsageError(command, std::string("--") + kOptions[index].name + ": no such value: " + optarg);
      return false;
    }
  }
  const bool with_directory = action.with_directory;
  const int wanted = with_directory ? 2 : 1;
  if (argc - optind != wanted) {
    UsageError(command, with_directory ? "a device and a database's folder are needed"
                                       : "one device is needed");
    return false;
  }
  result->options.device = argv[optind];
  result->directory = with_directory ? argv[optind + 1] : "";
  return true;
}

}  // namespace

int WalCommand(int argc, char** argv) {
  const std::string action = argc > 1 ? argv[1] : "";
  if (action == "--help" || action == "-h") {
    fputs(kHelp, stdout);
    return kExitOk;
  }
  const Action* known = std::find_if(std::begin(kActions), std::end(kActions),
                                     [&action](const Action& each) { return action == each.name; });
  if (known == std::end(kActions)) {
    return UsageError(
        "wal", action.empty() ? "format, df, ls, dump, rm, check, recover, adopt, export or import?"
                              : "no such action: " + action);
  }
  Arguments arguments;
  int status;
  if (!Parse("wal " + action, argc - 1, argv + 1, *known, &arguments, &status)) {
    return status;
  }
  if (action == "adopt") {
    return Adopt(arguments);
  }
  if (known->with_directory) {
    return MoveLogs(action, arguments);
  }
  if (action == "rm") {
    return arguments.logs.empty() ? UsageError("wal rm", "which log? --log=ID is needed")
                                  : Remove(arguments);
  }
  if (action == "recover") {
    return Recover(arguments);
  }
  if (action == "format") {
    ProgressBar bar;
    return Report("wal format", FormatLogDevice(arguments.options, bar.Callback()));
  }
  return Look(action, arguments);
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
