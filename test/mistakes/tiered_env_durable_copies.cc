// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Checkpoints that are copied, sent elsewhere, or deleted as any directory is.

#include "plugin/tiered_env/files/stub.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/mistakes/tiered_env_durable.h"
#include "test/tiered_env/support/mount.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class CheckpointMistakes : public DurableMistakes {
 protected:
  void MakeCheckpoint(const std::string& more) {
    FillTiers();
    NewFs(Tiers(), kPlacement, more);
    Open();
    Checkpoint* raw = nullptr;
    ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/checkpoint"));
    Close();
  }
  size_t FoldersIn(const std::string& tier) const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(TierPath(tier))) {
      count += entry.is_directory() ? 1 : 0;
    }
    return count;
  }
  // By RocksDB without the plugin.
  void ExpectPlain(const std::string& name) {
    Options options = DbOptions();
    options.env = Env::Default();
    options.listeners.clear();
    ASSERT_OK(OpenDb(options, name, &db_));
    Verify();
    Close();
  }
};

TEST_F(CheckpointMistakes, ACheckpointIsPlain) {
  MakeCheckpoint("");
  EXPECT_EQ(FoldersIn("fast"), 1u);
  fs::copy(folder_ + "/checkpoint", folder_ + "/sent", fs::copy_options::recursive);
  ExpectPlain(folder_ + "/sent");
  ExpectPlain(folder_ + "/checkpoint");
  ExpectWhole(Tiers());
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  ExpectPlain(folder_ + "/checkpoint");
}

TEST_F(CheckpointMistakes, ACheckpointOfTiersOnOtherFileSystems) {
  Mount mounted(TierPath("fast"), "size=64m");
  if (!mounted.ok()) {
    ROCKTIER_SKIP(std::string("no tmpfs: ") + mounted.error());
  }
  MakeCheckpoint("");
  ExpectPlain(folder_ + "/checkpoint");
  ExpectWhole(Tiers());
}

TEST_F(CheckpointMistakes, ALinkedCheckpointThatIsCopied) {
  MakeCheckpoint("checkpoints=linked");
  fs::copy(folder_ + "/checkpoint", folder_ + "/copy", fs::copy_options::recursive);
  db_name_ = folder_ + "/copy";
  ExpectRefused(Tiers(), {"is a copy of " + folder_ + "/checkpoint"});
  db_name_ = folder_ + "/checkpoint";
  ExpectWhole(Tiers());
  db_name_ = folder_ + "/db";
  ExpectWhole(Tiers());
}

TEST_F(CheckpointMistakes, ALinkedCheckpointThatIsDeleted) {
  MakeCheckpoint("checkpoints=linked");
  EXPECT_EQ(FoldersIn("fast"), 2u);
  std::string name;
  for (const auto& entry : fs::directory_iterator(TierPath("fast"))) {
    const std::string base = entry.path().filename().string();
    name = base.compare(0, 10, "checkpoint") == 0 ? base : name;
  }
  uint64_t files;
  uint64_t bytes;
  NewFs(Tiers(), kPlacement);
  EXPECT_FALSE(PurgeTiers(fs_.get(), db_name_, &files, &bytes, {name}).ok());
  fs::remove_all(folder_ + "/checkpoint");
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  ASSERT_EQ(check.problems.size(), 2u);
  EXPECT_NE(check.problems[0].what.find(folder_ + "/checkpoint"), std::string::npos)
      << check.problems[0].what;
  EXPECT_NE(check.problems[0].what.find("--folder=" + name), std::string::npos);
  EXPECT_FALSE(PurgeTiers(fs_.get(), db_name_, &files, &bytes, {"../fast"}).ok());
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &files, &bytes, {name}));
  EXPECT_EQ(FoldersIn("fast"), 1u);
  EXPECT_EQ(FoldersIn("slow"), 1u);
  ExpectWhole(Tiers());
}

// As by a tool that copies or links what it knows of RocksDB.
TEST_F(CheckpointMistakes, ACopyWithoutTiers) {
  FillTiers();
  fs::copy(db_name_, folder_ + "/copy");
  fs::remove(folder_ + "/copy/TIERS");
  db_name_ = folder_ + "/copy";
  ExpectRefused(Tiers(), {".sst", "has no TIERS", "checkpoints or backups"});
  EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
  EXPECT_FALSE(RepairDB(db_name_, DbOptions()).ok());
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  EXPECT_FALSE(TryOpen(Tiers()).ok());
  db_name_ = folder_ + "/db";
  ExpectWhole(Tiers());
  fs::remove(folder_ + "/db/TIERS");
  fs::remove_all(folder_ + "/copy");
  ExpectRefused(Tiers(), {"has no TIERS"});
  NewFs(Tiers(), kPlacement);
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  ExpectWhole(Tiers());
}

