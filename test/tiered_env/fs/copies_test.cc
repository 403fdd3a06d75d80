// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Checkpoints, backups, ingestion, export and import, repair.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class TieredCopiesTest : public TieredTest {
 protected:
  void FillTiers() {
    NewFs(Tiers(), "0=home;1=fast;2..=slow;wal=fast");
    Open();
    Fill(20000);
    Settle();
    Fill(500);
  }
  void MakeCheckpoint(const std::string& name, uint64_t log_size = 0) {
    Checkpoint* raw = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/" + name, log_size));
  }
  // Goes on with this database.
  void Use(const std::string& name) {
    Close();
    db_name_ = folder_ + "/" + name;
  }
};

TEST_F(TieredCopiesTest, CheckpointsLinkAndLive) {
  FillTiers();
  MakeCheckpoint("first");
  MakeCheckpoint("logs", 1 << 30);  // with logs
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  int linked = 0;
  for (const LiveFileMetaData& file : files) {
    uint64_t links = 0;
    ASSERT_OK(fs_->NumFileLinks(db_name_ + file.name, IOOptions(), &links, nullptr));
    bool same = false;
    if (std::filesystem::exists(folder_ + "/first" + file.name)) {
      ASSERT_OK(fs_->AreFilesSame(db_name_ + file.name, folder_ + "/first" + file.name, IOOptions(),
                                  &same, nullptr));
      EXPECT_EQ(links, 3u);
      EXPECT_TRUE(same);
      linked++;
    }
  }
  EXPECT_GT(linked, 5);
  Verify();
  const auto then = model_;
  Fill(5000);
  ExpectQuiet();
  const auto now = model_;
  // Beside the original, after it, and after the other one.
  std::unique_ptr<DB> original = std::move(db_);
  model_ = then;
  Use("first");
  Open();
  Verify();
  Settle();
  EXPECT_OK(original->VerifyChecksum());
  original.reset();
  Close();
  ASSERT_OK(DestroyDB(folder_ + "/db", DbOptions()));
  Open();
  Verify();
  Fill(1000);
  Settle();
  MakeCheckpoint("second");
  Verify();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  const auto first = model_;
  model_ = then;
  Use("logs");
  Open();
  Verify();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  model_ = first;
  Use("second");
  Open();
  ExpectQuiet();
  Verify();
  size_t in_tiers = 0;
  for (const std::string& base : FilesOf("")) {
    in_tiers += TierOf(base) != "home" ? 1 : 0;
  }
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), in_tiers);
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
}

// A checkpoint goes on as it was when the database's files are moved.
TEST_F(TieredCopiesTest, CheckpointAndMoves) {
  FillTiers();
  MakeCheckpoint("copy");
  const auto then = model_;
  Reopen(Tiers(), "0..=slow");
  ExpectQuiet();
  Reopen(Tiers(), "0..=fast");
  ExpectQuiet();
  Fill(3000);
  ExpectQuiet();
  Verify();
  model_ = then;
  Use("copy");
  Open();
  ExpectQuiet();
  Verify();
}

// The mover is about to give the name to a stub. Who has found the file at home must not give it
// one in the checkpoint.
TEST_F(TieredCopiesTest, AFileThatLeavesHomeWhileItIsLinked) {
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  NewFs(Tiers(), "");
  Open();
  Fill(2000);
  Settle();
  Close();
  const std::string copy = folder_ + "/copy";
  std::filesystem::create_directory(copy);
  static thread_local bool linking = false;
  std::atomic<bool> looked{false};
  std::string base;
  uint64_t size = 0;
  Status linked;
  std::thread linker;
  hooks->after_size = [&](const std::string&) { looked = looked || linking; };
  hooks->before_rename = [&](const std::string& from, const std::string& to) {
    if (base.empty() && from == to + ".tiers-tmp" &&
        std::filesystem::path(to).extension() == ".sst") {
      base = std::filesystem::path(to).filename().string();
      size = std::filesystem::file_size(to);
      linker = std::thread([&, to] {
        linking = true;
        linked = fs_->LinkFile(to, copy + "/" + base, IOOptions(), nullptr);
      });
      WaitFor([&] { return looked.load(); }, std::chrono::seconds(1));  // it may have to wait, too
    }
    return IOStatus::OK();
  };
  NewFs(Tiers(), "0..=slow");
  Open();
  EXPECT_OK(WaitForMoves(fs_.get()));
  ASSERT_TRUE(linker.joinable());
  linker.join();
  ASSERT_OK(linked);
  EXPECT_EQ(TierOf(base), "slow");
  EXPECT_EQ(std::filesystem::file_size(copy + "/" + base), size);
  EXPECT_FALSE(std::filesystem::exists(copy + "/TIERS"));
  Verify();
  Close();
  hooks->after_size = nullptr;
  hooks->before_rename = nullptr;
}

