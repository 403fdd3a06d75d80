// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A child writes, flushes and collects garbage, publishes in shared memory what was acknowledged, and is killed at a
// random moment or at a certain step of a flush, a compaction, a collection or the deletion of files. Then every acknowledged
// change must be there and nothing else, with and without the plugin; no file is left over, and the bound of space is kept again.
// All rounds of a point are on one database, with other options each time.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills, ROCKTIER_CRASH_SECONDS the
// time of each point instead.

#include "test/support/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>

#include "db/blob/blob_log_format.h"
#include "gtest/gtest.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "port/stack_trace.h"
#include "test/crash/blob_hybrid/model.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"
#include "utilities/merge_operators.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;               // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::blob_hybrid;  // NOLINT(google-build-using-namespace)

namespace {

// Where a child kills itself.
const char* const kPoints[] = {
    "",  // it is killed at a random moment
    "BlobFileBuilder::OpenBlobFileIfNeeded:WriteHeader",
    "BlobFileBuilder::WriteBlobToFile:AddRecord",
    "BlobFileBuilder::WriteBlobToFile:AppendFooter",
    "CompactFilesImpl:0",
    "CompactFilesImpl:1",
    "CompactionJob::Run():Inprogress",
    "CompactionJob::OpenCompactionOutputFile",
    "CompactionJob::FinishCompactionOutputFile1",
    "CompactionJob::Run():End",
    "VersionSet::LogAndApply:WriteManifestStart",
    "VersionSet::LogAndApply:WriteManifest",
    "VersionSet::ProcessManifestWrites:AfterSyncManifest",
    "VersionSet::LogAndApply:WriteManifestDone",
    "DBImpl::DeleteObsoleteFileImpl::BeforeDeletion",
    "DBImpl::DeleteObsoleteFileImpl:AfterDeletion",
};

struct Shared {
  std::atomic<uint64_t> issued{0};        // changes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // changes [0, acknowledged) have
  std::atomic<uint64_t> moved{0};         // values, by children
  std::atomic<uint64_t> merged{0};        // likewise
  std::atomic<uint64_t> jobs{0};
  std::atomic<uint64_t> failed{0};
};

// Without the plugin.
Options StockOptions(uint64_t seed) {
  std::mt19937_64 random(seed);
  Options options;
  options.create_if_missing = true;
  options.merge_operator = MergeOperators::CreateStringAppendOperator();
  options.enable_blob_files = true;
  options.min_blob_size = random() % 3 == 0 ? 600 : 100;
  options.blob_file_size = random() % 2 == 0 ? 64 << 10 : 1 << 20;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 8 << 10;
  options.max_bytes_for_level_base = 16 << 10;
  options.max_bytes_for_level_multiplier = 3;
  options.level0_file_num_compaction_trigger = 2;
  options.level_compaction_dynamic_level_bytes = random() % 2 == 0;
  options.blob_compression_type = random() % 3 == 0 ? kLZ4Compression : kNoCompression;
  options.max_subcompactions = random() % 2 == 0 ? 3 : 1;
  options.max_background_jobs = 3;
  options.enable_pipelined_write = random() % 4 == 0;
  options.max_manifest_file_size = random() % 2 == 0 ? 4000 : 1 << 30;
  return options;
}

Status Open(const std::string& folder, uint64_t seed, std::unique_ptr<DB>* db) {
  std::mt19937_64 random(seed + 1);
  BlobHybridOptions hybrid;
  hybrid.gc_garbage_ratio = random() % 2 == 0 ? 0.1 : 0.4;
  hybrid.max_space_amplification = random() % 4 == 0 ? 0 : 1.2 + 0.1 * (random() % 4);
  hybrid.space_floor = 64 << 10;
  hybrid.gc_bytes_per_second = 0;
  hybrid.readahead_size = random() % 2 == 0 ? 0 : 16 << 10;
  Options options = StockOptions(seed);
  if (random() % 2 == 0) {
    hybrid.medium_value_size = 80;
    hybrid.merge_level = random() % 2 == 0 ? MergeLevel::kLast : MergeLevel::kLastButOne;
    hybrid.transient_log_budget = random() % 2 == 0 ? 0.1 : 0.5;
  }
  const Status s = UseBlobHybrid(hybrid, &options, &options);
  return s.ok() ? OpenDb(options, folder + "/db", db) : s;
}

BlobHybridStats StatsOf(DB* db) {
  BlobHybridStats stats;
  EXPECT_OK(GetBlobHybridStats(db, db->DefaultColumnFamily(), &stats));
  return stats;
}

// Writes until it is killed.
int ChildMain(const std::string& folder, uint64_t seed, const std::string& point, int hits) {
  Shared* shared = MapShared<Shared>(folder + "/shared");
  DieAt(point, hits);
  std::unique_ptr<DB> db;
  Status s = Open(folder, seed, &db);
  BlobHybridStats before;
  for (uint64_t n = shared->acknowledged; s.ok(); n++) {
    WriteBatch batch;
    s = MakeChange(n, &batch);
    shared->issued = n + 1;
    if (s.ok()) {
      s = db->Write(WriteOptions(), &batch);
    }
    if (s.ok()) {
      shared->acknowledged = n + 1;
    }
    if (s.ok() && n % 1000 == 999) {
      s = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    }
    if (n % 50 == 0) {
      const BlobHybridStats stats = StatsOf(db.get());
      shared->moved += stats.moved_values - before.moved_values;
      shared->merged += stats.merged_values - before.merged_values;
      shared->jobs += stats.jobs - before.jobs;
      before = stats;
    }
  }
  fprintf(stderr, "the child: %s\n", s.ToString().c_str());
  shared->failed++;
  return 1;
}

Model::Records AllOf(DB* db) {
  Model::Records records;
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    records[it->key().ToString()] = it->value().ToString();
  }
  EXPECT_OK(it->status());
  return records;
}

