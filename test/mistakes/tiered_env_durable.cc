// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Directories that are not what they seem to be: two that are one, a file, relative paths, paths
// that lead outside, one that cannot be written to.

#include "test/mistakes/tiered_env_durable.h"

#include <set>

#include "plugin/tiered_env/files/stub.h"
#include "test/tiered_env/support/mount.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class DirectoryMistakes : public DurableMistakes {
 protected:
  std::string TiersAt(const std::string& fast, const std::string& slow) const {
    return "fast={path=" + fast + "};slow={path=" + slow + "}";
  }
  // The database's own name or what is below it, as tools are called in the directory above.
  void GoToFolder() {
    fs::current_path(folder_);
    db_name_ = "db";
  }
};

TEST_F(DirectoryMistakes, TwoTiersThatAreOneDirectory) {
  FillTiers();
  fs::create_directory_symlink(TierPath("fast"), folder_ + "/link");
  ExpectRefused(TiersAt(TierPath("fast"), folder_ + "/link"),
                {"fast", "slow", "are one directory"});
  EXPECT_FALSE(RepairDB(db_name_, DbOptions()).ok());
  TieredCheck check;
  EXPECT_FALSE(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check).ok());
  ExpectWhole(Tiers());
}

// There is no FileSystem with these.
TEST_F(DirectoryMistakes, TwoTiersOfOnePathInOtherWords) {
  FillTiers();
  const std::string fast = TierPath("fast");
  for (const std::string& slow : {fast, fast + "/.", fast + "/", "/" + fast, folder_ + "/./fast"}) {
    TieredOptions options;
    options.tiers = TiersAt(fast, slow);
    std::shared_ptr<FileSystem> made;
    const Status s = NewTieredFileSystem(options, nullptr, &made);
    EXPECT_TRUE(s.IsInvalidArgument()) << slow << ": " << s.ToString();
    for (const std::string& text : {"slow=path=" + slow, std::string("has the path of fast")}) {
      EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    }
  }
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, ABindMountOfAnotherTier) {
  FillTiers();
  const std::string mounted = folder_ + "/mounted";
  fs::create_directories(mounted);
  if (mount(TierPath("slow").c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    ROCKTIER_SKIP(std::string("no bind mounts: ") + strerror(errno));
  }
  ExpectRefused(TiersAt(mounted, TierPath("slow")), {"fast", "slow", "are one directory"});
  ASSERT_EQ(umount2(mounted.c_str(), MNT_DETACH), 0);
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, ATierThatIsHome) {
  FillTiers();
  fs::create_directory_symlink(db_name_, folder_ + "/link");
  ExpectRefused(TiersAt(folder_ + "/link", TierPath("slow")), {"fast", "are one directory"});
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, ATierThatIsAFile) {
  WriteFile(folder_ + "/file", "precious");
  const Status s = TryOpen(TiersAt(folder_ + "/file", TierPath("slow")));
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("is no directory"), std::string::npos) << s.ToString();
  FillTiers();
  ExpectRefused(TiersAt(folder_ + "/file", TierPath("slow")), {"fast", "is no directory"});
  EXPECT_EQ(ReadFile(folder_ + "/file"), "precious");
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, ACopyThatIsOpenedByARelativePath) {
  GoToFolder();
  FillTiers();
  fs::copy("db", "db2", fs::copy_options::recursive);
  db_name_ = "db2";
  ExpectRefused(Tiers(), {"copy", folder_ + "/db"});
  db_name_ = "db";
  ExpectWhole(Tiers());
  db_name_ = folder_ + "/db";
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, ToolsThatAreCalledInTheDirectoryAbove) {
  FillTiers();
  GoToFolder();
  NewFs(Tiers(), kPlacement);
  std::string later;
  ASSERT_OK(MoveToTier(fs_.get(), "db", OneIn("slow"), "home", &later));
  uint64_t moved;
  ASSERT_OK(RecoverTiers(fs_.get(), "db"));
  ASSERT_OK(DrainTier(fs_.get(), "db", "fast", &moved));
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), "db", /*repair=*/true, &check));
  EXPECT_EQ(check.problems.size(), 0u);
  fs::copy("db", "db2", fs::copy_options::recursive);
  db_name_ = folder_ + "/db2";
  ExpectRefused(Tiers(), {"copy", folder_ + "/db"});
  db_name_ = folder_ + "/db";
  ExpectWhole(Tiers());
  NewFs(Tiers(), kPlacement);
  ASSERT_OK(EvacuateTiers(fs_.get(), "db", &moved));
  EXPECT_GT(moved, 0u);
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, StubsThatLeadOutside) {
  FillTiers();
  const std::string base = OneIn("slow");
  const std::string whole = ReadFile(db_name_ + "/" + base);
  const std::string victim = folder_ + "/victim";
  fs::create_directory(victim);
  WriteFile(victim + "/file", "precious");
  Stub stub;
  ASSERT_OK(Stub::Decode(whole, base, &stub));
  for (const char* path : {"../victim/file", "../victim", "..", "", "/", "/file", "folder/",
                           "folder/..", "./file", "folder/below/file", "no-folder"}) {
    stub.path = path;
    WriteFile(db_name_ + "/" + base, stub.Encode());
    const Status s = TryOpen(Tiers());
    EXPECT_TRUE(s.IsCorruption()) << path << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("path"), std::string::npos) << s.ToString();
    Close();
  }
  EXPECT_EQ(ReadFile(victim + "/file"), "precious");
  WriteFile(db_name_ + "/" + base, whole);
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, FolderNamesThatLeadOutside) {
  FillTiers();
  const std::string path = db_name_ + "/TIERS";
  const std::string whole = ReadFile(path);
  const std::string victim = folder_ + "/victim";
  fs::create_directory(victim);
  WriteFile(victim + "/file", "precious");
  Identity identity;
  ASSERT_OK(Identity::Decode(whole, path, &identity));
  for (const char* folder : {"../victim", "..", ".", "", "/", "a/b"}) {
    identity.folder = folder;
    WriteFile(path, identity.Encode());
    const Status s = TryOpen(Tiers());
    EXPECT_TRUE(s.IsCorruption()) << folder << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("/TIERS"), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("name of folders"), std::string::npos) << s.ToString();
    Close();
    uint64_t moved;
    EXPECT_FALSE(EvacuateTiers(fs_.get(), db_name_, &moved).ok());
    EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
  }
  EXPECT_EQ(ReadFile(victim + "/file"), "precious");
  WriteFile(path, whole);
  ExpectWhole(Tiers());
}