TEST_F(TieredCopiesTest, CheckpointThatWasInterrupted) {
  FillTiers();
  MakeCheckpoint("copy");
  std::filesystem::rename(folder_ + "/copy", folder_ + "/copy.tmp");
  MakeCheckpoint("copy");  // removes the other one
  Verify();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  Use("copy");
  Open();
  Verify();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
}

TEST_F(TieredCopiesTest, Backups) {
  for (const bool plain : {false, true}) {  // without the plugin on the side of the backup
    model_.clear();
    FillTiers();
    Env* const backup_env = plain ? Env::Default() : env_.get();
    BackupEngineOptions options(folder_ + "/backup", backup_env);
    options.share_table_files = true;
    std::unique_ptr<BackupEngine> engine;
    BackupEngine* raw = nullptr;
    ASSERT_OK(BackupEngine::Open(options, env_.get(), &raw));
    engine.reset(raw);
    ASSERT_OK(engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/false));
    const auto then = model_;
    Fill(5000);
    Settle();
    ASSERT_OK(engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true));
    ASSERT_OK(engine->VerifyBackup(1, /*verify_with_checksum=*/true));
    ASSERT_OK(engine->VerifyBackup(2, /*verify_with_checksum=*/true));
    const auto now = model_;
    Close();
    // In place: what was in tiers goes.
    ASSERT_OK(engine->RestoreDBFromBackup(1, db_name_, db_name_));
    model_ = then;
    Open();
    ExpectQuiet();
    Verify();
    EXPECT_EQ(StatsOf("home").stranded_bytes, 0u);
    Close();
    ASSERT_OK(engine->RestoreDBFromBackup(2, folder_ + "/other", folder_ + "/other"));
    model_ = now;
    Use("other");
    Open();
    ExpectQuiet();
    Verify();
    Close();
    engine.reset();
    ASSERT_OK(DestroyDB(folder_ + "/other", DbOptions()));
    ASSERT_OK(DestroyDB(folder_ + "/db", DbOptions()));
    EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
    std::filesystem::remove_all(folder_ + "/backup");
    Use("db");
  }
}

TEST_F(TieredCopiesTest, Ingestion) {
  FillTiers();
  for (const bool link : {false, true}) {
    const Options options = DbOptions();
    const std::string path = folder_ + "/file" + std::to_string(link);
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open(path));
    for (int i = 10000; i < 12000; i++) {
      const std::string key = (link ? "k1-" : "k2-") + std::to_string(i);
      ASSERT_OK(writer.Put(key, std::string(100, 'i')));
      model_[key] = std::string(100, 'i');
    }
    ASSERT_OK(writer.Finish());
    IngestExternalFileOptions ingestion;
    ingestion.move_files = link;
    ASSERT_OK(db_->IngestExternalFile({path}, ingestion));
    EXPECT_EQ(std::filesystem::exists(path), !link);
    Verify();
    ExpectQuiet();
    EXPECT_EQ(StatsOf("home").stranded_bytes + StatsOf("slow").stranded_bytes, 0u);
  }
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] == '0'   ? "home"
                               : where[1] == '1' ? "fast"
                                                 : "slow")
        << where;
  }
  Open();
  Verify();
}

