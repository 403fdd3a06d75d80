// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A cache file has one owner. For all others the cache passes everything through, and says so.

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "rocksdb/utilities/ldb_cmd.h"
#include "test/crash/secondary_cache_2q/fixture.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kPassThrough[] = "state : pass-through";
constexpr char kOpen[] = "state : open";

class SharingTest : public CrashTest {
 protected:
  void SetUp() override { ASSERT_TRUE(Prepare("io=pread")); }

  std::string StateOf(const std::shared_ptr<SecondaryCache>& cache) {
    const std::string text = cache->GetPrintableOptions();
    return text.find(kOpen) != std::string::npos          ? kOpen
           : text.find(kPassThrough) != std::string::npos ? kPassThrough
                                                          : text;
  }

  std::shared_ptr<SecondaryCache> Cache() {
    std::shared_ptr<SecondaryCache> cache;
    Status s = NewCache(site_, &cache);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return cache;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  // Opens the DB with this process's cache, which must be in that state, and reads all of it; the
  // DB's LOG must tell the state.
  void ReadWith(const std::shared_ptr<SecondaryCache>& cache, const char* state, bool read_only) {
    EXPECT_EQ(StateOf(cache), state);
    Options options = DbOptions(site_, cache);
    const std::string log = site_.folder + "/LOG";
    ::unlink(log.c_str());
    Status s = Env::Default()->NewLogger(log, &options.info_log);
    ASSERT_TRUE(s.ok()) << s.ToString();
    options.info_log->SetInfoLogLevel(InfoLogLevel::INFO_LEVEL);
    std::unique_ptr<DB> db;
    s = OpenDb(site_, options, read_only, &db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(ReadAll(db.get(), *oracle_), "");
    db.reset();
    options.info_log->Flush();
    EXPECT_NE(Contents(log).find(state), std::string::npos) << Contents(log);
  }

  int Ldb(const std::shared_ptr<SecondaryCache>& cache, const std::string& command,
          const std::string& argument) {
    const std::string db = "--db=" + site_.Db();
    const std::vector<const char*> arguments = {"ldb", db.c_str(), command.c_str(),
                                                argument.c_str()};
    return LDBCommandRunner::RunCommand(static_cast<int>(arguments.size()), arguments.data(),
                                        DbOptions(site_, cache), LDBOptions(), nullptr);
  }
};

TEST_F(SharingTest, ASecondProcessPassesThroughUntilTheFirstHasEnded) {
  oracle_->shared().quiet = true;
  {
    Child child(site_, oracle_.get(), random_());
    ASSERT_TRUE(child.WaitForBlocks(100));
    {
      auto cache = Cache();
      ReadWith(cache, kPassThrough, /*read_only=*/true);
      EXPECT_EQ(Ldb(cache, "dump", "--count_only"), 0);
      // It keeps nothing, finds nothing and stays what it is.
      size_t capacity = 1;
      EXPECT_TRUE(cache->GetCapacity(capacity).ok());
      EXPECT_EQ(StatsOf(cache.get()).blocks, 0u);
      EXPECT_EQ(StatsOf(cache.get()).hits, 0u);
      EXPECT_EQ(StateOf(cache), kPassThrough);
    }
    // The first one has taken no harm of it.
    const uint64_t hits = oracle_->shared().hits;
    Sleep(300);
    EXPECT_GT(oracle_->shared().hits, hits);
    EXPECT_EQ(oracle_->shared().corrupt, 0u);
    ASSERT_TRUE(child.Kill());
  }
  auto cache = Cache();
  EXPECT_GT(StatsOf(cache.get()).recovered, 0u);
  ReadWith(cache, kOpen, /*read_only=*/false);
  EXPECT_GT(StatsOf(cache.get()).hits, 0u);
  EXPECT_EQ(StatsOf(cache.get()).corrupt, 0u);
}

TEST_F(SharingTest, ASecondCacheInTheSameProcessPassesThroughUntilTheFirstIsGone) {
  auto first = Cache();
  ReadWith(first, kOpen, /*read_only=*/false);
  const uint64_t held = StatsOf(first.get()).blocks;
  EXPECT_GT(held, 0u);
  {
    auto second = Cache();
    ReadWith(second, kPassThrough, /*read_only=*/true);
    EXPECT_EQ(StatsOf(second.get()).blocks, 0u);
  }
  // Still the owner, also after the second one has let go of whatever it had opened.
  EXPECT_EQ(StateOf(Cache()), kPassThrough);
  ReadWith(first, kOpen, /*read_only=*/true);
  EXPECT_GT(StatsOf(first.get()).hits, 0u);
  const uint64_t blocks = StatsOf(first.get()).blocks;
  first.reset();
  auto third = Cache();
  EXPECT_EQ(StatsOf(third.get()).recovered, blocks);
  ReadWith(third, kOpen, /*read_only=*/true);
}

TEST_F(SharingTest, ManyProcessesMayComeAndGo) {
  for (int i = 0; i < 3; i++) {
    Child child(site_, oracle_.get(), random_());
    ASSERT_TRUE(child.WaitForBlocks(1));
    EXPECT_EQ(StateOf(Cache()), kPassThrough);
    ASSERT_TRUE(child.Kill());
    EXPECT_EQ(StateOf(Cache()), kOpen);
  }
}

}  // namespace

}  // namespace rocktier
