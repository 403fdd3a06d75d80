// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/placement_site.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/convenience.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_partitioner.h"
#include "rocksdb/write_batch.h"
#include "test/crash/tiered_env/placement_disk.h"
#include "test/support/kill.h"
#include "test/support/open_db.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

const std::vector<std::string> kPlacementFamilies = {"default", "users", "log_a", "log_b"};
const char* const kByReopening = "by reopening";
const char* const kByOptions = "by options";
const char* const kAgainAndAgain = "again and again";

namespace {

const char* const kCountKey = "count";  // in the first family; has the number of writes
constexpr uint64_t kSstBytes = 24 << 10;

// The n-th write: the same in parent and child.
struct Change {
  size_t family = 0;
  std::string key;
  bool is_deletion = false;
  std::string value;
};

// Keys begin with k0, k1, k2 or k3, and so does each SST that a compaction writes, all through.
Change ChangeOf(uint64_t n) {
  std::mt19937 random(static_cast<uint32_t>(n * 2654435761U + 17));
  Change change;
  change.family = random() % kPlacementFamilies.size();
  char key[32];
  snprintf(key, sizeof(key), "k%u%03u", static_cast<unsigned>(random() % 4),
           static_cast<unsigned>(random() % 400));
  change.key = key;
  change.is_deletion = random() % 12 == 0;
  const size_t size = random() % 4 == 0 ? 400 + random() % 400 : 20 + random() % 150;
  change.value = std::to_string(n) + ":" + std::string(size, static_cast<char>('a' + n % 26));
  return change;
}

bool IsPlacementOf(FileSystem* fs, const std::string& placement) {
  const auto* const options = fs->GetOptions<TieredOptions>();
  return options != nullptr && options->placement == placement;
}

}  // namespace

void PlacementModel::AdvanceTo(uint64_t count) {
  for (; count_ < count; count_++) {
    const Change change = ChangeOf(count_);
    if (change.is_deletion) {
      families_[change.family].erase(change.key);
    } else {
      families_[change.family][change.key] = change.value;
    }
    families_[0][kCountKey] = std::to_string(count_ + 1);
  }
}

Status PlacementSite::NewFs(const std::string& placement, uint64_t orphan_retention) {
  Close();
  TieredOptions tiered;
  tiered.tiers = TiersBelow(folder_);
  tiered.placement = placement_ = placement;
  tiered.mover_bytes_per_second = 0;
  tiered.orphan_retention = orphan_retention;
  env_.reset();
  Status s = NewTieredFileSystem(tiered, nullptr, &fs_);
  if (s.ok()) {
    env_ = NewCompositeEnv(fs_);
  }
  return s;
}

Status PlacementSite::Configure(const std::string& placement) {
  Status s = fs_->ConfigureFromMap(ConfigOptions(), {{"placement", placement}});
  if (s.ok()) {
    placement_ = placement;
    shared_->configured++;
  }
  return s;
}

Status PlacementSite::BeRefused(const std::string& placement) {
  const Status s = fs_->ConfigureFromMap(ConfigOptions(), {{"placement", placement}});
  const std::string text = s.ToString();
  if (!s.IsInvalidArgument() || text.find("cannot be changed") == std::string::npos ||
      !IsPlacementOf(fs_.get(), placement_)) {
    return Status::Corruption("an open database got another placement", text);
  }
  shared_->refused++;
  return Status::OK();
}

Options PlacementSite::OptionsOf(bool compacts, bool has_listener) const {
  Options options;
  options.env = env_ == nullptr ? Env::Default() : env_.get();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.compression = kNoCompression;
  options.write_buffer_size = compacts ? 32 << 10 : 64 << 20;
  options.target_file_size_base = kSstBytes;
  options.max_bytes_for_level_base = 2 * kSstBytes;
  options.max_bytes_for_level_multiplier = 3;
  options.level_compaction_dynamic_level_bytes = false;
  options.max_background_jobs = 2;
  options.disable_auto_compactions = !compacts;
  options.avoid_flush_during_recovery = true;
  options.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(2);
  if (has_listener && fs_ != nullptr) {
    options.listeners = {NewTieredEnvListener()};
  }
  return options;
}

