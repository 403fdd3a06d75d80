// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A child writes, flushes and collects garbage, publishes in shared memory what was acknowledged,
// and is killed at a random moment or at a certain step of a flush, a compaction, a collection or
// the deletion of files. Then every acknowledged change must be there and nothing else, with and
// without the plugin; blob files are what SSTs and MANIFEST say, no file is left over, and the
// bound of space is kept again. All rounds of a point are on one database, with other options each
// time.
//
// And a child that dies at each step of compactions that move values, or merge the log, and of
// nothing else.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills,
// ROCKTIER_CRASH_SECONDS the time of each point instead.

#include "test/support/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "db/blob/blob_log_format.h"
#include "gtest/gtest.h"
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "plugin/blob_hybrid/settings.h"
#include "plugin/blob_hybrid/verify.h"
#include "port/stack_trace.h"
#include "rocksdb/table.h"
#include "test/crash/blob_hybrid/model.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"
#include "utilities/merge_operators.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;               // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::blob_hybrid;  // NOLINT(google-build-using-namespace)

namespace {

// Of a compaction, or a flush.
enum class Part {
  kAny,
  kBlobs,    // it writes a blob file
  kCall,     // of CompactFiles() only
  kRun,      // not all values have been seen
  kInstall,  // all have
};

// Where a child kills itself.
struct Point {
  const char* name;
  Part part;
};
const Point kPoints[] = {
    {"", Part::kAny},  // it is killed at a random moment
    {"BlobFileBuilder::OpenBlobFileIfNeeded:WriteHeader", Part::kBlobs},
    {"BlobFileBuilder::WriteBlobToFile:AddRecord", Part::kBlobs},
    {"BlobFileBuilder::WriteBlobToFile:AppendFooter", Part::kBlobs},
    {"CompactFilesImpl:0", Part::kCall},
    {"CompactFilesImpl:1", Part::kCall},
    {"CompactionJob::Run():Inprogress", Part::kRun},
    {"CompactionJob::OpenCompactionOutputFile", Part::kRun},
    {"CompactionJob::FinishCompactionOutputFile1", Part::kRun},
    {"CompactionJob::Run():End", Part::kInstall},
    {"VersionSet::LogAndApply:WriteManifestStart", Part::kInstall},
    {"VersionSet::LogAndApply:WriteManifest", Part::kInstall},
    {"VersionSet::ProcessManifestWrites:AfterSyncManifest", Part::kInstall},
    {"VersionSet::LogAndApply:WriteManifestDone", Part::kInstall},
    {"DBImpl::DeleteObsoleteFileImpl::BeforeDeletion", Part::kInstall},
    {"DBImpl::DeleteObsoleteFileImpl:AfterDeletion", Part::kInstall},
};
constexpr int kPointCount = static_cast<int>(std::size(kPoints));

// What the compaction does in which a child dies.
enum class Work { kCollect, kMerge, kMergeAbove };

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
  if (random() % 2 == 0) {
    BlockBasedTableOptions tables;
    tables.block_align = true;
    options.compression = kNoCompression;
    options.table_factory.reset(NewBlockBasedTableFactory(tables));
  }
  return options;
}

BlobHybridOptions HybridOptions(uint64_t seed) {
  std::mt19937_64 random(seed + 1);
  BlobHybridOptions hybrid;
  hybrid.gc_garbage_ratio = random() % 2 == 0 ? 0.1 : 0.4;
  hybrid.max_space_amplification = random() % 4 == 0 ? 0 : 1.2 + 0.1 * (random() % 4);
  hybrid.space_floor = 64 << 10;
  hybrid.gc_bytes_per_second = 0;
  hybrid.readahead_size = random() % 2 == 0 ? 0 : 16 << 10;
  if (random() % 2 == 0) {
    hybrid.medium_value_size = 80;
    hybrid.merge_level = random() % 2 == 0 ? MergeLevel::kLast : MergeLevel::kLastButOne;
    hybrid.transient_log_budget = random() % 2 == 0 ? 0.1 : 0.5;
  }
  return hybrid;
}

Status Open(const std::string& folder, uint64_t seed, std::unique_ptr<DB>* db) {
  const BlobHybridOptions hybrid = HybridOptions(seed);
  Options options = StockOptions(seed);
  const Status s = UseBlobHybrid(hybrid, &options, &options);
  return s.ok() ? OpenDb(options, folder + "/db", db) : s;
}

BlobHybridStats StatsOf(DB* db) {
  BlobHybridStats stats;
  EXPECT_OK(GetBlobHybridStats(db, db->DefaultColumnFamily(), &stats));
  return stats;
}

