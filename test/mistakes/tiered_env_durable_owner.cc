// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Homes that are not what opened the tiers last, and tiers that are not what the home had.

#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/stub.h"
#include "test/mistakes/samples.h"
#include "test/mistakes/tiered_env_durable.h"
#include "test/tiered_env/support/hooks.h"
#include "test_util/sync_point.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "ROCKTIER_TEST_FOLDER";
constexpr char kNoNamespace[] = "no mount namespace";

class OwnerMistakes : public DurableMistakes {
 protected:
  void Copy(const std::string& from, const std::string& to) const {
    fs::copy(folder_ + "/" + from, folder_ + "/" + to, fs::copy_options::recursive);
  }
  void Rename(const std::string& from, const std::string& to) const {
    fs::rename(folder_ + "/" + from, folder_ + "/" + to);
  }
  void Adopt(bool force, bool adopted) {
    NewFs(Tiers(), kPlacement);
    TieredAdoption adoption;
    ASSERT_OK(AdoptTiers(fs_.get(), db_name_, force, &adoption));
    EXPECT_EQ(adoption.adopted, adopted);
  }
  std::string Exchanged() const {
    return "fast={path=" + TierPath("slow") + "};slow={path=" + TierPath("fast") + "}";
  }
  void ExpectNothingRepaired(const std::string& tiers) {
    NewFs(tiers, kPlacement);
    const auto before = Everything();
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
    EXPECT_GT(check.problems.size(), 0u);
    EXPECT_TRUE(Everything() == before);
  }
  // Files in this tier cannot be made.
  std::function<IOStatus(const std::string& path)> NoneIn(const std::string& tier) const {
    return [start = TierPath(tier)](const std::string& path) {
      return path.compare(0, start.size(), start) == 0 ? IOStatus::IOError(path, "injected")
                                                       : IOStatus::OK();
    };
  }
  // What a test of OtherNamespace says.
  std::string SaidElsewhere(const std::string& test) const {
    const std::string filter = "--gtest_filter=OtherNamespace.DISABLED_" + test;
    const char* arguments[] = {"mistakes_tiered_env", filter.c_str(),
                               "--gtest_also_run_disabled_tests", nullptr};
    EXPECT_EQ(setenv(kFolder, folder_.c_str(), 1), 0);
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
              0);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    const std::string said = ReadFile(folder_ + "/said");
    fs::remove(folder_ + "/said");
    return said;
  }
  std::set<std::string> PathsInTiers() const {
    std::set<std::string> result;
    for (const char* tier : {"fast", "slow"}) {
      for (const auto& entry : fs::recursive_directory_iterator(TierPath(tier))) {
        result.insert(entry.path().string());
      }
    }
    return result;
  }
  // As another home's opening would have left the folder there.
  void GiveAway(const std::string& tier) const {
    const std::string path = FolderIn(tier) + "/OWNER";
    Identity identity;
    ASSERT_OK(Identity::Decode(ReadFile(path), path, &identity));
    identity.opening = NewOpening(identity.opening);
    WriteFile(path, identity.Encode());
  }
  // As the first version wrote it.
  void MakeOld(const std::string& path) const {
    Identity identity;
    ASSERT_OK(Identity::Decode(ReadFile(path), path, &identity));
    identity.version = 1;
    WriteFile(path, identity.Encode());
  }
  void MakeAllOld() const {
    MakeOld(db_name_ + "/TIERS");
    for (const std::string tier : {"fast", "slow"}) {
      MakeOld(FolderIn(tier) + "/OWNER");
      fs::remove(FolderIn(tier) + "/LOCK");
    }
  }
};

