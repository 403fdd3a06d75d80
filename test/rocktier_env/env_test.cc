// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RocktierEnv over FileSystems of RocksDB, and one of the test's own: OPTIONS files, errors, what
// is shared, and threads.

#include "rocksdb/env.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/rocktier_env/rocktier_env.h"
#include "plugin/rocktier_env/stack.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_type.h"
#include "rocksdb/utilities/options_util.h"
#include "test/rocktier_env/options_file.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"

extern "C" int register_rocktier_env(ROCKSDB_NAMESPACE::ObjectLibrary&, const std::string&);

namespace rocktier {
namespace {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(build/namespaces)
using ROCKSDB_NAMESPACE::rocktier_env::GetRocktierEnvStats;
using ROCKSDB_NAMESPACE::rocktier_env::Normalize;

// Counts what is done with it.
class CountingFileSystem : public FileSystemWrapper {
 public:
  CountingFileSystem() : FileSystemWrapper(nullptr) {
    static const std::unordered_map<std::string, OptionTypeInfo> types = {
        {"mark", {0, OptionType::kString}}};
    RegisterOptions("mark", &mark_, &types);
    made++;
  }
  ~CountingFileSystem() override { destroyed++; }

  static const char* kClassName() { return "CountingFileSystem"; }
  const char* Name() const override { return kClassName(); }

  Status PrepareOptions(const ConfigOptions& options) override {
    prepared++;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return FileSystemWrapper::PrepareOptions(options);
  }

  static std::atomic<int> made;
  static std::atomic<int> destroyed;
  static std::atomic<int> prepared;

 private:
  std::string mark_;
};

std::atomic<int> CountingFileSystem::made{0};
std::atomic<int> CountingFileSystem::destroyed{0};
std::atomic<int> CountingFileSystem::prepared{0};

class RocktierEnvTest : public testing::Test {
 protected:
  static void SetUpTestCase() {
    ObjectLibrary::Default()->AddFactory<FileSystem>(
        CountingFileSystem::kClassName(),
        [](const std::string&, std::unique_ptr<FileSystem>* guard, std::string*) {
          guard->reset(new CountingFileSystem());
          return guard->get();
        });
  }

  // FileSystems stay: what was made in a test before is none of this one.
  RocktierEnvTest() : folder_(NewFolder("env" + std::to_string(tests_++))) {}
  ~RocktierEnvTest() override { std::filesystem::remove_all(folder_); }

  // A FileSystem in which "/db" is in a folder of this test.
  std::string Chroot(const std::string& name) {
    std::filesystem::create_directories(folder_ + "/" + name);
    return "file_system={id=ChrootFS;chroot_dir=" + folder_ + "/" + name + "}";
  }

  std::string Counting(const std::string& mark) const {
    return "{id=RocktierEnv;file_system={id=CountingFileSystem;mark=" + folder_ + "/" + mark + "}}";
  }

  Status Load(const std::string& env, Options* result,
              const ConfigOptions& config = ConfigOptions(),
              const std::string& version = "9.10.0") {
    return LoadFrom(WriteOptionsFile(folder_ + "/options.ini", env, version), result, config);
  }

  // Why it cannot be loaded.
  std::string Error(const std::string& env, const ConfigOptions& config = ConfigOptions(),
                    const std::string& version = "9.10.0") {
    Options options;
    return Load(env, &options, config, version).ToString();
  }

  const std::string folder_;

 private:
  static int tests_;
};

int RocktierEnvTest::tests_ = 0;

FileSystem* FileSystemOf(const Options& options) { return options.env->GetFileSystem().get(); }

TEST_F(RocktierEnvTest, AnOptionsFileNamesTheFileSystem) {
  const std::string env = "{id=RocktierEnv;" + Chroot("a") + "}";
  for (const std::string expected : {"NotFound: ", "OK"}) {
    Options options;
    ASSERT_OK(Load(env, &options));
    EXPECT_STREQ("RocktierEnv", options.env->Name());
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, "/db", &db));
    std::string value;
    EXPECT_EQ(expected, db->Get(ReadOptions(), "key", &value).ToString());
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    EXPECT_TRUE(std::filesystem::exists(folder_ + "/a/db/CURRENT"));
    EXPECT_FALSE(std::filesystem::exists("/db/CURRENT"));

