// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// An OPTIONS file with a whole stack: logs on a device, all else in tiers. What RocksDB does with
// such a database, by the options alone.

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/rocktier_env/options_file.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"

namespace rocktier {
namespace {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(build/namespaces)

constexpr int kRecords = 2000;

std::string Key(int i) { return "key" + std::to_string(100000 + i); }
std::string Value(int i) { return Key(i) + std::string(100, 'v'); }

// Leaves an SST, and records that are in the log only.
Status Fill(DB* db) {
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
    if (s.ok() && i == kRecords / 2) {
      s = db->Flush(FlushOptions());
    }
  }
  return s;
}

Status Verify(DB* db) {
  Status s;
  std::string value;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Get(ReadOptions(), Key(i), &value);
    if (s.ok() && value != Value(i)) {
      s = Status::Corruption("wrong value", Key(i));
    }
  }
  return s;
}

Options WithoutEnv(Options options) {
  options.env = Env::Default();
  return options;
}

class StackTest : public testing::Test {
 protected:
  StackTest() : folder_(NewFolder()) {
    for (const char* const name : {"/fast", "/slow"}) {
      std::filesystem::create_directories(folder_ + name);
    }
  }
  ~StackTest() override { std::filesystem::remove_all(folder_); }

  std::string Tiers(const std::string& budget = "64M") const {
    return "id=TieredFileSystem;tiers={fast={path=" + folder_ + "/fast;budget=" + budget +
           "};slow={path=" + folder_ + "/slow}};placement={0..1=fast;2..=slow}";
  }
  std::string Logs(const std::string& tail_size = "1M") const {
    return "id=RawWalFileSystem;device=" + folder_ +
           "/wal;size=16M;segment_size=64K;tail_size=" + tail_size;
  }
  std::string Both() const { return Logs() + ";target={" + Tiers() + "}"; }

  // Reads options from an OPTIONS file that names the FileSystem.
  Options Load(const std::string& file_system, const std::string& name = "/options.ini") const {
    Options options;
    const Status s = LoadFrom(
        WriteOptionsFile(folder_ + name, "{id=RocktierEnv;file_system={" + file_system + "}}"),
        &options);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return options;
  }

  Status Open(const Options& options, std::unique_ptr<DB>* db, const std::string& name = "/db") {
    return OpenDb(options, folder_ + name, db);
  }
  void Write(const Options& options) {
    std::unique_ptr<DB> db;
    ASSERT_OK(Open(options, &db));
    ASSERT_OK(Fill(db.get()));
  }
  void Read(const Options& options, const std::string& name = "/db") {
    std::unique_ptr<DB> db;
    ASSERT_OK(Open(options, &db, name));
    ASSERT_OK(Verify(db.get()));
  }

  const std::string folder_;
};

TEST_F(StackTest, OpensAndOpensAgain) {
  const Options options = Load(Both());
  Write(options);
  FileSystem* const fs = options.env->GetFileSystem().get();
  raw_wal_fs::RawWalStats logs;
  ASSERT_OK(raw_wal_fs::GetRawWalStats(fs, &logs));
  EXPECT_GT(logs.appended_bytes, uint64_t{kRecords} * 100);
  tiered_env::TieredStats tiers;
  ASSERT_OK(tiered_env::GetTieredStats(fs, &tiers));
  uint64_t written = 0;
  for (const auto& tier : tiers.tiers) {
    written += tier.name == "fast" ? tier.written_bytes : 0;
  }
  EXPECT_GT(written, 0u);

  const Options again = Load(Both());
  EXPECT_EQ(fs, again.env->GetFileSystem().get());
  Read(again);
  std::unique_ptr<DB> db;
  EXPECT_FALSE(Open(WithoutEnv(options), &db).ok());
  ASSERT_OK(DestroyDB(folder_ + "/db", again));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/db"));
}

TEST_F(StackTest, ReadersRepairsAndCopies) {
  const Options options = Load(Both());
  Write(options);
  std::unique_ptr<DB> reader;
  ASSERT_OK(OpenDbForReadOnly(options, folder_ + "/db", &reader));
  ASSERT_OK(Verify(reader.get()));
  reader.reset();
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(Open(options, &db));
    ASSERT_OK(OpenDbAsSecondary(options, folder_ + "/db", folder_ + "/secondary", &reader));
    ASSERT_OK(reader->TryCatchUpWithPrimary());
    ASSERT_OK(Verify(reader.get()));
    reader.reset();
    Checkpoint* checkpoint = nullptr;
    ASSERT_OK(Checkpoint::Create(db.get(), &checkpoint));
    const std::unique_ptr<Checkpoint> owner(checkpoint);
    ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/checkpoint"));
    BackupEngine* engine = nullptr;
    ASSERT_OK(BackupEngine::Open(options.env, BackupEngineOptions(folder_ + "/backup"), &engine));
    const std::unique_ptr<BackupEngine> backups(engine);
    ASSERT_OK(backups->CreateNewBackup(db.get()));
  }
  ASSERT_OK(RepairDB(folder_ + "/db", options));
  Read(options);
  // Copies need no such line.
  Read(WithoutEnv(options), "/checkpoint");
  BackupEngineReadOnly* engine = nullptr;
  ASSERT_OK(BackupEngineReadOnly::Open(Env::Default(), BackupEngineOptions(folder_ + "/backup"),
                                       &engine));
  const std::unique_ptr<BackupEngineReadOnly> backups(engine);
  ASSERT_OK(backups->RestoreDBFromLatestBackup(folder_ + "/restored", folder_ + "/restored"));
  Read(WithoutEnv(options), "/restored");
}

// Another text is another FileSystem. The one before stays, and holds nothing that it needs.
TEST_F(StackTest, OpensAgainWithAnotherText) {
  const Options options = Load(Logs("1M") + ";target={" + Tiers("64M") + "}");
  Write(options);
  const Options other = Load(Logs("64K") + ";target={" + Tiers("32M") + "}");
  EXPECT_NE(options.env->GetFileSystem(), other.env->GetFileSystem());
  Read(other);
  Read(options);
  std::unique_ptr<DB> db;
  ASSERT_OK(Open(options, &db));
  std::unique_ptr<DB> second;
  EXPECT_FALSE(Open(other, &second).ok());
}

// So no other process can write to the device, although no database is open.
TEST_F(StackTest, TheFileSystemStaysOpen) {
  Write(Load(Both()));
  const std::string run = std::string(getenv("ROCKTIER_BIN")) + "/rocktier wal ";
  EXPECT_EQ(0, std::system((run + "df " + folder_ + "/wal").c_str()));
  EXPECT_NE(0, std::system((run + "export " + folder_ + "/wal " + folder_ + "/db").c_str()));
  Read(Load(Both()));
}

TEST_F(StackTest, DatabasesWithDifferentStacksAtOnce) {
  const std::vector<std::string> stacks = {Logs(), Tiers(), Both(), Both()};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < stacks.size(); i++) {
    threads.emplace_back([this, stack = stacks[i], number = std::to_string(i)] {
      for (int round = 0; round < 2; round++) {
        const Options options = Load(stack, "/options" + number);
        std::unique_ptr<DB> db;
        ASSERT_OK(Open(options, &db, "/db" + number));
        ASSERT_OK(round == 0 ? Fill(db.get()) : Status::OK());
        ASSERT_OK(Verify(db.get()));
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace rocktier
