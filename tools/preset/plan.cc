// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/plan.h"

#include "tools/preset/machine.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status CheckPath(const std::string& flag, const std::string& path) {
  return IsPlainPath(path) ? Status::OK()
                           : Refuse(flag + "=" + path +
                                    ": must be an absolute path, without ; { } # , \\ and quotes");
}

Status Missing(const std::string& flag, const Status& why) {
  return Refuse(flag + "=BYTES is missing, and cannot be read: " + why.ToString());
}

// Adds the bytes of a directory: `size` if it is not 0, else what is free there.
Status GiveDirectory(const std::string& name, const std::string& path, uint64_t size, Plan* plan) {
  const std::string flag = "--" + name;
  Status s = CheckPath(flag, path);
  if (s.ok() && size != 0) {
    plan->figures.Given(name, static_cast<double>(size), flag + "-size");
  } else if (s.ok()) {
    s = FreeBytes(path, &size);
    if (!s.ok()) {
      return Missing(flag + "-size", s);
    }
    plan->figures.Given(name, static_cast<double>(size), "free at " + path);
  }
  return s;
}

}  // namespace

void Plan::FileSystem(const std::string& file_system) {
  uri = file_system;
  uri_flag = "--fs_uri";
  file.Option(Section::kDatabase, "env", "{id=RocktierEnv;file_system={" + file_system + "}}",
              "What the database stands on. A program that loads this file needs nothing else; "
              "RocksDB's programs need it as --fs_uri: rocktier preset ... --uri prints it.");
}

Status Refuse(const std::string& why) { return Status::InvalidArgument(why); }

void GiveLoad(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  if (request.data != 0) {
    figures->Given("data", static_cast<double>(request.data), "--data");
  }
  if (request.hot > 0) {
    figures->Given("hot", request.hot, "--hot", Unit::kPercent);
  }
  if (request.value != 0) {
    figures->Given("value", static_cast<double>(request.value), "--value");
  }
  if (request.writes > 0) {
    figures->Given("writes", request.writes, "--writes", Unit::kPerSecond);
  }
  figures->Given("memtable", static_cast<double>(request.memtable),
                 request.memtable == Request().memtable ? "RocksDB's default" : "--memtable");
}

Status GiveMemory(const Request& request, Plan* plan) {
  uint64_t memory = request.memory;
  std::string from = "--memory";
  if (memory == 0) {
    const Status s = AvailableMemory(/*root=*/"", &memory, &from);
    if (!s.ok()) {
      return Missing("--memory", s);
    }
  }
  plan->figures.Given("memory", static_cast<double>(memory), from);
  plan->figures.Computed("memtables", "2 * memtable", "max_write_buffer_number of RocksDB: 2");
  return Status::OK();
}

Status GiveMemoryAndCache(const Request& request, Plan* plan) {
  const Status s = GiveMemory(request, plan);
  if (s.ok()) {
    plan->figures.Computed("block_cache", "down(memory / 3)",
                           "RocksDB's tuning guide: a third of the memory");
  }
  return s;
}

void AddBlockCache(Plan* plan) {
  plan->file.Option(Section::kTable, "block_cache", plan->figures.Option("block_cache"),
                    "A third of the memory. db_bench needs --cache_size=0 with it.");
}

Status GiveFast(const Request& request, Plan* plan) {
  return GiveDirectory("fast", request.fast, request.fast_size, plan);
}

Status GiveSlow(const Request& request, Plan* plan) {
  return GiveDirectory("slow", request.slow, request.slow_size, plan);
}

Status GiveDevice(const Request& request, Plan* plan) {
  uint64_t size = request.device_size;
  Status s = CheckPath("--device", request.device);
  if (s.ok() && !request.standby.empty()) {
    s = CheckPath("--standby", request.standby);
  }
  if (s.ok() && size == 0) {
    s = DeviceBytes(request.device, &size);
    s = s.ok() ? s : Missing("--device-size", s);
  }
  if (!s.ok()) {
    return s;
  }
  const bool given = request.device_size != 0;
  plan->figures.Given("device", static_cast<double>(size),
                      given ? "--device-size" : "size of " + request.device);
  plan->figures.Computed("device_head", "1M + 4M", "superblocks, and a segment for the open log");
  plan->figures.Computed("device_room", "device - device_head", "for logs");
  plan->figures.Computed("device_least", "3 * memtable",
                         "the logs of one family: of a memtable and of two that are flushed");
  return CheckRoom(*plan, "device_least", "device_room",
                   "give a larger --device, or less --memtable");
}

Status CheckApart(const Request& request) {
  if (request.fast_size == 0 && request.slow_size == 0 &&
      OnOneFileSystem(request.fast, request.slow)) {
    return Refuse(
        "--fast and --slow are on one file system; give --fast-size and --slow-size if that is "
        "meant");
  }
  return Status::OK();
}

Status CheckRoom(const Plan& plan, const std::string& need, const std::string& have,
                 const std::string& advice) {
  if (plan.figures[need] <= plan.figures[have]) {
    return Status::OK();
  }
  return Refuse(plan.figures.Named(need) + " is more than " + plan.figures.Named(have) + ": " +
                advice);
}

Status TakeBudget(const Request& request, const std::string& most, const std::string& why,
                  Plan* plan) {
  if (request.budget == 0) {
    plan->figures.Computed("budget", "down(" + most + ")", why);
    return Status::OK();
  }
  plan->figures.Given("budget", static_cast<double>(request.budget), "--budget");
  return CheckRoom(*plan, "budget", most, "give less --budget");
}

void AddBasics(Plan* plan) {
  plan->file.Option(Section::kDatabase, "create_if_missing", "true",
                    "Take this out once the database is there: a disk that is not mounted is no "
                    "new database.");
  plan->file.Option(Section::kFamily, "write_buffer_size", plan->figures.Option("memtable"),
                    "A memtable; the arithmetic above goes by it.");
}

void AddLogs(Plan* plan) {
  plan->file.Option(Section::kDatabase, "max_total_wal_size", plan->figures.Option("logs"),
                    "The room for logs. RocksDB heeds it with two column families or more; with "
                    "one, write_buffer_size decides.");
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
