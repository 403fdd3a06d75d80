// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Whatever a power failure leaves of the names at home, what they lead to is there. So is what a
// MANIFEST names.

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/support/power_fs.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class DurableNamesTest : public TieredTest {
 protected:
  DurableNamesTest() {
    power_ = std::make_shared<PowerFs>(folder_ + "/attic");
    target_ = power_;
  }
  ~DurableNamesTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }

  static void At(const char* point, const std::function<void(void*)>& callback) {
    SyncPoint::GetInstance()->SetCallBack(point, callback);
    SyncPoint::GetInstance()->EnableProcessing();
  }
  void CloseFs() {
    db_.reset();
    env_.reset();
    fs_.reset();
  }
  // Returns the path, in the folder of a tier, of a live SST.
  std::string FindLive(const std::string& tier, std::string* base) const {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath(tier))) {
      const std::string name = entry.path().filename();
      for (const LiveFileMetaData& file : files) {
        *base = file.name.substr(1);
        if (name.compare(0, base->size() + 1, *base + ".") == 0) {
          return entry.path();
        }
      }
    }
    return "";
  }
  // Files in the tiers' folders whose names are not durable.
  std::set<std::string> Pending() const {
    std::set<std::string> result;
    for (const char* tier : {"fast", "slow"}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath(tier))) {
        if (entry.is_regular_file() && !power_->IsDurable(entry.path())) {
          result.insert(entry.path());
        }
      }
    }
    return result;
  }

  std::shared_ptr<PowerFs> power_;
};

// RocksDB gives a log another name, and then needs it, whatever was synced.
TEST_F(DurableNamesTest, ARecycledLogIsThereBeforeItsStub) {
  NewFs(Tiers(), "wal=fast;0..=slow");
  Options options = DbOptions();
  options.recycle_log_file_num = 2;
  options.write_buffer_size = 64 << 10;
  std::mutex mutex;
  int recycled = 0;
  std::set<std::string> pending;
  At("TieredFileSystem::LinkPlace:AfterStub", [&](void* path) {
    const std::string& name = *static_cast<std::string*>(path);
    std::lock_guard<std::mutex> lock(mutex);
    recycled += name.find(".log.") != std::string::npos ? 1 : 0;
    if (!power_->IsDurable(name)) {
      pending.insert(name);
    }
  });
  Open(options);
  Fill(5000);
  Settle();
  Close();
  EXPECT_GT(recycled, 3);
  EXPECT_EQ(std::set<std::string>(), pending);
}

// A process is killed anywhere while it opens the database, and the machine has not noticed. The
// next one makes names at home durable: those in the tiers must be before.
TEST_F(DurableNamesTest, WhatAKilledProcessHasLeftIsThereBeforeTiers) {
  std::set<std::string> before;
  std::set<std::string> pending;
  int owners = 0;
  bool open = false;
  for (uint64_t changes = 1; !open; changes++) {
    SCOPED_TRACE(changes);
    ASSERT_LT(changes, 500u);
    NewFs(Tiers(), "wal=fast;0..=slow");
    Open();
    ASSERT_FALSE(HasFailure());
    Fill(10);
    CloseFs();
    NewFs(Tiers(), "wal=fast;0..=slow");
    power_->FailAfter(changes);
    open = OpenDb(DbOptions(), db_name_, &db_).ok();
    CloseFs();
    power_->Restart();
    before = Pending();
    for (const std::string& path : before) {
      owners += std::filesystem::path(path).filename() == "OWNER" ? 1 : 0;
    }
    NewFs(Tiers(), "wal=fast;0..=slow");
    At("Folders::Renew:BeforeOwners", [&](void*) { pending = Pending(); });
    Open();
    ASSERT_FALSE(HasFailure());
    SyncPoint::GetInstance()->DisableProcessing();
    EXPECT_EQ(std::set<std::string>(), pending);
    Verify();
    CloseFs();
  }
  EXPECT_GE(owners, 2);  // one in each tier
}

