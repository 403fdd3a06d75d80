// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Who may make, replace or delete what when a cache is opened: this file, and no other of the
// plugin.
//
//   what is at `path`                  what becomes of it
//   nothing                            a file is made. Should something have come meanwhile, it is
//                                      left alone, and the opening fails
//   a symbolic link to a file          that file is meant, here and for the lock; the link stays
//   a symbolic link to nothing         refused
//   a directory, FIFO, socket, device  refused, and not opened
//   a file without our magic, also an empty one
//                                      refused
//   ours, but of a later version, with a damaged superblock, or shorter than that says
//                                      refused: the operator deletes it
//   ours, and another cache has it     not touched: the cache passes everything through
//   ours, of the wanted capacity and shards
//                                      used. Entries that name no block are set to zero
//                                      (file_recovery.cc)
//   ours, of others, or whole and of version 1
//                                      replaced by a new file, by a rename, once that one is whole;
//                                      nothing is in it that is not in an SST
//
//   what is at `path`.lock             what becomes of it
//   nothing                            an empty file is made
//   a regular file                     locked; neither read nor written, and never deleted
//   anything else, also a symbolic link
//                                      refused
//
//   what is at `path`.new              what becomes of it
//   nothing                            a new cache file grows under this name
//   a regular file that is empty or has our magic
//                                      deleted when a file is to be made: a process was killed
//                                      while it made one. We have the lock
//   anything else                      refused when a file is to be made
//
// Nothing else is opened, and nothing is deleted for another reason. A cache in use never shortens,
// renames or deletes its file. Nor does closing it.
//
// Order of locks, from the outer to the inner. A thread that has one takes only those below it:
//   the lock file, the lock of the cache file's inode (device.cc)
//                                      both for the life of the cache
//   Registry::mutex (caches.cc)        no I/O and no other lock under it
//   TwoQSecondaryCache::capacity_mutex_
//   DeadSsts::mutex_
//   Shard::mutex_                      no I/O under it, and no other lock but the next one
//   FileStore::queue_mutex_            no I/O under it, and no other lock but FilePart::mutex_
//   FilePart::mutex_, FileStore::staged_mutex_, IndexMap::mutex_, KernelRing::mutex_
//                                      never two of these at once

#include "plugin/secondary_cache_2q/opening.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/sync_points.h"
#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Flags of every open. With them it neither waits for the other end of a FIFO nor makes a terminal
// ours.
constexpr int kOpenFlags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Status Refuse(const std::string& path, const std::string& why) {
  return Status::InvalidArgument("path=" + path, why);
}

bool IsSymbolicLink(const std::string& path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

// NotFound if there is no such file.
Status RealPath(const std::string& path, std::string* result) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (real == nullptr) {
    return errno == ENOENT ? Status::NotFound("path=" + path, "no such file")
                           : PosixError("look up", path, errno);
  }
  *result = real.get();
  return Status::OK();
}

// The file that `path` means, which need not be there: absolute, and without symbolic links.
Status Resolve(const std::string& path, std::string* result) {
  Status s = RealPath(path, result);
  if (!s.IsNotFound()) {
    return s;
  }
  if (IsSymbolicLink(path)) {
    return Refuse(
        path, "is a symbolic link to a file that is not there; delete the link or make its target");
  }
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Refuse(path, "names a directory, not a file");
  }
  s = RealPath(slash == std::string::npos ? "." : path.substr(0, slash + 1), result);
  if (s.IsNotFound()) {
    return Status::IOError("path=" + path, "the directory does not exist");
  }
  if (s.ok()) {
    *result += (*result == "/" ? "" : "/") + name;
  }
  return s;
}

// Opens a regular file. Nothing else is opened, since that may wait or have effects. NotFound if
// there is no such file.
Status OpenRegular(const std::string& path, int flags, Descriptor* file, struct stat* info) {
  if (lstat(path.c_str(), info) != 0) {
    return errno == ENOENT ? Status::NotFound("path=" + path, "no such file")
                           : PosixError("stat", path, errno);
  }
  if (!S_ISREG(info->st_mode)) {
    return Refuse(path, "is not a regular file");
  }
  *file = Descriptor(open(path.c_str(), flags | O_NOFOLLOW | kOpenFlags));
  if (file->get() < 0) {
    return errno == ENOENT ? Status::NotFound("path=" + path, "no such file")
                           : PosixError("open", path, errno);
  }
  if (fstat(file->get(), info) != 0 || !S_ISREG(info->st_mode)) {
    return Refuse(path, "is not a regular file");
  }
  return Status::OK();
}