// A new tier gets its folder late, and TIERS cannot be written then. Nothing goes to the tier
// before it is: a later opening may be without the disk, and goes on with what TIERS says.
TEST_F(OwnerMistakes, ATierOfWhichTiersDoesNotKnow) {
  NewFs("slow={path=" + TierPath("slow") + "}", "0..=slow");
  Open();
  ASSERT_FALSE(HasFailure());
  Fill(100);
  Close();
  SyncPoint::GetInstance()->SetCallBack("Tier::Failed:Pause",
                                        [](void* pause) { *static_cast<int64_t*>(pause) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  const auto hooks = std::make_shared<HookedFs>();
  bool fails = false;
  hooks->before_create = NoneIn("fast");
  hooks->before_rename = [&](const std::string&, const std::string& to) {
    return fails && to == db_name_ + "/TIERS" ? IOStatus::IOError(to, "injected") : IOStatus::OK();
  };
  TieredOptions tiered;
  tiered.tiers = Tiers();
  tiered.placement = "0..=fast";
  tiered.mover = false;
  tiered.metrics_interval = 0;
  env_.reset();
  ASSERT_OK(NewTieredFileSystem(tiered, hooks, &fs_));
  env_ = NewCompositeEnv(fs_);
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  ASSERT_FALSE(HasFailure());
  hooks->before_create = nullptr;
  const uint64_t errors = StatsOf("fast").errors;  // when it was opened
  for (const bool once : {true, false}) {
    fails = once;
    Fill(100);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(Census()["L0 fast"], once ? 0 : 1);
    EXPECT_EQ(StatsOf("fast").errors, errors);
  }
  SyncPoint::GetInstance()->DisableProcessing();
  Close();
  Rename("fast", "away");
  TryOpen(Tiers(), "0..=fast").PermitUncheckedError();  // its SST is lost
  Close();
  Rename("away", "fast");
  ExpectWhole(Tiers(), "0..=fast");
}

// The OWNER there has the id of an earlier opening then, and TIERS must go on to know it.
TEST_F(OwnerMistakes, AHomeThatIsRenamedWhileATierCannotBeWritten) {
  FillTiers();
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  hooks->before_create = NoneIn("fast");
  ASSERT_OK(TryOpen(Tiers()));
  Close();
  const std::string renamed = folder_ + "/renamed";
  ASSERT_OK(fs_->RenameFile(db_name_, renamed, IOOptions(), nullptr));
  hooks->before_create = nullptr;
  db_name_ = renamed;
  ExpectWhole(Tiers());
}

TEST_F(OwnerMistakes, AnEarlierStateOfTheHome) {
  FillTiers();
  Copy("db", "copy");
  ASSERT_OK(TryOpen(Tiers()));
  Fill(500);
  Close();
  Rename("db", "newest");
  Rename("copy", "db");
  ExpectRefused(Tiers(), {db_name_, "rocktier tier adopt"});
  EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
  EXPECT_FALSE(RepairDB(db_name_, DbOptions()).ok());
  uint64_t moved;
  EXPECT_FALSE(EvacuateTiers(fs_.get(), db_name_, &moved).ok());
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  EXPECT_GT(check.problems.size(), 0u);
  Rename("db", "copy");
  Rename("newest", "db");
  ExpectWhole(Tiers());
}

TEST_F(OwnerMistakes, ACopyThatWasOpenedFirst) {
  FillTiers();
  Copy("db", "copy");
  Rename("db", "away");  // a host that does not see it
  db_name_ = folder_ + "/copy";
  ExpectWhole(Tiers());
  db_name_ = folder_ + "/away";
  ExpectRefused(Tiers(), {"copy"});
  fs::remove_all(folder_ + "/copy");
  ExpectRefused(Tiers(), {"rocktier tier adopt"});
}

TEST_F(OwnerMistakes, AdoptingSaysWhatWouldBeLost) {
  FillTiers();
  Copy("db", "copy");
  ASSERT_OK(TryOpen(Tiers()));
  Fill(20000);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Settle();
  Close();
  Rename("db", "newest");
  Rename("copy", "db");
  NewFs(Tiers(), kPlacement);
  TieredAdoption adoption;
  const auto before = Everything();
  ASSERT_OK(AdoptTiers(fs_.get(), db_name_, /*force=*/false, &adoption));
  EXPECT_FALSE(adoption.adopted);
  EXPECT_GT(adoption.missing.size(), 0u);
  EXPECT_GT(adoption.unnamed.size(), 0u);
  EXPECT_TRUE(Everything() == before);
  Rename("db", "copy");
  Rename("newest", "db");
  ExpectWhole(Tiers());
}

// A disk that is full, as it were. What can be adopted is, and another run does the rest.
TEST_F(OwnerMistakes, ATierThatCannotBeAdoptedYet) {
  FillTiers();
  GiveAway("fast");
  GiveAway("slow");
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  hooks->before_create = NoneIn("fast");
  ExpectRefused(Tiers(), {"rocktier tier adopt"});
  NewFs(Tiers(), kPlacement);
  TieredAdoption adoption;
  const Status s = AdoptTiers(fs_.get(), db_name_, /*force=*/false, &adoption);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("tier fast (" + TierPath("fast") + "): IO error: "),
            std::string::npos)
      << s.ToString();
  EXPECT_EQ(s.ToString().find("tier slow ("), std::string::npos) << s.ToString();
  EXPECT_FALSE(adoption.adopted);
  ExpectRefused(Tiers(), {TierPath("fast"), "rocktier tier adopt"});
  hooks->before_create = nullptr;
  Adopt(/*force=*/false, /*adopted=*/true);
  ExpectWhole(Tiers());
}

// A folder that was the home's stays so, whether it can be written to or not.
TEST_F(OwnerMistakes, ATierThatNeedsNoAdoption) {
  FillTiers();
  GiveAway("slow");
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  hooks->before_create = NoneIn("fast");
  ExpectRefused(Tiers(), {TierPath("slow"), "rocktier tier adopt"});
  Adopt(/*force=*/false, /*adopted=*/true);
  ExpectWhole(Tiers());
  hooks->before_create = nullptr;
  ExpectWhole(Tiers());
}

TEST_F(OwnerMistakes, AnotherHostHasItOpen) {
  FillTiers();
  Copy("db", "copy");
  ASSERT_OK(TryOpen(Tiers()));
  const std::shared_ptr<FileSystem> first_fs = fs_;
  const std::unique_ptr<Env> first_env = std::move(env_);
  std::unique_ptr<DB> first = std::move(db_);
  Rename("db", "elsewhere");  // where the second one does not see it
  const std::string name = db_name_;
  db_name_ = folder_ + "/copy";
  const Status s = TryOpen(Tiers());
  EXPECT_TRUE(s.IsBusy()) << s.ToString();
  EXPECT_NE(s.ToString().find("is open in another process"), std::string::npos) << s.ToString();
  Rename("elsewhere", "db");
  first.reset();
  db_name_ = name;
  ExpectWhole(Tiers());
  db_name_ = folder_ + "/copy";
  EXPECT_FALSE(TryOpen(Tiers()).ok());
}

// Another host, as it were, that shares the tiers: where the database is it has the copy. `work`
// gets a FileSystem and the path of the database. Says in a file what comes of it.
void WorkElsewhere(
    const std::function<Status(const std::shared_ptr<FileSystem>&, const std::string&)>& work) {
  const char* const folder = getenv(kFolder);
  ASSERT_NE(folder, nullptr);
  const std::string base = folder;
  const std::string name = base + "/db";
  std::string said = kNoNamespace;
  if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      mount((base + "/copy").c_str(), name.c_str(), nullptr, MS_BIND, nullptr) == 0) {
    TieredOptions tiered;
    tiered.tiers = "fast={path=" + base + "/fast};slow={path=" + base + "/slow}";
    tiered.placement = "0..1=fast;2..=slow";
    std::shared_ptr<FileSystem> file_system;
    ASSERT_OK(NewTieredFileSystem(tiered, nullptr, &file_system));
    said = work(file_system, name).ToString();
  }
  WriteFile(base + "/said", said);
}

