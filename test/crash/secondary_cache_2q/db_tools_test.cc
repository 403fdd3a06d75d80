// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What else is done to a DB: checkpoints, backups, ingestion, repair, destruction. With our cache
// below all of them, which stays open all the time or is reopened with its file, nothing changes:
// above all no DB sees a block of another one whose files have the same names and numbers.

#include <cstdio>
#include <filesystem>
#include <map>

#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/crash/secondary_cache_2q/fixture.h"
#include "test/support/open_db.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

using Contents = std::map<std::string, std::string>;

constexpr uint32_t kRecords = 6000;

class DbToolsTest : public CrashTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { OpenCache(); }

  void OpenCache() {
    options_ = Options();
    cache_.reset();
    const std::string storage = GetParam();
    const std::string uri =
        "id=TwoQSecondaryCache;" +
        (storage == "file" ? "storage=file;carry=true;capacity=16M;path=" + site_.CacheFile()
                           : "capacity=16M");
    Status s = SecondaryCache::CreateFromString(ConfigOptions(), uri, &cache_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    options_ = DbOptions(site_, cache_);
  }

  std::string Path(const std::string& name) const { return site_.folder + "/" + name; }

  std::unique_ptr<DB> Open(const std::string& path, bool read_only = false) {
    std::unique_ptr<DB> db;
    Status s = read_only ? ROCKSDB_NAMESPACE::OpenDbForReadOnly(options_, path, &db)
                         : ROCKSDB_NAMESPACE::OpenDb(options_, path, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }

  // Values that tell `tag` and the key; writes them into an SST or several.
  void Fill(DB* db, const std::string& tag, Contents* contents) {
    for (uint32_t key = 0; key < kRecords; key++) {
      const std::string value = tag + Oracle::Value(key, 1);
      (*contents)[Oracle::Key(key)] = value;
      ASSERT_TRUE(db->Put(WriteOptions(), Oracle::Key(key), value).ok());
    }
    ASSERT_TRUE(db->Flush(FlushOptions()).ok());
  }

  // Reads everything some times, so that blocks go through the cache and come back, and compares
  // it.
  void Expect(DB* db, const Contents& contents) {
    for (int pass = 0; pass < 3; pass++) {
      for (const auto& [key, value] : contents) {
        std::string found;
        Status s = db->Get(ReadOptions(), key, &found);
        ASSERT_TRUE(s.ok()) << key << ": " << s.ToString();
        ASSERT_TRUE(found == value) << key << " has a value of " << found.substr(0, 17);
      }
    }
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    auto expected = contents.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_TRUE(expected != contents.end() && it->key() == expected->first &&
                  it->value() == expected->second)
          << it->key().ToString();
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_TRUE(expected == contents.end());
    Status verified = db->VerifyChecksum();
    ASSERT_TRUE(verified.ok()) << verified.ToString();
  }

  void ExpectHits() {
    const CacheStats stats = StatsOf(cache_.get());
    printf("hits %llu, recovered %llu, corrupt %llu\n", static_cast<unsigned long long>(stats.hits),
           static_cast<unsigned long long>(stats.recovered),
           static_cast<unsigned long long>(stats.corrupt));
    EXPECT_GT(stats.hits, 0u);
    EXPECT_EQ(stats.corrupt, 0u);
  }

  Options options_;
  std::shared_ptr<SecondaryCache> cache_;
};

TEST_P(DbToolsTest, ACheckpointThatGoesItsOwnWay) {
  Contents original;
  auto db = Open(site_.Db());
  Fill(db.get(), "a", &original);
  Expect(db.get(), original);
  Checkpoint* made = nullptr;
  ASSERT_TRUE(Checkpoint::Create(db.get(), &made).ok());
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_TRUE(checkpoint->CreateCheckpoint(Path("checkpoint")).ok());
  // Both go on from the same file numbers with different records.
  auto copy = Open(Path("checkpoint"));
  Contents changed = original;
  Expect(copy.get(), original);
  Fill(copy.get(), "b", &changed);
  Fill(db.get(), "c", &original);
  Expect(copy.get(), changed);
  Expect(db.get(), original);
  ASSERT_TRUE(copy->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Expect(copy.get(), changed);
  Expect(db.get(), original);
  ExpectHits();
}

TEST_P(DbToolsTest, ABackupRestoredOverTheDb) {
  Contents old;
  auto db = Open(site_.Db());
  Fill(db.get(), "a", &old);
  Expect(db.get(), old);
  BackupEngine* made = nullptr;
  ASSERT_TRUE(BackupEngine::Open(Env::Default(), BackupEngineOptions(Path("backup")), &made).ok());
  const std::unique_ptr<BackupEngine> backup(made);
  ASSERT_TRUE(backup->CreateNewBackup(db.get()).ok());
  ASSERT_TRUE(backup->VerifyBackup(1, /*verify_with_checksum=*/true).ok());
  Contents changed;
  Fill(db.get(), "b", &changed);
  Expect(db.get(), changed);
  db.reset();
  ASSERT_TRUE(backup->RestoreDBFromLatestBackup(site_.Db(), site_.Db()).ok());
  db = Open(site_.Db());
  Expect(db.get(), old);
  // The restored DB gives numbers again that the lost files had.
  Fill(db.get(), "d", &changed);
  Expect(db.get(), changed);
  ExpectHits();
}

TEST_P(DbToolsTest, IngestedFiles) {
  Contents contents;
  auto db = Open(site_.Db());
  Fill(db.get(), "a", &contents);
  Expect(db.get(), contents);
  for (const char* tag : {"x", "y"}) {
    // The same name, other records: the second file replaces the first one.
    SstFileWriter writer(EnvOptions(), options_);
    const std::string file = Path("ingest.sst");
    ASSERT_TRUE(writer.Open(file).ok());
    for (uint32_t key = 0; key < kRecords; key += 2) {
      const std::string value = tag + Oracle::Value(key, 1);
      contents[Oracle::Key(key)] = value;
      ASSERT_TRUE(writer.Put(Oracle::Key(key), value).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    IngestExternalFileOptions ingest;
    ingest.move_files = true;
    Status s = db->IngestExternalFile({file}, ingest);
    ASSERT_TRUE(s.ok()) << s.ToString();
    Expect(db.get(), contents);
  }
  db.reset();  // it would delete files under the reader
  auto reader = Open(site_.Db(), /*read_only=*/true);
  Expect(reader.get(), contents);
  ExpectHits();
}

TEST_P(DbToolsTest, ARepairedDb) {
  Contents contents;
  auto db = Open(site_.Db());
  Fill(db.get(), "a", &contents);
  Expect(db.get(), contents);
  ASSERT_TRUE(db->Put(WriteOptions(), Oracle::Key(0), "in the WAL").ok());
  contents[Oracle::Key(0)] = "in the WAL";
  db.reset();
  for (const auto& entry : std::filesystem::directory_iterator(site_.Db())) {
    if (entry.path().filename().string().rfind("MANIFEST", 0) == 0) {
      std::filesystem::remove(entry.path());
    }
  }
  Status s = RepairDB(site_.Db(), options_);
  ASSERT_TRUE(s.ok()) << s.ToString();
  db = Open(site_.Db());
  Expect(db.get(), contents);
  ExpectHits();
}

TEST_P(DbToolsTest, ADestroyedDbAndItsSuccessor) {
  // The successors have the same path, the same file numbers and the same keys.
  for (const char* tag : {"a", "b", "c"}) {
    Contents contents;
    auto db = Open(site_.Db());
    Fill(db.get(), tag, &contents);
    Expect(db.get(), contents);
    db.reset();
    ASSERT_TRUE(DestroyDB(site_.Db(), options_).ok());
    EXPECT_FALSE(std::filesystem::exists(site_.Db() + "/CURRENT"));
    ExpectHits();
    if (tag[0] == 'b') {
      OpenCache();
    }
  }
}

TEST_P(DbToolsTest, ACacheFileLaterOpenedByAnotherDb) {
  Contents contents;
  auto db = Open(site_.Db());
  Fill(db.get(), "a", &contents);
  Expect(db.get(), contents);
  db.reset();
  OpenCache();
  if (GetParam() == std::string("file")) {
    EXPECT_GT(StatsOf(cache_.get()).recovered, 0u);
  }
  auto other = Open(Path("other"));
  Contents others;
  Fill(other.get(), "o", &others);
  Expect(other.get(), others);
  db = Open(site_.Db());
  Expect(db.get(), contents);
  // No compaction may delete files under the follower unless it catches up.
  ASSERT_TRUE(db->WaitForCompact(WaitForCompactOptions()).ok());
  std::unique_ptr<DB> follower;
  Options secondary = options_;
  secondary.max_open_files = -1;
  ASSERT_TRUE(
      ROCKSDB_NAMESPACE::OpenDbAsSecondary(secondary, site_.Db(), Path("follower"), &follower)
          .ok());
  Expect(follower.get(), contents);
  Fill(db.get(), "n", &contents);
  ASSERT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(follower->TryCatchUpWithPrimary().ok());
  Expect(follower.get(), contents);
  ExpectHits();
}

INSTANTIATE_TEST_CASE_P(Storage, DbToolsTest, ::testing::Values("dram", "file"),
                        [](const auto& each) { return std::string(each.param); });

}  // namespace

}  // namespace rocktier