    // RocksDB's own OPTIONS file in the folder has no such line.
    DBOptions kept;
    std::vector<ColumnFamilyDescriptor> families;
    ConfigOptions config;
    config.env = options.env;
    ASSERT_OK(LoadLatestOptions(config, "/db", &kept, &families));
    EXPECT_EQ(Env::Default(), kept.env);
  }
  Options options;
  ASSERT_OK(Load(env, &options));
  ASSERT_OK(DestroyDB("/db", options));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/a/db"));
}

TEST_F(RocktierEnvTest, StringsNameItToo) {
  const std::string env = "id=RocktierEnv;" + Chroot("a");
  Env* direct = nullptr;
  ASSERT_OK(Env::CreateFromString(ConfigOptions(), env, &direct));
  std::shared_ptr<Env> guard;
  Env* guarded = nullptr;
  ASSERT_OK(Env::CreateFromUri(ConfigOptions(), env, "", &guarded, &guard));
  EXPECT_EQ(nullptr, guard);
  EXPECT_EQ(direct->GetFileSystem(), guarded->GetFileSystem());

  // Options that have one already, as those of a program that changes some of its options.
  Options base;
  base.env = direct;
  Options options;
  ASSERT_OK(GetOptionsFromString(ConfigOptions(), base, "max_open_files=7", &options));
  EXPECT_EQ(direct, options.env);
  ASSERT_OK(GetOptionsFromString(ConfigOptions(), base, "env={" + env + "}", &options));
  EXPECT_EQ(direct->GetFileSystem(), options.env->GetFileSystem());
  ASSERT_OK(GetOptionsFromString(ConfigOptions(), base, "env={id=RocktierEnv;" + Chroot("b") + "}",
                                 &options));
  EXPECT_NE(direct->GetFileSystem(), options.env->GetFileSystem());
}

TEST_F(RocktierEnvTest, TheSameTextIsTheSameFileSystem) {
  const auto before = GetRocktierEnvStats();
  Options first, same, other;
  ASSERT_OK(Load(Counting("a"), &first));
  ASSERT_OK(Load(
      "{ file_system = { mark = " + folder_ + "/a ; id=CountingFileSystem } ; id=RocktierEnv; }",
      &same));
  ASSERT_OK(Load(Counting("b"), &other));
  EXPECT_EQ(FileSystemOf(first), FileSystemOf(same));
  EXPECT_NE(FileSystemOf(first), FileSystemOf(other));
  EXPECT_EQ(before.file_systems + 2, GetRocktierEnvStats().file_systems);
  EXPECT_EQ(before.envs + 3, GetRocktierEnvStats().envs);
}

TEST_F(RocktierEnvTest, NormalizeKeepsWhatMayMatter) {
  EXPECT_EQ(Normalize("id=A;b=1;c=2"), Normalize(" c = 2; id = A; b=1;"));
  EXPECT_EQ(Normalize("{id=A}"), Normalize("id=A"));
  EXPECT_EQ(Normalize("A"), Normalize("id=A;"));
  EXPECT_EQ(Normalize("id=A;target={id=B;c=1}"), Normalize("target={c=1;id=B};id=A"));
  EXPECT_NE(Normalize("id=A;target={id=B;c=1}"), Normalize("id=A;target={id=B};c=1"));
  EXPECT_NE(Normalize("id=A;tiers={x=1;y=2}"), Normalize("id=A;tiers={y=2;x=1}"));
  EXPECT_NE(Normalize("id=A;b=c d"), Normalize("id=A;b=cd"));
  EXPECT_NE(Normalize("id=A"), Normalize("id=B"));
}