// Locks the lock file by flock, which also refuses a second lock in the same process, and which the
// kernel drops with the descriptor. RocksDB's own file locks need a table that is a static object.
// This table may be gone when a cache that is static, too, as in db_bench, is destroyed.
Status Lock(const std::string& path, Descriptor* lock) {
  const std::string name = path + ".lock";
  struct stat info;
  Status s = OpenRegular(name, O_RDWR, lock, &info);
  if (s.IsNotFound()) {
    *lock = Descriptor(open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | kOpenFlags, 0644));
    s = lock->get() >= 0 ? Status::OK() : PosixError("create the lock file", name, errno);
  }
  if (s.ok() && flock(lock->get(), LOCK_EX | LOCK_NB) != 0) {
    s = errno == EWOULDBLOCK ? Status::Busy("path=" + path, "is in use by another cache")
                             : PosixError("lock", name, errno);
  }
  return s;
}

Status ReadSuperblock(const Descriptor& file, const std::string& path, uint64_t file_size,
                      Superblock* result) {
  std::string bytes(Superblock::kSize, '\0');
  const ssize_t n = pread(file.get(), bytes.data(), bytes.size(), 0);
  if (n < 0) {
    return PosixError("read the superblock", path, errno);
  }
  Status s =
      Superblock::Decode(Slice(bytes.data(), static_cast<size_t>(n)), "path=" + path, result);
  if (s.ok() && file_size < result->FileSize()) {
    s = Status::Corruption("path=" + path, "is shorter than its superblock says; delete it");
  }
  return s;
}

// Of what cannot be read: whether it is a cache file that version 1 has left, whole.
bool IsOfFirstVersion(const Descriptor& file, uint64_t file_size) {
  std::string bytes(Superblock::kSize, '\0');
  return pread(file.get(), bytes.data(), bytes.size(), 0) ==
             static_cast<ssize_t>(Superblock::kSize) &&
         Superblock::IsFirstVersion(bytes, file_size);
}

Status RandomUuid(std::string* uuid) {
  uuid->resize(Superblock::kUuidSize);
  const ssize_t n = getrandom(uuid->data(), uuid->size(), 0);  // all of them
  return n == static_cast<ssize_t>(uuid->size()) ? Status::OK()
                                                 : PosixError("getrandom", "/dev/urandom", errno);
}

bool Fits(const Superblock& found, const TwoQSecondaryCacheOptions& options, uint32_t shards,
          const Descriptor& file) {
  const uint32_t needed = options.direct_io ? Device::BlockSize(file.get()) : 512;
  const Superblock wanted = Superblock::Plan(options.capacity, shards, needed);
  return found.capacity == wanted.capacity && found.shards == wanted.shards &&
         found.slots == wanted.slots && found.block_size >= needed;
}

Status SyncDirectoryOf(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const Descriptor fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) {
    return PosixError("fsync of the directory", path, errno);
  }
  return Status::OK();
}

// Deletes what a process left that was killed while it made a cache file.
Status DeleteUnfinished(const std::string& name) {
  Descriptor file;
  struct stat info;
  Status s = OpenRegular(name, O_RDONLY, &file, &info);
  if (s.IsNotFound()) {
    return Status::OK();
  }
  char start[Superblock::kMagicSize];
  if (!s.ok() ||
      (info.st_size != 0 && !(pread(file.get(), start, sizeof(start), 0) == sizeof(start) &&
                              Superblock::HasMagic(Slice(start, sizeof(start)))))) {
    return Refuse(name, "is in the way of a new cache file and is none; move it away");
  }
  return unlink(name.c_str()) == 0 ? Status::OK() : PosixError("delete", name, errno);
}