// As the output of a remote compaction does.
TEST_F(TieredCopiesTest, AFileThatComesByRenameCounts) {
  FillTiers();
  const uint64_t before = StatsOf("home").bytes;
  const std::string name = db_name_ + "/900000.sst";
  std::filesystem::create_directory(folder_ + "/remote");
  std::ofstream(folder_ + "/remote/1.sst") << std::string(10000, 'r');
  ASSERT_OK(fs_->RenameFile(folder_ + "/remote/1.sst", name, IOOptions(), nullptr));
  EXPECT_EQ(StatsOf("home").bytes, before + 10000);
  // And goes again.
  ASSERT_OK(fs_->RenameFile(name, folder_ + "/remote/2.sst", IOOptions(), nullptr));
  EXPECT_EQ(StatsOf("home").bytes, before);
}

TEST_F(TieredCopiesTest, ExportAndImport) {
  FillTiers();
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_OK(
      checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), folder_ + "/export", &exported));
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  std::unique_ptr<DB> other;
  const std::string name = folder_ + "/other";
  ASSERT_OK(OpenDb(DbOptions(), name, &other));
  for (const bool link : {false, true}) {
    ImportColumnFamilyOptions options;
    options.move_files = link;
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(other->CreateColumnFamilyWithImport(DbOptions(), link ? "linked" : "copied", options,
                                                  *metadata, &family));
    for (const auto& [key, value] : model_) {
      std::string found;
      ASSERT_OK(other->Get(ReadOptions(), family, key, &found));
      ASSERT_EQ(found, value);
    }
    ASSERT_OK(WaitForMoves(fs_.get()));
    ASSERT_OK(other->DestroyColumnFamilyHandle(family));
  }
  EXPECT_EQ(StatsOf("home").stranded_bytes, 0u);
  Verify();
  other.reset();
}

TEST_F(TieredCopiesTest, Repair) {
  for (const bool with_manifest : {true, false}) {
    model_.clear();
    FillTiers();
    Close();
    if (!with_manifest) {
      for (const std::string& base : FilesOf("")) {
        if (base.compare(0, 8, "MANIFEST") == 0) {
          std::filesystem::remove(db_name_ + "/" + base);
        }
      }
      std::filesystem::remove(db_name_ + "/CURRENT");
    }
    ASSERT_OK(RepairDB(db_name_, DbOptions()));
    Open();
    Verify();
    ExpectQuiet();
    EXPECT_EQ(StatsOf("home").stranded_bytes, 0u);
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    // As without tiers, it leaves what the repair has put aside.
    size_t lost = 0;
    for (const auto& entry : std::filesystem::directory_iterator(db_name_ + "/lost")) {
      lost += TierOf("lost/" + entry.path().filename().string()) != "home" ? 1 : 0;
    }
    EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), lost);
    EXPECT_GT(lost, 0u);
    std::vector<std::string> names;
    ASSERT_OK(fs_->GetChildren(db_name_ + "/lost", IOOptions(), &names, nullptr));
    for (const std::string& name : names) {
      ASSERT_OK(fs_->DeleteFile(db_name_ + "/lost/" + name, IOOptions(), nullptr));
    }
    ASSERT_OK(fs_->DeleteDir(db_name_ + "/lost", IOOptions(), nullptr));
    ASSERT_OK(fs_->DeleteDir(db_name_, IOOptions(), nullptr));
    EXPECT_TRUE(std::filesystem::is_empty(TierPath("fast")));
  }
}

TEST_F(TieredCopiesTest, DestroyLeavesNothing) {
  NewFs(Tiers(), "0..1=fast;2..=slow;blob=slow;wal=fast;meta=slow");
  Options options = DbOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 100;
  options.WAL_ttl_seconds = 1000;
  Open(options);
  Fill(10000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Fill(1000);
  Close();  // while files move
  EXPECT_GT(FilesIn("fast"), 0u);
  EXPECT_GT(FilesIn("slow"), 0u);
  ASSERT_OK(DestroyDB(db_name_, options));
  // As without tiers, the directory is still there: it was not empty before its archive was gone.
  ASSERT_TRUE(std::filesystem::is_empty(db_name_));
  ASSERT_TRUE(std::filesystem::is_empty(TierPath("fast")));
  ASSERT_TRUE(std::filesystem::is_empty(TierPath("slow")));
  model_.clear();
  Open(options);  // a new one
  Fill(1000);
  Settle();
  Verify();
}

}  // namespace

}  // namespace rocktier
