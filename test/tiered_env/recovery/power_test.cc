// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is left when the power fails, at any moment.

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#ifdef ROCKTIER_RAW_WAL
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#endif
#include "plugin/tiered_env/files/names.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/power_fs.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kKeys = 3000;
constexpr int kMoreRounds = 200;  // until a run has seen what it must

const char* const kPlacements[] = {
    "0..1=fast;2..=slow", "0..=slow",          "",       "0..=fast;wal=fast;meta=slow",
    "last=fast;0..=slow", "1..=fast;wal=slow", "0=fast", "base..=slow;meta=fast;blob=fast",
};

std::string KeyOf(uint64_t n) { return "key" + std::to_string(100000 + n * 7919 % kKeys); }
std::string ValueOf(uint64_t n) {
  return std::to_string(n) + ":" + std::string(50 + n % 150, static_cast<char>('a' + n % 26));
}

class TieredPowerTest : public TieredTest {
 protected:
  TieredPowerTest() {
    power_ = std::make_shared<PowerFs>(folder_ + "/attic");
    target_ = power_;
  }

  // NewFs(), above the log device if there is one.
  void Mount(const std::string& tiers, const std::string& placement) {
    CloseFs();
#ifdef ROCKTIER_RAW_WAL
    if (!device_.empty()) {
      raw_wal_fs::RawWalOptions options;
      options.device = device_;
      options.size = 24 << 20;
      options.segment_size = 64 << 10;
      options.tail_size = 32 << 10;
      ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(options, power_, &target_));
    }
#endif
    NewFs(tiers, placement);
  }
  void CloseFs() {
    db_.reset();
    env_.reset();
    fs_.reset();
    target_ = power_;
  }

  // The n-th write is of KeyOf(n), ValueOf(n).
  void Work() {
    while (!power_->failed()) {
      const uint64_t what = random_() % 1000;
      Status s;
      if (what == 0) {
        s = db_->Flush(FlushOptions());
      } else if (what == 1) {
        s = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
      } else if (what == 2) {
        s = WaitForMoves(fs_.get());
      } else {
        WriteOptions options;
        options.sync = random_() % 50 == 0;
        s = db_->Put(options, KeyOf(written_), ValueOf(written_));
        written_ += s.ok() ? 1 : 0;
        durable_ = s.ok() && options.sync ? written_ : durable_;
        issued_ = std::max(issued_, written_ + 1);
      }
      if (what == 0 && s.ok()) {
        durable_ = written_;
      }
      if (!s.ok()) {
        ASSERT_TRUE(power_->failed()) << s.ToString();
      }
    }
  }

  // The writes up to one that is not before durable_ are there, and no other.
  void Check() {
    uint64_t count = 0;
    std::map<std::string, std::string> found;
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
      count = std::max<uint64_t>(count, strtoull(it->value().data(), nullptr, 10) + 1);
    }
    ASSERT_OK(it->status());
    ASSERT_GE(count, durable_);
    ASSERT_LE(count, issued_);
    std::map<std::string, std::string> expected;
    for (uint64_t n = count > kKeys ? count - kKeys : 0; n < count; n++) {
      expected[KeyOf(n)] = ValueOf(n);
    }
    ASSERT_TRUE(found == expected) << count << " writes";
    written_ = durable_ = count;
    issued_ = count;
    ASSERT_OK(db_->VerifyChecksum());
  }

  // Each file in a tier has one stub, once RocksDB has deleted what it does not need.
  void ExpectNoOrphans() const {
    EXPECT_TRUE(WaitFor([this] { return FilesInTiers() == StubsOf(); }))
        << FilesInTiers() << " files, " << StubsOf() << " stubs";
  }
  size_t FilesInTiers() const { return FilesIn("fast") + FilesIn("slow") + FilesIn("memory"); }
  size_t StubsOf() const {
    size_t in_tiers = 0;
    for (const std::string& base : FilesOf("")) {
      in_tiers += TierOf(base) != "home" ? 1 : 0;
    }
    if (std::filesystem::exists(db_name_ + "/archive")) {
      for (const auto& entry : std::filesystem::directory_iterator(db_name_ + "/archive")) {
        in_tiers += TierOf("archive/" + entry.path().filename().string()) != "home" ? 1 : 0;
      }
    }
    return in_tiers;
  }

  using MakeTiers = std::function<std::string(bool small)>;
  // Opens the database and works, until the power fails; then what was durable is there, again and
  // again. In the end files have moved before the power failed, and, if `rebuilds`, SSTs have been
  // rebuilt afterwards.
  void FailOften(int rounds, const std::vector<std::string>& placements, const MakeTiers& tiers,
                 bool rebuilds);
  uint64_t Rebuilt() const {
    TieredStats stats;
    EXPECT_OK(GetTieredStats(fs_.get(), &stats));
    return stats.in_memory.rebuilt_files;
  }
  // Of the tier in memory, everything or some of it.
  void LoseMemory();

  std::shared_ptr<PowerFs> power_;
  std::string device_;  // of raw_wal_fs; none if empty. What was written to it is durable
  uint64_t written_ = 0;
  uint64_t durable_ = 0;
  uint64_t issued_ = 0;
};

