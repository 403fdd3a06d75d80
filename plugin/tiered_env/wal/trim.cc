// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of WalSegments that rewrites segments with what recipes need of them ("KV trim" in
// "WAL-assisted tiering", section 3.2).

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "plugin/tiered_env/wal/segments.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kFixed =
    ArchiveHeader::kSize + 2 * ArchiveBlockHeader::kSize;  // bytes of any archive
constexpr int kMostReadErrors = 3;  // one after the other: then a log counts as damaged
constexpr auto kReadAgain = std::chrono::milliseconds(5000);

// Writes the entries that are kept.
class Copier : public EntryVisitor {
 public:
  Copier(ArchiveWriter* writer, const std::vector<bool>& kept, const std::atomic<bool>& stop)
      : writer_(writer), kept_(kept), stop_(stop) {}

  void OnEntry(Ordinal ordinal, const Entry& entry) override {
    if (!status_.ok() || ordinal >= kept_.size() || !kept_[ordinal]) {
      return;
    }
    if (stop_.load(std::memory_order_relaxed)) {
      status_ = IOStatus::Aborted("the database is being closed");
      return;
    }
    status_ = writer_->Add(ordinal, entry);
    copied_++;
  }
  const IOStatus& status() const { return status_; }
  uint64_t copied() const { return copied_; }

 private:
  ArchiveWriter* const writer_;
  const std::vector<bool>& kept_;
  const std::atomic<bool>& stop_;
  IOStatus status_;
  uint64_t copied_ = 0;
};

}  // namespace

// The live bytes over the file's. Entries can have more bytes than their file: RocksDB's
// wal_compression, or an archive that is compressed. If what is written now is compressed, too, it
// becomes about as much smaller as the file is. With the bytes that any archive has, one that is
// all live has a share near 1, however small it is: it is not written again and again.
double WalSegments::ShareLeft(const Log& log, bool compressing) {
  const Segment& segment = *log.segment;
  const uint64_t whole = compressing ? std::max(log.bytes, segment.bytes()) : log.bytes;
  return static_cast<double>(kFixed + segment.live_bytes()) /
         static_cast<double>(std::max<uint64_t>(whole, 1));
}

std::shared_ptr<WalSegments::Log> WalSegments::ChooseForTrim(double most, bool rewrite_logs,
                                                             bool compressing) {
  std::shared_ptr<Log> best;
  std::shared_ptr<Log> fresh;  // one that was not rewritten yet
  double smallest = most;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& log : logs_) {
    if (!log->retained || log->shared || log->busy || log->damaged || log->segment->live() == 0 ||
        log->read_from > now) {
      continue;
    }
    const double share = ShareLeft(*log, compressing);
    if (share <= smallest) {
      smallest = share;
      best = log;
    }
    if (!log->compressed) {
      fresh = log;
    }
  }
  return best == nullptr && rewrite_logs ? fresh : best;
}

IOStatus WalSegments::Rewrite(const Log& log, const std::string& path,
                              const std::vector<bool>& kept, CompressionType compression,
                              RateLimiter* limiter, const std::atomic<bool>& stop, uint64_t* bytes,
                              bool* is_read) {
  std::unique_ptr<ArchiveWriter> writer;
  uint64_t id = log.segment->id();
  *is_read = true;
  IOStatus s = ArchiveWriter::Open(fs_, path, id, compression, limiter, &writer);
  if (!s.ok()) {
    return s;
  }
  Copier copier(writer.get(), kept, stop);
  s = log.compressed ? ReadArchive(fs_, log.path, &id, &copier)
                     : ReadLog(fs_, log.path, log.number, &copier, log.indexed);
  *is_read = s.ok();
  if (!s.ok()) {
    return s;
  }
  s = copier.status();
  if (s.ok() &&
      copier.copied() != static_cast<uint64_t>(std::count(kept.begin(), kept.end(), true))) {
    s = IOStatus::Corruption(log.path, "has not all entries that it had");
  }
  if (s.ok()) {
    s = writer->Finish();
    *bytes = writer->bytes();
  }
  return s;
}

// What needs a damaged log leaves memory at once, and nobody refers to it any more: not for a disk
// that fails for a moment, or for too many files that are open.
IOStatus WalSegments::NoteUnread(Log* log, const IOStatus& s) {
  auto pause = kReadAgain;
  TEST_SYNC_POINT_CALLBACK("WalSegments::NoteUnread:Pause", &pause);
  log->read_from = std::chrono::steady_clock::now() + pause;
  log->read_errors++;
  return s.IsCorruption() || log->read_errors >= kMostReadErrors
             ? IOStatus::Corruption(log->path, "cannot be read: " + s.ToString())
             : s;
}

IOStatus WalSegments::Trim(double most, bool rewrite_logs, CompressionType compression,
                           RateLimiter* limiter, const std::atomic<bool>& stop, Trimmed* trimmed) {
  *trimmed = Trimmed();
  std::shared_ptr<Log> log;
  std::vector<bool> kept;
  {
    std::unique_lock<std::shared_mutex> references_lock(references_mutex_);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    log = ChooseForTrim(most, rewrite_logs, compression != kNoCompression);
    if (log == nullptr) {
      return IOStatus::OK();
    }
    log->busy = true;
    kept = log->segment->Bitmap();
  }
  const std::string path = DirectoryOf(log->path) + "/" + ArchiveName(log->segment->id(), tag_);
  const std::string temporary = path + kTemporary;
  uint64_t bytes = 0;
  bool is_read = true;
  IOStatus s = Rewrite(*log, temporary, kept, compression, limiter, stop, &bytes, &is_read);
  TEST_SYNC_POINT("WalSegments::Trim:BeforeSwap");
  std::string old = log->path;
  if (s.ok()) {
    std::unique_lock<std::shared_mutex> references_lock(references_mutex_);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    if (!log->segment->Trim(kept)) {
      s = IOStatus::Aborted(log->path, "is referred to by another recipe meanwhile");
    }
  }
  if (s.ok()) {
    s = fs_->RenameFile(temporary, path, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(fs_, DirectoryOf(path));
  }
  TEST_SYNC_POINT("WalSegments::Trim:BeforeDelete");
  if (s.ok()) {
    trimmed->before = log->bytes;
    trimmed->after = bytes;
  } else {
    fs_->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  }
  {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    log->busy = false;
    s = is_read ? s : NoteUnread(log.get(), s);
    log->damaged = s.IsCorruption();
    if (s.ok()) {
      log->read_errors = 0;
      log->path = path;
      log->bytes = bytes;
      log->compressed = true;
    }
  }
  if (s.ok() && old != path) {
    fs_->DeleteFile(old, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

std::set<uint64_t> WalSegments::Damaged() const {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::set<uint64_t> result;
  for (const auto& log : logs_) {
    if (log->damaged && log->segment->live() > 0) {
      result.insert(log->segment->id());
    }
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
