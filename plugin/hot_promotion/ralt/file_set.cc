// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/file_set.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "logging/logging.h"
#include "plugin/hot_promotion/lasting.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr char kLockName[] = "/LOCK";
constexpr char kNewCatalogName[] = "/CATALOG.tmp";

std::set<uint64_t> Numbers(const Catalog& catalog) {
  std::set<uint64_t> numbers;
  for (const std::vector<Catalog::Part>& run : catalog.runs) {
    for (const Catalog::Part& part : run) {
      numbers.insert(part.number);
    }
  }
  return numbers;
}

}  // namespace

FileSet::FileSet(Env* env, std::string directory, std::shared_ptr<Logger> logger)
    : env_(env), directory_(std::move(directory)), logger_(std::move(logger)) {}

FileSet::~FileSet() {
  Sweep();
  if (lock_ != nullptr) {
    const Status s = env_->UnlockFile(lock_);
    if (!s.ok()) {
      ROCKS_LOG_WARN(logger(), "[ralt] %s: unlock: %s", directory_.c_str(), s.ToString().c_str());
    }
  }
}

Status FileSet::Open() {
  Status s = env_->CreateDirIfMissing(directory_);
  if (s.ok()) {
    s = env_->LockFile(directory_ + kLockName, &lock_);
  }
  return s;
}

Status FileSet::ReadCatalog(Catalog* catalog, bool* found) {
  std::string bytes;
  Status s = env_->FileExists(directory_ + kCatalogName);
  const bool exists = !s.IsNotFound();
  if (s.ok()) {
    s = ReadFileToString(env_, directory_ + kCatalogName, &bytes);
  }
  if (s.ok()) {
    s = Catalog::Decode(bytes, catalog);
  }
  *found = s.ok();
  if (!s.ok() && !IsLasting(s)) {
    return s;
  }
  if (!s.ok()) {
    *catalog = Catalog();
  }
  if (!s.ok() && exists) {
    ROCKS_LOG_WARN(logger(), "[ralt] %s%s: the table starts empty: %s", directory_.c_str(),
                   kCatalogName, s.ToString().c_str());
  }
  // Whoever renamed it may have been killed before that was durable: then the one before may come
  // back, and need files that this one does not name.
  s = SyncDirectory();
  if (s.ok()) {
    RemoveUnknown(*catalog);
  } else {
    ROCKS_LOG_WARN(logger(), "[ralt] %s: sync: %s", directory_.c_str(), s.ToString().c_str());
  }
  return Status::OK();
}

void FileSet::RemoveUnknown(const Catalog& catalog) {
  std::vector<std::string> names;
  const Status s = env_->GetChildren(directory_, &names);
  if (!s.ok()) {
    ROCKS_LOG_WARN(logger(), "[ralt] %s: list: %s", directory_.c_str(), s.ToString().c_str());
    return;
  }
  const std::set<uint64_t> known = Numbers(catalog);
  for (const std::string& name : names) {
    uint64_t number;
    if (ParseRunFileName(name, &number) && known.count(number) == 0) {
      RemoveFile(number);
    }
  }
}

Status FileSet::WriteCatalog(const Catalog& catalog) {
  const std::string temporary = directory_ + kNewCatalogName;
  Status s = WriteStringToFile(env_, catalog.Encode(), temporary, /*should_sync=*/true);
  if (s.ok()) {
    catalog_is_known_ = false;
    s = env_->RenameFile(temporary, directory_ + kCatalogName);
  }
  s = s.ok() ? SyncDirectory() : s;
  catalog_is_known_ = catalog_is_known_ || s.ok();
  return s;
}

Status FileSet::SyncDirectory() {
  std::unique_ptr<Directory> directory;
  Status s = env_->NewDirectory(directory_, &directory);
  if (s.ok()) {
    s = directory->Fsync();
  }
  return s;
}

Status FileSet::OpenFile(const Catalog::Part& part, std::shared_ptr<const RunFile>* result) {
  result->reset();
  std::shared_ptr<const RunFile> file;
  Status s = OpenFile(part.number, &file);
  if (s.ok() && file->file_size() != part.file_size) {
    s = Status::Corruption("has another size than the catalog says");
  }
  if (s.ok() && (part.begin < file->first() || part.begin > file->last())) {
    s = Status::Corruption("has other keys than the catalog says");
  }
  if (s.ok()) {
    *result = std::move(file);
    return s;
  }
  if (!IsLasting(s)) {
    return s;
  }
  ROCKS_LOG_WARN(logger(), "[ralt] %s: dropped: %s", NameOf(part.number).c_str(),
                 s.ToString().c_str());
  return Status::OK();
}

Status FileSet::OpenFile(uint64_t number, std::shared_ptr<const RunFile>* file) {
  return RunFile::Open(env_, directory_, number, file);
}

Status FileSet::Begin(uint64_t number, std::unique_ptr<RunFileBuilder>* builder) {
  *builder = std::make_unique<RunFileBuilder>(env_);
  return (*builder)->Open(NameOf(number));
}

Status FileSet::Finish(uint64_t number, std::unique_ptr<RunFileBuilder> builder, Status s,
                       std::shared_ptr<const RunFile>* file) {
  if (!builder) {
    return s;
  }
  if (s.ok()) {
    s = builder->Finish();
  }
  if (s.ok()) {
    s = OpenFile(number, file);
  }
  if (!s.ok()) {
    builder.reset();
    RemoveFile(number);
  }
  return s;
}

void FileSet::Discard(std::shared_ptr<const RunFile> file) {
  discarded_.push_back(std::move(file));
}

void FileSet::RemoveFile(uint64_t number) {
  const Status s = env_->DeleteFile(NameOf(number));
  if (!s.ok() && !s.IsNotFound()) {
    ROCKS_LOG_WARN(logger(), "[ralt] %s: remove: %s", NameOf(number).c_str(), s.ToString().c_str());
  }
}

void FileSet::Sweep() {
  if (!catalog_is_known_) {
    return;
  }
  const auto needed = [](const std::shared_ptr<const RunFile>& file) {
    return file.use_count() > 1;
  };
  const auto unused = std::partition(discarded_.begin(), discarded_.end(), needed);
  for (auto file = unused; file != discarded_.end(); ++file) {
    const uint64_t number = (*file)->number();
    file->reset();
    RemoveFile(number);
  }
  discarded_.erase(unused, discarded_.end());
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
