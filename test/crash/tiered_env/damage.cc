// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/damage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "plugin/tiered_env/files/names.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

namespace {

// All files but OWNER and LOCK, which stay as they were. A LOCK is empty and has nothing to be
// rebuilt: as what was damaged it would count for nothing, and as the last file by name it would be
// one of each two that are exchanged, instead of an SST.
std::vector<fs::path> FilesIn(const std::string& directory) {
  std::vector<fs::path> files;
  if (fs::exists(directory)) {
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      const std::string base = entry.path().filename().string();
      if (entry.is_regular_file() && base != kOwnerName && base != kFolderLock) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::map<fs::path, std::string> ContentsOf(const std::string& directory) {
  std::map<fs::path, std::string> contents;
  for (const fs::path& file : FilesIn(directory)) {
    std::ifstream in(file, std::ios::binary);
    contents[file].assign(std::istreambuf_iterator<char>(in), {});
  }
  return contents;
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

void Exchange(const std::vector<fs::path>& files) {
  if (files.size() >= 2) {
    const fs::path aside = files.front().string() + ".aside";
    fs::rename(files.front(), aside);
    fs::rename(files.back(), files.front());
    fs::rename(aside, files.back());
  }
}

void Change(Damage damage, const std::string& directory, const std::string& older,
            std::mt19937_64* random) {
  const std::vector<fs::path> files = FilesIn(directory);
  switch (damage) {
    case Damage::kNone:
      break;
    case Damage::kDeleted:
      fs::remove_all(directory);
      break;
    case Damage::kSomeDeleted:
      ChangeSome(files, random, [](const fs::path& file) { fs::remove(file); });
      break;
    case Damage::kSomeCutOff:
      ChangeSome(files, random, [&](const fs::path& file) {
        fs::resize_file(file, (*random)() % (fs::file_size(file) + 1));
      });
      break;
    case Damage::kSomeBitsFlipped:
      ChangeSome(files, random, [&](const fs::path& file) { FlipBit(file, random); });
      break;
    case Damage::kOlder:
      fs::remove_all(directory);
      Copy(older, directory);
      break;
    case Damage::kOlderOver:
      Copy(older, directory);
      break;
    case Damage::kExchanged:
      Exchange(files);
      break;
  }
}

}  // namespace

const char* NameOf(Damage damage) {
  static const char* const names[kDamages] = {
      "as it was",         "deleted",       "some files deleted",    "some files cut off",
      "some bits flipped", "an older copy", "an older copy over it", "two files exchanged",
  };
  return names[static_cast<int>(damage)];
}

// All is lost twice as often as anything else happens.
Damage AnyDamage(std::mt19937_64* random) {
  const auto which = static_cast<int>((*random)() % (kDamages + 1));
  return which == kDamages ? Damage::kDeleted : static_cast<Damage>(which);
}

// What is needed may be what was there at the earlier time.
bool LosesFiles(Damage damage) {
  return damage != Damage::kNone && damage != Damage::kOlder && damage != Damage::kOlderOver;
}

bool DamageTier(Damage damage, const std::string& directory, const std::string& older,
                std::mt19937_64* random) {
  if ((*random)() % 4 == 0) {
    fs::remove_all(older);
    Copy(directory, older);
  }
  const auto before = ContentsOf(directory);
  Change(damage, directory, older, random);
  return ContentsOf(directory) != before;
}

}  // namespace rocktier
