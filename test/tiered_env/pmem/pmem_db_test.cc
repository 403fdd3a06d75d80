// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases whose files all are of a pmem tier, logs included.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <map>

#include "gtest/gtest.h"
#include "plugin/tiered_env/pmem/file_system.h"
#include "plugin/tiered_env/pmem/mapping.h"
#include "port/stack_trace.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/rate_limiter.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

using Contents = std::map<std::string, std::string>;

std::string Key(uint64_t i) {
  char key[17];
  snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(i));
  return key;
}

Options SmallOptions(Env* env, bool allow_mmap_reads) {
  Options options;
  options.env = env;
  options.create_if_missing = true;
  options.allow_mmap_reads = allow_mmap_reads;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.recycle_log_file_num = 2;
  options.max_open_files = 10;
  options.compression = kNoCompression;
  return options;
}

// The parameter is allow_mmap_reads: with it blocks are not copied.
class PmemDbTest : public testing::TestWithParam<bool> {
 protected:
  PmemDbTest()
      : folder_(rocktier::NewFolder()), path_(folder_ + "/db"), random_(rocktier::Seed()) {}

  void SetUp() override {
    const IOStatus s = NewPmemFileSystem(FileSystem::Default(), folder_, &fs_);
    if (!HaveLibpmem()) {
      printf("%s\n", s.ToString().c_str());
      ASSERT_TRUE(s.IsNotSupported());
      fs_ = std::make_shared<PmemFileSystem>(FileSystem::Default());
    } else {
      ASSERT_OK(s);
    }
    env_ = NewCompositeEnv(fs_);
    options_ = SmallOptions(env_.get(), GetParam());
    table_.block_cache = NewLRUCache(100 << 10);
  }

  void TearDown() override { db_.reset(); }

  Status Open() {
    db_.reset();
    options_.table_factory.reset(NewBlockBasedTableFactory(table_));
    return OpenDb(options_, path_, &db_);
  }

  void Write(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string key = Key(random_() % 5000);
      if (random_() % 10 == 0) {
        ASSERT_OK(db_->Delete(WriteOptions(), key));
        expected_.erase(key);
      } else {
        std::string value(random_() % 500, '\0');
        for (char& c : value) {
          c = static_cast<char>(random_());
        }
        WriteOptions options;
        options.sync = random_() % 10 == 0;
        ASSERT_OK(db_->Put(options, key, value));
        expected_[key] = value;
      }
    }
  }

  void Check(DB* db, const Contents& expected, const ReadOptions& options = ReadOptions()) {
    std::unique_ptr<Iterator> iterator(db->NewIterator(options));
    auto next = expected.begin();
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next(), ++next) {
      ASSERT_TRUE(next != expected.end());
      ASSERT_EQ(iterator->key().ToString(), next->first);
      ASSERT_TRUE(iterator->value() == next->second) << next->first;
    }
    ASSERT_OK(iterator->status());
    ASSERT_TRUE(next == expected.end());
    std::string value;
    for (int i = 0; i < 300; ++i) {
      const std::string key = Key(random_() % 5000);
      const auto found = expected.find(key);
      const Status s = db->Get(options, key, &value);
      ASSERT_EQ(s.ok(), found != expected.end()) << s.ToString();
      ASSERT_TRUE(!s.ok() || value == found->second) << key;
    }
  }

  // The ways to read that take other paths to the file.
  void CheckInAllWays() {
    Check(db_.get(), expected_);
    ReadOptions options;
    options.readahead_size = 64 << 10;
    Check(db_.get(), expected_, options);
    options.async_io = true;
    Check(db_.get(), expected_, options);
    options = ReadOptions();
    options.adaptive_readahead = true;
    options.fill_cache = false;
    options.pin_data = true;
    Check(db_.get(), expected_, options);
    options.rate_limiter_priority = Env::IO_USER;
    Check(db_.get(), expected_, options);
    CheckMultiGet();
    ASSERT_OK(db_->VerifyChecksum());
  }

  void CheckMultiGet() {
    for (bool async : {false, true}) {
      std::vector<std::string> keys;
      for (int i = 0; i < 32; ++i) {
        keys.push_back(Key(random_() % 5000));
      }
      const std::vector<Slice> slices(keys.begin(), keys.end());
      std::vector<PinnableSlice> values(keys.size());
      std::vector<Status> statuses(keys.size());
      ReadOptions options;
      options.async_io = async;
      db_->MultiGet(options, db_->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
                    statuses.data());
      for (size_t i = 0; i < keys.size(); ++i) {
        const auto found = expected_.find(keys[i]);
        ASSERT_EQ(statuses[i].ok(), found != expected_.end()) << statuses[i].ToString();
        ASSERT_TRUE(!statuses[i].ok() || values[i] == found->second) << keys[i];
      }
    }
  }

  const std::string folder_;
  const std::string path_;
  std::mt19937_64 random_;
  std::shared_ptr<FileSystem> fs_;
  std::unique_ptr<Env> env_;
  Options options_;
  BlockBasedTableOptions table_;
  std::unique_ptr<DB> db_;
  Contents expected_;
};