// Fills a new file. The magic goes first, durably, so that an unfinished file is known as ours: a
// loss of power could leave the size alone, of a process that was killed before that, too.
Status Fill(const Descriptor& file, const std::string& name,
            const TwoQSecondaryCacheOptions& options, uint32_t shards, Superblock* result) {
  const std::string unfinished = Superblock::Unfinished();
  if (pwrite(file.get(), unfinished.data(), unfinished.size(), 0) !=
          static_cast<ssize_t>(unfinished.size()) ||
      fdatasync(file.get()) != 0) {
    return PosixError("write", name, errno);
  }
  TEST_SYNC_POINT("TwoQOpening::Fill:MagicIsDurable");
  Superblock plan = Superblock::Plan(options.capacity, shards,
                                     options.direct_io ? Device::BlockSize(file.get()) : 512);
  Status s = RandomUuid(&plan.uuid);
  if (!s.ok()) {
    return s;
  }
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(plan.FileSize()));
  if (error != 0) {
    return PosixError("preallocate " + std::to_string(plan.FileSize()) + " bytes", name, error);
  }
  const std::string bytes = plan.Encode();
  if (pwrite(file.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
      fdatasync(file.get()) != 0) {
    return PosixError("write the superblock", name, errno);
  }
  *result = plan;
  return Status::OK();
}

// Gives a whole file its name. Without `replace` what has come to be there meanwhile is kept.
Status Name(const std::string& from, const std::string& path, bool replace) {
  if (!replace && link(from.c_str(), path.c_str()) == 0) {
    unlink(from.c_str());
    return Status::OK();
  }
  if (!replace) {
    struct stat info;
    // If nothing is there, the file system has no hard links: rename instead.
    if (errno == EEXIST || lstat(path.c_str(), &info) == 0) {
      return Status::IOError("path=" + path, "was made by somebody else meanwhile; open again");
    }
  }
  return rename(from.c_str(), path.c_str()) == 0 ? Status::OK() : PosixError("rename", path, errno);
}

// Makes a cache file under another name first, so that a crash leaves the old file or a whole new
// one.
Status Make(const TwoQSecondaryCacheOptions& options, uint32_t shards, bool replace,
            OpenFile* result) {
  const std::string name = result->path + ".new";
  Status s = DeleteUnfinished(name);
  if (!s.ok()) {
    return s;
  }
  Descriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | kOpenFlags, 0644));
  if (file.get() < 0) {
    return PosixError("create", name, errno);
  }
  s = Fill(file, name, options, shards, &result->superblock);
  if (s.ok()) {
    s = Name(name, result->path, replace);
  }
  if (!s.ok()) {
    unlink(name.c_str());
    return s;
  }
  result->file = std::move(file);
  return SyncDirectoryOf(result->path);
}

}  // namespace

Status OpenCacheFile(const TwoQSecondaryCacheOptions& options, uint32_t shards, OpenFile* result) {
  Status s = Resolve(options.path, &result->path);
  struct stat info;
  if (s.ok() && lstat(result->path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    s = Refuse(options.path, "is not a regular file");  // and gets no lock file beside it
  }
  if (s.ok()) {
    s = Lock(result->path, &result->lock);
  }
  if (!s.ok()) {
    return s;
  }
  s = OpenRegular(result->path, O_RDWR, &result->file, &info);
  if (s.IsNotFound()) {
    return Make(options, shards, /*replace=*/false, result);
  }
  if (s.ok()) {
    s = ReadSuperblock(result->file, result->path, static_cast<uint64_t>(info.st_size),
                       &result->superblock);
  }
  const bool is_old =
      s.IsNotSupported() && IsOfFirstVersion(result->file, static_cast<uint64_t>(info.st_size));
  if (is_old || (s.ok() && !Fits(result->superblock, options, shards, result->file))) {
    s = Make(options, shards, /*replace=*/true, result);
  }
  return s;
}

Status OpenForReading(const std::string& path, Descriptor* file, Superblock* superblock) {
  std::string real;
  struct stat info;
  Status s = RealPath(path, &real);
  if (s.ok()) {
    s = OpenRegular(real, O_RDONLY, file, &info);
  }
  if (s.ok()) {
    s = ReadSuperblock(*file, path, static_cast<uint64_t>(info.st_size), superblock);
  }
  return s;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
