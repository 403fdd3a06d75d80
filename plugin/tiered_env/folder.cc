// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/folder.h"

#include <cctype>
#include <cstdio>
#include <utility>

#include "plugin/tiered_env/identity.h"
#include "plugin/tiered_env/lost.h"
#include "plugin/tiered_env/name.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostIdentity = 64 << 10;
constexpr size_t kMostOfName = 64;  // characters of a directory's name that its folders have, too

std::string FolderNameFor(const std::string& directory, const std::string& suffix) {
  std::string name = BaseOf(directory).substr(0, kMostOfName);
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') {
      c = '_';
    }
  }
  return name + "-" + suffix;
}

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

// Makes what is in it durable: the process that wrote it may have died before it did.
IOStatus SyncFile(FileSystem* fs, const std::string& path) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->ReopenWritableFile(path, FileOptions(), &file, nullptr);
  return SyncAndClose(s, file.get());
}

}  // namespace

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

IOStatus ReadIdentity(FileSystem* fs, const std::string& path, Identity* result) {
  std::string contents;
  IOStatus s = ReadSmallFile(fs, path, kMostIdentity, &contents);
  return s.ok() ? AsIOStatus(Identity::Decode(contents, path, result)) : s;
}

IOStatus SyncDirectory(FileSystem* fs, const std::string& path) {
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = fs->NewDirectory(path, IOOptions(), &directory, nullptr);
  return s.ok() ? directory->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions()) : s;
}

IOStatus Folders::Find(const std::string& directory, std::string* folder) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* found;
  IOStatus s = Load(directory, &found);
  if (s.ok()) {
    *folder = found->name;
  }
  return s;
}

IOStatus Folders::Load(const std::string& directory, Folder** result) {
  const auto it = folders_.find(directory);
  if (it != folders_.end()) {
    *result = &it->second;
    return IOStatus::OK();
  }
  Identity identity;
  IOStatus s = ReadIdentity(target_, directory + "/" + kIdentityName, &identity);
  if (IsMissing(s)) {
    return IOStatus::NotFound(directory, "has nothing in tiers");
  }
  if (s.ok()) {
    *result = &folders_[directory];
    (*result)->name = identity.folder;
  }
  return s;
}

IOStatus Folders::Create(const std::string& directory, Folder** result) {
  const std::string name = FolderNameFor(AbsolutePath(directory), NewSuffix());
  return WriteName(directory, name, result);
}

// Under another name first: a crash must not leave half of it.
IOStatus Folders::WriteName(const std::string& directory, const std::string& folder,
                            Folder** result) {
  Identity identity;
  identity.directory = AbsolutePath(directory);
  identity.folder = folder;
  const std::string path = directory + "/" + kIdentityName;
  IOStatus s = WriteSmallFile(target_, path + kTemporary, identity.Encode());
  TEST_SYNC_POINT("Folders::Create:BeforeRename");
  if (s.ok()) {
    s = target_->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(target_, directory);
  }
  if (s.ok()) {
    *result = &folders_[directory];
    **result = Folder();
    (*result)->name = identity.folder;
  }
  return s;
}

IOStatus Folders::MakeIn(const Tier& tier, const std::string& directory, Folder* folder) {
  if (folder->made.count(tier.index()) > 0) {
    return IOStatus::OK();
  }
  const std::string path = PathIn(tier, folder->name);
  // The tier's own directory must be there: an unmounted device looks like an empty one.
  IOStatus s = target_->CreateDirIfMissing(path, IOOptions(), nullptr);
  TEST_SYNC_POINT("Folders::MakeIn:BeforeOwner");
  if (s.ok()) {
    s = WriteOwner(tier, directory, folder->name);
  }
  if (s.ok()) {
    s = SyncDirectory(target_, tier.options().path);
  }
  if (s.ok()) {
    folder->made.insert(tier.index());
    folder->dirty.insert(tier.index());
  }
  return s;
}

IOStatus Folders::WriteOwner(const Tier& tier, const std::string& directory,
                             const std::string& folder) {
  Identity identity;
  identity.folder = folder;
  identity.directory = AbsolutePath(directory);
  const std::string path = PathIn(tier, folder + "/" + kOwnerName);
  const std::string contents = identity.Encode();
  std::string now;
  // It is not written again: others look at it, and the power may fail.
  return ReadSmallFile(target_, path, kMostIdentity, &now).ok() && now == contents
             ? SyncFile(target_, path)
             : WriteSmallFile(target_, path, contents);
}

