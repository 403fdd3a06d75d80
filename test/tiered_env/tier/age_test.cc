// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Placement by age. The clock that the plugin sees is set, and so are the times of files.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "plugin/tiered_env/files/clock.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kDay = 24 * 60 * 60;  // seconds
constexpr auto kPatience = std::chrono::seconds(60);

class TieredAgeTest : public TieredTest {
 protected:
  TieredAgeTest() {
    SyncPoint::GetInstance()->SetCallBack(
        "SecondsSince1970", [this](void* now) { *static_cast<uint64_t*>(now) += later_.load(); });
    SyncPoint::GetInstance()->EnableProcessing();
  }
  ~TieredAgeTest() override {
    db_.reset();
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }
  Options WithBlobs() const {
    Options options = DbOptions();
    options.enable_blob_files = true;
    options.min_blob_size = 50;
    options.disable_auto_compactions = true;
    return options;
  }
  // One more blob file and SST.
  void Flush() {
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  // A flush makes the mover look.
  void ComeLater(uint64_t seconds) {
    later_ += seconds;
    Flush();
    Settle();
  }
  // The tiers of files of a kind, the oldest first, each by its first letter.
  std::string TiersOf(const std::string& end) const {
    std::vector<std::string> names = FilesOf(end);
    std::sort(names.begin(), names.end());
    std::string tiers;
    for (const std::string& name : names) {
      tiers += TierOf(name)[0];
    }
    return tiers;
  }
  // When a file was written, as whoever asks the FileSystem sees it.
  uint64_t TimeOf(const std::string& base) const {
    uint64_t time = 0;
    EXPECT_OK(fs_->GetFileModificationTime(db_name_ + "/" + base, IOOptions(), &time, nullptr));
    return time;
  }

  std::atomic<uint64_t> later_{0};  // seconds
};

TEST_F(TieredAgeTest, BlobFilesThatAreOldGo) {
  NewFs(Tiers(), "older:7d/blob=slow;blob=fast;0..=fast");
  Open(WithBlobs());
  Flush();
  Flush();
  Settle();
  EXPECT_EQ(TiersOf(".blob"), "ff");
  ComeLater(7 * kDay - 100);
  EXPECT_EQ(TiersOf(".blob"), "fff") << "not yet";
  ComeLater(200);
  EXPECT_EQ(TiersOf(".blob"), "ssff") << "the third is of a time 200 s ago";
  EXPECT_EQ(TiersOf(".sst"), "ffff") << "the rule is of blob files";
  Verify();
  const uint64_t moves = Moves();
  Flush();
  ExpectQuiet();
  EXPECT_EQ(Moves(), moves) << "what was moved is as old as before";
}

// By the times of the files: no clock was set back.
TEST_F(TieredAgeTest, AgesAreKeptByMovesAndSeenAgainByTheNextProcess) {
  const std::string rules = "older:7d/blob=slow;blob=fast";
  NewFs(Tiers(), rules);
  Open(WithBlobs());
  Flush();
  Settle();
  const std::string base = FilesOf(".blob")[0];
  Close();
  const uint64_t old = SecondsSince1970() - 8 * kDay;
  timespec times[2] = {};
  times[0].tv_sec = times[1].tv_sec = static_cast<time_t>(old);
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath("fast"))) {
    if (entry.path().filename().string().rfind(base, 0) == 0) {
      ASSERT_EQ(utimensat(AT_FDCWD, entry.path().c_str(), times, 0), 0);
      found++;
    }
  }
  ASSERT_EQ(found, 1u);
  for (int i = 0; i < 3; i++) {
    NewFs(Tiers(), rules);
    Open(WithBlobs());
    Settle();
    EXPECT_EQ(TierOf(base), "slow");
    EXPECT_EQ(TimeOf(base), old);
    EXPECT_EQ(Moves(), i == 0 ? 1u : 0u);
    Verify();
  }
  NewFs(Tiers(), "");  // home, too
  Open(WithBlobs());
  Settle();
  EXPECT_EQ(TierOf(base), "home");
  EXPECT_EQ(TimeOf(base), old);
  Verify();
}

TEST_F(TieredAgeTest, SstsThatAreOldGoWhereverTheyAre) {
  NewFs(Tiers(), "older:12h=slow;0..=fast");
  Open(WithBlobs());
  Flush();
  Settle();
  EXPECT_EQ(TiersOf(".sst") + TiersOf(".blob"), "fh");
  ComeLater(kDay);
  EXPECT_EQ(TiersOf(".sst"), "sf");
  EXPECT_EQ(TiersOf(".blob"), "sh");
  // What a compaction has written is new.
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Settle();
  EXPECT_EQ(TiersOf(".sst"), "f");
  Verify();
}

TEST_F(TieredAgeTest, OldOnesOfSomeLevels) {
  NewFs(Tiers(), "older:30m/1..=slow;0..=fast");
  Open(WithBlobs());
  Flush();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ComeLater(kDay);
  later_ += kDay;
  Flush();
  Settle();
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L0 fast", 2}, {"L1 slow", 1}}));
  Verify();
}

// Nothing else happens that would make the mover look.
TEST_F(TieredAgeTest, TheMoverLooksByItself) {
  NewFs(Tiers(), "older:2s/blob=slow;blob=fast");
  Open(WithBlobs());
  Flush();
  ASSERT_OK(WaitForMoves(fs_.get()));
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (TiersOf(".blob") != "s" && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(TiersOf(".blob"), "s");
  Verify();
}

// A file whose time is in the future is new.
TEST_F(TieredAgeTest, AClockThatWasSetBack) {
  NewFs(Tiers(), "older:1d/blob=slow;blob=fast");
  later_ = 100 * kDay;
  Open(WithBlobs());
  Flush();
  Settle();
  later_ = 0;
  Flush();
  Settle();
  EXPECT_EQ(TiersOf(".blob"), "ff");
  Verify();
}

class NoTimes : public FileSystemWrapper {
 public:
  NoTimes() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "NoTimes"; }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& /*options*/,
                                   uint64_t* /*time*/, IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported(path, "has no time");
  }
};

// It is not taken for a file that is lost.
TEST_F(TieredAgeTest, AFileWithoutATimeIsNew) {
  target_ = std::make_shared<NoTimes>();
  for (int i = 0; i < 2; i++) {
    NewFs(Tiers(), "older:1d=slow;blob=fast;0..=fast");
    Open(WithBlobs());
    Flush();
    ExpectQuiet();
    const std::string all(static_cast<size_t>(i) + 1, 'f');
    EXPECT_EQ(TiersOf(".blob") + TiersOf(".sst"), all + all);
    EXPECT_EQ(FilesIn("fast"), 2 * all.size());
    Verify();
  }
}

TEST_F(TieredAgeTest, OldBlobFilesCannotBeInMemory) {
  TieredOptions options;
  options.tiers = Tiers() + ";memory={kind=memory;path=" + folder_ + "/memory}";
  options.placement = "older:1h/blob=memory;blob=fast";
  std::shared_ptr<FileSystem> result;
  const Status s = NewTieredFileSystem(options, FileSystem::Default(), &result);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("blob=memory"), std::string::npos) << s.ToString();
}

}  // namespace

}  // namespace rocktier