// RocksDB 9.10 writes SSTs when it replays logs, and names them before it syncs the directory.
TEST_F(DurableNamesTest, WhatWasReplayedIsThereBeforeItIsNamed) {
  NewFs(Tiers(), "0..=fast");
  Open();
  Fill(500);
  NewFs(Tiers(), "0..=fast");
  int named = 0;
  std::set<std::string> pending;
  At("SetCurrentFile:AfterRename", [&](void*) {
    named++;
    pending = Pending();
    EXPECT_GT(FilesIn("fast"), 0u);
  });
  Open();
  ASSERT_FALSE(HasFailure());
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_EQ(named, 1);
  EXPECT_EQ(std::set<std::string>(), pending);
  Verify();
}

// `rocktier tier check --repair` writes stubs, and TIERS, of what it finds in the tiers.
TEST_F(DurableNamesTest, WhatIsRepairedLeadsToWhatIsThere) {
  NewFs(Tiers(), "0..=fast");
  Open();
  Fill(5000);
  Settle();
  std::string base;
  const std::string path = FindLive("fast", &base);
  ASSERT_NE(path, "");
  Close();
  const std::string owner = std::filesystem::path(path).parent_path() / "OWNER";
  const std::map<std::string, std::string> found = {{base, path}, {"TIERS", owner}};
  for (const auto& [lost, name] : found) {
    SCOPED_TRACE(lost);
    ASSERT_OK(power_->RenameFile(name, name + "0", IOOptions(), nullptr));
    ASSERT_OK(power_->RenameFile(name + "0", name, IOOptions(), nullptr));
    ASSERT_FALSE(power_->IsDurable(name));
    ASSERT_OK(power_->DeleteFile(db_name_ + "/" + lost, IOOptions(), nullptr));
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
    EXPECT_TRUE(std::filesystem::exists(db_name_ + "/" + lost));
    EXPECT_TRUE(power_->IsDurable(name));
  }
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// The process dies when it syncs a MANIFEST, once it is armed: what was appended is not durable.
class DyingFs : public FileSystemWrapper {
 public:
  explicit DyingFs(const std::shared_ptr<PowerFs>& power)
      : FileSystemWrapper(power), power_(power) {}
  static const char* kClassName() { return "DyingFs"; }
  const char* Name() const override { return kClassName(); }

  std::atomic<bool> armed{false};

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = target_->NewWritableFile(path, options, result, dbg);
    if (s.ok() && path.find("MANIFEST-") != std::string::npos) {
      *result = std::make_unique<Manifest>(this, std::move(*result));
    }
    return s;
  }

 private:
  class Manifest : public FSWritableFileOwnerWrapper {
   public:
    Manifest(DyingFs* fs, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      if (fs_->armed) {
        fs_->power_->FailAfter(1);
      }
      return FSWritableFileOwnerWrapper::Sync(options, dbg);
    }

   private:
    DyingFs* const fs_;
  };

  const std::shared_ptr<PowerFs> power_;
};

// `rocktier tier recover --salvage` forgets what the MANIFEST does not name.
TEST_F(DurableNamesTest, ASalvageGoesByAManifestThatStays) {
  const auto dying = std::make_shared<DyingFs>(power_);
  target_ = dying;
  const std::string tiers =
      "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}";
  NewFs(tiers, "0..=memory");
  Open();
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Fill(500);
  dying->armed = true;
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  CloseFs();
  dying->armed = false;
  power_->Restart();
  std::string manifest;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    const std::string name = entry.path().filename();
    manifest = name.compare(0, 9, "MANIFEST-") == 0 ? entry.path().string() : manifest;
  }
  ASSERT_FALSE(power_->IsSynced(manifest));
  NewFs(tiers, "0..=memory");
  std::vector<std::string> given_up;
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_TRUE(power_->IsSynced(manifest));
  EXPECT_EQ(std::vector<std::string>(), given_up);
}

}  // namespace
}  // namespace rocktier
