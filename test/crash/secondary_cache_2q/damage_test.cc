// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fault model: after a kill, any bytes of the cache file may be anything: what a power loss leaves
// (older pages among newer ones), and worse. Opening it then works or fails with a Status that
// names the file, and no answer of the DB is ever wrong.

#include "test/crash/secondary_cache_2q/damage.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "test/crash/secondary_cache_2q/fixture.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr Damage kAllDamage[] = {
    Damage::kFlipIndexBytes, Damage::kFlipDataBytes, Damage::kZeroPages, Damage::kOldPages,
    Damage::kOldIndex,       Damage::kSwapBlocks,    Damage::kSwapSlots, Damage::kCopySlot,
    Damage::kAppendGarbage,  Damage::kTruncate,      Damage::kEmpty,     Damage::kFlipSuperblock,
    Damage::kZeroSuperblock,
};

constexpr const char* kCacheOptions[] = {"io=uring;direct_io=true", "io=pread;direct_io=false",
                                         "io=uring;compression=lz4", "io=pmem"};
constexpr size_t kVariants = std::size(kCacheOptions);

class DamageTest : public CrashTest, public ::testing::WithParamInterface<const char*> {
 protected:
  std::string Older() const { return site_.folder + "/older"; }
  std::string Newest() const { return site_.folder + "/newest"; }

  static void Copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }

  static std::string Contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  // Leaves a DB of a killed child that fits the cache file Newest(), and an older copy of that
  // file.
  void KillAndKeep() {
    {
      Child child(site_, oracle_.get(), random_());
      ASSERT_TRUE(child.WaitForBlocks(800));
      Copy(site_.CacheFile(), Older());
      Sleep(1000);
      ASSERT_TRUE(child.Kill());
    }
    Copy(site_.CacheFile(), Newest());
    // The WAL becomes an SST, the others stay, so that the DB can be opened read-only again and
    // again.
    Options options = DbOptions(site_, nullptr);
    options.disable_auto_compactions = true;
    std::unique_ptr<DB> db;
    Status s = OpenDb(site_, options, /*read_only=*/false, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    s = db->Flush(FlushOptions());
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void Refused() {
    Opened opened;
    Status s = opened.Open(site_, /*read_only=*/true);
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find(site_.CacheFile()), std::string::npos) << s.ToString();
    printf("refused: %s\n", s.ToString().c_str());
  }

  void NeverWrong(Damage damage) {
    const size_t blocks = ReadIndex(site_.CacheFile()).size();
    const std::set<std::string> spoiled = DamagedBlocks(site_.CacheFile());
    {
      Opened opened;
      Status s = opened.Open(site_, /*read_only=*/true);
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_EQ(ReadAll(opened.db.get(), *oracle_), "");
      const CacheStats stats = opened.Stats();
      printf("%zu blocks in the index, %zu spoiled; recovered %llu, hits %llu, corrupt %llu\n",
             blocks, spoiled.size(), static_cast<unsigned long long>(stats.recovered),
             static_cast<unsigned long long>(stats.hits),
             static_cast<unsigned long long>(stats.corrupt));
      // A spoiled block is counted when it is asked for, and at most once: it is thrown away. Some
      // of them belong to SSTs that are gone, and nobody asks.
      EXPECT_LE(stats.recovered, blocks);
      EXPECT_GT(stats.recovered, 0u);
      EXPECT_LE(stats.corrupt, spoiled.size());
      EXPECT_GT(stats.hits, 0u);
      if (SpoilsBlocks(damage)) {
        EXPECT_GT(stats.corrupt, 0u);
      }
    }
    // And the cache works on: a child reads, writes and evicts, and checks all answers.
    Child child(site_, oracle_.get(), random_());
    ASSERT_TRUE(child.WaitForBlocks(1));
    Sleep(100);
    EXPECT_TRUE(child.Stop());
  }

  void DamageInAllWays() {
    for (Damage damage : kAllDamage) {
      SCOPED_TRACE(NameOf(damage));
      printf("%s: ", NameOf(damage));
      Copy(Newest(), site_.CacheFile());
      Apply(damage, site_.CacheFile(), Older(), &random_);
      EXPECT_TRUE(Contents(Newest()) != Contents(site_.CacheFile())) << "nothing was damaged";
      if (MustBeRefused(damage)) {
        Refused();
      } else {
        NeverWrong(damage);
      }
      fflush(stdout);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
};

TEST_P(DamageTest, IsRefusedOrNeverGivesAWrongAnswer) {
  if (!Prepare(GetParam())) {
    return;
  }
  ASSERT_NO_FATAL_FAILURE(KillAndKeep());
  const auto budget = std::chrono::duration<double>(CrashSeconds(0) / kVariants);
  const auto deadline = std::chrono::steady_clock::now() + budget;
  do {
    ASSERT_NO_FATAL_FAILURE(DamageInAllWays());
  } while (std::chrono::steady_clock::now() < deadline);
}

INSTANTIATE_TEST_CASE_P(Io, DamageTest, ::testing::ValuesIn(kCacheOptions), [](const auto& each) {
  std::string name = each.param;
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }),
             name.end());
  return name;
});

}  // namespace

}  // namespace rocktier
