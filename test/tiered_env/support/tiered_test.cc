// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/tiered_env/support/tiered_test.h"

#include <filesystem>
#include <fstream>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/stub.h"
#include "rocksdb/table.h"
#include "test/support/scratch.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

TieredTest::TieredTest() : folder_(NewFolder()) {
  std::filesystem::create_directories(TierPath("fast"));
  std::filesystem::create_directories(TierPath("slow"));
  db_name_ = folder_ + "/db";
}

TieredTest::~TieredTest() {
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  db_.reset();
  if (!HasFailure()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

std::string TieredTest::Tiers(const std::string& fast_more, const std::string& slow_more) const {
  return "fast={path=" + TierPath("fast") + (fast_more.empty() ? "" : ";" + fast_more) +
         "};slow={path=" + TierPath("slow") + (slow_more.empty() ? "" : ";" + slow_more) + "}";
}

void TieredTest::NewFs(const std::string& tiers, const std::string& placement,
                       const std::string& more) {
  db_.reset();
  env_.reset();
  fs_.reset();
  if (target_ != nullptr) {
    TieredOptions options;
    options.tiers = tiers;
    options.placement = placement;
    options.mover_bytes_per_second = 0;
    options.metrics_interval = 0;  // the target may count what changes
    options.checkpoints = checkpoints_;
    ASSERT_OK(NewTieredFileSystem(options, target_, &fs_));
    env_ = NewCompositeEnv(fs_);
    return;
  }
  const std::string uri = "id=TieredFileSystem;tiers={" + tiers + "};placement={" + placement +
                          "};mover_bytes_per_second=0" + (more.empty() ? "" : ";" + more);
  ASSERT_OK(FileSystem::CreateFromString(ConfigOptions(), uri, &fs_));
  env_ = NewCompositeEnv(fs_);
}

Options TieredTest::DbOptions() const {
  Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.write_buffer_size = 128 << 10;
  options.target_file_size_base = 64 << 10;
  options.max_bytes_for_level_base = 256 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.level_compaction_dynamic_level_bytes = false;
  options.listeners = {NewTieredEnvListener()};
  return options;
}

void TieredTest::Open(const Options& options) {
  db_.reset();
  Options now = options;
  now.env = options.env != Env::Default() ? env_.get() : options.env;
  ASSERT_OK(OpenDb(now, db_name_, &db_));
}

void TieredTest::Fill(int count, int keys, size_t value_size) {
  for (int i = 0; i < count; i++) {
    const std::string key = "key" + std::to_string(1000000 + random_() % keys);
    std::string value(value_size, '\0');
    for (char& c : value) {
      c = static_cast<char>('a' + random_() % 26);
    }
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
    model_[key] = std::move(value);
  }
}

void TieredTest::Verify() {
  ASSERT_NE(db_, nullptr);
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  auto expected = model_.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
    ASSERT_NE(expected, model_.end()) << it->key().ToString();
    ASSERT_EQ(it->key(), expected->first);
    ASSERT_EQ(it->value(), expected->second);
  }
  ASSERT_OK(it->status());
  ASSERT_EQ(expected, model_.end());
}

void TieredTest::Settle() {
  ASSERT_OK(db_->Flush(FlushOptions()));
  WaitForCompactOptions wait;
  ASSERT_OK(db_->WaitForCompact(wait));
  ASSERT_OK(WaitForMoves(fs_.get()));
}

uint64_t TieredTest::Moves() const {
  TieredStats stats;
  EXPECT_OK(GetTieredStats(fs_.get(), &stats));
  uint64_t moves = 0;
  for (const TieredTierStats& tier : stats.tiers) {
    moves += tier.moves;
  }
  return moves;
}

void TieredTest::ExpectQuiet() {
  Settle();
  const uint64_t moves = Moves();
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(WaitForMoves(fs_.get()));
  }
  EXPECT_EQ(Moves(), moves);
  for (const std::string name : {"fast", "slow"}) {
    const TieredTierStats stats = StatsOf(name);
    EXPECT_TRUE(stats.budget == 0 || stats.bytes <= stats.budget) << name << ": " << stats.bytes;
    uint64_t bytes = 0;
    for (const std::string end : {".sst", ".blob"}) {
      for (const std::string& base : FilesOf(end)) {
        uint64_t size = 0;
        if (TierOf(base) == name) {
          EXPECT_OK(fs_->GetFileSize(db_name_ + "/" + base, IOOptions(), &size, nullptr));
        }
        bytes += size;
      }
    }
    EXPECT_EQ(stats.bytes, bytes) << name;
  }
}

std::string TieredTest::TierOf(const std::string& base) const {
  std::ifstream in(db_name_ + "/" + base, std::ios::binary);
  const std::string contents(std::istreambuf_iterator<char>(in), {});
  Stub stub;
  return Stub::Decode(contents, base, &stub).ok() ? stub.tier : "home";
}

std::map<std::string, int> TieredTest::Census() const {
  std::map<std::string, int> result;
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const LiveFileMetaData& file : files) {
    result["L" + std::to_string(file.level) + " " + TierOf(file.name.substr(1))]++;
  }
  return result;
}

void TieredTest::Reopen(const std::string& tiers, const std::string& placement) {
  NewFs(tiers, placement);
  Open();
}

void TieredTest::ExpectUpperInFast() const {
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] <= '1' ? "fast" : "slow") << where << ": " << count;
  }
}

std::vector<std::string> TieredTest::FilesOf(const std::string& end) const {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    if (!entry.is_directory() && EndsWith(entry.path().filename().string(), end)) {
      result.push_back(entry.path().filename().string());
    }
  }
  return result;
}

uint64_t TieredTest::BytesIn(const std::string& tier) const {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath(tier))) {
    bytes += entry.is_regular_file() && !IsOfFolder(entry) ? entry.file_size() : 0;
  }
  return bytes;
}

// What was put aside does not count.
size_t TieredTest::FilesIn(const std::string& tier) const {
  size_t count = 0;
  if (!std::filesystem::exists(TierPath(tier))) {
    return 0;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath(tier))) {
    count += entry.is_regular_file() && !IsOfFolder(entry) ? 1 : 0;
  }
  return count;
}

TieredTierStats TieredTest::StatsOf(const std::string& tier) const {
  TieredStats stats;
  EXPECT_OK(GetTieredStats(fs_.get(), &stats));
  for (const TieredTierStats& candidate : stats.tiers) {
    if (candidate.name == tier) {
      return candidate;
    }
  }
  ADD_FAILURE() << "no tier " << tier;
  return TieredTierStats();
}

}  // namespace rocktier