class BlobKillTest : public testing::TestWithParam<int> {
 protected:
  BlobKillTest() {
    const uint64_t seed = FromEnvironment("ROCKTIER_SEED", std::random_device()());
    printf("ROCKTIER_SEED=%llu\n", static_cast<unsigned long long>(seed));
    random_.seed(seed + static_cast<uint64_t>(GetParam()));
    const char* base = getenv("TEST_TMPDIR");
    folder_ =
        std::string(base != nullptr ? base : "/tmp") + "/blob-kill-" + std::to_string(GetParam());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    shared_ = MapShared<Shared>(folder_ + "/shared");
  }
  ~BlobKillTest() override {
    munmap(shared_, sizeof(Shared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  // At the point, if it comes to it within a second.
  void RunAndKill() {
    const std::string point = kPoints[GetParam()];
    const bool often = point.find("AddRecord") != std::string::npos;
    const std::string hits = std::to_string(1 + random_() % (often ? 5000 : 100));
    const std::string seed = std::to_string(random_());
    const char* arguments[] = {"kill_test",   "--child",    folder_.c_str(), seed.c_str(),
                               point.c_str(), hits.c_str(), nullptr};
    pid_t pid;
    ASSERT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
              0);
    const uint64_t most = point.empty() ? random_() % 600000 : 1000000;  // microseconds
    int status = 0;
    at_point_ += KillAfter(pid, most, &status) ? 1 : 0;
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    ASSERT_EQ(shared_->failed, 0u);
  }

  // The last change may or may not have happened.
  void CheckRecords(DB* db) {
    const Model::Records found = AllOf(db);
    ASSERT_OK(model_.AdvanceTo(shared_->acknowledged));
    if (found != model_.records()) {
      ASSERT_OK(model_.AdvanceTo(shared_->issued));
      shared_->acknowledged = shared_->issued.load();
    }
    ASSERT_TRUE(found == model_.records()) << shared_->acknowledged << " changes";
    for (const auto& [key, value] : found) {
      std::string got;
      ASSERT_OK(db->Get(ReadOptions(), key, &got));
      ASSERT_EQ(value, got) << key;
    }
    ASSERT_OK(db->VerifyChecksum());
  }

  void CheckWithoutPlugin() {
    std::unique_ptr<DB> db;
    Options options = StockOptions(random_());
    options.max_open_files =
        100;  // else RocksDB may take a way on which it does not find values in blob files
    ASSERT_OK(OpenDbForReadOnly(options, folder_ + "/db", &db));
    CheckRecords(db.get());
  }

  // A blob file that was being written when its process was killed; RocksDB 11 keeps such files.
  static bool IsKept(const std::filesystem::path& path) {
    std::string contents;
    EXPECT_OK(ReadFileToString(Env::Default(), path, &contents));
    BlobLogFooter footer;
    const size_t size = std::min<size_t>(contents.size(), BlobLogFooter::kSize);
    return ROCKSDB_MAJOR >= 11 && path.extension() == ".blob" &&
           !footer.DecodeFrom(Slice(contents.data() + contents.size() - size, size)).ok();
  }

  // Every blob file and SST on disk is one of the database.
  void CheckFiles(DB* db) {
    ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(&meta);
    std::set<std::string> live;
    for (const auto& level : meta.levels) {
      for (const auto& file : level.files) {
        live.insert(file.relative_filename);
      }
    }
    for (const auto& blob : meta.blob_files) {
      live.insert(blob.blob_file_name);
    }
    std::set<std::string> there;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/db")) {
      const std::string extension = entry.path().extension();
      if (extension == ".sst" || extension == ".blob") {
        // Names of blob files in the metadata begin with a slash.
        const std::string name = entry.path().filename();
        const bool is_blob = live.count("/" + name) > 0;
        if (is_blob || live.count(name) > 0 || !IsKept(entry.path())) {
          there.insert(is_blob ? "/" + name : name);
        }
      }
    }
    EXPECT_EQ(live, there);
  }

  static uint64_t CountKeys(DB* db) {
    uint64_t count = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      count++;
    }
    EXPECT_OK(it->status());
    return count;
  }

