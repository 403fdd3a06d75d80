// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/log_reader.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "db/log_reader.h"
#include "file/sequence_file_reader.h"
#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/wal/batch_item.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

bool IsRecyclable(unsigned type) {
#ifdef TIERED_HAS_PREDECESSOR_RECORDS
  if (type == log::kRecyclePredecessorWALInfoType) {
    return true;
  }
#endif
  return (type >= log::kRecyclableFullType && type <= log::kRecyclableLastType) ||
         type == log::kRecyclableUserDefinedTimestampSizeType;
}

// Ends a log at what log::Reader does not report: at zeros, which it skips, and at a record of a
// recycled log in one that is not, where it never comes to an end.
class SoundBlocks : public FSSequentialFileOwnerWrapper {
 public:
  SoundBlocks(std::unique_ptr<FSSequentialFile>&& log, uint64_t size)
      : FSSequentialFileOwnerWrapper(std::move(log)), left_(size) {}

  // log::Reader reads block by block.
  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    if (ended_) {
      *result = Slice();
      return IOStatus::OK();
    }
    n = static_cast<size_t>(std::min<uint64_t>(n, left_));
    IOStatus s = FSSequentialFileOwnerWrapper::Read(n, options, result, scratch, dbg);
    if (s.ok()) {
      left_ -= result->size();
      const size_t sound = SoundPart(*result);
      ended_ = sound < result->size();
      *result = Slice(result->data(), sound);
    }
    return s;
  }

 private:
  size_t SoundPart(const Slice& block) {
    for (size_t at = 0; at + log::kHeaderSize <= block.size();) {
      const char* const header = block.data() + at;
      const size_t length = DecodeFixed16(header + 4);
      const auto type = static_cast<uint8_t>(header[6]);
      if (type == log::kZeroType && length == 0) {
        // The end of a block that has no room for a header of a recycled log is zeros, too.
        return recycled_ && block.size() - at < log::kRecyclableHeaderSize ? block.size() : at;
      }
      const bool recyclable = IsRecyclable(type);
      if (recyclable && plain_ && !recycled_) {
        return at;
      }
      recycled_ = recycled_ || recyclable;
      plain_ = plain_ || (type >= log::kFullType && type <= log::kLastType);
      at += (recyclable ? log::kRecyclableHeaderSize : log::kHeaderSize) + length;
    }
    return block.size();
  }

  uint64_t left_;  // bytes
  bool ended_ = false;
  bool recycled_ = false;  // there was a record of a recycled log
  bool plain_ = false;     // there was one of a log that is not
};

// Notes that the log is damaged: what follows is not read.
class Reporter : public log::Reader::Reporter {
 public:
#ifdef TIERED_HAS_LOG_NUMBER_OF_CORRUPTION
  void Corruption(size_t /*bytes*/, const Status& status, uint64_t /*log_number*/) override {
#else
  void Corruption(size_t /*bytes*/, const Status& status) override {
#endif
    damaged_ = true;
    if (status_.ok() && !status.IsCorruption()) {
      status_ = status_to_io_status(Status(status));
    }
  }

  bool damaged() const { return damaged_; }
  // What came of reading the file.
  const IOStatus& status() const { return status_; }

 private:
  bool damaged_ = false;
  IOStatus status_;
};

// What became of the transactions that WriteCommitted prepared, by their order in the log.
constexpr SequenceNumber kNotCommitted = kMaxSequenceNumber;
using Commits = std::vector<SequenceNumber>;

// Reads one log. Where WriteCommitted prepares, the numbers that the entries get are told by a
// commit somewhere behind: a first look at the whole log, without visitor, finds these.
class LogReading {
 public:
  LogReading(FileSystem* fs, std::string path, uint64_t number, EntryVisitor* visitor,
             uint64_t size)
      : fs_(fs), path_(std::move(path)), number_(number), visitor_(visitor), size_(size) {}

  IOStatus Run() {
    std::unique_ptr<FSSequentialFile> file;
    IOStatus s = fs_->NewSequentialFile(path_, FileOptions(), &file, nullptr);
    if (!s.ok()) {
      return s;
    }
    Reporter reporter;
    file = std::make_unique<SoundBlocks>(std::move(file), size_);
    log::Reader reader(nullptr, std::make_unique<SequentialFileReader>(std::move(file), path_),
                       &reporter, /*checksum=*/true, number_);
    Slice record;
    std::string scratch;
    while (s.ok() && !full_ && reader.ReadRecord(&record, &scratch) && !reporter.damaged() &&
           ParseBatch(record, &next_, &items_)) {
      s = VisitBatch();
    }
    return s.ok() ? reporter.status() : s;
  }

