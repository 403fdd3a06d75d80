// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "file/filename.h"
#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "plugin/hot_promotion/store/file_names.h"
#include "test_util/sync_point.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr char kMarker[] = "HOT_PROMOTION";
constexpr char kNewMarker[] = "HOT_PROMOTION.tmp";
constexpr char kMagic[] = "RKTHOTP\n";
constexpr size_t kMagicSize = 8;
constexpr uint32_t kVersion = 1;
constexpr size_t kMarkerSize = kMagicSize + 4 + 4 + 1;
constexpr uint64_t kLargestOptions = 1 << 20;

using Kind = Folder::Kind;

// See FORMAT.md.
std::string EncodeMarker(Kind kind) {
  const char body = static_cast<char>(kind);
  std::string marker(kMagic, kMagicSize);
  PutFixed32(&marker, kVersion);
  PutFixed32(&marker, crc32c::Mask(crc32c::Value(&body, 1)));
  marker.push_back(body);
  return marker;
}

// Makes an error of the operating system one that IsLasting() never takes for a damaged store: by
// that one a folder is begun anew. RocksDB's IOError() would make ENOENT PathNotFound, which it is.
Status SystemError(const std::string& what, int error) {
  return Status::IOError(what, strerror(error));
}

// Reads at most `most` bytes from the start of a file. A FIFO or the like is NotFound: reading it
// would wait.
Status ReadStart(const std::string& path, size_t most, std::string* contents) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat attributes;
  if (fd < 0) {
    return errno == ENOENT ? Status::NotFound(path) : SystemError(path, errno);
  }
  Status s = fstat(fd, &attributes) != 0 || !S_ISREG(attributes.st_mode)
                 ? Status::NotFound(path, "is not a file")
                 : Status::OK();
  contents->resize(s.ok() ? std::min<uint64_t>(most, attributes.st_size) : 0);
  const ssize_t size = pread(fd, contents->data(), contents->size(), 0);
  if (size < 0) {
    s = SystemError(path, errno);
  }
  contents->resize(std::max<ssize_t>(size, 0));
  close(fd);
  return s;
}

bool StartsWith(const std::string& text, const char* start) {
  return text.compare(0, strlen(start), start) == 0;
}

// Whether a name counts for nothing when it is asked whose a folder is.
bool IsNothing(const std::string& name) {
  return name == "LOCK" || name == "LOG" || StartsWith(name, "LOG.old") || name == "lost+found" ||
         name == kNewMarker || StartsWith(name, kMetricsName);
}

bool IsOfStore(const std::string& name, bool* options) {
  uint64_t number;
  FileType type;
  *options = false;
  if (IsOwnName(name)) {
    return true;
  }
  if (!ParseFileName(name, &number, &type)) {
    return false;
  }
  *options = type == kOptionsFile;
  return type != kMetaDatabase && type != kBlobFile;
}

// Whether a name in a folder of this kind is one that the plugin gives.
bool IsOurs(Kind kind, const std::string& name) {
  uint64_t number;
  bool options;
  switch (kind) {
    case Kind::kTop:
      return name == "store" || name == "ralt";
    case Kind::kStore:
      return IsOfStore(name, &options);
    default:
      return name == "CATALOG" || name == "CATALOG.tmp" || ralt::ParseRunFileName(name, &number);
  }
}

struct Found {
  enum { kNothing, kEmpty, kMarked, kOld, kElse } what = kNothing;
  std::string name;  // of what is somebody else's; empty: the place itself
};

Status Look(Kind kind, const std::string& path, Found* found);

// Whether the contents of a folder without a marker show that the first version made it.
Status IsOld(Kind kind, const std::string& path, const std::vector<std::string>& names, bool* old) {
  *old = false;
  if (kind == Kind::kTop) {
    bool any = false;
    bool all = true;
    for (const std::string& name : names) {
      if (name == kMarker) {
        continue;
      }
      Found found;
      const Status s =
          Look(name == "store" ? Kind::kStore : Kind::kTable, path + "/" + name, &found);
      if (!s.ok()) {
        return s;
      }
      any = true;
      all = all && found.what != Found::kElse;
    }
    *old = any && all;
    return Status::OK();
  }
  for (const std::string& name : names) {
    bool options = false;
    const bool tells =
        kind == Kind::kTable ? name == "CATALOG" : IsOfStore(name, &options) && options;
    if (!tells) {
      continue;
    }
    std::string contents;
    const Status s = ReadStart(path + "/" + name, kLargestOptions, &contents);
    if (!s.ok() && !s.IsNotFound()) {
      return s;
    }
    *old =
        *old || (kind == Kind::kTable ? StartsWith(contents, ralt::kCatalogMagic)
                                      : contents.find("HotPromotionFilter") != std::string::npos);
  }
  return Status::OK();
}

