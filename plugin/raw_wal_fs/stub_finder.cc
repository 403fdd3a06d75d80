// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/stub_finder.h"

#include <vector>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/stub.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

const StubFinder::Directory& StubFinder::Read(const std::string& path) {
  const auto [it, is_new] = seen_.try_emplace(path);
  Directory& directory = it->second;
  if (!is_new) {
    return directory;
  }
  FileSystem* const fs = FileSystem::Default().get();
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(path, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    StubFile stub;
    if (!s.ok()) {
      break;
    }
    if (IsStubName(name)) {
      s = ReadStub(fs, path + "/" + name, /*contents=*/false, &stub);
      if (s.ok() && stub.stub.uuid == uuid_) {
        directory.stubs[stub.stub.log] = path + "/" + name;
      }
      s = s.IsNotFound() ? IOStatus::OK() : s;  // a plain log, or it was deleted meanwhile
    }
  }
  directory.exists = !s.IsNotFound() && !s.IsPathNotFound();
  directory.status = directory.exists ? s : IOStatus::OK();
  return directory;
}

StubFinder::Answer StubFinder::Look(LogId log, const Volume::Segment& header, std::string* path) {
  if (!header.whole_name) {
    *path = "the beginning of its name is not known";
    return Answer::kUnknown;
  }
  path->clear();
  const std::string created = DirectoryOf(header.name);
  for (const std::string& place : {created, created + "/archive", created + "/lost"}) {
    const Directory& directory = Read(place);
    const auto it = directory.stubs.find(log);
    if (it != directory.stubs.end()) {
      *path = it->second;
      return Answer::kFound;
    }
    if (!directory.status.ok()) {
      *path = directory.status.ToString();
    }
  }
  if (path->empty() && header.name.compare(0, 1, "/") != 0) {
    *path = "its name is a relative path";
  }
  return path->empty() ? Answer::kMissing : Answer::kUnknown;
}

StubFinder::Answer StubFinder::Find(LogId log, const Volume::Segment& header, std::string* path) {
  const Answer answer = Look(log, header, path);
  if (answer != Answer::kMissing) {
    return answer;
  }
  const std::string created = DirectoryOf(header.name);
  if (!Read(created).exists) {
    *path = "there is no " + created + ": it was removed or moved, or is not mounted";
  } else if (!(IdentityOf(created) == header.directory)) {
    *path = created +
            " is not the directory in which it was created, which may have been moved, or "
            "is not mounted";
  }
  return path->empty() ? Answer::kMissing : Answer::kUnknown;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
