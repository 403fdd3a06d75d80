// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/identity.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "env/io_posix.h"
#include "plugin/tiered_env/pmem/posix.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

std::string WorkingDirectory() {
  const std::unique_ptr<char, decltype(&free)> path(getcwd(nullptr, 0), &free);
  return path != nullptr ? path.get() : "";
}

// PathNotFound: nothing is there.
IOStatus IdOf(const std::string& directory, std::pair<dev_t, ino_t>* id) {
  const Descriptor fd(open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat st;
  if (fd.get() < 0 || fstat(fd.get(), &st) != 0) {
    return errno == ENOTDIR ? IOStatus::InvalidArgument(directory, "is no directory")
                            : IOError("While opening", directory, errno);
  }
  *id = {st.st_dev, st.st_ino};
  return IOStatus::OK();
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  const std::string absolute = path[0] == '/' ? path : WorkingDirectory() + "/" + path;
  const std::unique_ptr<char, decltype(&free)> real(realpath(absolute.c_str(), nullptr), &free);
  return real != nullptr ? real.get() : absolute;
}

IOStatus CheckDirectories(const Tiers& tiers, const std::string& home) {
  std::map<std::pair<dev_t, ino_t>, const Tier*> seen;
  for (const auto& tier : tiers) {
    std::pair<dev_t, ino_t> id;
    IOStatus s = IdOf(tier->is_home() ? home : tier->options().path, &id);
    if (s.IsInvalidArgument()) {
      return IOStatus::InvalidArgument(tier->ToString(), "is no directory");
    }
    if (!s.ok()) {
      continue;  // who needs it will say so
    }
    const auto added = seen.emplace(id, tier.get());
    if (!added.second) {
      return IOStatus::InvalidArgument(
          added.first->second->ToString() + " and " + tier->ToString(),
          "are one directory: give each a directory of its own in tiers=");
    }
  }
  return IOStatus::OK();
}

bool IsReadOnly(const std::string& directory) {
  return faccessat(AT_FDCWD, directory.c_str(), W_OK, AT_EACCESS) != 0 &&
         (errno == EROFS || errno == EACCES || errno == EPERM);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