void TieredPowerTest::LoseMemory() {
  const std::filesystem::path memory = TierPath("memory");
  const uint64_t how = random_() % 4;
  if (!std::filesystem::exists(memory) || how == 0) {
    return;
  }
  if (how == 1) {
    std::filesystem::remove_all(memory);
    return;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(memory)) {
    if (!entry.is_regular_file() || random_() % 3 == 0) {
      continue;
    }
    const uint64_t size = entry.file_size();
    if (random_() % 2 == 0 || size == 0) {
      std::filesystem::resize_file(entry.path(), random_() % (size + 1));
    } else {
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(random_() % size));
      file.put(static_cast<char>(random_() % 256));
    }
  }
}

void TieredPowerTest::FailOften(int rounds, const std::vector<std::string>& placements,
                                const MakeTiers& tiers, bool rebuilds) {
  random_.seed(Seed());
  uint64_t moves = 0;
  uint64_t rebuilt = 0;
  const auto has_seen_all = [&] { return moves > 0 && (rebuilt > 0 || !rebuilds); };
  int round = 0;
  for (; round < rounds || (!has_seen_all() && round < rounds + kMoreRounds); round++) {
    SCOPED_TRACE(round);
    const bool small = random_() % 3 == 0;
    const std::string& placement = placements[random_() % placements.size()];
    SCOPED_TRACE(placement);
    Mount(tiers(small), placement);
    Options options = DbOptions();
    options.write_buffer_size = 64 << 10;
    options.enable_blob_files = random_() % 3 == 0;
    options.min_blob_size = 150;
    options.enable_blob_garbage_collection = true;
    options.max_manifest_file_size = random_() % 2 == 0 ? 2000 : 1 << 30;
    options.use_direct_io_for_flush_and_compaction = random_() % 4 == 0;
    options.recycle_log_file_num = random_() % 3 == 0 ? 2 : 0;
    options.WAL_ttl_seconds = random_() % 4 == 0 && device_.empty() ? 1 : 0;
    options.env = env_.get();
    // Also while it is opened, and while nobody writes and files move.
    power_->FailAfter(random_() % (random_() % 2 == 0 ? 200 : 5000));
    if (OpenDb(options, db_name_, &db_).ok()) {
      Work();
      moves += Moves();
    }
    ASSERT_TRUE(power_->failed());
    ASSERT_FALSE(HasFailure());
    CloseFs();
    const bool killed = random_() % 4 == 0;  // and the machine has not noticed
    if (killed) {
      power_->Restart();
    } else {
      power_->Fail(&random_, random_() % 2 == 0);
    }
    LoseMemory();
    if (killed && random_() % 2 == 0) {
      continue;  // and power may fail while it is opened again
    }
    Mount(tiers(false), placement);
    durable_ = killed ? written_ : durable_;
    if (!std::filesystem::exists(db_name_ + "/CURRENT")) {
      ASSERT_EQ(durable_, 0u);
      continue;
    }
    Open(options);
    ASSERT_FALSE(HasFailure());
    rebuilt += Rebuilt();
    Check();
    ASSERT_FALSE(HasFailure());
    Settle();
    ExpectNoOrphans();
    Check();
    Close();
    ASSERT_FALSE(HasFailure());
  }
  printf("%d losses of power, %llu writes, %llu moves, %llu SSTs rebuilt\n", round,
         static_cast<unsigned long long>(written_), static_cast<unsigned long long>(moves),
         static_cast<unsigned long long>(rebuilt));
  EXPECT_GT(written_, 0u);
  EXPECT_GT(moves, 0u);
  EXPECT_TRUE(rebuilt > 0 || !rebuilds);
}

TEST_F(TieredPowerTest, FailsAtAnyMoment) {
  FailOften(
      Rounds(40), std::vector<std::string>(std::begin(kPlacements), std::end(kPlacements)),
      [this](bool small) { return Tiers(small ? "budget=100K" : ""); }, /*rebuilds=*/false);
}

