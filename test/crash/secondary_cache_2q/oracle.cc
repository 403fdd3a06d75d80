// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/oracle.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "util/hash.h"

namespace rocktier {

namespace {

uint64_t Mix(uint32_t key, uint32_t version) {
  const uint32_t both[2] = {key, version};
  return ROCKSDB_NAMESPACE::Hash64(reinterpret_cast<const char*>(both), sizeof(both));
}

}  // namespace

void Require(bool condition, const std::string& message) {
  if (!condition) {
    fprintf(stderr, "%s (%s)\n", message.c_str(), strerror(errno));
    abort();
  }
}

void Require(const Status& status, const std::string& what) {
  Require(status.ok(), what + ": " + status.ToString());
}

Oracle::Oracle(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  Require(fd >= 0 && ftruncate(fd, sizeof(Shared)) == 0, "create " + path);
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  Require(memory != MAP_FAILED, "map " + path);
  close(fd);
  // All members are valid as zeros, so that a new file needs no construction.
  shared_ = static_cast<Shared*>(memory);
}

Oracle::~Oracle() { munmap(shared_, sizeof(Shared)); }

std::string Oracle::Key(uint32_t key) {
  char text[16];
  snprintf(text, sizeof(text), "key%08" PRIu32, key);
  return text;
}

bool Oracle::ParseKey(const Slice& text, uint32_t* key) {
  return sscanf(text.ToString().c_str(), "key%" SCNu32, key) == 1 && *key < kKeys;
}

bool Oracle::IsDeletion(uint32_t key, uint32_t version) {
  return version == 0 || (version > 1 && Mix(key, version) % 8 == 0);
}

std::string Oracle::Value(uint32_t key, uint32_t version) {
  char head[32];
  snprintf(head, sizeof(head), "%08" PRIx32 ".%08" PRIx32 ".", key, version);
  std::string value = head;
  uint64_t random = Mix(key, version);
  const size_t size = 200 + random % 600;
  value.reserve(size + 16);
  // Half of it compresses.
  while (value.size() < size) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    const uint64_t high = random >> 8;
    value.append(reinterpret_cast<const char*>(&high), 6);
    value.append("pattern");
  }
  return value;
}

std::string Oracle::Check(uint32_t key, uint32_t oldest, const Status& status,
                          const Slice& value) const {
  const uint32_t newest = Newest(key);
  std::string seen = status.ToString();
  if (status.ok() || status.IsNotFound()) {
    for (uint32_t version = oldest; version <= newest; version++) {
      const bool deletion = IsDeletion(key, version);
      if (deletion ? status.IsNotFound() : status.ok() && value == Value(key, version)) {
        return "";
      }
    }
    if (status.ok()) {
      seen = value.ToString().substr(0, 17) + ", " + std::to_string(value.size()) + " bytes";
    }
  }
  return "wrong answer for " + Key(key) + ": " + seen + "; right are versions " +
         std::to_string(oldest) + " to " + std::to_string(newest);
}

}  // namespace rocktier
