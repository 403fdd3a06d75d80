// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/open_readers.h"

#include <utility>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr auto kStale = std::chrono::milliseconds(500);

}  // namespace

IOStatus OpenReaders::Open(const Place& place, const FileOptions& options,
                           std::unique_ptr<FSRandomAccessFile>* result) {
  IOStatus s = place.fs()->NewRandomAccessFile(place.path, options, result, nullptr);
  if (!s.ok() && !IsMissing(s) && place.stub && options.use_direct_reads) {
    FileOptions buffered = options;
    buffered.use_direct_reads = false;
    s = place.fs()->NewRandomAccessFile(place.path, buffered, result, nullptr);
  }
  return s;
}

uint64_t OpenReaders::switches() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return switches_;
}

std::unique_ptr<FSRandomAccessFile> OpenReaders::Add(const std::string& path,
                                                     const FileOptions& options, Tier* tier,
                                                     std::unique_ptr<FSRandomAccessFile> file,
                                                     uint64_t switches) {
  auto reader = std::make_unique<TieredRandomAccessFile>(
      Normalized(path), options, tier, std::move(file),
      [this, use = std::make_shared<Use>(uses_)](TieredRandomAccessFile* closed) {
        Remove(closed);
      });
  std::lock_guard<std::mutex> lock(mutex_);
  readers_.emplace(reader->path(), reader.get());
  if (switches != switches_) {
    SwitchReader(reader.get());  // the switch may have been of this file
  }
  return reader;
}

void OpenReaders::AddStats(bool fresh) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!fresh && now - added_ < kStale) {
    return;
  }
  added_ = now;
  for (const auto& [path, reader] : readers_) {
    reader->AddStats();
  }
}

void OpenReaders::Remove(TieredRandomAccessFile* reader) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto range = readers_.equal_range(reader->path());
  for (auto it = range.first; it != range.second; ++it) {
    if (it->second == reader) {
      readers_.erase(it);
      return;
    }
  }
}

// A reader cannot be destroyed meanwhile: it would have to come past Remove().
void OpenReaders::Switch(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  switches_++;
  const auto range = readers_.equal_range(Normalized(path));
  for (auto it = range.first; it != range.second; ++it) {
    SwitchReader(it->second);
  }
}

void OpenReaders::SwitchReader(TieredRandomAccessFile* reader) {
  Place place;
  uint64_t bytes;
  if (!names_->Resolve(reader->path(), &place).ok() ||
      !place.fs()->GetFileSize(place.path, IOOptions(), &bytes, nullptr).ok()) {
    return;
  }
  FileOptions options = reader->options();
  for (const bool direct : {options.use_direct_reads, false}) {
    options.use_direct_reads = direct;
    std::unique_ptr<FSRandomAccessFile> file;
    if (Open(place, options, &file).ok() && reader->Switch(place.tier, std::move(file), bytes)) {
      return;
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