// What was in memory is gone, all or in part, as are the bytes of logs that were not synced.
TEST_F(TieredPowerTest, LosesMemory) {
  const std::string memory = "memory={kind=memory;path=" + TierPath("memory");
  FailOften(
      Rounds(40),
      {"0..1=memory;2..=slow", "0..=memory", "0..last-1=memory", "1..=memory;meta=slow"},
      [&](bool small) {
        return memory + (small ? ";budget=200K" : "") + "};slow={path=" + TierPath("slow") + "}";
      },
      /*rebuilds=*/true);
}

#ifdef ROCKTIER_RAW_WAL
// Logs are on a device, which loses nothing, and their names are lost, or come back: renamed ones,
// deleted ones.
TEST_F(TieredPowerTest, LogsOnADeviceLosesMemory) {
  device_ = folder_ + "/device";
  FailOften(
      Rounds(12), {"0..1=memory;2..=slow", "0..=memory", "0..last-1=memory", "1..=memory"},
      [&](bool small) {
        return "memory={kind=memory;path=" + TierPath("memory") + (small ? ";budget=200K" : "") +
               "};slow={path=" + TierPath("slow") + "}";
      },
      /*rebuilds=*/true);
  raw_wal_fs::RawWalDeviceInfo info;
  CloseFs();
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  for (const raw_wal_fs::RawWalLogInfo& log : info.logs) {
    EXPECT_FALSE(log.missing) << log.name;
    EXPECT_EQ(log.problem, "") << log.name;
  }
}
#endif

// RocksDB never syncs the log, nor does it sync what the log's name stands for.
TEST_F(TieredPowerTest, LogsInATierAreThereForRecipes) {
  random_.seed(Seed());
  const std::string tiers =
      "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}";
  for (int round = 0; round < 6; round++) {
    SCOPED_TRACE(round);
    NewFs(tiers, "0..=memory;wal=slow");
    Open();
    ASSERT_FALSE(HasFailure());
    EXPECT_TRUE(Rebuilt() > 0 || round == 0);
    Verify();
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    const bool killed = round % 3 == 1;  // what it has left is synced by nobody
    power_->FailAfter(1);
    NewFs(tiers, "0..=memory;wal=slow");
    if (killed) {
      power_->Restart();
      Open();
      ASSERT_FALSE(HasFailure());
      Verify();
      power_->FailAfter(1);
      NewFs(tiers, "0..=memory;wal=slow");
    }
    power_->Fail(&random_, /*least=*/true);
    std::filesystem::remove_all(TierPath("memory"));
  }
  Open();
  EXPECT_GT(Rebuilt(), 0u);
  Verify();
}