TEST_F(RocktierEnvTest, ThreadsAndClockAreThoseOfTheDefault) {
  Options options;
  ASSERT_OK(Load("{id=RocktierEnv;" + Chroot("a") + "}", &options));
  const int before = Env::Default()->GetBackgroundThreads(Env::BOTTOM);
  options.env->SetBackgroundThreads(before + 3, Env::BOTTOM);
  EXPECT_EQ(before + 3, Env::Default()->GetBackgroundThreads(Env::BOTTOM));
  Env::Default()->SetBackgroundThreads(before, Env::BOTTOM);
  EXPECT_EQ(Env::Default()->GetSystemClock(), options.env->GetSystemClock());
}

TEST_F(RocktierEnvTest, AnErrorNamesTheFileSystemAndTheReason) {
  const std::string prefix = "Invalid argument: RocktierEnv: ";
  EXPECT_EQ(prefix + "file_system: is required", Error("RocktierEnv"));
  EXPECT_EQ(prefix + "file_system: is required", Error("{id=RocktierEnv}"));
  EXPECT_EQ(prefix + "file_sytem: is no option; file_system is one",
            Error("{id=RocktierEnv;file_sytem={id=ChrootFS;chroot_dir=/}}"));
  EXPECT_EQ(prefix +
                "file_system={id=ChrotFS;chroot_dir=/}: Not implemented: Could not load "
                "FileSystem: ChrotFS: has it a typo, or is the plugin not built into this program?",
            Error("{id=RocktierEnv;file_system={id=ChrotFS;chroot_dir=/}}"));
  const std::string misspelt = Error("{id=RocktierEnv;file_system={id=ChrootFS;chrot_dir=/}}");
  EXPECT_EQ(0u, misspelt.find(prefix + "file_system={id=ChrootFS;chrot_dir=/}: NotFound: "))
      << misspelt;
  EXPECT_NE(std::string::npos, misspelt.find(": chrot_dir")) << misspelt;
  EXPECT_EQ(prefix +
                "file_system={id=ChrootFS}: Invalid argument: ChRootFileSystem requires a "
                "chroot dir",
            Error("{id=RocktierEnv;file_system={id=ChrootFS}}"));
  for (const std::string braces : {"{id=RocktierEnv;file_system={id=ChrootFS;chroot_dir=/}",
                                   "id=RocktierEnv;file_system={id=ChrootFS;chroot_dir=/"}) {
    EXPECT_EQ(prefix + "braces do not match, or an option has no value: " + braces, Error(braces));
  }
}

// RocksDB drops errors of an OPTIONS file that a later version has written, if it is told to.
TEST_F(RocktierEnvTest, NoErrorIsIgnored) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  const std::string env = "id=RocktierEnv;file_system={id=ChrotFS;chroot_dir=/}";
  EXPECT_EQ(0u, Error("{" + env + "}", config, "99.0.0")
                    .find("Invalid argument: RocktierEnv: file_system={id=ChrotFS"));
  Env* direct = nullptr;
  EXPECT_FALSE(Env::CreateFromString(config, env, &direct).ok());
  EXPECT_EQ(nullptr, direct);
}

TEST_F(RocktierEnvTest, AnEnvThatFailedWritesNothing) {
  ConfigOptions config;
  config.ignore_unknown_options = true;
  config.invoke_prepare_options = false;
  Options options;
  options.create_if_missing = true;
  ASSERT_OK(Env::CreateFromString(config, "id=RocktierEnv;file_system={id=ChrotFS;chroot_dir=/}",
                                  &options.env));
  const std::string path = folder_ + "/of-a-failed-env";
  std::unique_ptr<DB> db;
  EXPECT_FALSE(OpenDb(options, path, &db).ok());
  EXPECT_TRUE(Env::Default()->FileExists(path).IsNotFound());
}