std::string Folders::NewSuffix() {
  char text[20];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(random_()));
  return text;
}

IOStatus Folders::NewPath(const std::string& directory, const std::string& base, Tier* tier,
                          Place* place) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.IsNotFound()) {
    s = Create(directory, &folder);
  }
  if (s.ok()) {
    s = MakeIn(*tier, directory, folder);
  }
  if (s.ok()) {
    place->tier = tier;
    place->path = PathIn(*tier, folder->name + "/" + base + "." + NewSuffix());
    place->stub = true;
  }
  return s;
}

void Folders::Touch(const std::string& directory, const Tier& tier) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = folders_.find(directory);
  if (it != folders_.end()) {
    it->second.dirty.insert(tier.index());
  }
}

IOStatus Folders::Sync(const std::string& directory) {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::string name;
  std::set<int> dirty;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = folders_.find(directory);
    if (it == folders_.end()) {
      return IOStatus::OK();
    }
    name = it->second.name;
    dirty.swap(it->second.dirty);
  }
  IOStatus s;
  for (const int index : dirty) {
    const Tier& tier = *tiers_[static_cast<size_t>(index)];
    IOStatus synced = SyncDirectory(tier.fs(), PathIn(tier, name));
    if (!synced.ok()) {
      Touch(directory, tier);
      s = synced;
    }
  }
  return s;
}

void Folders::Renamed(const std::string& from, const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(to);
  auto node = folders_.extract(from);
  if (!node.empty()) {
    node.key() = to;
    folders_.insert(std::move(node));
  }
}

IOStatus Folders::Remove(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.IsNotFound()) {
    return IOStatus::OK();
  }
  for (const auto& tier : tiers_) {
    if (s.ok() && !tier->is_home()) {
      s = DeleteAll(target_, PathIn(*tier, folder->name));
    }
  }
  if (s.ok()) {
    s = target_->DeleteFile(directory + "/" + kIdentityName, IOOptions(), nullptr);
  }
  if (s.ok()) {
    folders_.erase(directory);
  }
  return s;
}

Folders::Ownership Folders::OwnershipOf(const std::string& directory, const Tier& tier,
                                        std::string* other) {
  std::string name;
  if (tier.is_home() || !Find(directory, &name).ok() ||
      !target_->FileExists(PathIn(tier, name), IOOptions(), nullptr).ok()) {
    return Ownership::kNone;
  }
  Identity owner;
  if (!ReadIdentity(target_, PathIn(tier, name + "/" + kOwnerName), &owner).ok()) {
    return Ownership::kUnknown;
  }
  *other = owner.directory;
  if (owner.directory == AbsolutePath(directory)) {
    return Ownership::kOurs;
  }
  Identity theirs;
  const std::string there = owner.directory + "/" + kIdentityName;
  if (!ReadIdentity(target_, there, &theirs).ok() || theirs.folder != name) {
    return Ownership::kMoved;
  }
  bool same = false;
  IOStatus s =
      target_->AreFilesSame(directory + "/" + kIdentityName, there, IOOptions(), &same, nullptr);
  return s.ok() && same ? Ownership::kMoved : Ownership::kCopied;
}

IOStatus Folders::CheckOwner(const std::string& directory) {
  std::string name;
  IOStatus s = Find(directory, &name);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  for (const auto& tier : tiers_) {
    std::string other;
    const Ownership ownership = OwnershipOf(directory, *tier, &other);
    if (ownership == Ownership::kCopied) {
      return IOStatus::InvalidArgument(
          directory, "is a copy of " + other +
                         ", with which it would share its files in tiers; copy databases by "
                         "checkpoint or backup");
    }
    if (s.ok() && ownership == Ownership::kMoved) {
      s = WriteOwner(*tier, directory, name);
    }
  }
  return s;
}

IOStatus Folders::TakeOver(const std::string& directory, const Tier& tier) {
  std::string name;
  IOStatus s = Find(directory, &name);
  if (s.ok()) {
    s = WriteOwner(tier, directory, name);
  }
  return s.ok() ? SyncDirectory(tier.fs(), PathIn(tier, name)) : s;
}

IOStatus Folders::SetName(const std::string& directory, const std::string& folder) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* unused;
  return WriteName(directory, folder, &unused);
}

IOStatus Folders::RemoveFrom(const std::string& directory, const Tier& tier) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  folder->made.erase(tier.index());
  folder->dirty.erase(tier.index());
  s = DeleteAll(target_, PathIn(tier, folder->name));
  return s.ok() ? SyncDirectory(target_, tier.options().path) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
