// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What space is taken for: garbage that RocksDB does not know of, ranges that hide nothing, many
// small files. ROCKTIER_SEED: another seed.

#include <atomic>
#include <set>

#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/gc_family.h"
#include "plugin/blob_hybrid/gc_picker.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "plugin/blob_hybrid/properties.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/space.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

class SpaceMistakes : public SpaceTest {};

// RocksDB does not count what the SSTs referred to as garbage.
TEST_F(SpaceMistakes, DeleteFilesInRangeLeavesGarbage) {
  constexpr int kLeft = kKeys / 10;
  LeaveToTheJob();
  options_.target_file_size_base = 4 << 10;
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
  hybrid_.space_floor = 64 << 10;
  Open();
  for (int i = 0; i < kKeys; i++) {
    Write(i * 7919 % kKeys);  // all blob files have values of all SSTs
  }
  Compact();
  Settle();
  const std::string begin = KeyOf(kLeft);
  const std::string end = KeyOf(2 * kKeys);
  const Slice first(begin);
  const Slice last(end);
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &first, &last));
  for (int i = 0; i < kKeys; i++) {
    if (Get(i) == "none") {
      Forget(i);
    }
  }
  ASSERT_LT(live_.size(), static_cast<size_t>(kKeys / 4));
  EXPECT_GT(Stats().space_amplification_percent, 300u) << "it is known";
  Write(0);
  Flush();
  Finish(/*may_miss=*/true);
}

// Inserts, and with each flush a range deletion: of keys that never were, or of nothing.
class RangeMistakes : public SpaceTest {
 protected:
  static constexpr int kMany = 20000;  // enough for sketches that are believed

  size_t SizeOf(int /*i*/) const override { return 300; }

  void LoadMany() {
    LeaveToTheJob();
    hybrid_.space_floor = 64 << 10;
    options_.write_buffer_size = 128 << 10;
    options_.target_file_size_base = 64 << 10;
    Open();
    for (int i = 0; i < kMany; i++) {
      Write(2 * i);
    }
    Compact();
    Settle();
  }
};

TEST_F(RangeMistakes, RangesOfKeysThatNeverWereCostNothing) {
  constexpr int kFlushes = 20;
  LoadMany();
  const BlobHybridStats before = Stats();
  for (int flush = 0; flush < kFlushes; flush++) {
    for (int i = 0; i < 50; i++) {
      Write(2 * (kMany + flush * 50 + i));
    }
    // In a gap between two keys, and one that is behind all of them.
    const int gap = 2 * (flush * 900 + 77) + 1;
    ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(gap), KeyOf(gap + 1)));
    ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(10 * kMany), KeyOf(20 * kMany)));
    Flush();
    ASSERT_OK(SettleBlobHybrid(db_.get()));
  }
  const BlobHybridStats after = Stats();
  EXPECT_EQ(before.jobs, after.jobs) << after.ToString();
  EXPECT_EQ(before.flush_waits, after.flush_waits);
  EXPECT_LT(after.space_amplification_percent, 140u);
  Finish();
}

// What is deleted is found, a part of each SST's bounds at a time.
TEST_F(RangeMistakes, RangesOfManyKeysAreFound) {
  constexpr int kStep = 400;
  LoadMany();
  for (int i = 0; i < kMany; i += kStep) {
    ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(2 * i), KeyOf(2 * i + kStep)));
    for (int j = i; j < i + kStep / 2; j++) {
      Forget(2 * j);
    }
  }
  Flush();
  Finish(/*may_miss=*/true);
  EXPECT_GT(Stats().jobs, 0u);
}

// Thousands of both: a batch of jobs for one look, tiny SSTs together.
TEST(PickMistakes, ManySmallFiles) {
  constexpr uint64_t kSsts = 1339;
  constexpr uint64_t kBlobs = 4849;
  Random64 random(301);
  Survey survey;
  survey.last_level = 6;
  Since since;
  for (uint64_t i = 0; i < kBlobs; i++) {
    BlobInfo blob;
    blob.number = 2 * i + 1;
    blob.file_bytes = blob.bytes = 100000;
    blob.garbage_bytes = 50000;
    survey.blobs.push_back(blob);
    since[blob.number] = 1000000;
  }
  for (uint64_t i = 0; i < kSsts; i++) {
    SstInfo sst;
    sst.number = 20000 + i;
    sst.level = 6;
    sst.bytes = sst.user_bytes = 32 << 10;
    sst.entries = 1000;
    sst.oldest_blob = 1;
    sst.keys = std::make_shared<const KeyRange>(
        KeyRange{KeyOf(static_cast<int>(10 * i)), KeyOf(static_cast<int>(10 * i + 9))});
    References references;
    for (uint64_t blob = random.Uniform(8); blob < kBlobs; blob += 1 + random.Uniform(8)) {
      references.emplace_back(2 * blob + 1, 200);
    }
    sst.references = std::make_shared<const References>(references);
    survey.ssts.push_back(sst);
  }
  const std::vector<Plan> plans =
      PickCompactions(survey, Estimate(TotalsOf(survey), 0), since, {}, BlobHybridOptions());
  ASSERT_GT(plans.size(), 1u);
  std::set<uint64_t> taken;
  size_t most = 0;
  for (const Plan& plan : plans) {
    EXPECT_EQ(6, plan.output_level);
    most = std::max(most, plan.inputs.size());
    for (const SstInfo& sst : plan.inputs) {
      EXPECT_TRUE(taken.insert(sst.number).second) << sst.number << " is in two jobs";
    }
  }
  EXPECT_GT(most, 1u);
}