  static uint64_t CountEntries(DB* db) {
    ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(&meta);
    uint64_t count = 0;
    for (const auto& level : meta.levels) {
      for (const auto& file : level.files) {
        count += file.num_entries;
      }
    }
    return count;
  }

  void Check() {
    if (random_() % 2 == 0) {
      CheckWithoutPlugin();
    }
    if (HasFailure()) {
      return;
    }
    std::unique_ptr<DB> db;
    const uint64_t seed = random_();
    ASSERT_OK(Open(folder_, seed, &db));
    CheckRecords(db.get());
    if (HasFailure() || random_() % 2 == 0) {
      return;
    }
    // What compactions of the open, and jobs, write meanwhile is not compacted by the next call.
    ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(db.get()));
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db->CompactRange(all, nullptr, nullptr));
    ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(db.get()));
    CheckRecords(db.get());
    const BlobHybridStats stats = StatsOf(db.get());
    EXPECT_EQ(0u, stats.read_errors);
    EXPECT_EQ(0u, stats.job_errors);
    EXPECT_EQ(CountKeys(db.get()), CountEntries(db.get()));  // nothing is hidden
    CheckFiles(db.get());
  }

  std::mt19937_64 random_;
  std::string folder_;
  Shared* shared_;
  Model model_;
  uint64_t at_point_ = 0;
};

TEST_P(BlobKillTest, EveryAcknowledgedChangeIsThere) {
  const uint64_t all = FromEnvironment("ROCKTIER_CRASH_ROUNDS", 48);
  const uint64_t rounds = std::max<uint64_t>(all / std::size(kPoints), 1);
  const auto end =
      time(nullptr) + static_cast<time_t>(FromEnvironment("ROCKTIER_CRASH_SECONDS", 0));
  uint64_t kills = 0;
  for (; (kills < rounds || time(nullptr) < end) && !HasFailure(); kills++) {
    SCOPED_TRACE(kills);
    RunAndKill();
    if (!HasFailure()) {
      Check();
    }
  }
  printf(
      "%llu kills, %llu at the point, %llu acknowledged changes; by children %llu values moved, "
      "%llu merged, %llu jobs\n",
      static_cast<unsigned long long>(kills), static_cast<unsigned long long>(at_point_),
      static_cast<unsigned long long>(shared_->acknowledged),
      static_cast<unsigned long long>(shared_->moved),
      static_cast<unsigned long long>(shared_->merged),
      static_cast<unsigned long long>(shared_->jobs));
}

std::string NameOf(const testing::TestParamInfo<int>& each) {
  std::string name = kPoints[each.param];
  name = name.empty() ? "Anywhere" : name.substr(name.find("::") + 1);
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return isalnum(c) == 0; }),
             name.end());
  return name;
}

INSTANTIATE_TEST_CASE_P(Points, BlobKillTest,
                        testing::Range(0, static_cast<int>(std::size(kPoints))), NameOf);

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  if (argc == 6 && std::string(argv[1]) == "--child") {
    return rocktier::ChildMain(argv[2], strtoull(argv[3], nullptr, 10), argv[4], atoi(argv[5]));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
