// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/memory.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_checksum.h"
#include "rocksdb/table.h"
#include "test/crash/tiered_env/model.h"
#include "test/crash/tiered_env/shared.h"
#include "test/support/kill.h"
#include "test/support/open_db.h"
#include "test_util/sync_point.h"
#include "utilities/merge_operators.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

using Random = std::mt19937_64;

template <typename T, size_t n>
T OneOf(Random* random, const T (&values)[n]) {
  return values[(*random)() % n];
}
bool Coin(Random* random) { return (*random)() % 2 == 0; }

TieredOptions TiersOf(const std::string& folder, int setup, Random* random) {
  const char* const budgets[] = {"", "", ";budget=300K", ";budget=2M"};
  const char* const placements[] = {"0..last-1=memory;last=slow",
                                    "0..last-1=memory",
                                    "0..=memory",
                                    "0..1=memory;2..=slow",
                                    "older:1s=slow;0..=memory",
                                    "0..last-1=memory;blob=slow;wal=slow;meta=slow"};
  TieredOptions options;
  options.tiers = "memory={kind=memory;path=" + folder + "/memory" + OneOf(random, budgets) +
                  "};slow={path=" + folder + "/slow}";
  options.placement = OneOf(random, placements);
  options.mover_bytes_per_second = 0;
  if (Coin(random)) {
    options.wal_amplification_high = options.wal_amplification_low = 1;
  }
  options.wal_budget = OneOf(random, {0, 0, 400 << 10, 3 << 20});
  options.wal_compression = OneOf(random, {"none", "none", "lz4", "zstd"});
  options.on_close = OneOf(random, {"keep", "keep", "persist"});
  options.recovery_threads = OneOf(random, {0U, 1U, 3U});
  if (setup == MemorySite::kLogDevice) {
    options.placement = "0..last-1=memory";  // logs are on the device, and few of them
    options.wal_budget = 0;
    options.wal_amplification_high = options.wal_amplification_low = 1;
  }
  if (setup == MemorySite::kAllInMemory) {
    options.tiers = "memory={kind=memory;path=" + folder + "/memory}";
    options.placement = "0..=memory";
    options.wal_budget = 0;
    options.wal_amplification_high = options.wal_amplification_low = 1;
  }
  return options;
}

std::string InWords(const TieredOptions& options) {
  return "tiers=" + options.tiers + " placement=" + options.placement +
         " high=" + std::to_string(options.wal_amplification_high) +
         " wal_budget=" + std::to_string(options.wal_budget) + " " + options.wal_compression + " " +
         options.on_close;
}

void SetTables(Random* random, Options* options) {
  BlockBasedTableOptions table;
  table.block_size = OneOf(random, {1024, 4096});
  table.index_type = OneOf(
      random, {BlockBasedTableOptions::kBinarySearch, BlockBasedTableOptions::kTwoLevelIndexSearch,
               BlockBasedTableOptions::kBinarySearchWithFirstKey});
  table.data_block_index_type = OneOf(random, {BlockBasedTableOptions::kDataBlockBinarySearch,
                                               BlockBasedTableOptions::kDataBlockBinaryAndHash});
  table.format_version = OneOf(random, {2U, 5U, 6U});
  table.checksum = OneOf(random, {kCRC32c, kxxHash64, kXXH3});
  table.use_delta_encoding = (*random)() % 4 != 0;
  options->compression = OneOf(random, {kNoCompression, kNoCompression, kLZ4Compression});
  options->bottommost_compression = OneOf(random, {kDisableCompressionOption, kZSTD});
  table.block_align = options->compression == kNoCompression &&
                      options->bottommost_compression == kDisableCompressionOption && Coin(random);
  options->table_factory.reset(NewBlockBasedTableFactory(table));
}

void SetLogs(Random* random, Options* options) {
  options->wal_compression = OneOf(random, {kNoCompression, kNoCompression, kZSTD});
  options->recycle_log_file_num = OneOf(random, {0U, 0U, 2U});
  options->max_total_wal_size = OneOf(random, {0U, 300U << 10});
  options->WAL_ttl_seconds = OneOf(random, {0U, 0U, 1U});
  options->WAL_size_limit_MB = OneOf(random, {0U, 0U, 1U});
  options->avoid_flush_during_recovery = Coin(random);
  options->avoid_flush_during_shutdown = Coin(random);
  options->track_and_verify_wals_in_manifest = Coin(random);
  switch ((*random)() % 4) {
    case 0:
      options->enable_pipelined_write = true;
      break;
    case 1:
      options->two_write_queues = true;
      break;
    case 2:
      options->atomic_flush = true;
      break;
    default:
      break;
  }
}

void SetTree(Random* random, Options* options) {
  options->write_buffer_size = OneOf(random, {100U << 10, 400U << 10});
  options->target_file_size_base = OneOf(random, {60U << 10, 250U << 10});
  options->max_bytes_for_level_base = 300 << 10;
  options->max_bytes_for_level_multiplier = 3;
  options->level_compaction_dynamic_level_bytes = Coin(random);
  options->max_background_jobs = 3;
  options->max_subcompactions = OneOf(random, {1U, 2U});
  options->preserve_internal_time_seconds = OneOf(random, {0U, 0U, 600U});
  options->enable_blob_files = (*random)() % 4 == 0;
  options->min_blob_size = 300;
  options->enable_blob_garbage_collection = true;
  options->paranoid_file_checks = Coin(random);
  options->max_manifest_file_size = Coin(random) ? 20000 : 1 << 30;
  options->allow_mmap_reads = (*random)() % 4 == 0;
}

