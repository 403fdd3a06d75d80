// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A MANIFEST that is damaged in its middle, and tools that go by what can be read of it.

#include <algorithm>

#include "test/mistakes/tiered_env_durable.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class ManifestMistakes : public DurableMistakes {
 protected:
  std::string ManifestPath() const {
    const std::string current = ReadFile(db_name_ + "/CURRENT");
    return db_name_ + "/" + current.substr(0, current.find('\n'));
  }
  // In the first record of each block: nothing of it is believed then.
  static std::string Damaged(std::string manifest) {
    constexpr size_t kBlock = 32768;
    constexpr size_t kHeader = 7;
    for (size_t at = kHeader; at < manifest.size(); at += kBlock) {
      manifest[at] = static_cast<char>(manifest[at] ^ 1);
    }
    return manifest;
  }
  // Damages the stub of the newest SST.
  void DamageStub() {
    constexpr size_t kInTheRecord = 40;
    const std::vector<std::string> tables = FilesOf(".sst");
    ASSERT_FALSE(tables.empty());
    const std::string newest = *std::max_element(tables.begin(), tables.end());
    ASSERT_NE(TierOf(newest), "home");
    std::string stub = ReadFile(db_name_ + "/" + newest);
    stub[kInTheRecord] = static_cast<char>(stub[kInTheRecord] ^ 1);
    WriteFile(db_name_ + "/" + newest, stub);
  }
  // All but whose the folders are: tools that change something take them over first.
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> result = Everything();
    for (auto it = result.begin(); it != result.end();) {
      const std::string base = fs::path(it->first).filename().string();
      it = base == "TIERS" || base == "OWNER" ? result.erase(it) : std::next(it);
    }
    return result;
  }
  void ExpectNamed(const Status& s) const {
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(ManifestPath() + ": is damaged"), std::string::npos)
        << s.ToString();
  }
  void ExpectFound(const TieredCheck& check) const {
    ASSERT_EQ(check.problems.size(), 1u);
    EXPECT_EQ(check.problems[0].path, db_name_);
    const std::string& what = check.problems[0].what;
    EXPECT_NE(what.find("nothing is repaired"), std::string::npos) << what;
    EXPECT_NE(what.find(ManifestPath()), std::string::npos) << what;
    EXPECT_FALSE(check.problems[0].harmless);
    EXPECT_FALSE(check.problems[0].repaired);
    EXPECT_FALSE(check.problems[0].repairable);
  }
};

// RocksDB does not open it. What the MANIFEST does not name any more is not unneeded.
TEST_F(ManifestMistakes, DamageHidesTheNewestFiles) {
  FillTiers();
  const std::string manifest = ReadFile(ManifestPath());
  WriteFile(ManifestPath(), Damaged(manifest));
  const auto intact = Files();
  DamageStub();
  ASSERT_FALSE(HasFailure());
  const auto before = Files();
  NewFs(Tiers(), kPlacement);
  uint64_t files;
  uint64_t bytes;
  for (const bool dry_run : {true, false}) {
    std::string later;
    ExpectNamed(EvacuateTiers(fs_.get(), db_name_, &files, nullptr, dry_run));
    ExpectNamed(DrainTier(fs_.get(), db_name_, "fast", &files, nullptr, dry_run));
    ExpectNamed(PurgeTiers(fs_.get(), db_name_, &files, &bytes, {}, dry_run));
    ExpectNamed(MoveToTier(fs_.get(), db_name_, OneIn("slow"), "fast", &later, dry_run));
    TieredAdoption adoption;
    ExpectNamed(AdoptTiers(fs_.get(), db_name_, /*force=*/false, &adoption, dry_run));
    EXPECT_FALSE(adoption.adopted);
  }
  ExpectNamed(RecoverTiers(fs_.get(), db_name_));
  for (const bool repair : {false, true}) {
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, repair, &check));
    ExpectFound(check);
  }
  EXPECT_TRUE(Files() == before);
  for (const auto& [path, contents] : intact) {
    WriteFile(path, contents);
  }
  WriteFile(ManifestPath(), manifest);
  ExpectWhole(Tiers());
}

TEST_F(ManifestMistakes, DamageIsFoundBesideAnOpenDatabase) {
  FillTiers();
  ASSERT_OK(TryOpen(Tiers()));
  Settle();
  const std::string manifest = ReadFile(ManifestPath());
  WriteFile(ManifestPath(), Damaged(manifest));
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  EXPECT_TRUE(check.open_elsewhere);
  ExpectFound(check);
  WriteFile(ManifestPath(), manifest);
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  EXPECT_TRUE(check.problems.empty());
  Close();
  ExpectWhole(Tiers());
}

}  // namespace

}  // namespace rocktier