// An SST that is refused a recipe is in neither memory, and durable.
TEST_F(TieredPowerTest, TwoMemoriesRefuseTheSame) {
  random_.seed(Seed());
  const std::string tiers = "memory={kind=memory;path=" + TierPath("memory") +
                            "};other={kind=memory;path=" + TierPath("other") +
                            "};slow={path=" + TierPath("slow") + "}";
  NewFs(tiers, "0..=memory");
  Options options = DbOptions();
  options.compression = kLZ4Compression;  // so that it is literal
  options.disable_auto_compactions = true;
  Open(options);
  for (int i = 0; i < 500; i++) {
    const std::string key = "key" + std::to_string(i);
    model_[key] = std::string(200, static_cast<char>('a' + i % 26));
    ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  const std::vector<std::string> tables = FilesOf(".sst");
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(TierOf(tables[0]), "slow");
  power_->FailAfter(1);
  NewFs(tiers, "0..=memory");
  power_->Fail(&random_, /*least=*/true);
  std::filesystem::remove_all(TierPath("memory"));
  std::filesystem::remove_all(TierPath("other"));
  Open(options);
  Verify();
}

// The process dies in a compaction: of what that has written there are stubs alone.
TEST_F(TieredPowerTest, ToolsDoWithoutWhatIsNotNeeded) {
  random_.seed(Seed());
  const std::string tiers =
      "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}";
  const auto mount = [&] { NewFs(tiers, "0..=memory"); };
  for (const std::string tool : {"recover", "drain", "mv", "evacuate"}) {
    SCOPED_TRACE(tool);
    mount();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    Open(options);
    ASSERT_FALSE(HasFailure());
    const Snapshot* const snapshot = db_->GetSnapshot();  // so that sequence numbers are kept
    for (int i = 0; i < 3; i++) {
      Fill(1000);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    SyncPoint::GetInstance()->SetCallBack("CompactionJob::Run:BeforeVerify",
                                          [&](void*) { power_->FailAfter(1); });
    SyncPoint::GetInstance()->EnableProcessing();
    EXPECT_FALSE(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    SyncPoint::GetInstance()->DisableProcessing();
    std::vector<LiveFileMetaData> live;
    db_->GetLiveFilesMetaData(&live);
    std::set<std::string> unneeded;
    for (const std::string& base : FilesOf(".sst")) {
      if (TierOf(base) == "memory") {
        unneeded.insert(base);
      }
    }
    for (const LiveFileMetaData& file : live) {
      unneeded.erase(file.name.substr(1));
    }
    EXPECT_GT(unneeded.size(), 0u);
    db_->ReleaseSnapshot(snapshot);
    mount();
    power_->Restart();
    std::filesystem::remove_all(TierPath("memory"));
    uint64_t moved = 0;
    std::string later;
    if (tool == "recover") {
      ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
    } else if (tool == "drain") {
      ASSERT_OK(DrainTier(fs_.get(), db_name_, "memory", &moved));
    } else if (tool == "mv") {
      ASSERT_OK(MoveToTier(fs_.get(), db_name_, live[0].name.substr(1), "slow", &later));
    } else {
      ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
      break;
    }
    for (const std::string& base : unneeded) {
      EXPECT_FALSE(std::filesystem::exists(db_name_ + "/" + base)) << base;
    }
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
    EXPECT_TRUE(check.problems.empty()) << check.problems[0].path << " " << check.problems[0].what;
  }
  Options stock = DbOptions();
  stock.env = Env::Default();
  stock.listeners.clear();
  ASSERT_OK(OpenDb(stock, db_name_, &db_));
  Verify();
}

// Whatever it had deleted already. Without CURRENT there is no database; another one can be made
// when tiers have nothing of this one, and until then it is destroyed again.
TEST_F(TieredPowerTest, DestructionCanBeInterrupted) {
  const std::string tiers =
      "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}";
  const auto mount = [&] { NewFs(tiers, "0..1=memory;2..=slow"); };
  bool done = false;
  int opened = 0;
  for (uint64_t changes = 1; !done; changes += 2) {
    SCOPED_TRACE(changes);
    mount();
    Open();
    ASSERT_FALSE(HasFailure());
    for (int i = 0; i < 3; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    mount();
    power_->FailAfter(changes);
    done = DestroyDB(db_name_, DbOptions()).ok() && !power_->failed();
    mount();
    power_->Restart();
    if (std::filesystem::exists(db_name_) && !std::filesystem::exists(db_name_ + "/CURRENT")) {
      for (const std::string& base : FilesOf(".log")) {
        if (!IsKept(base)) {  // RocksDB makes no database where there are logs
          std::filesystem::remove(db_name_ + "/" + base);
        }
      }
      const Status s = OpenDb(DbOptions(), db_name_, &db_);
      ASSERT_TRUE(s.ok() || s.ToString().find("DestroyDB()") != std::string::npos) << s.ToString();
      if (s.ok()) {
        Fill(100);
        ASSERT_OK(db_->Flush(FlushOptions()));
        opened++;
      }
      Close();
    }
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    EXPECT_FALSE(std::filesystem::exists(db_name_));
    EXPECT_EQ(FilesIn("memory") + FilesIn("slow"), 0u);
    model_.clear();
  }
  EXPECT_GT(opened, 0);
}

// A checkpoint is as durable as it is without tiers, plain or with links in them.
TEST_F(TieredPowerTest, Checkpoints) {
  random_.seed(Seed());
  for (int round = 0; round < 6; round++) {
    checkpoints_ = round % 2 == 0 ? "plain" : "linked";
    NewFs(Tiers(), "0=home;1=fast;2..=slow");
    Open();
    Fill(5000);
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Fill(3000);
    EXPECT_GT(StubsOf(), 0u);
    Checkpoint* raw = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    const std::string name = folder_ + "/copy" + std::to_string(round);
    ASSERT_OK(checkpoint->CreateCheckpoint(name));
    const auto then = model_;
    Fill(100);
    power_->FailAfter(1);
    EXPECT_FALSE(db_->Put(WriteOptions(), "a", "b").ok() && db_->Flush(FlushOptions()).ok());
    NewFs(Tiers(), "0=home;1=fast;2..=slow");
    power_->Fail(&random_, /*least=*/true);
    const std::string original = db_name_;
    db_name_ = name;
    EXPECT_EQ(StubsOf() > 0, checkpoints_ == "linked");
    model_ = then;
    Open();
    Verify();
    Close();
    db_name_ = original;
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

}  // namespace

}  // namespace rocktier
