// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

const std::vector<Preset>& Presets() {
  static const std::vector<Preset> presets = {
      Preset{"nvme+hdd",
             "tiered_env, hot_promotion",
             "Puts what fits on an NVMe disk, the rest on a slow one.",
             "deploy-nvme-hdd.md",
             {"data", "fast", "slow"},
             {"families", "fast-size", "slow-size", "hot", "value", "memory", "budget", "memtable"},
             MakeNvmeHdd},
      Preset{"nvme+network-volume",
             "secondary_cache_2q, hot_promotion",
             "Keeps copies of a volume's data on NVMe.",
             "presets.md",
             {"data", "fast", "slow"},
             {"fast-size", "slow-size", "hot", "value", "memory", "memtable"},
             MakeNetworkVolume},
      Preset{"ram+ssd",
             "tiered_env, raw_wal_fs",
             "Keeps the upper levels in memory, the rest on an SSD.",
             "deploy-ram-ssd.md",
             {"data", "value", "slow"},
             {"fast", "fast-size", "slow-size", "device", "device-size", "standby", "writes",
              "memory", "budget", "memtable"},
             MakeRamSsd},
      Preset{"large-values",
             "blob_hybrid, hot_promotion, secondary_cache_2q",
             "Keeps large values in blob files, within a bound.",
             "deploy-large-values.md",
             {"data", "value", "slow"},
             {"slow-size", "fast", "fast-size", "hot", "memory", "memtable"},
             MakeLargeValues},
      Preset{"pmem",
             "tiered_env",
             "Keeps logs and upper levels in persistent memory.",
             "deploy-pmem.md",
             {"data", "fast", "slow"},
             {"fast-size", "slow-size", "memory", "budget", "memtable"},
             MakePmem},
      Preset{"cache-only",
             "secondary_cache_2q",
             "Keeps blocks in a file on a fast disk, or in memory.",
             "presets.md",
             {"data"},
             {"fast", "fast-size", "hot", "memory", "budget", "memtable"},
             MakeCacheOnly},
      Preset{"wal-only",
             "raw_wal_fs",
             "Keeps the write-ahead logs on a log device.",
             "deploy-wal-partition.md",
             {"device"},
             {"device-size", "standby", "writes", "value", "memtable"},
             MakeWalOnly},
  };
  return presets;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
