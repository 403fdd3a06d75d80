// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A home that is not the first of DBOptions::db_paths: its SSTs have another path id in the
// MANIFEST, and are as much its own as those of the first one.

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/stub.h"
#include "test/mistakes/tiered_env_durable.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class PathMistakes : public DurableMistakes {
 protected:
  PathMistakes() : first_(folder_ + "/first") { fs::create_directory(first_); }

  // Flushes go to the first path, compactions to the second one.
  Options PathOptions() const {
    Options options = DbOptions();
    options.db_paths = {{first_, 1}, {db_name_, uint64_t{1} << 40}};
    options.disable_auto_compactions = true;
    return options;
  }
  void Compact() {
    CompactRangeOptions options;
    options.target_path_id = 1;
    ASSERT_OK(db_->CompactRange(options, nullptr, nullptr));
  }
  // With a second family, `holder_`, whose first record keeps the logs of the other one.
  void OpenMemory(const std::string& more) {
    NewFs("memory={kind=memory;path=" + TierPath("memory") + "}", "0..=memory", more);
    Options options = PathOptions();
    options.env = env_.get();
    options.create_missing_column_families = true;
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, {{kDefaultColumnFamilyName, options}, {"holder", options}},
                      &handles, result);
    }));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(handles[0]));
    holder_ = handles[1];
  }
  void CloseMemory() {
    ASSERT_OK(db_->DestroyColumnFamilyHandle(holder_));
    Close();
  }
  void LoseMemory() const { fs::remove_all(TierPath("memory")); }
  std::string Named() const { return "db_paths=" + first_; }
  // Leaves it closed, with SSTs in both paths, those at home in the tier `slow`.
  void FillPaths() {
    NewFs(Tiers(), kSlow, Named());
    Open(PathOptions());
    Fill(2000);
    Compact();
    Fill(100);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Settle();
    Close();
    ASSERT_GT(FilesIn("slow"), 0u);
  }
  // Takes the stub of an SST away, whose file is `*path`.
  std::string LoseStub(std::string* path) const {
    const std::string base = OneIn("slow");
    const std::string stub = db_name_ + "/" + base;
    Stub is;
    EXPECT_OK(Stub::Decode(ReadFile(stub), base, &is));
    *path = TierPath("slow") + "/" + is.path;
    fs::remove(stub);
    return base;
  }
  void ExpectWhole(const std::string& more) {
    NewFs(Tiers(), kSlow, more);
    Open(PathOptions());
    ASSERT_FALSE(HasFailure());
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
    Close();
  }
  // They name a file; without the option db_paths it may be another one.
  void ExpectToolsRefuse(const std::string& base) {
    uint64_t files = 0;
    uint64_t bytes = 0;
    for (const bool dry_run : {true, false}) {
      for (const Status& s : {PurgeTiers(fs_.get(), db_name_, &files, &bytes, {}, dry_run),
                              DrainTier(fs_.get(), db_name_, "slow", &files, nullptr, dry_run),
                              EvacuateTiers(fs_.get(), db_name_, &files, nullptr, dry_run)}) {
        EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
      }
    }
  }
  void ExpectReported(const std::string& base, bool repair) {
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, repair, &check));
    bool found = false;
    for (const TieredProblem& problem : check.problems) {
      found = found || (BaseOf(problem.path) == base && !problem.harmless && problem.repairable);
    }
    EXPECT_TRUE(found);
  }

  static constexpr char kSlow[] = "0..=slow";
  const std::string first_;
  ColumnFamilyHandle* holder_ = nullptr;
};

// With the option db_paths, as it should be, and without it.
TEST_F(PathMistakes, MemoryBehindAnotherPathIsRebuilt) {
  for (const std::string& more : {Named(), std::string()}) {
    SCOPED_TRACE(more);
    OpenMemory(more);
    ASSERT_FALSE(HasFailure());
    const Snapshot* const snapshot = db_->GetSnapshot();  // keeps sequence numbers
    ASSERT_OK(db_->Put(WriteOptions(), holder_, "key", "value"));
    for (int i = 0; i < 3; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Compact();
    db_->ReleaseSnapshot(snapshot);
    ASSERT_GT(FilesIn("memory"), 0u);
    CloseMemory();
    for (int i = 0; i < 3; i++) {  // an ordinary opening, and two after a reboot
      OpenMemory(more);
      ASSERT_FALSE(HasFailure());
      Verify();
      ASSERT_OK(db_->VerifyChecksum());
      CloseMemory();
      LoseMemory();
    }
    ASSERT_OK(DestroyDB(db_name_, PathOptions()));
    model_.clear();
  }
}

// The SST is kept where it is, whatever is called, until its stub is brought back.
TEST_F(PathMistakes, AStubThatIsLostBehindAnotherPath) {
  for (const std::string& more : {Named(), std::string()}) {
    SCOPED_TRACE(more);
    FillPaths();
    ASSERT_FALSE(HasFailure());
    std::string path;
    const std::string base = LoseStub(&path);
    NewFs(Tiers(), kSlow, more);
    EXPECT_FALSE(OpenDb(PathOptions(), db_name_, &db_).ok());
    Close();
    EXPECT_TRUE(fs::exists(path));
    ExpectToolsRefuse(more.empty() ? ".sst" : base);
    EXPECT_TRUE(fs::exists(path));
    ExpectReported(base, /*repair=*/false);
    ExpectReported(base, /*repair=*/true);
    ExpectWhole(more);
    NewFs(Tiers(), kSlow, Named());
    ASSERT_OK(DestroyDB(db_name_, PathOptions()));
    model_.clear();
  }
}

// As an earlier version has put it aside.
TEST_F(PathMistakes, AStubThatIsLostOfAFileInLost) {
  for (const bool behind : {true, false}) {
    SCOPED_TRACE(behind);
    if (behind) {
      FillPaths();
    } else {
      FillTiers(kSlow);
    }
    ASSERT_FALSE(HasFailure());
    std::string path;
    const std::string base = LoseStub(&path);
    const std::string lost = fs::path(path).parent_path().string() + "/lost";
    fs::create_directory(lost);
    const std::string aside = lost + "/" + fs::path(path).filename().string() + ".1000";
    fs::rename(path, aside);
    NewFs(Tiers(), kSlow, Named());
    EXPECT_FALSE(OpenDb(behind ? PathOptions() : DbOptions(), db_name_, &db_).ok());
    Close();
    EXPECT_TRUE(fs::exists(aside));  // though it is older than orphan_retention
    ExpectToolsRefuse(base);
    EXPECT_TRUE(fs::exists(aside));
    ExpectReported(base, /*repair=*/false);
    EXPECT_TRUE(fs::exists(aside));
    ExpectReported(base, /*repair=*/true);
    EXPECT_TRUE(fs::exists(path));
    if (behind) {
      ExpectWhole(Named());
    } else {
      DurableMistakes::ExpectWhole(Tiers(), kSlow);
    }
    NewFs(Tiers(), kSlow, Named());
    ASSERT_OK(DestroyDB(db_name_, behind ? PathOptions() : DbOptions()));
    model_.clear();
  }
}

}  // namespace

}  // namespace rocktier
