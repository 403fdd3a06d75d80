// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/db/manifest.h"

#include <algorithm>
#include <vector>

#include "db/blob/blob_log_format.h"
#include "db/log_reader.h"
#include "db/version_edit.h"
#include "file/sequence_file_reader.h"
#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/files/io.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostOfCurrent = 4096;

std::shared_ptr<const KeyRange> KeysOf(const FileMetaData& meta) {
  if (!meta.smallest.Valid() || !meta.largest.Valid()) {
    return nullptr;
  }
  return std::make_shared<const KeyRange>(
      KeyRange{meta.smallest.user_key().ToString(), meta.largest.user_key().ToString()});
}

// Notes the first damage.
class Reporter : public log::Reader::Reporter {
 public:
#ifdef TIERED_HAS_LOG_NUMBER_OF_CORRUPTION
  void Corruption(size_t /*bytes*/, const Status& status, uint64_t /*log_number*/) override {
#else
  void Corruption(size_t /*bytes*/, const Status& status) override {
#endif
    status_ = status_.ok() ? AsIOStatus(status) : status_;
  }
  const IOStatus& status() const { return status_; }

 private:
  IOStatus status_;
};

}  // namespace

Manifest::Manifest(FileSystem* fs, std::string directory)
    : fs_(fs), directory_(std::move(directory)) {}

Manifest::~Manifest() = default;

IOStatus Manifest::ReadCurrent(std::string* name) const {
  IOStatus s = ReadSmallFile(fs_, directory_ + "/CURRENT", kMostOfCurrent, name);
  if (IsMissing(s)) {
    return IOStatus::NotFound(directory_, "has no database: there is no CURRENT");
  }
  if (s.ok() && !name->empty() && name->back() == '\n') {
    name->pop_back();
  }
  return s;
}

IOStatus Manifest::Open(const std::string& name) {
  const std::string path = directory_ + "/" + name;
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs_->NewSequentialFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    auto reader = std::make_unique<SequentialFileReader>(std::move(file), path);
    reader_ = std::make_unique<log::FragmentBufferedReader>(
        nullptr, std::move(reader), /*reporter=*/nullptr, /*checksum=*/true, /*log_num=*/0);
    name_ = name;
    group_.clear();
    tables_.clear();
    blobs_.clear();
    families_ = {{0, kDefaultColumnFamilyName}};
    first_log_ = 0;
  }
  return s;
}

// Reads the file anew: what reader_ takes for a record that is being written can be a damaged one.
IOStatus Manifest::Check() const {
  const std::string path = directory_ + "/" + name_;
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs_->NewSequentialFile(path, FileOptions(), &file, nullptr);
  if (!s.ok()) {
    return s;
  }
  Reporter reporter;
  log::Reader reader(nullptr, std::make_unique<SequentialFileReader>(std::move(file), path),
                     &reporter, /*checksum=*/true, /*log_num=*/0);
  Slice record;
  std::string scratch;
  while (reporter.status().ok() && reader.ReadRecord(&record, &scratch)) {
  }
  return reporter.status().ok()
             ? s
             : IOStatus::Corruption(path, "is damaged: " + reporter.status().ToString());
}

IOStatus Manifest::Sync() {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs_->ReopenWritableFile(directory_ + "/" + name_, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Sync(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(fs_, directory_) : s;
}

IOStatus Manifest::Refresh() {
  std::string name;
  IOStatus s = ReadCurrent(&name);
  if (s.ok() && name != name_) {
    s = Open(name);
  }
  Slice record;
  std::string scratch;
  while (s.ok() && reader_->ReadRecord(&record, &scratch)) {
    VersionEdit edit;
    s = AsIOStatus(edit.DecodeFrom(record));
    if (s.ok()) {
      s = Add(edit);
    }
  }
  return s;
}

IOStatus Manifest::Add(const VersionEdit& edit) {
  const bool goes_on = edit.IsInAtomicGroup() && !group_.empty() &&
                       edit.GetRemainingEntries() + 1 == group_.back().GetRemainingEntries();
  if (!group_.empty() && !goes_on) {
    group_.clear();
    return IOStatus::Corruption(directory_ + "/" + name_, "has an atomic group without its end");
  }
  if (!edit.IsInAtomicGroup()) {
    Apply(edit);
    return IOStatus::OK();
  }
  group_.push_back(edit);
  if (edit.GetRemainingEntries() == 0) {
    for (const VersionEdit& member : group_) {
      Apply(member);
    }
    group_.clear();
  }
  return IOStatus::OK();
}

void Manifest::Apply(const VersionEdit& edit) {
  if (edit.HasMinLogNumberToKeep()) {
    first_log_ = std::max(first_log_, edit.GetMinLogNumberToKeep());
  }
  if (edit.IsColumnFamilyAdd()) {
    families_[edit.GetColumnFamily()] = edit.GetColumnFamilyName();
  }
  if (edit.IsColumnFamilyDrop()) {
    families_.erase(edit.GetColumnFamily());
    for (auto it = tables_.begin(); it != tables_.end();) {
      it = it->second.column_family == edit.GetColumnFamily() ? tables_.erase(it) : std::next(it);
    }
    for (auto it = blobs_.begin(); it != blobs_.end();) {
      it = it->second.is.column_family == edit.GetColumnFamily() ? blobs_.erase(it) : std::next(it);
    }
  }
  for (const auto& [level, number] : edit.GetDeletedFiles()) {
    tables_.erase(number);
  }
  for (const auto& [level, meta] : edit.GetNewFiles()) {
    LiveTable& table = tables_[meta.fd.GetNumber()];
    table.size = meta.fd.GetFileSize();
    table.level = level;
    table.column_family = edit.GetColumnFamily();
    table.path_id = meta.fd.GetPathId();
    table.temperature = meta.temperature;
    table.keys = KeysOf(meta);
  }
  for (const BlobFileAddition& blob : edit.GetBlobFileAdditions()) {
    Blob& added = blobs_[blob.GetBlobFileNumber()];
    added.is.column_family = edit.GetColumnFamily();
    added.is.size = BlobLogHeader::kSize + blob.GetTotalBlobBytes() + BlobLogFooter::kSize;
    added.values = blob.GetTotalBlobCount();
  }
  for (const BlobFileGarbage& garbage : edit.GetBlobFileGarbages()) {
    uint64_t& values = blobs_[garbage.GetBlobFileNumber()].values;
    values -= std::min(values, garbage.GetGarbageBlobCount());
  }
}

std::map<uint64_t, LiveBlob> Manifest::blobs() const {
  std::map<uint64_t, LiveBlob> result;
  for (const auto& [number, blob] : blobs_) {
    if (blob.values > 0) {
      result[number] = blob.is;
    }
  }
  return result;
}

std::map<uint32_t, LevelRange> Manifest::shapes() const {
  std::map<uint32_t, LevelRange> result;
  for (const auto& [number, table] : tables_) {
    if (table.level == 0) {
      continue;
    }
    const auto [it, is_new] = result.try_emplace(table.column_family);
    LevelRange& shape = it->second;
    shape.base = is_new ? table.level : std::min(shape.base, table.level);
    shape.last = is_new ? table.level : std::max(shape.last, table.level);
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
