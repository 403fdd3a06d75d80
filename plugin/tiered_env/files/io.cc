// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/io.h"

#include <memory>
#include <vector>

#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

IOStatus DeleteAll(FileSystem* fs, const std::string& directory) {
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  if (IsMissing(s)) {
    return IOStatus::OK();
  }
  for (const std::string& name : names) {
    if (s.ok() && name == kLostName) {
      s = DeleteAll(fs, directory + "/" + name);
    } else if (s.ok() && name != "." && name != "..") {
      s = fs->DeleteFile(directory + "/" + name, IOOptions(), nullptr);
    }
  }
  return s.ok() ? fs->DeleteDir(directory, IOOptions(), nullptr) : s;
}

IOStatus SyncAndClose(IOStatus s, FSWritableFile* file) {
  if (s.ok()) {
    s = file->Sync(IOOptions(), nullptr);
  }
  if (file != nullptr) {
    IOStatus closed = file->Close(IOOptions(), nullptr);
    s = s.ok() ? closed : s;
  }
  return s;
}

IOStatus WriteSmallFile(FileSystem* fs, const std::string& path, const std::string& contents) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(contents, IOOptions(), nullptr);
  }
  return SyncAndClose(s, file.get());
}

IOStatus ReadSmallFile(FileSystem* fs, const std::string& path, size_t most,
                       std::string* contents) {
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(path, FileOptions(), &file, nullptr);
  if (!s.ok()) {
    return s;
  }
  std::string buffer(most, '\0');
  Slice bytes;
  s = file->Read(most, IOOptions(), &bytes, buffer.data(), nullptr);
  contents->assign(bytes.data(), s.ok() ? bytes.size() : 0);
  return s;
}

IOStatus SyncDirectory(FileSystem* fs, const std::string& path) {
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = fs->NewDirectory(path, IOOptions(), &directory, nullptr);
  return s.ok() ? directory->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions()) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
