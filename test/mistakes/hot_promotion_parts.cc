// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Options that are changed, SSTs that are taken for dead, memory of builders, other comparators,
// closing.

#include <malloc.h>

#include "plugin/hot_promotion/table/hot_record_collector.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/options_util.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class OtherMistakes : public HotDb {
 protected:
  // By the OPTIONS file that the database has written, as most programs open it.
  void ReopenFromOptionsFile() {
    CloseAll();
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
    ASSERT_EQ(1u, families.size());
    options_ = Options(db_options, families[0].options);
    ASSERT_TRUE(options_.table_factory->IsInstanceOf(HotPromotionTable::kClassName()));
    Open();
  }
  const HotPromotionOptions& Current() {
    return *db_->GetOptions().table_factory->GetOptions<HotPromotionOptions>();
  }
};

TEST_F(OtherMistakes, SetOptionsIsValidated) {
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  const struct {
    const char* name;
    const char* value;
    bool taken;
  } kCases[] = {
      {"budget", "5", false},
      {"budget", "64M", false},
      {"path", "rel", false},
      {"path", "/tmp/other", false},
      {"slow", "x", false},
      {"promotion_cache", "1", false},
      {"promotion_cache", "8M", false},
      {"ralt_bytes", "1M", false},
      {"ralt_buffer_bytes", "1M", false},
      {"direct_io", "true", false},
      {"store_open_files", "100", false},
      {"slow", "/elsewhere", true},
      {"slow_read_micros", "1000000", true},
      {"retention", "false", true},
      {"scan_records", "3", true},
      {"block_size", "16K", true},
  };
  for (const auto& one : kCases) {
    SCOPED_TRACE(std::string(one.name) + "=" + one.value);
    const Status s = db_->SetOptions({{std::string("table_factory.") + one.name, one.value}});
    EXPECT_EQ(one.taken, s.ok()) << s.ToString();
    if (!one.taken) {
      EXPECT_NE(std::string::npos, s.ToString().find(one.name)) << s.ToString();
    }
    ASSERT_NO_FATAL_FAILURE(ReopenFromOptionsFile());
    EXPECT_EQ(ValueOf(5), Get(5));
  }
  EXPECT_NOK(
      db_->SetOptions({{"table_factory", "{id=HotPromotionTable;path=rel;budget=5;slow=x}"}}));
  db_->SetOptions({{"table_factory.slow", ""}}).PermitUncheckedError();  // RocksDB may ignore it
  EXPECT_FALSE(Current().slow.empty());
  // What is written now is on fast storage, and nothing is retained.
  Fill(20, 30);
  Flush();
  TakeServed();
  EXPECT_EQ(ValueOf(25), Get(25));
  EXPECT_EQ(1u, TakeServed().fast);
  ASSERT_NO_FATAL_FAILURE(ReopenFromOptionsFile());
  EXPECT_EQ(ValueOf(25), Get(25));
  EXPECT_EQ(hot_.path, Current().path);
  EXPECT_EQ(hot_.budget, Current().budget);
  EXPECT_EQ(hot_.promotion_cache, Current().promotion_cache);
  EXPECT_EQ("/elsewhere", Current().slow);
  EXPECT_EQ(1000000u, Current().slow_read_micros);
  EXPECT_FALSE(Current().retention);
  EXPECT_EQ(3u, Current().scan_records);
  const auto* const table = db_->GetOptions().table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(nullptr, table);
  EXPECT_EQ(16u << 10, table->block_size);
}

TEST_F(OtherMistakes, SlowReadMicrosTakesEffect) {
  Open();
  Fill(0, 10);
  Flush();
  ASSERT_OK(db_->SetOptions({{"table_factory.slow_read_micros", "3600000000"}}));
  Fill(10, 20);
  Flush();
  EXPECT_EQ(ValueOf(15), Get(15));
  EXPECT_EQ(1u, Stats().quick);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, Stats().captured);
}

TEST_F(OtherMistakes, ACheckpointThatIsDestroyed) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  const std::string path = path_ + "/checkpoint";
  ASSERT_OK(checkpoint->CreateCheckpoint(path));
  std::unique_ptr<DB> copy;
  ASSERT_OK(OpenDb(options_, path, &copy));
  std::string value;
  ASSERT_OK(copy->Get(ReadOptions(), KeyOf(5), &value));
  copy.reset();
  ASSERT_OK(DestroyDB(path, options_));
  Settle();
  TakeServed();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  Compact();  // now they are gone from all places
  Settle();
  EXPECT_EQ(1u, Stats().store_files);
}

TEST_F(OtherMistakes, AnImportedFamilyThatIsDropped) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* metadata = nullptr;
  ASSERT_OK(
      checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), root_ + "/export", &metadata));
  const std::unique_ptr<ExportImportFilesMetaData> exported(metadata);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamilyWithImport(options_, "imported", ImportColumnFamilyOptions(),
                                              *exported, &family));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), family, KeyOf(5), &value));
  EXPECT_EQ(ValueOf(5), value);
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  Settle();
  TakeServed();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
}

// Puts all files below a folder of its own.
class RootedFileSystem : public FileSystemWrapper {
 public:
  explicit RootedFileSystem(bool has) : FileSystemWrapper(FileSystem::Default()), has_(has) {}
  const char* Name() const override { return "RootedFileSystem"; }
  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    return has_ ? target()->FileExists(name, options, debug) : IOStatus::NotFound(name);
  }

 private:
  const bool has_;
};