Status IsMarked(Kind kind, const std::string& path, bool* marked) {
  std::string contents;
  const Status s = ReadStart(path + "/" + kMarker, kMarkerSize + 1, &contents);
  *marked = s.ok() && contents == EncodeMarker(kind);
  return s.IsNotFound() ? Status::OK() : s;
}

Status Look(Kind kind, const std::string& path, Found* found) {
  *found = Found();
  struct stat attributes;
  if (stat(path.c_str(), &attributes) != 0) {
    return errno == ENOENT ? Status::OK() : SystemError(path, errno);
  }
  if (!S_ISDIR(attributes.st_mode)) {
    found->what = Found::kElse;
    return Status::OK();
  }
  bool marked = false;
  Status s = IsMarked(kind, path, &marked);
  if (!s.ok() || marked) {
    found->what = Found::kMarked;
    return s;
  }
  std::vector<std::string> names;
  s = Env::Default()->GetChildren(path, &names);
  names.erase(std::remove_if(names.begin(), names.end(), IsNothing), names.end());
  if (!s.ok() || names.empty()) {
    found->what = Found::kEmpty;
    return s;
  }
  for (const std::string& name : names) {
    if (name != kMarker && !IsOurs(kind, name)) {
      *found = {Found::kElse, name};
      return s;
    }
  }
  bool old = false;
  s = IsOld(kind, path, names, &old);
  *found = old ? Found{Found::kOld, ""} : Found{Found::kElse, names.front()};
  return s;
}

Status NotOurs(const std::string& path, const Found& found) {
  return Status::InvalidArgument(
      "HotPromotionTable: path=" + path,
      found.name.empty()
          ? "is not a folder"
          : "has " + found.name +
                ", which hot_promotion may not have made: choose another path, or delete the "
                "folder if it is a damaged hot store");
}

// The folders that this process has open.
class Table {
 public:
  bool Insert(const std::string& id) {
    std::lock_guard<std::mutex> lock(mutex_);
    return ids_.insert(id).second;
  }
  void Erase(const std::string& id) {
    std::lock_guard<std::mutex> lock(mutex_);
    ids_.erase(id);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> ids_;
};

// Never destroyed, as engines may be closed while the process ends.
Table* OpenFolders() {
  static auto* table = new Table();
  return table;
}

std::string IdOfAttributes(const struct stat& attributes) {
  return std::to_string(attributes.st_dev) + ":" + std::to_string(attributes.st_ino);
}

}  // namespace

Status Folder::Check(Kind kind, const std::string& path) {
  Found found;
  Status s = Look(kind, path, &found);
  if (s.ok() && found.what == Found::kElse) {
    return NotOurs(path, found);
  }
  if (s.ok() && kind == Kind::kTop && found.what == Found::kMarked) {
    s = Check(Kind::kStore, path + "/store");
    if (s.ok()) {
      s = Check(Kind::kTable, path + "/ralt");
    }
  }
  return s;
}

std::string Folder::IdOf(const std::string& path) {
  struct stat attributes;
  return stat(path.c_str(), &attributes) == 0 && S_ISDIR(attributes.st_mode)
             ? IdOfAttributes(attributes)
             : "";
}

void Folder::Make(const std::string& path) {
  Found found;
  if (Look(Kind::kTop, path, &found).ok() && found.what == Found::kNothing) {
    Env::Default()->CreateDirIfMissing(path).PermitUncheckedError();  // it is opened next
  }
}

Status Folder::Open(Kind kind, const std::string& path, std::unique_ptr<Folder>* result) {
  Status s = Check(kind, path);
  if (s.ok()) {
    s = Env::Default()->CreateDirIfMissing(path);
  }
  std::unique_ptr<Folder> folder(new Folder(kind, path));
  if (s.ok()) {
    s = folder->Claim();
  }
  if (s.ok() && kind == Kind::kTop) {
    s = folder->Lock();
  }
  if (s.ok()) {
    s = folder->Mark();
  }
  if (s.ok()) {
    *result = std::move(folder);
  }
  return s;
}