INSTANTIATE_TEST_CASE_P(MmapReads, PmemDbTest, testing::Bool());

TEST_P(PmemDbTest, FillCompactReopen) {
  ASSERT_OK(Open());
  for (int round = 0; round < 4; ++round) {
    Write(5000);
    CheckInAllWays();
    ASSERT_OK(db_->Flush(FlushOptions()));
    CheckInAllWays();
    ASSERT_OK(Open());
    Check(db_.get(), expected_);
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  CheckInAllWays();
  ASSERT_OK(Open());
  CheckInAllWays();
  // Every file but LOG and LOCK is one of ours.
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren(path_, &names));
  int tables = 0;
  for (const std::string& name : names) {
    if (name.rfind("LOG", 0) != 0 && name != "LOCK") {
      std::ifstream in(path_ + "/" + name, std::ios::binary);
      std::string magic(8, '\0');
      in.read(magic.data(), 8);
      EXPECT_EQ(magic, "rktrpmem") << name;
      tables += name.size() > 4 && name.substr(name.size() - 4) == ".sst" ? 1 : 0;
    }
  }
  EXPECT_GT(tables, 0);
}

TEST_P(PmemDbTest, OtherLayouts) {
  options_.compression = kLZ4Compression;
  options_.enable_blob_files = true;
  options_.min_blob_size = 300;
  options_.enable_blob_garbage_collection = true;
  options_.compaction_readahead_size = 100 << 10;
  options_.rate_limiter.reset(
      NewGenericRateLimiter(50 << 20, 10000, 10, RateLimiter::Mode::kAllIo));
  options_.use_direct_reads = false;
  options_.track_and_verify_wals_in_manifest = true;
  table_.cache_index_and_filter_blocks = true;
  table_.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_.partition_filters = true;
  table_.filter_policy.reset(NewBloomFilterPolicy(10));
  ASSERT_OK(Open());
  for (int round = 0; round < 3; ++round) {
    Write(5000);
    CheckInAllWays();
    ASSERT_OK(Open());
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  CheckInAllWays();
}

// PlainTable reads into buffers of its own without allow_mmap_reads, and the whole mapping with it.
TEST_P(PmemDbTest, PlainTable) {
  options_.table_factory.reset(NewPlainTableFactory());
  options_.prefix_extractor.reset(NewFixedPrefixTransform(8));
  options_.recycle_log_file_num = 0;
  ASSERT_OK(OpenDb(options_, path_, &db_));
  Write(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::string value;
  for (const auto& [key, expected] : expected_) {
    ASSERT_OK(db_->Get(ReadOptions(), key, &value));
    ASSERT_TRUE(value == expected) << key;
  }
}

// Iterators and pinned values outlive the files' names, the block cache's entries and the open
// tables.
TEST_P(PmemDbTest, IteratorsHoldWhatTheyRead) {
  ASSERT_OK(Open());
  Write(10000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Contents before = expected_;
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (int i = 0; i < 20; ++i) {
    ReadOptions options;
    options.pin_data = i % 2 == 0;
    iterators.emplace_back(db_->NewIterator(options));
    iterators.back()->Seek(Key(random_() % 5000));
  }
  std::vector<std::pair<std::string, PinnableSlice>> pinned;
  for (int i = 0; i < 100; ++i) {
    PinnableSlice value;
    const std::string key = Key(random_() % 5000);
    if (db_->Get(ReadOptions(), db_->DefaultColumnFamily(), key, &value).ok()) {
      pinned.emplace_back(key, std::move(value));
    }
  }
  std::vector<std::string> files;
  ASSERT_OK(env_->GetChildren(path_, &files));
  for (int round = 0; round < 3; ++round) {
    Write(5000);
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Check(db_.get(), expected_);
  }
  for (const std::unique_ptr<Iterator>& iterator : iterators) {
    ASSERT_OK(iterator->status());
    auto next = iterator->Valid() ? before.find(iterator->key().ToString()) : before.end();
    for (; iterator->Valid(); iterator->Next(), ++next) {
      ASSERT_TRUE(next != before.end());
      ASSERT_EQ(iterator->key().ToString(), next->first);
      ASSERT_TRUE(iterator->value() == next->second);
    }
    ASSERT_OK(iterator->status());
    ASSERT_TRUE(next == before.end());
  }
  for (const auto& [key, value] : pinned) {
    ASSERT_TRUE(value == before.at(key)) << key;
  }
}

TEST_P(PmemDbTest, CheckpointBackupIngest) {
  ASSERT_OK(Open());
  Write(8000);
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/checkpoint"));

  // A backup on ordinary storage holds files without header.
  BackupEngineOptions backup_options(folder_ + "/backup", Env::Default());
  BackupEngine* engine = nullptr;
  ASSERT_OK(BackupEngine::Open(backup_options, env_.get(), &engine));
  std::unique_ptr<BackupEngine> backups(engine);
  ASSERT_OK(backups->CreateNewBackup(db_.get(), /*flush_before_backup=*/true));
  ASSERT_OK(backups->VerifyBackup(1, /*verify_with_checksum=*/true));
  const Contents before = expected_;

  const std::string table = folder_ + "/ingested.sst";
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(table));
  for (int i = 0; i < 5000; i += 100) {
    ASSERT_OK(writer.Put(Key(i), "ingested"));
    expected_[Key(i)] = "ingested";
  }
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ASSERT_OK(db_->IngestExternalFile({table}, ingest));
  CheckInAllWays();
  ASSERT_OK(Open());
  Check(db_.get(), expected_);

  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDbForReadOnly(options_, folder_ + "/checkpoint", &other));
  Check(other.get(), before);
  other.reset();

  // Back to this tier, and to ordinary storage.
  for (Env* env : {env_.get(), Env::Default()}) {
    ASSERT_OK(BackupEngine::Open(backup_options, env, &engine));
    backups.reset(engine);
    const std::string restored = folder_ + "/restored";
    std::filesystem::remove_all(restored);
    ASSERT_OK(backups->RestoreDBFromLatestBackup(restored, restored));
    Options options = options_;
    options.env = env;
    ASSERT_OK(OpenDb(options, restored, &other));
    Check(other.get(), before);
    other.reset();
  }
}

uint64_t KeyOfRound(int round, uint64_t i) { return static_cast<uint64_t>(round) * 1000000 + i; }

// RocksDB's reader of a secondary instance never ends at an old record of a recycled log, wherever
// the log is (log_reader.cc, kOldRecord): no secondary where logs are recycled.
bool HasSecondary(int round) { return round % 2 == 1; }

// The child: writes until it is killed, and says so on its standard output.
int WriteForEver(const std::string& path, bool allow_mmap_reads, int round) {
  const std::unique_ptr<Env> env =
      NewCompositeEnv(std::make_shared<PmemFileSystem>(FileSystem::Default()));
  std::unique_ptr<DB> db;
  Options options = SmallOptions(env.get(), allow_mmap_reads);
  options.recycle_log_file_num = HasSecondary(round) ? 0 : 2;
  Status s = OpenDb(options, path, &db);
  for (uint64_t i = 0; s.ok(); ++i) {
    s = db->Put(WriteOptions(), Key(KeyOfRound(round, i)), std::string(100, 'v'));
    if (s.ok() && write(STDOUT_FILENO, &i, sizeof(i)) != sizeof(i)) {
      break;
    }
  }
  fprintf(stderr, "child: %s\n", s.ToString().c_str());
  return 1;
}

pid_t SpawnWriter(const std::string& path, bool allow_mmap_reads, int round, int out) {
  std::string arguments[] = {"/proc/self/exe", "--write", path, allow_mmap_reads ? "1" : "0",
                             std::to_string(round)};
  char* argv[6] = {};
  for (int i = 0; i < 5; ++i) {
    argv[i] = arguments[i].data();
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, argv[0], &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

// A secondary sees the key, perhaps not at its first look: the primary flushes and deletes logs
// between its looks at the MANIFEST and at the directory.
void WaitForSecondary(const Options& options, const std::string& path,
                      const std::string& secondary_path, const std::string& key) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  std::unique_ptr<DB> secondary;
  std::string value;
  Status s;
  do {
    s = secondary == nullptr ? OpenDbAsSecondary(options, path, secondary_path, &secondary)
                             : secondary->TryCatchUpWithPrimary();
    if (s.ok()) {
      s = secondary->Get(ReadOptions(), key, &value);
    }
  } while (!s.ok() && std::chrono::steady_clock::now() < deadline);
  ASSERT_OK(s);
  ASSERT_EQ(value, std::string(100, 'v'));
}

// A process that writes without sync is killed; in some rounds a secondary instance follows it.
TEST_P(PmemDbTest, AcknowledgedWritesOutliveTheProcess) {
  Options secondary_options = options_;
  secondary_options.max_open_files = -1;
  for (int round = 0; round < 4; ++round) {
    int acknowledged[2];
    ASSERT_EQ(pipe2(acknowledged, O_CLOEXEC), 0);
    const pid_t child = SpawnWriter(path_, GetParam(), round, acknowledged[1]);
    ASSERT_GT(child, 0);
    close(acknowledged[1]);
    const uint64_t enough = 2 + random_() % 20000;
    uint64_t last = 0;
    while (last < enough && read(acknowledged[0], &last, sizeof(last)) == sizeof(last)) {
      if (last == enough / 2 && HasSecondary(round)) {
        WaitForSecondary(secondary_options, path_, folder_ + "/secondary",
                         Key(KeyOfRound(round, last)));
      }
    }
    EXPECT_EQ(last, enough);
    kill(child, SIGKILL);
    while (read(acknowledged[0], &last, sizeof(last)) == sizeof(last)) {
    }
    close(acknowledged[0]);
    int status;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (HasSecondary(round)) {
      WaitForSecondary(secondary_options, path_, folder_ + "/secondary",
                       Key(KeyOfRound(round, last)));
    }
    ASSERT_OK(Open());
    std::string value;
    for (int before = 0; before <= round; ++before) {
      for (uint64_t i = 0; i <= (before == round ? last : 1); ++i) {
        ASSERT_OK(db_->Get(ReadOptions(), Key(KeyOfRound(before, i)), &value));
        ASSERT_EQ(value, std::string(100, 'v'));
      }
    }
    ASSERT_OK(db_->Close());
    db_.reset();
  }
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  if (argc == 5 && strcmp(argv[1], "--write") == 0) {
    return ROCKSDB_NAMESPACE::tiered_env::WriteForEver(argv[2], *argv[3] == '1', atoi(argv[4]));
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