TEST_F(OtherMistakes, TwoFileSystemsOfOneClass) {
  const auto with = std::make_shared<RootedFileSystem>(true);
  const auto without = std::make_shared<RootedFileSystem>(false);
  const auto env = NewCompositeEnv(with);
  options_.env = env.get();
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  std::shared_ptr<Engine> engine;
  ASSERT_OK(EngineOf(options_.table_factory.get(), &engine));
  auto lease = engine->catalog()->Lease(without);
  engine->catalog()->Add({1, 1}, 0, "/of/the/other", *lease);
  Settle();
  TakeServed();
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  lease.reset();
  engine.reset();
  CloseAll();
}

TEST_F(OtherMistakes, VerifyWithAnotherComparator) {
  options_.comparator = ReverseBytewiseComparator();
  Open();
  Fill(0, 1000);
  Flush();
  Heat(0, 1000);
  Compact();
  CloseAll();
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(0u, info.different);
  EXPECT_GE(info.equal, 1000u);
}

// One that this process does not know.
class StrangeComparator : public Comparator {
 public:
  const char* Name() const override { return "StrangeComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(OtherMistakes, VerifyWithAnUnknownComparator) {
  const StrangeComparator comparator;
  options_.comparator = &comparator;
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 100);
  CloseAll();
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(0u, info.different);
  EXPECT_EQ(100u, info.unchecked);
}

TEST_F(OtherMistakes, RecordsAreCountedAfterOpening) {
  Open();
  Fill(0, 1000);
  Flush();
  Heat(0, 1000);
  Reopen();
  Get(5);
  EXPECT_GE(Stats().store_records, 900u);
  EXPECT_LE(Stats().store_records, 2000u);
  EXPECT_GT(Stats().store_memory, 0u);
}

// Small records take what was said that they may.
TEST_F(OtherMistakes, MemoryOfABuilder) {
  constexpr uint64_t kMost = 2 << 20;
  constexpr int kRecords = 400000;
  hot_.budget = 256 << 20;
  Open();
  Fill(0, 10);
  Flush();
  std::shared_ptr<Engine> engine;
  ASSERT_OK(EngineOf(options_.table_factory.get(), &engine));
  const auto key_of = [](int i) {
    char key[16];
    snprintf(key, sizeof(key), "%08d", i);
    return std::string(key);
  };
  for (int part = 0; part < 40; part++) {
    for (int i = 0; i < kRecords / 40; i++) {
      engine->Access(7, key_of(part * (kRecords / 40) + i), 8);
    }
    Settle();
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const auto in_use = [] { return uint64_t{0}; };  // the allocator is another
#else
  const auto in_use = [] {
    return static_cast<uint64_t>(mallinfo2().uordblks + mallinfo2().hblkhd);
  };
#endif
  const uint64_t before = in_use();
  const uint64_t lost = Stats().lost;
  HotRecordCollector hot_records(engine, BytewiseComparator(), 7, /*keep=*/true, kMost);
  for (int i = 0; i < kRecords; i++) {
    hot_records.Add(InternalKey(key_of(i), 1, kTypeValue).Encode(), "12345678");
  }
  EXPECT_GT(hot_records.hot_keys() * 42, kMost);  // which they take, each
  EXPECT_GT(Stats().lost, lost);
  EXPECT_LE(hot_records.MemoryBytes(), kMost);
  EXPECT_GT(hot_records.MemoryBytes(), kMost / 10 * 9);
  EXPECT_LE(in_use(), before + kMost / 10 * 12);
}

// A FileSystem that takes long to say whether a file is there.
class TardyFileSystem : public FileSystemWrapper {
 public:
  TardyFileSystem() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "TardyFileSystem"; }
  IOStatus FileExists(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    asked++;
    if (slow) {
      Env::Default()->SleepForMicroseconds(2000);
    }
    return slow ? IOStatus::OK() : target()->FileExists(name, options, debug);
  }
  std::atomic<bool> slow{false};
  std::atomic<uint64_t> asked{0};
};

TEST_F(OtherMistakes, ClosingDoesNotAskForEverySst) {
  const auto file_system = std::make_shared<TardyFileSystem>();
  Open();
  Fill(0, 10);
  Flush();
  std::shared_ptr<Engine> engine;
  ASSERT_OK(EngineOf(options_.table_factory.get(), &engine));
  auto lease = engine->catalog()->Lease(file_system);
  for (uint64_t i = 1; i <= 10000; i++) {
    engine->catalog()->Add({i, i}, 0, "/slow/" + std::to_string(i), *lease);
  }
  file_system->slow = true;
  std::thread settles(
      [&] { SettleHotPromotion(options_.table_factory.get()).PermitUncheckedError(); });
  while (file_system->asked == 0) {
    Env::Default()->SleepForMicroseconds(1000);
  }
  file_system->slow = false;  // Settle() looks for all
  settles.join();
  for (uint64_t i = 1; i <= 10000; i++) {
    engine->catalog()->Add({i, i}, 0, "/slow/" + std::to_string(i), *lease);
  }
  engine.reset();
  file_system->slow = true;
  const uint64_t before = file_system->asked;
  CloseAll();
  lease.reset();
  EXPECT_LT(file_system->asked - before, 5000u);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