Status Folder::CheckFree(const std::string& path) {
  Folder folder(Kind::kTop, path);
  const Status s = folder.Claim();
  return s.ok() ? folder.LookAtLock() : s;
}

Status Folder::Claim() {
  fd_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat attributes;
  if (fd_ < 0 || fstat(fd_, &attributes) != 0) {
    return SystemError(path_, errno);
  }
  const std::string id = IdOfAttributes(attributes);
  if (!OpenFolders()->Insert(id)) {
    return Status::Busy("HotPromotionTable: path=" + path_, "is open in this process");
  }
  id_ = id;
  return Status::OK();
}

Status Folder::Lock() {
  const Status s = Env::Default()->LockFile(path_ + "/LOCK", &lock_);
  return s.ok() ? s : Status::Busy("HotPromotionTable: path=" + path_, s.ToString());
}

// Requires Claim(): closing the file would take a lock of this process away.
Status Folder::LookAtLock() const {
  const std::string path = path_ + "/LOCK";
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    return errno == ENOENT ? Status::OK() : SystemError(path, errno);
  }
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const Status s = fcntl(fd, F_GETLK, &lock) != 0 ? SystemError(path, errno) : Status::OK();
  close(fd);
  return s.ok() && lock.l_type != F_UNLCK
             ? Status::Busy("HotPromotionTable: path=" + path_, "is open in another process")
             : s;
}

// Looks again: another process may have been here before the lock was taken.
Status Folder::Mark() {
  Found found;
  Status s = Look(kind_, path_, &found);
  if (s.ok() && found.what == Found::kElse) {
    return NotOurs(path_, found);
  }
  if (s.ok() && found.what != Found::kMarked) {
    Env* const env = Env::Default();
    const std::string temporary = path_ + "/" + kNewMarker;
    s = WriteStringToFile(env, EncodeMarker(kind_), temporary, /*should_sync=*/true);
    if (s.ok()) {
      s = env->RenameFile(temporary, path_ + "/" + kMarker);
    }
  }
  if (!s.ok()) {
    return s;
  }
  // Whoever made it may have been killed before it was durable. What comes here later would seem
  // somebody else's without it.
  TEST_SYNC_POINT("Folder::Mark:Sync");
  return fsync(fd_) != 0 ? SystemError(path_, errno) : s;
}

Folder::~Folder() {
  if (lock_ != nullptr) {
    Env::Default()->UnlockFile(lock_).PermitUncheckedError();  // the process goes on without it
  }
  if (!id_.empty()) {
    OpenFolders()->Erase(id_);
  }
  if (fd_ >= 0) {
    close(fd_);
  }
}

namespace {

// Names of what Remove() deletes.
Status FindRemovable(Kind kind, const std::string& path, std::vector<std::string>* names) {
  Found found;
  Status s = Look(kind, path, &found);
  if (s.ok() && found.what == Found::kElse) {
    return NotOurs(path, found);
  }
  if (s.ok() && (found.what == Found::kNothing || found.what == Found::kEmpty)) {
    return Status::NotFound(path, "is no hot store");
  }
  if (s.ok()) {
    s = Env::Default()->GetChildren(path, names);
  }
  for (const std::string& name : *names) {
    if (!IsOurs(kind, name) && !IsNothing(name) && name != kMarker) {
      return NotOurs(path, {Found::kElse, name});
    }
  }
  return s;
}

}  // namespace

Status Folder::CheckRemovable(Kind kind, const std::string& path) {
  std::vector<std::string> names;
  return FindRemovable(kind, path, &names);
}

Status Folder::Remove(Kind kind, const std::string& path) {
  Env* const env = Env::Default();
  std::vector<std::string> names;
  Status s = FindRemovable(kind, path, &names);
  // The marker last: what is left by a crash is ours still.
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name != kMarker; });
  for (const std::string& name : names) {
    if (s.ok() && name != "lost+found") {
      s = env->DeleteFile(path + "/" + name);
    }
  }
  return s.ok() ? env->DeleteDir(path) : s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