// The same of a database: what overwrites cost is counted, not timed.
class ManyFilesMistakes : public SpaceTest {
 protected:
  static constexpr int kMany = 4849 * 4;
  static constexpr size_t kSsts = 1339;
  static constexpr size_t kBlobs = 4849;

  size_t SizeOf(int /*i*/) const override { return kValue; }

  void LoadMany() {
    LeaveToTheJob();
    options_.blob_file_size = 4 << 10;
    options_.target_file_size_base = 1;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 256;
    Open();
    for (int i = 0; i < kMany; i++) {
      Write(static_cast<int>(i * int64_t{7919} % kMany));  // an SST refers to many blob files
    }
    Compact();
    Settle();
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    ASSERT_GE(meta.file_count, kSsts);
    ASSERT_GE(meta.blob_file_count, kBlobs);
  }

  // Files that the job has looked at.
  uint64_t LookedAt() {
    const auto scheduler = Databases::Instance()->Find(db_.get());
    GcFamily* const family = scheduler == nullptr ? nullptr : scheduler->Find(0);
    EXPECT_NE(nullptr, family);
    return family == nullptr ? 0 : family->surveyor().TEST_looked_at();
  }
};

#ifndef NDEBUG
// The bound is reached after some 4,000 of the overwrites. To free a blob file takes all SSTs that
// refer to it, so that the job has much to do from then on.
TEST_F(ManyFilesMistakes, OverwritesCostABoundedNumberOfLooksAndJobs) {
  constexpr uint64_t kOverwrites = 4800;
  ASSERT_NO_FATAL_FAILURE(LoadMany());
  std::atomic<uint64_t> looks{0};  // at all files: those of which something is needed
  SyncPoint* const points = SyncPoint::GetInstance();
  points->SetCallBack("GcJob::Step:Looked", [&](void*) { looks++; });
  const BlobHybridStats before = Stats();
  const uint64_t looked_at = LookedAt();
  // On a busy machine the job may come late: it shall have had something to do.
  constexpr uint64_t kJobs = 50;
  uint64_t written = 0;
  while (written < kOverwrites ||
         (written < 4 * kOverwrites && Stats().jobs - before.jobs <= kJobs)) {
    Write(static_cast<int>(random_.Uniform(kMany)));
    written++;
  }
  const uint64_t all = looks;
  const BlobHybridStats after = Stats();
  const uint64_t files = LookedAt() - looked_at;
  points->ClearCallBack("GcJob::Step:Looked");
  const uint64_t jobs = after.jobs - before.jobs;
  const uint64_t bytes = after.job_bytes - before.job_bytes;
  const uint64_t flushes = written * kValue / options_.write_buffer_size;
  printf("%d looks, %d jobs, %d bytes, %d files looked at\n", static_cast<int>(all),
         static_cast<int>(jobs), static_cast<int>(bytes), static_cast<int>(files));
  EXPECT_GT(jobs, kJobs) << "there is something to do";
  EXPECT_LT(jobs, written / 4);
  EXPECT_LT(all, 10 + jobs / 8) << "a look is for many jobs";
  // What has changed, and all of it twice: a look at all for each flush would be fifty times that.
  EXPECT_LT(files, 8 * flushes + 64 * jobs + 2 * (kSsts + kBlobs)) << "a look is at changes";
  EXPECT_LT(bytes, 8 * written * kValue);
  ExpectAnswers();
}
#endif

// What is read from an SST is no more than it could be.
TEST(PropertyMistakes, WhatIsReadIsBounded) {
  std::string many = "1:1";
  for (size_t i = 2; i <= kMostReferences + 1; i++) {
    many += "," + std::to_string(i) + ":1";
  }
  const struct {
    const char* name;
    std::string text;
  } kCases[] = {
      {kReferencesProperty, many},
      {kReferencesProperty, "1:18446744073709551615"},
      {kReferencesProperty, "5:1,4:1"},
      {kReferencesProperty, "99999999999999999999999:1"},
      {kSketchProperty, "\x01" + std::string(8, '\xff') + std::string(11 * 100000, '\x01')},
      {kSketchProperty, "\x01" + std::string(16, '\x01') + std::string(9, '\xff') + "\x01\x01"},
      {kMediumBytesProperty, "18446744073709551615"},
  };
  for (const auto& one : kCases) {
    const UserCollectedProperties properties{{one.name, one.text}};
    SCOPED_TRACE(one.name + (" " + one.text.substr(0, 40)));
    EXPECT_EQ(nullptr, ReferencesOf(properties));
    EXPECT_EQ(nullptr, SketchOf(properties));
    EXPECT_EQ(0u, MediumBytesOf(properties));
  }
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