// What README.md says of mistakes that do not get to the plugin.
TEST_F(RocktierEnvTest, RocksDBIgnoresAnEnvThatItDoesNotKnow) {
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  for (const std::string& env :
       {"{id=RoktierEnv;" + Chroot("a") + "}", "{RocktierEnv;" + Chroot("a") + "}"}) {
    Options options;
    ASSERT_OK(Load(env, &options));
    EXPECT_EQ(Env::Default(), options.env);
    EXPECT_NE("OK", Error(env, strict));
  }
}

TEST_F(RocktierEnvTest, ANameThatIsRegisteredTwiceDoesNoHarm) {
  register_rocktier_env(*ObjectLibrary::Default(), "");
  const auto before = GetRocktierEnvStats();
  Options options;
  ASSERT_OK(Load(Counting("twice"), &options));
  EXPECT_EQ(before.envs + 1, GetRocktierEnvStats().envs);
}

TEST_F(RocktierEnvTest, WhatFailedIsTriedAgain) {
  const std::string env =
      "{id=RocktierEnv;file_system={id=ChrootFS;chroot_dir=" + folder_ + "/late}}";
  EXPECT_NE("OK", Error(env));
  EXPECT_NE("OK", Error(env));
  std::filesystem::create_directories(folder_ + "/late");
  EXPECT_EQ("OK", Error(env));
}

TEST_F(RocktierEnvTest, IsPreparedOnceWhenItIsAskedFor) {
  ConfigOptions config;
  config.invoke_prepare_options = false;
  const int before = CountingFileSystem::prepared;
  const std::string env = Counting("unprepared");
  Env* unprepared = nullptr;
  ASSERT_OK(Env::CreateFromString(config, env.substr(1, env.size() - 2), &unprepared));
  EXPECT_EQ(before, CountingFileSystem::prepared);
  EXPECT_STREQ("CountingFileSystem", unprepared->GetFileSystem()->Name());
  // An OPTIONS file is prepared whatever was asked for.
  Options options;
  ASSERT_OK(Load(env, &options, config));
  ASSERT_OK(Load(env, &options));
  EXPECT_EQ(before + 1, CountingFileSystem::prepared);
  EXPECT_EQ(unprepared->GetFileSystem(), options.env->GetFileSystem());
}

TEST_F(RocktierEnvTest, AnEnvInUseIsNotChanged) {
  Env* env = nullptr;
  ASSERT_OK(Env::CreateFromString(ConfigOptions(), "id=RocktierEnv;" + Chroot("a"), &env));
  const std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  const Status s = env->ConfigureFromString(ConfigOptions(), Chroot("b"));
  EXPECT_EQ("Invalid argument: RocktierEnv: cannot be changed: make another one", s.ToString());
  EXPECT_EQ(fs, env->GetFileSystem());
}

TEST_F(RocktierEnvTest, ThreadsThatReadTheSameTextShareAFileSystem) {
  const int made = CountingFileSystem::made;
  const int destroyed = CountingFileSystem::destroyed;
  const int prepared = CountingFileSystem::prepared;
  std::vector<FileSystem*> found(8);
  std::atomic<size_t> ready{0};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); i++) {
    threads.emplace_back([&, i] {
      ready++;
      while (ready < found.size()) {
        std::this_thread::yield();
      }
      Options options;
      const Status s = GetOptionsFromString(
          ConfigOptions(), Options(), "env=" + Counting(i % 2 == 0 ? "even" : "odd"), &options);
      if (s.ok()) {
        found[i] = FileSystemOf(options);
        // It is prepared, whoever did it.
        EXPECT_TRUE(found[i]->FileExists(folder_, IOOptions(), nullptr).ok());
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  ASSERT_NE(nullptr, found[0]);
  ASSERT_NE(nullptr, found[1]);
  EXPECT_NE(found[0], found[1]);
  for (size_t i = 2; i < found.size(); i++) {
    EXPECT_EQ(found[i % 2], found[i]);
  }
  EXPECT_EQ(prepared + 2, CountingFileSystem::prepared);
  EXPECT_EQ(2, (CountingFileSystem::made - made) - (CountingFileSystem::destroyed - destroyed));
}

}  // namespace
}  // namespace rocktier