// Started by the tests below.
TEST(OtherNamespace, DISABLED_Opens) {
  WorkElsewhere([](const std::shared_ptr<FileSystem>& file_system, const std::string& name) {
    const std::unique_ptr<Env> env = NewCompositeEnv(file_system);
    Options options;
    options.env = env.get();
    std::unique_ptr<DB> db;
    return OpenDb(options, name, &db);
  });
}

TEST(OtherNamespace, DISABLED_Repairs) {
  WorkElsewhere([](const std::shared_ptr<FileSystem>& file_system, const std::string& name) {
    TieredCheck check;
    return CheckTiers(file_system.get(), name, /*repair=*/true, &check);
  });
}

// By the same path.
TEST_F(OwnerMistakes, AnotherMountNamespaceHasACopyOfIt) {
  FillTiers();
  Copy("db", "copy");
  ASSERT_OK(TryOpen(Tiers()));
  std::string said = SaidElsewhere("Opens");
  if (said == kNoNamespace) {
    ROCKTIER_SKIP(said);
  }
  EXPECT_NE(said.find("is open in another process, or on another host"), std::string::npos) << said;
  Fill(500);
  Close();
  said = SaidElsewhere("Opens");
  EXPECT_NE(said.find("is not what opened its folder"), std::string::npos) << said;
  ExpectWhole(Tiers());
}

