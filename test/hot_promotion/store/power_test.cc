// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fault model: power fails while the folder is in use. The database is durable. In the folder only
// the markers are ever synced: each other file may be as it was at any time before, may have lost
// its end or pages (zeros) of what was written since, or its name; and one that was deleted may be
// there again. Then the store goes on with what is sound, or begins anew, and no answer is another
// one than the database's.
//
// The seed is printed; ROCKTIER_SEED sets it.

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "test/hot_promotion/support.h"
#include "test/support/seed.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

constexpr int kKeys = 600;
constexpr int kHot = 80;
constexpr size_t kPage = 4096;
constexpr int kRounds = 25;
constexpr int kMostRounds = 200;  // until the store has gone on once, and begun anew

using Files = std::map<std::string, std::string>;  // contents by path below the folder

Files TakeFiles(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);  // a compaction may remove it meanwhile
    if (entry.is_regular_file() && in) {
      files[entry.path().string().substr(folder.size() + 1)] =
          std::string(std::istreambuf_iterator<char>(in), {});
    }
  }
  return files;
}

void PutFiles(const std::string& folder, const Files& files) {
  std::filesystem::remove_all(folder);
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = folder + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
}

class PowerTest : public HotDb {
 protected:
  size_t Below(size_t limit) { return random_() % limit; }

  // What is left of a file that was not synced.
  std::string Torn(std::string bytes) {
    if (Below(2) == 0) {
      bytes.resize(Below(bytes.size() / kPage + 1) * kPage);
    }
    for (size_t i = Below(3); i > 0 && bytes.size() >= kPage; i--) {
      bytes.replace(Below(bytes.size() / kPage) * kPage, kPage, kPage, '\0');
    }
    return bytes;
  }

  // Of one in `one_in` files something is lost. `before`: what there was earlier.
  Files Lose(const Files& before, const Files& now, size_t one_in) {
    Files left = now;
    for (const auto& [name, bytes] : now) {
      if (name.find("HOT_PROMOTION") != std::string::npos || Below(one_in) != 0) {
        continue;
      }
      const auto earlier = before.find(name);
      switch (Below(4)) {
        case 0:
          left.erase(name);
          break;
        case 1:
          left[name] = earlier == before.end() ? "" : earlier->second;
          break;
        default:
          left[name] = Torn(bytes);
      }
    }
    for (const auto& [name, bytes] : before) {
      if (now.count(name) == 0 && Below(one_in) == 0) {
        left[name] = bytes;
      }
    }
    return left;
  }

  // Overwrites and deletes some, as the model knows.
  void Change() {
    version_++;
    for (int i = 0; i < 60; i++) {
      const int key = static_cast<int>(Below(i % 2 == 0 ? kHot : kKeys));
      if (Below(5) == 0) {
        ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(key)));
        model_[key] = "none";
      } else {
        ASSERT_OK(db_->Put(WriteOptions(), KeyOf(key), ValueOf(key, version_)));
        model_[key] = ValueOf(key, version_);
      }
    }
    Flush();
    if (Below(2) == 0) {
      Compact();
    }
  }

  void Check() {
    for (const auto& [key, value] : model_) {
      ASSERT_EQ(value, Get(key)) << KeyOf(key);
    }
  }

  std::mt19937_64 random_;
  std::map<int, std::string> model_;
  int version_ = 0;
};

TEST_F(PowerTest, TheStoreGoesOnOrBeginsAnewAndNoAnswerIsWrong) {
  random_.seed(rocktier::Seed());
  may_be_damaged_ = true;
  hot_.promotion_cache = 64 << 10;
  hot_.ralt_buffer_bytes = 16 << 10;
  Open();
  Fill(0, kKeys);
  Flush();
  for (int i = 0; i < kKeys; i++) {
    model_[i] = ValueOf(i);
  }
  int kept = 0;
  int anew = 0;
  const auto goes_on = [&](int round) {
    return round < kRounds || ((kept == 0 || anew == 0) && round < kMostRounds);
  };
  for (int round = 0; goes_on(round) && !HasFailure(); round++) {
    Heat(0, kHot);
    const Files before = TakeFiles(hot_.path);
    Change();
    Heat(0, kHot);
    Change();
    Heat(kHot / 2, kHot);
    const Files now = TakeFiles(hot_.path);  // power fails
    CloseAll();
    PutFiles(hot_.path, Lose(before, now, size_t{1} << Below(8)));

    Open();
    Check();
    Settle();
    const bool has = TakeServed().store > 0;
    kept += has ? 1 : 0;
    anew += has ? 0 : 1;
    Check();
    Heat(0, kHot);
    Check();
    EXPECT_GT(TakeServed().store, 0u) << "the store is of no use after this";
    HotStoreInfo info;
    Close();
    Settle();
    // There may be a damaged block that nobody has come to.
    const Status s = VerifyHotStore(hot_.path, &info);
    ASSERT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
    EXPECT_EQ(0u, info.different);
    Open();
  }
  printf("in %d rounds the store went on, in %d it began anew\n", kept, anew);
  EXPECT_GT(kept, 0);
  EXPECT_GT(anew, 0);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
