// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tests of the opening of a hot store share.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "test/hot_promotion/support.h"
#include "test/support/wait.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// A database with copies of 100 of its 200 records, once it is prepared.
class OpeningMistakes : public HotDb {
 protected:
  void Prepare() {
    Open();
    Fill(0, 200);
    Flush();
    Heat(0, 100);
    CloseAll();
  }
  // After a few seconds, or more on machines that are busy.
  static bool Soon(const std::function<bool()>& happens) {
    return rocktier::WaitFor(happens, std::chrono::seconds(120));
  }
  bool IsServed(int i) {
    EXPECT_EQ(ValueOf(i), Get(i));
    HotPromotionStats stats;
    return GetHotPromotionStats(options_.table_factory.get(), &stats).ok() &&
           TakeServed().store == 1;
  }
  size_t OpenFilesOf(const std::string& folder) {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::filesystem::path name = std::filesystem::read_symlink(entry.path(), gone);
      count += !gone && name.parent_path() == folder && name.extension() == ".sst" ? 1 : 0;
    }
    return count;
  }
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
