// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/wal_home.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/crc32c.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/stub.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr char kMagic[] = "RKTRHOME";
constexpr size_t kMagicAt = 4;
constexpr size_t kVersionAt = 12;
constexpr size_t kDirectoryAt = 16;
constexpr size_t kLengthAt = 32;

std::string FileIn(const std::string& wal_dir) { return wal_dir + "/" + kWalHomeName; }

bool IsMissing(const IOStatus& s) { return s.IsNotFound() || s.IsPathNotFound(); }

// Finds out whether there is a stub of a log in a wal_dir or its archive, damaged ones included.
IOStatus HasStubs(FileSystem* fs, const std::string& wal_dir, bool* result) {
  *result = false;
  for (const std::string& place : {wal_dir, wal_dir + "/archive"}) {
    std::vector<std::string> names;
    const IOStatus s = fs->GetChildren(place, IOOptions(), &names, nullptr);
    if (!s.ok() && !IsMissing(s)) {
      return s;
    }
    for (const std::string& name : names) {
      StubFile stub;
      if (IsStubName(name) && !IsTrashName(name) &&
          !ReadStub(fs, place + "/" + name, /*contents=*/false, &stub).IsNotFound()) {
        *result = true;
        return IOStatus::OK();
      }
    }
  }
  return IOStatus::OK();
}

}  // namespace

WalHome WalHome::Of(const std::string& database) {
  WalHome home;
  home.directory = IdentityOf(database);
  home.path = DirectoryOf(AbsolutePath(database + "/LOCK"));
  home.path.resize(std::min(home.path.size(), kMaxPath));
  return home;
}

std::string WalHome::Encode() const {
  std::string bytes(kMagicAt, '\0');
  bytes.append(kMagic, sizeof(kMagic) - 1);
  PutFixed32(&bytes, kVersion);
  PutFixed64(&bytes, directory.born);
  PutFixed64(&bytes, directory.inode);
  PutFixed32(&bytes, static_cast<uint32_t>(path.size()));
  bytes += path;
  EncodeFixed32(bytes.data(), MaskedCrc32c(bytes.data() + kMagicAt, bytes.size() - kMagicAt));
  return bytes;
}

Status WalHome::Decode(const Slice& bytes, const std::string& file, WalHome* result) {
  const char* const from = bytes.data();
  if (bytes.size() < kHeader || bytes.size() > kMaxSize ||
      memcmp(from + kMagicAt, kMagic, sizeof(kMagic) - 1) != 0 ||
      DecodeFixed32(from) != MaskedCrc32c(from + kMagicAt, bytes.size() - kMagicAt)) {
    return Status::Corruption(
        file,
        "is damaged: it says which database has the logs of this wal_dir. 'rocktier wal "
        "adopt' with --force writes it anew");
  }
  const uint32_t version = DecodeFixed32(from + kVersionAt);
  if (version != kVersion) {
    return Status::NotSupported(file, "has version " + std::to_string(version) +
                                          "; this build knows version 1 of this file");
  }
  if (DecodeFixed32(from + kLengthAt) != bytes.size() - kHeader) {
    return Status::Corruption(
        file,
        "says length=" + std::to_string(DecodeFixed32(from + kLengthAt)) + ", which cannot be");
  }
  result->directory.born = DecodeFixed64(from + kDirectoryAt);
  result->directory.inode = DecodeFixed64(from + kDirectoryAt + 8);
  result->path.assign(from + kHeader, bytes.size() - kHeader);
  return Status::OK();
}

bool WalHome::IsOtherThan(const std::string& database) const {
  return !(directory == IdentityOf(database)) || IsClone(path, database);
}

bool WalHome::IsThere() const { return directory.known() && IdentityOf(path) == directory; }

IOStatus ReadWalHome(FileSystem* fs, const std::string& wal_dir, WalHome* result) {
  const std::string path = FileIn(wal_dir);
  uint64_t size = 0;
  IOStatus s = fs->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!s.ok()) {
    return IsMissing(s) ? IOStatus::NotFound(path) : s;
  }
  std::string scratch(std::min<uint64_t>(size, WalHome::kMaxSize + 1), '\0');
  Slice bytes;
  if (!scratch.empty()) {  // a pipe has no size: opening it would wait for its writer
    std::unique_ptr<FSRandomAccessFile> file;
    s = fs->NewRandomAccessFile(path, FileOptions(), &file, nullptr);
    if (s.ok()) {
      s = file->Read(0, scratch.size(), IOOptions(), &bytes, scratch.data(), nullptr);
    }
  }
  return s.ok() ? status_to_io_status(WalHome::Decode(bytes, path, result)) : s;
}

bool IsWalDirOf(FileSystem* fs, const std::string& wal_dir, const std::string& database) {
  WalHome home;
  return ReadWalHome(fs, wal_dir, &home).ok() && !home.IsOtherThan(database);
}

// Writes another file first: a crash leaves the old one or the new one.
IOStatus WriteWalHome(FileSystem* fs, const std::string& wal_dir, const std::string& database) {
  return ReplaceFile(fs, FileIn(wal_dir), WalHome::Of(database).Encode());
}

IOStatus CheckWalHome(FileSystem* fs, const std::string& wal_dir, const std::string& database,
                      const std::string& device) {
  WalHome home;
  if (!IdentityOf(database).known() || IsSameDirectory(wal_dir, database)) {
    return IOStatus::OK();  // the logs say it themselves
  }
  IOStatus s = ReadWalHome(fs, wal_dir, &home);
  if (!s.ok() || !home.IsOtherThan(database)) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  const std::string reason = home.IsThere()
                                 ? "is a copy of " + home.path + ": the logs in " + wal_dir +
                                       " are that one's. Remove the copy, or export the logs "
                                       "('rocktier wal export') before the original is copied"
                             : home.path == WalHome::Of(database).path
                                 ? "may be an older copy: the logs in " + wal_dir +
                                       " are those of another directory of this path"
                                 : "may be a copy: the logs in " + wal_dir + " are those of " +
                                       home.path + ", another directory";
  return IOStatus::InvalidArgument(
      database, reason + ". 'rocktier wal adopt " + device + " " + database +
                    "' tells what would be lost; --force makes the logs those of this directory");
}

IOStatus TakeWalDir(FileSystem* fs, const std::string& wal_dir, const std::string& database,
                    const std::string& device) {
  const WalHome own = WalHome::Of(database);
  WalHome home;
  if (!own.directory.known() || IsSameDirectory(wal_dir, database)) {
    return IOStatus::OK();
  }
  if (ReadWalHome(fs, wal_dir, &home).ok() && home.Encode() == own.Encode()) {
    return IOStatus::OK();
  }
  IOStatus s = CheckWalHome(fs, wal_dir, database, device);
  if (!s.ok()) {
    bool has_stubs = true;
    const IOStatus looked = HasStubs(fs, wal_dir, &has_stubs);
    if (!looked.ok() || has_stubs) {
      return looked.ok() ? s : looked;
    }
  }
  return WriteWalHome(fs, wal_dir, database);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
