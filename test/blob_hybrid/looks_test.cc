// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Looks at a family: who waits for them, and what they leave to RocksDB.

#include <atomic>
#include <thread>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "plugin/blob_hybrid/family.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/faulty_fs.h"
#include "test/blob_hybrid/support.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

using rocktier::WaitFor;

// Many SSTs, which are slow to open.
class LooksTest : public HybridDb {
 protected:
  static constexpr uint64_t kSsts = 400;

  LooksTest() {
    options_.env = env_.get();
    options_.max_open_files = 20;
    options_.target_file_size_base = 1;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1;
    hybrid_.max_space_amplification = 1.2;
    hybrid_.space_floor = 0;
  }
  ~LooksTest() override {
    fs_->open_millis = 0;
    Close();
  }

  // In the last level, each with two keys, and of half of these values there are two.
  void MakeSsts() {
    OpenWithoutPlugin();
    Fill(0, 2 * kSsts, 0);
    Flush();
    Fill(0, 2 * kSsts, 1, 2);
    Flush();
    Compact();
    Close();
    LeaveToTheJob();
    Open();
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    ASSERT_GE(meta.levels.back().files.size(), kSsts);
    fs_->open_millis = 20;
  }

  // The SSTs that are opened while that goes on.
  template <typename What>
  uint64_t OpenedBy(const What& what) {
    const uint64_t before = fs_->opened;
    what();
    return fs_->opened - before;
  }

  const std::shared_ptr<FaultyFs> fs_ = std::make_shared<FaultyFs>();
  const std::unique_ptr<Env> env_ = NewCompositeEnv(fs_);
};

TEST_F(LooksTest, NeitherFlushNorCloseWaitsForTheFirstLook) {
  ASSERT_NO_FATAL_FAILURE(MakeSsts());
  Put(0, 2);
  EXPECT_LT(OpenedBy([this] { Flush(); }), kSsts / 2);
  Put(1, 2);
  EXPECT_LT(OpenedBy([this] { Flush(); }), kSsts / 2);
  EXPECT_LT(OpenedBy([this] { ASSERT_OK(db_->Close()); }), 15u)
      << "the job's piece ends, and the last statistics are of some more";
}

TEST_F(LooksTest, JobReadsOnUntilAllIsKnown) {
  ASSERT_NO_FATAL_FAILURE(MakeSsts());
  fs_->open_millis = 1;
  Put(0, 2);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_GT(Stats().jobs, 0u);
  EXPECT_LE(Stats().space_amplification_percent, 120u);
  EXPECT_NE(std::string::npos, BlobHybridMetricsText(db_.get()).find("sst_files"));
}

// Counts handles that go.
class HandleCounter : public EventListener {
 public:
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) override { gone++; }
  std::atomic<int> gone{0};
};

TEST_F(LooksTest, TakesNoHandleThatListenersAreToldOf) {
  const auto counter = std::make_shared<HandleCounter>();
  options_.listeners.push_back(counter);
  ASSERT_NO_FATAL_FAILURE(MakeSsts());
  fs_->open_millis = 0;
  const int before = counter->gone;  // RocksDB has closed some
  Put(0, 2);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_FALSE(BlobHybridMetricsText(db_.get()).empty());
  EXPECT_GT(Stats().jobs, 0u);
  EXPECT_EQ(before, counter->gone);
}

// What was kept for it goes with the last one that holds it.
TEST_F(LooksTest, FilesOfADroppedFamilyGoWithTheLastHolder) {
  Open();
  ColumnFamilyHandle* handle = nullptr;
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ASSERT_OK(db_->CreateColumnFamily(options, "other", &handle));
  ASSERT_OK(db_->Put(WriteOptions(), handle, KeyOf(0), ValueOf(0, 0)));
  ASSERT_OK(db_->Flush(FlushOptions(), handle));
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(handle, &meta);
  ASSERT_EQ(1u, meta.blob_files.size());
  const std::string blob =
      meta.blob_files[0].blob_file_path + "/" + meta.blob_files[0].blob_file_name;
  auto held = std::make_unique<HeldFamily>(static_cast<DBImpl*>(db_.get()), handle->GetID());
  ASSERT_TRUE(static_cast<bool>(*held));
  ASSERT_OK(db_->DropColumnFamily(handle));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
  EXPECT_TRUE(held->data()->IsDropped());
  EXPECT_STREQ("other", held->name());
  EXPECT_OK(Env::Default()->FileExists(blob));
  held.reset();
  // The job may have held it, too, for a moment.
  EXPECT_TRUE(WaitFor([&] { return Env::Default()->FileExists(blob).IsNotFound(); }));
}

#ifndef NDEBUG
// Counts what is scheduled from a moment on, and does not run it: there may be no database then.
class SchedulingEnv : public EnvWrapper {
 public:
  explicit SchedulingEnv(Env* target) : EnvWrapper(target) {}
  const char* Name() const override { return "SchedulingEnv"; }
  void Schedule(void (*what)(void*), void* argument, Priority priority, void* tag,
                void (*unschedule)(void*)) override {
    if (too_late) {
      scheduled++;
    } else {
      target()->Schedule(what, argument, priority, tag, unschedule);
    }
  }

  std::atomic<bool> too_late{false};
  std::atomic<int> scheduled{0};
};

class ClosingTest : public LooksTest {
 protected:
  ClosingTest() {
    options_.env = &scheduling_;
    options_.avoid_unnecessary_blocking_io = true;
    options_.avoid_flush_during_shutdown = true;
    hybrid_.metrics_interval = 0;  // only the job looks
  }
  ~ClosingTest() override {
    goes_on_ = true;
    if (settler_.joinable()) {
      settler_.join();
    }
    SyncPoint::GetInstance()->ClearAllCallBacks();
    SyncPoint::GetInstance()->DisableProcessing();
    Close();
  }

  // Has the job look, and stop in the middle.
  void BeginALook() {
    auto* points = SyncPoint::GetInstance();
    points->SetCallBack("Surveyor::Update:Held", [this](void*) {
      looks_ = true;
      WaitFor([this] { return goes_on_.load(); });
    });
    points->EnableProcessing();
    ASSERT_OK(db_->SetOptions({{"write_buffer_size", "1M"}}));  // or there is nothing to look at
    settler_ = std::thread([this] { EXPECT_OK(SettleBlobHybrid(db_.get())); });
    ASSERT_TRUE(WaitFor([this] { return looks_.load(); }));
  }

  SchedulingEnv scheduling_{env_.get()};
  std::atomic<bool> looks_{false};
  std::atomic<bool> goes_on_{false};
  std::thread settler_;
};

// The job has looked at what is not current any more. To free that must not be left to a thread of
// RocksDB, which comes to it when there is no database any more.
TEST_F(ClosingTest, NothingIsLeftToAThreadOfRocksDb) {
  Open();
  Fill(0, 10, 0);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ASSERT_NO_FATAL_FAILURE(BeginALook());
  ASSERT_OK(db_->SetOptions({{"write_buffer_size", "2M"}}));
  SyncPoint::GetInstance()->SetCallBack("DBImpl::CloseHelper:PendingPurgeFinished", [this](void*) {
    scheduling_.too_late = true;
    goes_on_ = true;
  });
  ASSERT_OK(db_->Close());
  EXPECT_EQ(0, scheduling_.scheduled);
}
#endif

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
