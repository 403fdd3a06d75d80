// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/top/find.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "rocksdb/env.h"
#include "tools/small_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

namespace {

constexpr size_t kMaxFiles = 64;  // that are looked at in a folder
constexpr uint64_t kMaxOptions = 4 << 20;
constexpr uint64_t kMaxProcess = 4096;  // bytes of /proc/N/stat
constexpr char kHotName[] = "/rocktier_hot_promotion.prom";
constexpr char kHotSection[] = "[TableOptions/HotPromotionTable";
constexpr double kClocks = 1;  // seconds that a time may be off

bool BeginsWith(const std::string& text, const std::string& begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The names in a folder; none if it cannot be read.
std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  if (!Env::Default()->GetChildren(folder, &names).ok()) {
    names.clear();
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> StatisticsAmong(std::vector<std::string> names) {
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string& name) { return !EndsWith(name, ".prom"); }),
              names.end());
  names.resize(std::min(names.size(), kMaxFiles));
  return names;
}

// The text of the OPTIONS file that was written last; empty if there is none.
std::string OptionsOf(const std::string& db, const std::vector<std::string>& names) {
  constexpr char kPrefix[] = "OPTIONS-";
  unsigned long long newest = 0;
  std::string name;
  for (const std::string& each : names) {
    char* end = nullptr;
    const auto number =
        BeginsWith(each, kPrefix) ? strtoull(&each[sizeof(kPrefix) - 1], &end, 10) : 0;
    if (end != nullptr && *end == '\0' && number >= newest) {
      newest = number;
      name = each;
    }
  }
  std::string text;
  if (name.empty() || !ReadSmallFile(db + "/" + name, kMaxOptions, &text).ok()) {
    text.clear();
  }
  return text;
}

// The values of metrics_file, and the directories of hot_promotion, with the name of its file.
std::vector<std::string> PathsIn(const std::string& options) {
  constexpr char kFile[] = "metrics_file=";
  constexpr char kPath[] = "path=";
  std::vector<std::string> paths;
  bool hot = false;
  std::istringstream lines(options);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (BeginsWith(line, "[")) {
      hot = BeginsWith(line, kHotSection);
    } else if (hot && BeginsWith(line, kPath)) {
      paths.push_back(line.substr(sizeof(kPath) - 1) + kHotName);
    }
    for (size_t at = line.find(kFile); at != std::string::npos; at = line.find(kFile, at)) {
      at += sizeof(kFile) - 1;
      paths.push_back(line.substr(at, line.find_first_of(";}", at) - at));
    }
  }
  paths.erase(std::remove_if(paths.begin(), paths.end(),
                             [](const std::string& path) { return !BeginsWith(path, "/"); }),
              paths.end());
  paths.resize(std::min(paths.size(), kMaxFiles));
  return paths;
}

// The state of a process, as in "R", and when it began, in seconds since 1970. False: it is not
// known.
bool BeginOf(int64_t process, char* state, double* begin) {
  std::string text;
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  if (!ReadSmallFile(path, kMaxProcess, &text).ok() || text.rfind(')') == std::string::npos) {
    return false;
  }
  std::istringstream fields(text.substr(text.rfind(')') + 1));  // the name may have blanks
  fields >> *state;
  std::string skipped;
  for (int i = 4; i < 22; i++) {
    fields >> skipped;
  }
  double ticks = 0;
  timespec now{};
  timespec up{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      clock_gettime(CLOCK_BOOTTIME, &up) != 0) {
    return false;
  }
  *begin = static_cast<double>(now.tv_sec - up.tv_sec) +
           static_cast<double>(now.tv_nsec - up.tv_nsec) / 1e9 +
           ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  return true;
}

}  // namespace

std::string Canonical(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

std::vector<Candidate> FindCandidates(const std::string& db,
                                      const std::vector<std::string>& given) {
  std::vector<Candidate> result;
  const auto add = [&result](const std::string& path, Candidate::Place place) {
    const std::string canonical = Canonical(path);
    if (std::none_of(result.begin(), result.end(),
                     [&](const Candidate& each) { return each.path == canonical; })) {
      result.push_back({canonical, place});
    }
  };
  for (const std::string& path : given) {
    add(path, Candidate::kGiven);
  }
  const std::vector<std::string> names = NamesIn(db);
  for (const std::string& name : StatisticsAmong(names)) {
    add(db + "/" + name, BeginsWith(name, "rocktier_") ? Candidate::kOwn : Candidate::kInside);
  }
  for (const std::string& path : PathsIn(OptionsOf(db, names))) {
    add(path, Candidate::kNamed);
  }
  const std::string beside = Canonical(db + "/..");
  for (const std::string& name : StatisticsAmong(NamesIn(beside))) {
    add(beside + "/" + name, Candidate::kBeside);
  }
  return result;
}

// POSIX locks belong to a process: asking for one, and closing the file, changes nothing of another
// process.
int64_t ProcessOf(const std::string& db) {
  const int fd = open((db + "/LOCK").c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return 0;
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool held = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close(fd);
  return held ? std::max<int64_t>(lock.l_pid, 0) : 0;
}

std::string WhyNotWriter(int64_t process, double time) {
  const std::string number = std::to_string(process);
  char state = 0;
  double begin = 0;
  const bool known = BeginOf(process, &state, &begin);
  if ((known && (state == 'Z' || state == 'X')) ||
      (!known && kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH)) {
    return "process " + number + " is gone";
  }
  return known && begin > time + kClocks ? number + " is another process now" : "";
}

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
