// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/block_device.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "tools/small_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr uint64_t kMost = 4096;

// The first line of a file, without blanks at its ends; empty if it cannot be read.
std::string FirstLine(const std::string& path) {
  std::string text;
  if (!ReadSmallFile(path, kMost, &text).ok()) {
    return "";
  }
  text.resize(std::min(text.size(), text.find('\n')));
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

}  // namespace

bool BlockDevice::IsNetworkVolume() const {
  static const char* const kModels[] = {"Amazon Elastic Block Store", "PersistentDisk",
                                        "nvme_card-pd"};
  return std::any_of(std::begin(kModels), std::end(kModels),
                     [this](const char* each) { return model == each; });
}

std::string DeviceNumber(dev_t device) {
  return std::to_string(major(device)) + ":" + std::to_string(minor(device));
}

bool ReadBlockDevice(const std::string& root, const std::string& number, BlockDevice* device) {
  char real[PATH_MAX];
  if (number.find_first_not_of("0123456789:") != std::string::npos ||
      realpath((root + "/sys/dev/block/" + number).c_str(), real) == nullptr) {
    return false;
  }
  std::string folder = real;
  if (access((folder + "/partition").c_str(), F_OK) == 0) {
    folder.resize(folder.find_last_of('/'));
  }
  const std::string rotates = FirstLine(folder + "/queue/rotational");
  if (rotates != "0" && rotates != "1") {
    return false;
  }
  device->name = folder.substr(folder.find_last_of('/') + 1);
  device->model = FirstLine(folder + "/device/model");
  device->rotates = rotates == "1";
  const uint64_t sector =
      strtoull(FirstLine(folder + "/queue/logical_block_size").c_str(), nullptr, 10);
  device->sector = std::max<uint64_t>(sector, 512);
  return true;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
