// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/damage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "plugin/tiered_env/name.h"

namespace rocktier {

namespace fs = std::filesystem;

namespace {

// Those that are no SSTs are as they were.
std::vector<fs::path> FilesIn(const std::string& directory) {
  std::vector<fs::path> files;
  if (fs::exists(directory)) {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file() &&
          entry.path().filename() != ROCKSDB_NAMESPACE::tiered_env::kOwnerName) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void FlipBit(const fs::path& path, std::mt19937_64* random) {
  const uint64_t size = fs::file_size(path);
  if (size == 0) {
    return;
  }
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>((*random)() % size);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ (1 << (*random)() % 8)));
}

void Copy(const std::string& from, const std::string& to) {
  if (fs::exists(from)) {
    fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
}

// To one file of two, or of all.
template <typename Change>
void ChangeSome(const std::vector<fs::path>& files, std::mt19937_64* random, const Change& change) {
  const bool all = (*random)() % 3 == 0;
  for (const fs::path& file : files) {
    if (all || (*random)() % 2 == 0) {
      change(file);
    }
  }
}

}  // namespace

std::string DamageTier(const std::string& directory, const std::string& older,
                       std::mt19937_64* random) {
  const std::vector<fs::path> files = FilesIn(directory);
  if ((*random)() % 4 == 0) {
    fs::remove_all(older);
    Copy(directory, older);
  }
  switch ((*random)() % 9) {
    case 0:
    case 1:
      fs::remove_all(directory);
      return "deleted";
    case 2:
      ChangeSome(files, random, [](const fs::path& file) { fs::remove(file); });
      return "some files deleted";
    case 3:
      ChangeSome(files, random, [&](const fs::path& file) {
        fs::resize_file(file, (*random)() % (fs::file_size(file) + 1));
      });
      return "some files cut off";
    case 4:
      ChangeSome(files, random, [&](const fs::path& file) { FlipBit(file, random); });
      return "some bits flipped";
    case 5:
      fs::remove_all(directory);
      Copy(older, directory);
      return "an older copy";
    case 6:
      Copy(older, directory);
      return "an older copy over it";
    case 7:
      if (files.size() >= 2) {
        const fs::path aside = files.front().string() + ".aside";
        fs::rename(files.front(), aside);
        fs::rename(files.back(), files.front());
        fs::rename(aside, files.back());
      }
      return "two files exchanged";
    default:
      return "as it was";
  }
}

}  // namespace rocktier
