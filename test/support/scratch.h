// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Folders of tests, below TEST_TMPDIR.

#pragma once

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace rocktier {

// TEST_TMPDIR, or /tmp.
inline std::string Scratch() {
  const char* const folder = getenv("TEST_TMPDIR");
  return folder != nullptr ? folder : "/tmp";
}

// Makes the folder `name` below Scratch() anew, empty. Whoever asks for it removes it.
inline std::string NewFolder(const std::string& name) {
  const std::string folder = Scratch() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// The same for the test that runs now, and named like it. The name has nothing that means something
// in an options string.
inline std::string NewFolder() {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_case_name()) + "." + test->name();
  for (char& c : name) {
    c = isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '_';
  }
  return NewFolder(name);
}

}  // namespace rocktier
