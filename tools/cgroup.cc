// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/cgroup.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "tools/small_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr uint64_t kMost = 64 << 10;

// Digits, and then a blank or nothing.
bool ParseNumber(const std::string& word, uint64_t* number) {
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos) {
    return false;
  }
  errno = 0;
  *number = strtoull(word.c_str(), nullptr, 10);
  return errno == 0;
}

std::vector<std::string> WordsOf(const std::string& path) {
  std::string text;
  std::vector<std::string> words;
  if (ReadSmallFile(path, kMost, &text).ok()) {
    std::istringstream each(text);
    for (std::string word; words.size() < 2 && each >> word;) {
      words.push_back(word);
    }
  }
  return words;
}

// Adds a cgroup and those above it.
void AddFrom(const std::string& mount, std::string group, int version,
             std::vector<Cgroup>* groups) {
  group = group == "/" ? "" : group;
  while (true) {
    groups->push_back({mount + group, version});
    if (group.empty()) {
      return;
    }
    const size_t slash = group.find_last_of('/');
    group.resize(slash == std::string::npos ? 0 : slash);
  }
}

bool Lists(const std::string& controllers, const std::string& controller) {
  return ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
}

// The CPUs' time of one cgroup; false if it has no limit.
bool ReadCpus(const Cgroup& group, double* cpus) {
  uint64_t quota = 0;
  uint64_t period = 0;
  if (group.version == 2) {
    const std::vector<std::string> words = WordsOf(group.directory + "/cpu.max");
    if (words.size() != 2 || !ParseNumber(words[0], &quota) || !ParseNumber(words[1], &period)) {
      return false;
    }
  } else if (!ReadNumber(group.directory + "/cpu.cfs_quota_us", &quota) ||
             !ReadNumber(group.directory + "/cpu.cfs_period_us", &period)) {
    return false;
  }
  *cpus = period == 0 ? 0 : static_cast<double>(quota) / static_cast<double>(period);
  return *cpus > 0;
}

}  // namespace

std::vector<Cgroup> CgroupsOf(const std::string& root, const std::string& controller) {
  std::vector<Cgroup> groups;
  std::string text;
  if (!ReadSmallFile(root + "/proc/self/cgroup", kMost, &text).ok()) {
    return groups;
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // 4:cpu,cpuacct:/a/b, and of version 2 0::/a/b
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      AddFrom(root + "/sys/fs/cgroup", group, 2, &groups);
    } else if (Lists(controllers, controller)) {
      AddFrom(root + "/sys/fs/cgroup/" + controller, group, 1, &groups);
    }
  }
  return groups;
}

bool ReadNumber(const std::string& path, uint64_t* number) {
  const std::vector<std::string> words = WordsOf(path);
  return !words.empty() && ParseNumber(words[0], number);
}

bool ReadMemoryLimit(const std::string& root, uint64_t* bytes, std::string* file) {
  bool found = false;
  for (const Cgroup& group : CgroupsOf(root, "memory")) {
    const std::string name = group.version == 2 ? "memory.max" : "memory.limit_in_bytes";
    uint64_t limit = 0;
    if (ReadNumber(group.directory + "/" + name, &limit) && (!found || limit < *bytes)) {
      *bytes = limit;
      *file = name;
      found = true;
    }
  }
  return found;
}

bool ReadCpuLimit(const std::string& root, double* cpus) {
  bool found = false;
  for (const Cgroup& group : CgroupsOf(root, "cpu")) {
    double limit = 0;
    if (ReadCpus(group, &limit) && (!found || limit < *cpus)) {
      *cpus = limit;
      found = true;
    }
  }
  return found;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