// Tells the parent before and after.
Status Write(uint64_t n, DB* db, Shared* shared) {
  WriteBatch batch;
  Status s = MakeChange(n, &batch);
  shared->issued = n + 1;
  if (s.ok()) {
    s = db->Write(WriteOptions(), &batch);
  }
  if (s.ok()) {
    shared->acknowledged = n + 1;
  }
  return s;
}

int Fail(const Status& s, Shared* shared) {
  fprintf(stderr, "the child: %s\n", s.ToString().c_str());
  shared->failed++;
  return 1;
}

// Writes until it is killed.
int ChildMain(const std::string& folder, uint64_t seed, const std::string& point, int hits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  Shared* shared = MapShared<Shared>(folder + "/shared");
  DieAt(point, hits);
  std::unique_ptr<DB> db;
  Status s = Open(folder, seed, &db);
  BlobHybridStats before;
  for (uint64_t n = shared->acknowledged; s.ok(); n++) {
    s = Write(n, db.get(), shared);
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
  return Fail(s, shared);
}

// A database whose compactions are those that are asked for. Data is in level 6; a log, and what is
// merged with it, above.
class StepDb {
 public:
  StepDb(Work work, Shared* shared) : work_(work), shared_(shared) {}

  Status Open(const std::string& folder, uint64_t seed);
  // Afterwards the next Compact() finds values to move, or to merge.
  Status Prepare();
  // With CompactFiles() or CompactRange().
  Status Compact(bool files);
  // What the last Compact() has done so far.
  void Publish();

 private:
  int To() const { return work_ == Work::kMergeAbove ? 5 : 6; }
  int From() const { return work_ == Work::kCollect ? 6 : To() - 1; }
  Status WriteAndFlush();
  Status CompactLevels(int first, int last, int to);

  const Work work_;
  Shared* const shared_;
  std::shared_ptr<const Settings> settings_;
  std::unique_ptr<DB> db_;
  uint64_t moved_before_ = 0;
  uint64_t merged_before_ = 0;
};

Status StepDb::Open(const std::string& folder, uint64_t seed) {
  Options options = StockOptions(seed);
  options.disable_auto_compactions = true;
  options.level_compaction_dynamic_level_bytes = false;
  options.write_buffer_size = 16 << 20;
  BlobHybridOptions hybrid;
  hybrid.max_space_amplification = 0;
  hybrid.gc_garbage_ratio = work_ == Work::kCollect ? 0.1 : 1;
  if (work_ != Work::kCollect) {
    options.min_blob_size = 600;
    hybrid.medium_value_size = 80;
    hybrid.transient_log_budget = 0;
    hybrid.merge_level = work_ == Work::kMerge ? MergeLevel::kLast : MergeLevel::kLastButOne;
  }
  const Status s = UseBlobHybrid(hybrid, &options, &options);
  settings_ = SettingsOf(options.compaction_filter_factory);
  return s.ok() ? OpenDb(options, folder + "/db", &db_) : s;
}

Status StepDb::WriteAndFlush() {
  Status s;
  for (int i = 0; s.ok() && i < 250; i++) {
    s = Write(shared_->acknowledged, db_.get(), shared_);
  }
  return s.ok() ? db_->Flush(FlushOptions()) : s;
}

Status StepDb::CompactLevels(int first, int last, int to) {
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::vector<std::string> names;
  for (const LevelMetaData& level : meta.levels) {
    for (const SstFileMetaData& file : level.files) {
      if (level.level >= first && level.level <= last) {
        names.push_back(file.name);
      }
    }
  }
  CompactionOptions how;
  how.output_file_size_limit = 8 << 10;
  return db_->CompactFiles(how, names, to);
}

Status StepDb::Prepare() {
  Status s = WriteAndFlush();
  if (s.ok()) {
    s = CompactLevels(0, 6, 6);
  }
  if (s.ok()) {
    s = WriteAndFlush();
  }
  if (s.ok()) {
    s = CompactLevels(0, 0, From());
  }
  if (s.ok()) {
    s = db_->WaitForCompact(WaitForCompactOptions());
  }
  moved_before_ = settings_->counters->moved_values;
  merged_before_ = settings_->counters->merged_values;
  return s;
}

Status StepDb::Compact(bool files) {
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const Status s =
      files ? CompactLevels(From(), From(), To()) : db_->CompactRange(all, nullptr, nullptr);
  return s.ok() ? db_->WaitForCompact(WaitForCompactOptions()) : s;
}

void StepDb::Publish() {
  shared_->moved += settings_->counters->moved_values - moved_before_;
  shared_->merged += settings_->counters->merged_values - merged_before_;
}

// Dies in a compaction, which comes to the point; all the rest is passed by.
int StepMain(const std::string& folder, uint64_t seed, const std::string& point, int hits,
             Work work, bool files) {
  constexpr int kMost = 20;
  Shared* shared = MapShared<Shared>(folder + "/shared");
  StepDb db(work, shared);
  Status s = db.Open(folder, seed);
  auto* const sync_point = SyncPoint::GetInstance();
  DieAt(point, hits, [&db] { db.Publish(); });
  sync_point->DisableProcessing();
  for (int i = 0; s.ok() && i < kMost; i++) {
    s = db.Prepare();
    if (s.ok()) {
      sync_point->EnableProcessing();
      s = db.Compact(files);
      sync_point->DisableProcessing();
    }
  }
  return Fail(s, shared);
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

class KillTest : public testing::Test {
 protected:
  explicit KillTest(const std::string& name) {
    random_.seed(Seed() + std::hash<std::string>()(name));
    folder_ = NewFolder("blob-kill-" + name);
    shared_ = MapShared<Shared>(folder_ + "/shared");
  }
  ~KillTest() override {
    munmap(shared_, sizeof(Shared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  // A child with these arguments, for so many microseconds at most. `itself`: it has not been
  // killed from outside.
  void RunAndKill(const std::vector<std::string>& arguments, uint64_t most, bool* itself) {
    std::vector<char*> pointers = {const_cast<char*>("kill_test")};
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    pid_t pid;
    ASSERT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, pointers.data(), environ), 0);
    int status = 0;
    *itself = KillAfter(pid, most, &status);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    ASSERT_EQ(shared_->failed, 0u);
  }

  // Rounds of a point, each on what the one before has left; `share`: of ROCKTIER_CRASH_SECONDS.
  // `reach`: one child at least has to die at the point. That depends on options and on chance:
  // there are more rounds until one does.
  void Repeat(int share, bool reach, const std::function<void(uint64_t)>& run) {
    const uint64_t all = FromEnvironment("ROCKTIER_CRASH_ROUNDS", 48);
    const uint64_t rounds = std::max<uint64_t>(all / std::size(kPoints), 1);
    const uint64_t more = reach ? rounds + kMoreRounds : rounds;
    const auto end =
        time(nullptr) + static_cast<time_t>(FromEnvironment("ROCKTIER_CRASH_SECONDS", 0)) / share;
    const auto goes_on = [&] {
      return kills_ < rounds || time(nullptr) < end || (at_point_ == 0 && kills_ < more);
    };
    for (; goes_on() && !HasFailure(); kills_++) {
      SCOPED_TRACE(kills_);
      run(kills_);
      if (!HasFailure()) {
        Check();
      }
    }
    printf(
        "%llu kills, %llu at the point, %llu acknowledged changes; by children %llu values moved, "
        "%llu merged, %llu jobs\n",
        static_cast<unsigned long long>(kills_), static_cast<unsigned long long>(at_point_),
        static_cast<unsigned long long>(shared_->acknowledged),
        static_cast<unsigned long long>(shared_->moved),
        static_cast<unsigned long long>(shared_->merged),
        static_cast<unsigned long long>(shared_->jobs));
    EXPECT_TRUE(!reach || at_point_ > 0) << "no child came to the point";
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
    // Else RocksDB may take a way on which it does not find values in blob files.
    options.max_open_files = 100;
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

  void VerifyFiles() {
    std::map<std::string, BlobCheck> families;
    ASSERT_OK(VerifyBlobs(folder_ + "/db", &families));
    ASSERT_EQ(1u, families.size());
    const BlobCheck& check = families.begin()->second;
    EXPECT_EQ(0u, check.problem_count)
        << (check.problems.empty() ? std::string() : check.problems.front());
  }

  // When all is in the last level nothing is hidden: the estimate is what files take.
  static void CheckBound(const BlobHybridStats& stats, double bound) {
    if (bound > 0) {
      EXPECT_LE(static_cast<double>(stats.space_amplification_percent), bound * 100)
          << stats.ToString();
    }
  }

  void Check() {
    if (shared_->acknowledged > 0) {  // or there may be no database yet
      VerifyFiles();
      if (!HasFailure() && random_() % 2 == 0) {
        CheckWithoutPlugin();
      }
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
    CheckBound(stats, HybridOptions(seed).max_space_amplification);
    CheckFiles(db.get());
    db.reset();
    VerifyFiles();
  }

  static constexpr uint64_t kMoreRounds = 40;

  std::mt19937_64 random_;
  std::string folder_;
  Shared* shared_;
  Model model_;
  uint64_t kills_ = 0;
  uint64_t at_point_ = 0;
};

class BlobKillTest : public testing::WithParamInterface<int>, public KillTest {
 protected:
  BlobKillTest() : KillTest(std::to_string(GetParam())) {}

  std::string PointName() const { return kPoints[GetParam()].name; }

  // At the point, if it comes to it soon enough: sooner and later each time that none has.
  void RunOnce(uint64_t round) {
    const std::string point = PointName();
    const bool often = point.find("AddRecord") != std::string::npos;
    const uint64_t late = at_point_ == 0 ? round + 1 : 1;
    const uint64_t hits = 1 + random_() % ((often ? 5000 : 100) / late + 1);
    const uint64_t most =
        point.empty() ? random_() % 600000 : 1000000 * std::min<uint64_t>(late, 10);
    bool itself = false;
    RunAndKill({"--child", folder_, std::to_string(random_()), point, std::to_string(hits)}, most,
               &itself);
    at_point_ += itself ? 1 : 0;
  }
};

TEST_P(BlobKillTest, EveryAcknowledgedChangeIsThere) {
  Repeat(1, !PointName().empty(), [this](uint64_t round) { RunOnce(round); });
}

std::string NameOf(int point) {
  std::string name = kPoints[point].name;
  name = name.empty() ? "Anywhere" : name.substr(name.find("::") + 1);
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return isalnum(c) == 0; }),
             name.end());
  return name;
}

INSTANTIATE_TEST_CASE_P(Points, BlobKillTest, testing::Range(0, kPointCount),
                        [](const auto& each) { return NameOf(each.param); });

using Step = std::tuple<int, Work>;

class BlobStepTest : public testing::WithParamInterface<Step>, public KillTest {
 protected:
  BlobStepTest()
      : KillTest(std::to_string(std::get<0>(GetParam())) + "-" +
                 std::to_string(NumberOf(std::get<1>(GetParam())))) {}

  static int NumberOf(Work work) { return static_cast<int>(work); }
  int WorkNumber() const { return NumberOf(std::get<1>(GetParam())); }

  // At the first, second or third time that a compaction comes to the point.
  void RunOnce(uint64_t round) {
    const Point& point = kPoints[std::get<0>(GetParam())];
    const bool files = point.part == Part::kCall || round % 2 == 0;
    const uint64_t moved = shared_->moved;
    const uint64_t merged = shared_->merged;
    bool itself = false;
    RunAndKill({"--step", folder_, std::to_string(random_()), point.name,
                std::to_string(1 + round % 3), std::to_string(WorkNumber()), files ? "1" : "0"},
               kDeadline, &itself);
    ASSERT_TRUE(itself) << "no compaction came to the point";
    at_point_++;
    if (point.part == Part::kInstall) {
      const bool collects = std::get<1>(GetParam()) == Work::kCollect;
      EXPECT_EQ(collects, shared_->moved > moved);
      EXPECT_EQ(!collects, shared_->merged > merged);
    }
  }

 private:
  static constexpr uint64_t kDeadline = 120 * 1000 * 1000;
};

TEST_P(BlobStepTest, ChildDiesInTheCompaction) {
  Repeat(3, true, [this](uint64_t round) { RunOnce(round); });
}

// Those that each compaction of a kind comes to: merges write no blob files.
std::vector<Step> AllSteps() {
  std::vector<Step> steps;
  for (int point = 0; point < kPointCount; point++) {
    for (const Work work : {Work::kCollect, Work::kMerge, Work::kMergeAbove}) {
      const Part part = kPoints[point].part;
      if (part != Part::kAny && (part != Part::kBlobs || work == Work::kCollect)) {
        steps.emplace_back(point, work);
      }
    }
  }
  return steps;
}

std::string NameOfStep(const testing::TestParamInfo<Step>& each) {
  const char* const names[] = {"Collect", "Merge", "MergeAbove"};
  return NameOf(std::get<0>(each.param)) + names[static_cast<int>(std::get<1>(each.param))];
}

INSTANTIATE_TEST_CASE_P(Steps, BlobStepTest, testing::ValuesIn(AllSteps()), NameOfStep);

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  if (argc == 6 && std::string(argv[1]) == "--child") {
    return rocktier::ChildMain(argv[2], strtoull(argv[3], nullptr, 10), argv[4], atoi(argv[5]));
  }
  if (argc == 8 && std::string(argv[1]) == "--step") {
    return rocktier::StepMain(argv[2], strtoull(argv[3], nullptr, 10), argv[4], atoi(argv[5]),
                              static_cast<rocktier::Work>(atoi(argv[6])), atoi(argv[7]) != 0);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