 private:
  // A transaction that has been prepared.
  struct Prepared {
    size_t index = 0;  // in commits_
    uint64_t entries = 0;
  };

  IOStatus VisitBatch() {
    if (!sure_) {
      numbering_ = NumberingOf(items_, &sure_);
    }
    const SequenceNumber first = next_;
    SequenceNumber batches = 0;  // that have ended
    bool empty = true;           // nothing of the batch was there yet
    IOStatus s;
    batch_ = first;
    in_prepare_ = false;
    for (size_t i = 0; s.ok() && !full_ && i < items_.size(); i++) {
      s = VisitItem(items_[i]);
      if (EndsBatch(items_[i].mark, empty)) {
        batches++;
        next_ = numbering_ == Numbering::kBatches ? first + batches : next_;
        batch_ = next_;
        empty = true;
      } else {
        empty = empty && items_[i].mark == BatchItem::Mark::kNoop;
      }
    }
    return s;
  }

  IOStatus VisitItem(const BatchItem& item) {
    switch (item.mark) {
      case BatchItem::Mark::kEntry:
        Visit(item.entry);
        break;
      case BatchItem::Mark::kPrepare:
        return BeginPrepare();
      case BatchItem::Mark::kPrepared:
        EndPrepare(item.transaction);
        break;
      case BatchItem::Mark::kCommit:
        Commit(item.transaction);
        break;
      case BatchItem::Mark::kRollback:
        prepared_.erase(item.transaction.ToString());
        break;
      case BatchItem::Mark::kData:
      case BatchItem::Mark::kNoop:
      case BatchItem::Mark::kPersisted:
        break;
    }
    return IOStatus::OK();
  }

  void Visit(Entry entry) {
    entry.sequence = next_++;
    entry.batch = batch_;
    if (visitor_ != nullptr) {
      visitor_->OnEntry(static_cast<Ordinal>(ordinal_), entry);
    }
    ordinal_++;
    // There are no more ordinals, and RocksDB has no such logs.
    full_ = ordinal_ == std::numeric_limits<Ordinal>::max();
  }

  // The entries consume no sequence numbers here.
  IOStatus BeginPrepare() {
    IOStatus s;
    if (visitor_ != nullptr && !looked_) {
      looked_ = true;
      LogReading look(fs_, path_, number_, nullptr, size_);
      s = look.Run();
      commits_ = std::move(look.commits_);
    }
    in_prepare_ = true;
    before_prepare_ = next_;
    const bool committed =
        visitor_ != nullptr && prepares_ < commits_.size() && commits_[prepares_] != kNotCommitted;
    next_ = committed ? commits_[prepares_] : next_;
    batch_ = next_;
    return s;
  }

  void EndPrepare(const Slice& transaction) {
    if (!in_prepare_) {
      return;
    }
    in_prepare_ = false;
    Prepared& prepared = prepared_[transaction.ToString()];
    prepared.index = prepares_++;
    prepared.entries = next_ - batch_;
    if (visitor_ == nullptr) {
      commits_.push_back(kNotCommitted);
    }
    next_ = before_prepare_;
  }

  // Entries of a transaction consume sequence numbers here. If they were prepared in another log,
  // nobody knows how many.
  void Commit(const Slice& transaction) {
    const auto found = prepared_.find(transaction.ToString());
    if (found == prepared_.end()) {
      return;
    }
    if (visitor_ == nullptr) {
      commits_[found->second.index] = next_;
    }
    next_ += found->second.entries;
    prepared_.erase(found);
  }

  FileSystem* const fs_;
  const std::string path_;
  const uint64_t number_;
  EntryVisitor* const visitor_;  // none: this is the first look
  const uint64_t size_;          // bytes

  std::vector<BatchItem> items_;
  Numbering numbering_ = Numbering::kEntries;
  bool sure_ = false;  // that the rest of the log has it, too
  uint64_t ordinal_ = 0;
  bool full_ = false;
  SequenceNumber next_ = 0;
  SequenceNumber batch_ = 0;
  bool in_prepare_ = false;
  SequenceNumber before_prepare_ = 0;
  size_t prepares_ = 0;
  std::map<std::string, Prepared> prepared_;
  bool looked_ = false;
  Commits commits_;
};

}  // namespace

IOStatus ReadLog(FileSystem* fs, const std::string& path, uint64_t number, EntryVisitor* visitor,
                 uint64_t size) {
  return LogReading(fs, path, number, visitor, size).Run();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