// The copy was made of the open database: its TIERS knows the id of the opening.
TEST_F(OwnerMistakes, AnotherMountNamespaceRepairsACopyOfIt) {
  target_ = FileSystem::Default();  // without a statistics file, which comes and goes
  FillTiers();
  ASSERT_OK(TryOpen(Tiers()));
  Settle();
  Copy("db", "copy");
  Fill(5000);
  Settle();
  const auto before = PathsInTiers();
  const std::string said = SaidElsewhere("Repairs");
  if (said == kNoNamespace) {
    ROCKTIER_SKIP(said);
  }
  EXPECT_NE(said.find("is open in another process, or on another host"), std::string::npos) << said;
  EXPECT_EQ(PathsInTiers(), before);
  fs::remove(folder_ + "/copy/TIERS");  // which would be written anew
  EXPECT_EQ(SaidElsewhere("Repairs"), "OK");
  EXPECT_FALSE(fs::exists(folder_ + "/copy/TIERS"));
  EXPECT_EQ(PathsInTiers(), before);
  Verify();
  Close();
  ExpectWhole(Tiers());
}

// Its newest log seems to be another home's.
TEST_F(OwnerMistakes, ACopyOfAnOpenDatabaseIsNotAdopted) {
  target_ = FileSystem::Default();
  const std::string placement = std::string(kPlacement) + ";wal=fast";
  FillTiers(placement);
  ASSERT_OK(TryOpen(Tiers(), placement));
  Settle();
  Copy("db", "copy");
  Fill(500);
  Settle();
  Fill(200);
  const auto before = PathsInTiers();
  TieredOptions tiered;
  tiered.tiers = Tiers();
  tiered.placement = placement;
  std::shared_ptr<FileSystem> other;
  ASSERT_OK(NewTieredFileSystem(tiered, nullptr, &other));
  TieredAdoption adoption;
  const Status s = AdoptTiers(other.get(), folder_ + "/copy", /*force=*/true, &adoption);
  EXPECT_TRUE(s.IsBusy()) << s.ToString();
  EXPECT_FALSE(adoption.adopted);
  EXPECT_EQ(PathsInTiers(), before);
  Verify();
  Close();
  ExpectWhole(Tiers(), placement);
}

TEST_F(OwnerMistakes, AnEmptyMountPoint) {
  for (const bool with_files : {true, false}) {
    const std::string placement = with_files ? kPlacement : "0..=fast";
    model_.clear();
    FillTiers(placement);
    EXPECT_EQ(FilesIn("slow") > 0, with_files);
    Rename("slow", "away");
    fs::create_directory(TierPath("slow"));
    ExpectRefused(Tiers(), {"slow", TierPath("slow"), "Mount the tier's disk", "tier adopt"},
                  placement);
    EXPECT_TRUE(fs::is_empty(TierPath("slow")));
    Adopt(/*force=*/false, /*adopted=*/!with_files);
    if (with_files) {
      EXPECT_TRUE(fs::is_empty(TierPath("slow")));
    }
    if (with_files) {
      fs::remove(TierPath("slow"));
      Rename("away", "slow");
    }
    ExpectWhole(Tiers(), placement);
    fs::remove_all(folder_ + "/away");
    NewFs(Tiers(), placement);
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    EXPECT_TRUE(fs::is_empty(TierPath("slow")));
    EXPECT_TRUE(fs::is_empty(TierPath("fast")));
  }
}

TEST_F(OwnerMistakes, PathsThatChangedPlaces) {
  for (const bool old : {false, true}) {
    model_.clear();
    FillTiers();
    if (old) {
      MakeAllOld();
    }
    ExpectRefused(Exchanged(), {old ? "is lost" : "changed places"});
    ExpectNothingRepaired(Exchanged());
    ExpectWhole(Tiers());
    NewFs(Tiers(), kPlacement);
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  }
}

