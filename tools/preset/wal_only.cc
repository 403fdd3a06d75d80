// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// wal-only: docs/deploy-wal-partition.md. The logs are on a log device, all else where it was.

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

std::string WalUri(const Request& request) {
  // With `size` a file that is not there is made.
  return "id=RawWalFileSystem;device=" + request.device +
         (request.device_size == 0 ? "" : ";size=" + OptionBytes(request.device_size)) +
         (request.standby.empty() ? "" : ";standby=" + request.standby);
}

Status MakeWalOnly(const Request& request, Plan* plan) {
  GiveLoad(request, plan);
  const Status s = GiveDevice(request, plan);
  if (!s.ok()) {
    return s;
  }
  Arithmetic* const figures = &plan->figures;
  figures->Computed("logs", "down(min(device_room, max(4G, device_least)))",
                    "max_total_wal_size: 4G, or what there is room for");
  if (request.writes > 0 && request.value != 0) {
    figures->Computed("lasts", "logs / (writes * value)",
                      "the logs of so long: then RocksDB flushes", Unit::kSeconds);
  }
  AddBasics(plan);
  plan->FileSystem(WalUri(request));
  AddLogs(plan);
  plan->file.Option(Section::kDatabase, "recycle_log_file_num", "0",
                    "Gains nothing on a log device.");
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
