// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/mounts.h"

#include <algorithm>
#include <sstream>

#include "tools/small_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

namespace {

constexpr uint64_t kMost = 4 << 20;  // some ten thousand mounts

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes blanks and the like as \040.
std::string Unescape(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                  (text[i + 3] - '0'));
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

// "27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,discard": fields that are optional
// stand before the dash.
bool ParseMount(const std::string& line, Mount* mount) {
  std::istringstream words(line);
  std::string id, parent, word, more;
  if (!(words >> id >> parent >> mount->number >> mount->folder >> mount->point >>
        mount->options)) {
    return false;
  }
  while (words >> word && word != "-") {
  }
  if (!(words >> mount->type >> mount->source)) {
    return false;
  }
  if (words >> more) {
    mount->options += "," + more;
  }
  mount->folder = Unescape(mount->folder);
  mount->point = Unescape(mount->point);
  mount->source = Unescape(mount->source);
  return mount->point[0] == '/';
}

bool IsBelow(const std::string& path, const std::string& point) {
  return point == "/" || path == point || path.rfind(point + "/", 0) == 0;
}

}  // namespace

bool Mount::Has(const std::string& option) const {
  return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

bool Mount::IsNetwork() const {
  static const char* const kTypes[] = {"9p",   "afs",  "beegfs", "ceph", "cifs", "fuse.glusterfs",
                                       "gfs2", "gpfs", "lustre", "nfs",  "nfs4", "fuse.sshfs",
                                       "smb3", "smbfs"};
  return std::any_of(std::begin(kTypes), std::end(kTypes),
                     [this](const char* each) { return type == each; });
}

Status ReadMounts(const std::string& root, std::vector<Mount>* mounts) {
  std::string text;
  const Status s = ReadSmallFile(root + "/proc/self/mountinfo", kMost, &text);
  std::istringstream lines(text);
  for (std::string line; s.ok() && std::getline(lines, line);) {
    Mount mount;
    if (ParseMount(line, &mount)) {
      mounts->push_back(std::move(mount));
    }
  }
  return s;
}

const Mount* MountOf(const std::string& path, const std::vector<Mount>& mounts) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    // The last of several at one point is the one that is seen.
    if (IsBelow(path, mount.point) &&
        (found == nullptr || mount.point.size() >= found->point.size())) {
      found = &mount;
    }
  }
  return found;
}

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
