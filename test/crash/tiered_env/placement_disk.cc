// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/placement_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/stub.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace files = std::filesystem;

struct Directory {
  const char* tier;
  const char* path;  // below the folder
};
const Directory kDirectories[] = {
    {"fast", "fast"}, {"middle", "middle-1"}, {"middle.2", "middle-2"}, {"slow", "slow"}};

// Empty if there is no such tier.
std::string PathOf(const std::string& folder, const std::string& tier) {
  for (const Directory& directory : kDirectories) {
    if (tier == directory.tier) {
      return folder + "/" + directory.path;
    }
  }
  return "";
}

bool Measure(const std::string& path, DiskFile* file) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) {
    return false;
  }
  file->path = path;
  file->size = static_cast<uint64_t>(about.st_size);
  file->device = about.st_dev;
  file->inode = about.st_ino;
  file->written = about.st_mtim.tv_sec;
  return true;
}

// NotFound: it is no stub.
Status ReadStub(const files::directory_entry& entry, Stub* stub) {
  if (entry.file_size() > Stub::kSize) {
    return Status::NotFound();
  }
  std::ifstream in(entry.path(), std::ios::binary);
  const std::string contents(std::istreambuf_iterator<char>(in), {});
  return Stub::Decode(contents, entry.path().string(), stub);
}

// `named`: paths in tiers that stubs name.
void LookAtHome(const std::string& folder, std::set<std::string>* named, Disk* disk) {
  for (const auto& entry : files::directory_iterator(folder + "/db")) {
    const std::string path = entry.path().string();
    const std::string base = BaseOf(path);
    if (!entry.is_regular_file()) {
      continue;
    }
    if (EndsWith(base, kTemporary)) {
      disk->temporary.push_back(path);
      continue;
    }
    Stub stub;
    const Status s = ReadStub(entry, &stub);
    DiskFile file;
    if (s.IsNotFound()) {
      file.tier = "home";
      if ((EndsWith(base, ".sst") || EndsWith(base, ".blob")) && Measure(path, &file)) {
        disk->files[base] = file;
      }
      continue;
    }
    const std::string at = PathOf(folder, stub.tier) + "/" + stub.path;
    file.tier = WholeTier(stub.tier);
    if (!s.ok()) {
      disk->faults.push_back(path + " is damaged: " + s.ToString());
    } else if (!named->insert(at).second) {
      disk->faults.push_back(at + " has two names");
    } else if (!Measure(at, &file)) {
      disk->faults.push_back(path + " leads to " + at + ", which is not there");
    } else {
      disk->files[base] = file;
    }
  }
}

void LookAtTier(const std::string& path, const std::set<std::string>& named, Disk* disk) {
  for (const auto& entry : files::recursive_directory_iterator(path)) {
    const std::string at = entry.path().string();
    const std::string base = BaseOf(at);
    if (!entry.is_regular_file() || base == kOwnerName || base == kFolderLock) {
      continue;
    }
    if (entry.path().parent_path().filename() == kLostName) {
      disk->lost.push_back(at);
    } else if (EndsWith(base, kTemporary)) {
      disk->temporary.push_back(at);
    } else if (named.count(at) == 0) {
      disk->nameless.push_back(at);
    }
  }
}

}  // namespace

std::string TiersBelow(const std::string& folder) {
  return "fast={path=" + folder + "/fast};middle={path=" + folder + "/middle-1," + folder +
         "/middle-2};slow={path=" + folder + "/slow}";
}

void MakeTiersBelow(const std::string& folder) {
  for (const Directory& directory : kDirectories) {
    files::create_directories(folder + "/" + directory.path);
  }
}

std::string WholeTier(const std::string& tier) { return tier.substr(0, tier.find('.')); }

Disk LookAtDisk(const std::string& folder) {
  Disk disk;
  std::set<std::string> named;
  LookAtHome(folder, &named, &disk);
  for (const Directory& directory : kDirectories) {
    LookAtTier(folder + "/" + directory.path, named, &disk);
  }
  return disk;
}

HeldFiles::HeldFiles(const Disk& disk) : disk_(disk) {
  for (const auto& [base, file] : disk_.files) {
    const int descriptor = open(file.path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
      abort();
    }
    descriptors_.push_back(descriptor);
  }
}

HeldFiles::~HeldFiles() {
  for (const int descriptor : descriptors_) {
    close(descriptor);
  }
}

}  // namespace rocktier