Options OptionsOf(const std::string& folder, int setup, Random* random) {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.merge_operator = MergeOperators::CreateStringAppendOperator();
  options.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  SetTree(random, &options);
  SetTables(random, &options);
  SetLogs(random, &options);
  if (Coin(random)) {
    options.listeners = {NewTieredEnvListener()};
  }
  if (setup == MemorySite::kUniversal) {
    options.compaction_style = kCompactionStyleUniversal;
  }
  if (setup == MemorySite::kAllInMemory) {
    options.compression = kNoCompression;
    options.enable_blob_files = false;
  }
  if (setup == MemorySite::kWalDir) {
    options.wal_dir = folder + "/logs";
  }
  return options;
}

}  // namespace

Status MemorySite::Target(std::shared_ptr<FileSystem>* target) const {
  const std::string uri =
      "id=RawWalFileSystem;device=" + folder_ + "/device;size=16M;segment_size=64K;tail_size=32K";
  return setup_ == kLogDevice ? FileSystem::CreateFromString(ConfigOptions(), uri, target)
                              : Status::OK();
}

bool MemorySite::Has(int setup) {
  std::shared_ptr<FileSystem> target;
  return MemorySite("/no-such-folder", setup).Target(&target).ok();
}

Status MemorySite::Open(uint64_t seed) {
  Random random(seed);
  const TieredOptions tiered = TiersOf(folder_, setup_, &random);
  options_ = InWords(tiered);
  std::shared_ptr<FileSystem> target;
  Status s = Target(&target);
  if (s.ok()) {
    s = NewTieredFileSystem(tiered, target, &fs_);
  }
  if (!s.ok()) {
    return s;
  }
  env_ = NewCompositeEnv(fs_);
  Options options = OptionsOf(folder_, setup_, &random);
  options.env = env_.get();
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, options},
                                                        {kFamilyName, options}};
  return OpenInto(&db_, [&](auto* result) {
    return DB::Open(options, directory(), families, &families_, result);
  });
}

void MemorySite::Close() {
  for (ColumnFamilyHandle* family : families_) {
    db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  families_.clear();
  db_.reset();
  env_.reset();
  fs_.reset();
}

Status MemorySite::Count(uint64_t* count) const {
  std::string value;
  Status s = db_->Get(ReadOptions(), families_[0], kCountKey, &value);
  *count = s.ok() ? strtoull(value.c_str(), nullptr, 10) : 0;
  return s.IsNotFound() ? Status::OK() : s;
}

void TrimEarly() {
  SyncPoint::GetInstance()->SetCallBack(
      "RecoveryManager::Trim:Small", [](void* bytes) { *static_cast<uint64_t*>(bytes) = 50000; });
  SyncPoint::GetInstance()->EnableProcessing();
}

bool IsMemoryChild(int argc, char** argv) {
  return argc == 7 && strcmp(argv[1], "--memory-child") == 0;
}

namespace {

Status Write(const MemorySite& site, uint64_t n, Random* random, Shared* shared) {
  WriteBatch batch;
  Status s = MakeBatch(n, site.families(), &batch);
  WriteOptions options;
  options.sync = n % 100 == 0;
  shared->issued = n + 1;
  if (s.ok()) {
    s = site.db()->Write(options, &batch);
  }
  if (!s.ok()) {
    return s;
  }
  shared->acknowledged = n + 1;
  if ((*random)() % 2000 == 0) {
    s = site.db()->Flush(FlushOptions(), site.families());
  }
  if (s.ok() && (*random)() % 10000 == 0) {
    s = site.db()->CompactRange(CompactRangeOptions(), site.families()[(*random)() % kFamilies],
                                nullptr, nullptr);
  }
  return s;
}

Status WriteOn(MemorySite* site, uint64_t seed, Shared* shared) {
  Random random(seed);
  TieredStats last;
  Status s = site->Open(seed);
  uint64_t count = 0;
  if (s.ok()) {
    Publish(site->fs(), &last, shared);
    s = site->Count(&count);
  }
  if (s.ok() && (count < shared->acknowledged || count > shared->issued)) {
    s = Status::Corruption("has " + std::to_string(count) +
                           " batches; acknowledged: " + std::to_string(shared->acknowledged));
  }
  if (s.ok()) {
    shared->acknowledged = count;
    shared->issued = count;
  }
  for (uint64_t n = count; s.ok(); n++) {
    s = Write(*site, n, &random, shared);
    if (n % 256 == 0) {
      Publish(site->fs(), &last, shared);
    }
  }
  return s;
}

}  // namespace

int MemoryChildMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  const std::string folder = argv[2];
  const std::string point = argv[5];
  TrimEarly();
  DieAt(point, atoi(argv[6]));
  Shared* const shared = MapShared<Shared>(folder + "/shared");
  MemorySite site(folder, atoi(argv[3]));
  const Status s = WriteOn(&site, strtoull(argv[4], nullptr, 10), shared);
  fprintf(stderr, "the child: %s\n%s\n", s.ToString().c_str(), site.options().c_str());
  shared->failed++;
  fflush(stderr);
  _exit(1);
}

}  // namespace rocktier