Status PlacementSite::Open(bool compacts, bool has_listener) {
  const Options options = OptionsOf(compacts, has_listener);
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : kPlacementFamilies) {
    descriptors.emplace_back(name, options);
    descriptors.back().options.enable_blob_files = name == "users" || name == "log_b";
    descriptors.back().options.min_blob_size = 600;
    descriptors.back().options.enable_blob_garbage_collection = true;
  }
  return OpenInto(&db_, [&](auto* result) {
    return DB::Open(options, directory(), descriptors, &families_, result);
  });
}

void PlacementSite::Close() {
  for (ColumnFamilyHandle* family : families_) {
    db_->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  families_.clear();
  db_.reset();
}

Status PlacementSite::Write(uint64_t count) {
  Status s;
  for (; s.ok() && count > 0; count--) {
    const uint64_t n = shared_->acknowledged;
    const Change change = ChangeOf(n);
    WriteBatch batch;
    ColumnFamilyHandle* const family = families_[change.family];
    s = change.is_deletion ? batch.Delete(family, change.key)
                           : batch.Put(family, change.key, change.value);
    if (s.ok()) {
      s = batch.Put(families_[0], kCountKey, std::to_string(n + 1));
    }
    shared_->issued = n + 1;
    if (s.ok()) {
      s = db_->Write(WriteOptions(), &batch);
    }
    if (s.ok()) {
      shared_->acknowledged = n + 1;
    }
  }
  return s;
}

Status PlacementSite::Flush(const std::string& temperature) {
  Status s;
  for (ColumnFamilyHandle* family : families_) {
    if (s.ok()) {
      s = db_->SetOptions(family, {{"default_write_temperature", temperature}});
    }
  }
  return s.ok() ? db_->Flush(FlushOptions(), families_) : s;
}

Status PlacementSite::PushDown(size_t family, int level) {
  ColumnFamilyMetaData about;
  db_->GetColumnFamilyMetaData(families_[family], &about);
  std::vector<std::string> inputs;
  for (const SstFileMetaData& file : about.levels[0].files) {
    inputs.push_back(file.name);
  }
  CompactionOptions options;
  options.output_file_size_limit = kSstBytes;
  return inputs.empty() ? Status::OK()
                        : db_->CompactFiles(options, families_[family], inputs, level);
}

Status PlacementSite::Count(uint64_t* count) const {
  std::string value;
  Status s = db_->Get(ReadOptions(), families_[0], kCountKey, &value);
  *count = s.ok() ? strtoull(value.c_str(), nullptr, 10) : 0;
  return s.IsNotFound() ? Status::OK() : s;
}

std::map<std::string, KnownFile> PlacementSite::Files() const {
  std::map<std::string, KnownFile> result;
  for (ColumnFamilyHandle* family : families_) {
    ColumnFamilyMetaData about;
    db_->GetColumnFamilyMetaData(family, &about);
    KnownFile file;
    file.family = family->GetName();
    bool is_first = true;
    for (const LevelMetaData& level : about.levels) {
      if (level.level > 0 && !level.files.empty()) {
        file.base = is_first ? level.level : file.base;
        file.last = level.level;
        is_first = false;
      }
    }
    for (const LevelMetaData& level : about.levels) {
      for (const SstFileMetaData& sst : level.files) {
        file.level = level.level;
        file.size = sst.size;
        file.smallest = sst.smallestkey;
        file.largest = sst.largestkey;
        file.temperature = sst.temperature;
        result[sst.relative_filename] = file;
      }
    }
    for (const BlobMetaData& blob : about.blob_files) {
      KnownFile of_blobs;
      of_blobs.is_blob = true;
      of_blobs.family = file.family;
      of_blobs.size = blob.blob_file_size;
      result[blob.blob_file_name.substr(blob.blob_file_name.rfind('/') + 1)] = of_blobs;
    }
  }
  return result;
}

std::map<std::string, PlacementSite::Moved> PlacementSite::Moves() const {
  std::map<std::string, Moved> result;
  TieredStats stats;
  if (!GetTieredStats(fs_.get(), &stats).ok()) {
    abort();
  }
  for (const TieredTierStats& tier : stats.tiers) {
    for (const std::string& name : {WholeTier(tier.name), std::string()}) {
      result[name].files += tier.moves;
      result[name].bytes += tier.moved_bytes;
    }
  }
  return result;
}

namespace {

struct Orders {
  std::string how;
  std::string from;
  std::string to;
  uint64_t seed;
};

// Opens it by a placement by which nothing has to move, and tries to change that.
Status ChangeOptions(PlacementSite* site, const Orders& orders) {
  Status s = site->NewFs(orders.from);
  if (s.ok()) {
    s = site->Open(/*compacts=*/false);
  }
  for (int i = 0; s.ok() && i < 2; i++) {
    s = site->Write(50);
    s = s.ok() ? WaitForMoves(site->fs()) : s;
    if (s.ok() && site->Moves()[""].files > 0) {
      s = Status::Corruption("files were moved by a placement that was refused");
    }
    s = s.ok() ? site->BeRefused(orders.to) : s;
  }
  site->Close();
  return s.ok() ? site->Configure(orders.to) : s;
}

Status WriteOn(PlacementSite* site) {
  Status s;
  while (s.ok()) {
    s = site->Write(1);
    usleep(200);
  }
  return s;
}

// What a database does all the time that it is open.
Status WorkFor(PlacementSite* site, uint64_t rounds, std::mt19937_64* random) {
  Status s;
  for (; s.ok() && rounds > 0; rounds--) {
    s = site->Write(100 + (*random)() % 300);
    switch ((*random)() % 6) {
      case 0:
        s = s.ok() ? site->Flush((*random)() % 2 == 0 ? "kHot" : "kCold") : s;
        break;
      case 1:
        s = s.ok()
                ? site->db()->CompactRange(
                      CompactRangeOptions(),
                      site->families()[(*random)() % kPlacementFamilies.size()], nullptr, nullptr)
                : s;
        break;
      case 2:
        s = s.ok() ? WaitForMoves(site->fs()) : s;
        break;
      default:
        break;
    }
  }
  return s;
}

Status ChangeAgainAndAgain(PlacementSite* site, const Orders& orders) {
  std::mt19937_64 random(orders.seed);
  std::string now = orders.from;
  Status s = site->NewFs(now);
  while (s.ok()) {
    s = site->Open(/*compacts=*/true, /*has_listener=*/random() % 2 == 0);
    const std::string next = now == orders.from ? orders.to : orders.from;
    s = s.ok() ? WorkFor(site, 1 + random() % 4, &random) : s;
    if (s.ok() && next != now) {
      s = site->BeRefused(next);
    }
    site->Close();
    now = next;
    if (s.ok()) {
      s = random() % 2 == 0 ? site->Configure(now) : site->NewFs(now);
    }
  }
  return s;
}

Status Obey(PlacementSite* site, const Orders& orders) {
  if (orders.how == kAgainAndAgain) {
    return ChangeAgainAndAgain(site, orders);
  }
  Status s = orders.how == kByOptions ? ChangeOptions(site, orders) : site->NewFs(orders.to);
  if (s.ok()) {
    s = site->Open(/*compacts=*/false);
  }
  return s.ok() ? WriteOn(site) : s;
}

}  // namespace

bool IsPlacementChild(int argc, char** argv) {
  return argc == 9 && strcmp(argv[1], "--placement-child") == 0;
}

int PlacementChildMain(char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  const std::string folder = argv[2];
  const Orders orders = {argv[3], argv[4], argv[5], strtoull(argv[8], nullptr, 10)};
  DieAt(argv[6], atoi(argv[7]));
  PlacementShared* const shared = MapShared<PlacementShared>(folder + "/shared");
  PlacementSite site(folder, shared);
  const Status s = Obey(&site, orders);
  fprintf(stderr, "the child: %s\n%s, from %s to %s\n", s.ToString().c_str(), orders.how.c_str(),
          orders.from.c_str(), orders.to.c_str());
  shared->failed++;
  fflush(stderr);
  _exit(1);
}

}  // namespace rocktier