// Its newest SST seems to be nobody's then.
TEST_F(OwnerMistakes, NothingIsRepairedForAnEarlierState) {
  FillTiers();
  Copy("db", "copy");
  ASSERT_OK(TryOpen(Tiers()));
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  Rename("db", "newest");
  Rename("copy", "db");
  ExpectNothingRepaired(Tiers());
  Rename("db", "copy");
  Rename("newest", "db");
  ExpectWhole(Tiers());
}

TEST_F(OwnerMistakes, ATierThatIsTakenOutAndComesBack) {
  FillTiers("0..=fast");
  const std::string fast = "fast={path=" + TierPath("fast") + "}";
  ExpectWhole(fast, "0..=fast");
  ExpectWhole(fast, "0..=fast");
  ExpectWhole(Tiers());
  NewFs(Tiers(), kPlacement);
  uint64_t moved;
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "slow", &moved));
  fs::remove_all(TierPath("slow"));
  fs::create_directory(TierPath("slow"));  // a new device
  ExpectWhole(Tiers());
}

// The newest one has used the tier, and the earlier one was opened without. What it has there is
// still the newest one's.
TEST_F(OwnerMistakes, ATierThatReturnsWhileAnEarlierStateIsOpen) {
  const std::string slow = "slow={path=" + TierPath("slow") + "}";
  const std::string placement = "0..=slow;blob=slow";
  NewFs(slow, placement);
  Open();
  ASSERT_FALSE(HasFailure());
  Fill(2000);
  Settle();
  Close();
  Copy("db", "copy");
  ExpectWhole(slow, placement);
  Rename("db", "newest");
  Rename("copy", "db");
  Rename("slow", "away");
  SyncPoint::GetInstance()->SetCallBack("Tier::Failed:Pause",
                                        [](void* pause) { *static_cast<int64_t*>(pause) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  NewFs(slow, placement);
  FileLock* lock = nullptr;
  ASSERT_OK(env_->LockFile(db_name_ + "/LOCK", &lock));
  Rename("away", "slow");
  const std::string owner = FolderIn("slow") + "/OWNER";
  const std::string before = ReadFile(owner);
  const size_t files = FilesIn("slow");
  EXPECT_OK(WriteStringToFile(env_.get(), std::string(10000, 'b'), db_name_ + "/000999.blob"));
  EXPECT_EQ(TierOf("000999.blob"), "home");
  EXPECT_EQ(ReadFile(owner), before);
  EXPECT_OK(env_->DeleteFile(db_name_ + "/" + OneIn("slow")));
  EXPECT_EQ(FilesIn("slow"), files);
  ASSERT_OK(env_->UnlockFile(lock));
  SyncPoint::GetInstance()->DisableProcessing();
  Rename("db", "copy");
  Rename("newest", "db");
  ExpectWhole(slow, placement);
}

// What another database below the home has the stub of is not deleted with the tier's folder, and a
// dry run knows it.
TEST_F(OwnerMistakes, ADatabaseBelowTheHomeWithOurFolder) {
  FillTiers();
  const std::string name = OneIn("slow");
  Stub stub;
  ASSERT_OK(Stub::Decode(ReadFile(db_name_ + "/" + name), name, &stub));
  const std::string path = TierPath("slow") + "/" + stub.path;
  stub.path = stub.path.substr(0, stub.path.rfind('/')) + "/000999.sst.0123456789abcdef";
  const std::string precious = TierPath("slow") + "/" + stub.path;
  fs::copy(path, precious);
  const std::string content = ReadFile(precious);
  fs::create_directory(db_name_ + "/below");
  WriteFile(db_name_ + "/below/000999.sst", stub.Encode());
  fs::copy(db_name_ + "/TIERS", db_name_ + "/below/TIERS");
  for (const bool dry_run : {true, false}) {
    NewFs(Tiers(), kPlacement);
    uint64_t moved;
    for (const Status& s : {EvacuateTiers(fs_.get(), db_name_, &moved, nullptr, dry_run),
                            DrainTier(fs_.get(), db_name_, "slow", &moved, nullptr, dry_run)}) {
      EXPECT_TRUE(s.IsBusy()) << s.ToString();
      EXPECT_NE(s.ToString().find("is still named by a stub"), std::string::npos) << s.ToString();
    }
    EXPECT_TRUE(ReadFile(precious) == content);
  }
  fs::remove_all(db_name_ + "/below");
  uint64_t moved;
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved, nullptr, /*dry_run=*/true));
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
  EXPECT_FALSE(fs::exists(precious));
}

