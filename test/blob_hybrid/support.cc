// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/blob_hybrid/support.h"

#include <algorithm>

#include "file/file_util.h"
#include "test_util/sync_point.h"
#include "test_util/testutil.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

std::string KeyOf(int i) {
  char key[16];
  snprintf(key, sizeof(key), "key%08d", i);
  return key;
}

std::string ValueOf(int i, int version, size_t bytes) {
  std::string value = KeyOf(i) + "@" + std::to_string(version) + ":";
  if (value.size() < bytes) {
    Random random(static_cast<uint32_t>(i) * 1000 + static_cast<uint32_t>(version) + 1);
    value += random.RandomString(static_cast<int>(bytes - value.size()));
  }
  return value;
}

void SubcompactionCounter::OnSubcompactionBegin(const SubcompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  counts_[info.job_id]++;
}

int SubcompactionCounter::most() {
  std::lock_guard<std::mutex> lock(mutex_);
  int most = 0;
  for (const auto& [job, count] : counts_) {
    most = std::max(most, count);
  }
  return most;
}

#ifdef NDEBUG
FlushPatience::FlushPatience(std::chrono::seconds /*patience*/) {}
FlushPatience::~FlushPatience() = default;
#else
FlushPatience::FlushPatience(std::chrono::seconds patience) {
  SyncPoint::GetInstance()->SetCallBack("FlushGate::Patience", [patience](void* value) {
    *static_cast<std::chrono::seconds*>(value) = patience;
  });
  SyncPoint::GetInstance()->EnableProcessing();
}

FlushPatience::~FlushPatience() {
  SyncPoint::GetInstance()->ClearCallBack("FlushGate::Patience");
  SyncPoint::GetInstance()->DisableProcessing();
}
#endif

HybridDb::HybridDb() : root_(test::PerThreadDBPath("blob_hybrid")), path_(root_ + "/db") {
  EXPECT_OK(DestroyDir(Env::Default(), root_));
  EXPECT_OK(Env::Default()->CreateDirIfMissing(root_));
  options_.create_if_missing = true;
  options_.disable_auto_compactions = true;
  options_.enable_blob_files = true;
  options_.min_blob_size = 200;
  hybrid_.max_space_amplification = 0;
}

HybridDb::~HybridDb() {
  Close();
  EXPECT_OK(DestroyDir(Env::Default(), root_));
}

void HybridDb::UseMedium() {
  hybrid_.medium_value_size = options_.min_blob_size;
  options_.min_blob_size = 4000;
}

void HybridDb::LeaveToTheJob() {
  constexpr int kMany = 1 << 20;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = kMany;
  options_.level0_slowdown_writes_trigger = kMany;
  options_.level0_stop_writes_trigger = kMany;
  options_.max_bytes_for_level_base = uint64_t{1} << 40;
}

Status HybridDb::TryOpen() {
  Options options = options_;
  const Status s = UseBlobHybrid(hybrid_, &options, &options);
  return s.ok() ? OpenDb(options, path_, &db_) : s;
}

void HybridDb::Open() { ASSERT_OK(TryOpen()); }

void HybridDb::OpenWithoutPlugin() { ASSERT_OK(OpenDb(options_, path_, &db_)); }

void HybridDb::Fill(int from, int to, int version, int step) {
  for (int i = from; i < to; i += step) {
    Put(i, version);
  }
}

void HybridDb::Compact() {
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
}

std::string HybridDb::Get(const Slice& key, const ReadOptions& options) {
  std::string value;
  const Status s = db_->Get(options, key, &value);
  return s.ok() ? value : s.IsNotFound() ? "none" : s.ToString();
}

std::set<uint64_t> HybridDb::BlobFiles() {
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::set<uint64_t> files;
  for (const BlobMetaData& blob : meta.blob_files) {
    files.insert(blob.blob_file_number);
  }
  return files;
}

BlobHybridStats HybridDb::Stats() {
  BlobHybridStats stats;
  EXPECT_OK(GetBlobHybridStats(db_.get(), db_->DefaultColumnFamily(), &stats));
  return stats;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