TEST_F(DirectoryMistakes, AReadOnlyTier) {
  Mount mounted(TierPath("fast"), "size=64m");
  if (!mounted.ok()) {
    ROCKTIER_SKIP(std::string("no tmpfs: ") + mounted.error());
  }
  NewFs(Tiers("budget=8M"), "0..1=fast;2..=slow");
  Open();
  Fill(20000);
  Settle();
  Close();
  const auto paths = [&] {
    std::set<std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(TierPath("fast"))) {
      result.insert(entry.path().string());
    }
    return result;
  };
  const auto before = paths();
  EXPECT_GT(FilesIn("fast"), 0u);
  ASSERT_TRUE(mounted.Remount("ro"));
  // Room for no more than there is: what is new has the better claim to it.
  NewFs(Tiers("budget=" + std::to_string(BytesIn("fast") + 1000)), kPlacement);
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  Fill(3000);
  Settle();
  EXPECT_EQ(paths(), before);
  EXPECT_EQ(StatsOf("fast").errors, 0u);
  EXPECT_NE(Log().find("is read-only"), std::string::npos);
  int here = 0;
  for (const auto& [where, count] : Census()) {
    here += where.substr(3) == "fast" ? count : 0;
  }
  EXPECT_EQ(static_cast<size_t>(here), FilesIn("fast"));
  Verify();
  Close();
  ASSERT_TRUE(mounted.Remount("rw,size=64m"));
  ASSERT_OK(TryOpen(Tiers()));
  Settle();
  Verify();
  ExpectUpperInFast();
  Close();
}

// The first SSTs are in another directory, the others at home, and so in tiers.
TEST_F(DirectoryMistakes, DbPathsThatBeginElsewhere) {
  const std::string first = folder_ + "/first";
  fs::create_directory(first);
  const auto options = [&] {
    Options result = DbOptions();
    result.db_paths = {{first, 600 << 10}, {db_name_, uint64_t{1} << 40}};
    return result;
  };
  NewFs(Tiers(), kPlacement);
  Open(options());
  Fill(20000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Settle();
  Fill(200);
  Close();
  ASSERT_FALSE(fs::is_empty(first));
  ASSERT_GT(FilesIn("slow"), 0);
  const Status s = RecoverTiers(fs_.get(), db_name_);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("is missing; if it is in one of DBOptions::db_paths"),
            std::string::npos)
      << s.ToString();
  NewFs(Tiers(), kPlacement, "db_paths=" + folder_ + "/none:" + first);
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  EXPECT_EQ(check.problems.size(), 0u) << check.problems[0].path << check.problems[0].what;
  ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
  uint64_t files;
  uint64_t bytes;
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &files, &bytes));
  Open(options());
  Verify();
  Close();
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &files));
  EXPECT_GT(files, 0u);
  EXPECT_TRUE(fs::is_empty(TierPath("slow")));
  Options stock = options();
  stock.env = Env::Default();
  stock.listeners.clear();
  Open(stock);
  Verify();
  Close();
}

}  // namespace

}  // namespace rocktier