// A backup that is restored deletes all that it finds, without LOCK. Each case makes of db, which
// was opened last, what the backup is restored to and what has the files.
class RestoreMistakes : public CheckpointMistakes {
 protected:
  void BackUp() {
    BackupEngineOptions options(folder_ + "/backup", Env::Default());
    BackupEngine* raw = nullptr;
    ASSERT_OK(BackupEngine::Open(options, env_.get(), &raw));
    const std::unique_ptr<BackupEngine> engine(raw);
    ASSERT_OK(engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true));
  }
  void FillAndBackUp() {
    FillTiers();
    ASSERT_OK(TryOpen(Tiers()));
    BackUp();
    Close();
    CopyHome("older");
    ASSERT_OK(TryOpen(Tiers()));
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Close();
  }
  void CopyHome(const std::string& to) const {
    fs::copy(db_name_, folder_ + "/" + to, fs::copy_options::recursive);
  }
  void Rename(const std::string& from, const std::string& to) const {
    fs::rename(folder_ + "/" + from, folder_ + "/" + to);
  }
  void Restore(const std::string& to) {
    BackupEngineOptions options(folder_ + "/backup", Env::Default());
    BackupEngineReadOnly* raw = nullptr;
    ASSERT_OK(BackupEngineReadOnly::Open(options, env_.get(), &raw));
    const std::unique_ptr<BackupEngineReadOnly> engine(raw);
    ASSERT_OK(engine->RestoreDBFromLatestBackup(folder_ + "/" + to, folder_ + "/" + to));
    for (const auto& entry : fs::directory_iterator(folder_ + "/" + to)) {
      EXPECT_FALSE(entry.path().extension() == ".sst" && entry.file_size() == Stub::kSize)
          << entry.path();
    }
  }
};

TEST_F(RestoreMistakes, ToACopy) {
  FillAndBackUp();
  CopyHome("copy");
  NewFs(Tiers(), kPlacement);
  Restore("copy");
  ExpectWhole(Tiers());
}

TEST_F(RestoreMistakes, ToACopyOfWhatIsOpen) {
  FillAndBackUp();
  CopyHome("copy");
  ASSERT_OK(TryOpen(Tiers()));
  Restore("copy");
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  Close();
  ExpectWhole(Tiers());
}

TEST_F(RestoreMistakes, ToAnOlderStateAtItsPlace) {
  FillAndBackUp();
  Rename("db", "newest");
  Rename("older", "db");
  NewFs(Tiers(), kPlacement);
  Restore("db");
  Rename("db", "restored");
  Rename("newest", "db");
  ExpectWhole(Tiers());
}

// Nothing names the home that was moved away, and OWNER names nobody.
TEST_F(RestoreMistakes, ToACopyOfWhatWasMoved) {
  FillAndBackUp();
  CopyHome("copy");
  Rename("db", "moved");
  NewFs(Tiers(), kPlacement);
  Restore("copy");
  fs::remove_all(folder_ + "/copy");
  db_name_ = folder_ + "/moved";
  ExpectWhole(Tiers());
}

// The tiers have nothing of it afterwards.
TEST_F(RestoreMistakes, ToItself) {
  FillAndBackUp();
  NewFs(Tiers(), kPlacement);
  Restore("db");
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
  ASSERT_OK(TryOpen(Tiers()));
  ASSERT_OK(db_->VerifyChecksum());
  Close();
}

// RocksDB deletes what it does not know: the stub, and not another database's file.
TEST_F(CheckpointMistakes, AStubInTheDirectoryOfAnother) {
  FillTiers();
  const std::string stub = folder_ + "/db/" + OneIn("fast");
  const auto model = model_;
  model_.clear();
  db_name_ = folder_ + "/another";
  FillTiers();
  fs::copy(stub, folder_ + "/another/000001.sst");
  ExpectWhole(Tiers());
  EXPECT_FALSE(fs::exists(folder_ + "/another/000001.sst"));
  db_name_ = folder_ + "/db";
  model_ = model;
  ExpectWhole(Tiers());
}

}  // namespace

}  // namespace rocktier