// Whenever an opening is interrupted, the next one is the same home's.
TEST_F(OwnerMistakes, AnOpeningThatIsInterrupted) {
  FillTiers();
  for (const char* point : {"Folders::Renew:BeforeOwners", "Folders::Renew:AfterOwners"}) {
    SyncPoint::GetInstance()->SetCallBack(point, [&](void*) {
      for (const char* part : {"db", "fast", "slow"}) {
        Copy(part, std::string("then-") + part);
      }
    });
    SyncPoint::GetInstance()->EnableProcessing();
    ExpectWhole(Tiers());
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    for (const char* part : {"db", "fast", "slow"}) {
      fs::remove_all(folder_ + "/" + part);
      Rename(std::string("then-") + part, part);
    }
    ExpectWhole(Tiers());
  }
}

// What it was doing is known when the tier is there again.
TEST_F(OwnerMistakes, AnOpeningThatIsInterruptedBeforeATierIsTakenOut) {
  const std::string fast = "fast={path=" + TierPath("fast") + "}";
  for (const bool first : {true, false}) {
    if (first) {  // without tiers
      NewFs("", "");
      Open();
      Fill(2000);
      Close();
    }
    SyncPoint::GetInstance()->SetCallBack("Folders::Renew:AfterOwners", [&](void*) {
      for (const char* part : {"db", "fast", "slow"}) {
        Copy(part, std::string("then-") + part);
      }
    });
    SyncPoint::GetInstance()->EnableProcessing();
    ExpectWhole(Tiers(), "0..=fast");
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    for (const char* part : {"db", "fast", "slow"}) {
      fs::remove_all(folder_ + "/" + part);
      Rename(std::string("then-") + part, part);
    }
    ExpectWhole(fast, "0..=fast");
    ExpectWhole(fast, "0..=fast");
    ExpectWhole(Tiers(), "0..=fast");
  }
}

TEST_F(OwnerMistakes, ARenamedHome) {
  FillTiers();
  Rename("db", "renamed");
  db_name_ = folder_ + "/renamed";
  ExpectWhole(Tiers());
  Copy("renamed", "copy");
  db_name_ = folder_ + "/copy";
  ExpectRefused(Tiers(), {"is a copy of " + folder_ + "/renamed"});
  db_name_ = folder_ + "/renamed";
  ExpectWhole(Tiers());
}

TEST_F(OwnerMistakes, HomesOfTheFirstVersion) {
  FillTiers();
  MakeAllOld();
  Copy("db", "copy");
  EXPECT_FALSE(TryOpen(Exchanged()).ok());
  ExpectWhole(Tiers());
  ExpectRefused(Exchanged(), {"changed places"});
  // A copy from before is not what opened it last.
  Rename("db", "away");
  db_name_ = folder_ + "/copy";
  ExpectRefused(Tiers(), {"rocktier tier adopt"});
  db_name_ = folder_ + "/away";
  ExpectWhole(Tiers());
}

// Written by the first version: 300 records in an SST and a log.
TEST_F(OwnerMistakes, ADatabaseThatTheFirstVersionWrote) {
  fs::remove_all(TierPath("fast"));
  fs::remove_all(TierPath("slow"));
  const std::string data = SamplePath("tiered_env_v1.tar.gz");
  ASSERT_EQ(system(("tar -xzf '" + data + "' -C '" + folder_ + "'").c_str()), 0);
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(TryOpen(Tiers(), "0..1=fast;2..=slow;wal=fast"));
    ASSERT_OK(db_->VerifyChecksum());
    int count = 0;
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      count++;
    }
    ASSERT_OK(it->status());
    EXPECT_EQ(count, 300);
    it.reset();
    Close();
  }
}

}  // namespace

}  // namespace rocktier
