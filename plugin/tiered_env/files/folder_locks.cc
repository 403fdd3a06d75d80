// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Folders that keeps others out of them, as long as a database is open or a tool
// changes something in them.

#include <utility>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/pmem/posix.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Locks out all others that open the file, on this host and, where the file system carries locks,
// on others. Where it knows none there is none. The processes that a fork leaves share the lock.
IOStatus Folders::LockFolder(const Tier& tier, const std::string& folder, Descriptor* result) {
  const std::string path = PathIn(tier, folder + "/" + kFolderLock);
  Descriptor fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fd.get() >= 0 && fcntl(fd.get(), F_OFD_SETLK, &lock) != 0 &&
      (errno == EAGAIN || errno == EACCES)) {
    return IOStatus::Busy(path,
                          "is locked: the folder is open in another process, or on another "
                          "host; see \"fuser -v " +
                              path + "\"");
  }
  *result = std::move(fd);
  return IOStatus::OK();
}

IOStatus Folders::LockIn(const Tier& tier, Folder* folder) {
  Descriptor lock;
  IOStatus s = LockFolder(tier, folder->identity.folder, &lock);
  if (s.ok()) {
    folder->locks[tier.index()] = std::move(lock);
  }
  return s;
}

IOStatus Folders::LockAll(Folder* folder) const {
  IOStatus s;
  for (const auto& tier : tiers_) {
    if (s.ok() && !tier->is_home() && folder->locks.count(tier->index()) == 0 &&
        IsThere(*tier, folder->identity.folder)) {
      s = LockIn(*tier, folder);
    }
  }
  return s;
}

// The tier's disk was away when the database was opened: nobody has looked whose the folder is. If
// a newer state of the home has opened it since, or has it open, nothing of it is this one's.
IOStatus Folders::LockReturned(const Tier& tier, const std::string& directory, Folder* folder) {
  if (!IsUnlocked(directory, *folder, tier) || !IsThere(tier, folder->identity.folder)) {
    return IOStatus::OK();
  }
  IOStatus s = LockIn(tier, folder);
  const std::string why = s.ok() ? WhyRefused(directory, *folder, tier) : "";
  if (!why.empty()) {
    folder->locks.erase(tier.index());
    s = IOStatus::InvalidArgument(directory, why);
  }
  return s;
}

// Where there is no sound TIERS no folder is known to be the home's: SetName() locks those that it
// gets.
IOStatus Folders::Lock(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(directory);  // it may have been put back since
  Folder* folder;
  return Load(directory, &folder).ok() ? LockAll(folder) : IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
