// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/ranges.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db/column_family.h"
#include "db/range_tombstone_fragmenter.h"
#include "db/table_cache.h"
#include "db/version_set.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

// The most spans of an SST; with more, neighbours count as one, with what is between them.
constexpr size_t kMostSpans = 1024;

// User keys from `begin` on, below `end`.
struct Span {
  std::string begin;
  std::string end;
};

// Pairs neighbours, so that there are half as many.
std::vector<Span> Paired(std::vector<Span> spans) {
  std::vector<Span> pairs;
  for (size_t i = 0; i < spans.size(); i += 2) {
    const size_t last = std::min(i + 1, spans.size() - 1);
    pairs.push_back({std::move(spans[i].begin), std::move(spans[last].end)});
  }
  return pairs;
}

// The older SSTs of a version, for one SST.
class Older {
 public:
  Older(ColumnFamilyData* family, Version* version, const FileMetaData& file, int level,
        const EntriesOf& entries_of)
      : family_(family), version_(version), file_(file), level_(level), entries_of_(entries_of) {}

  // Reads what the SST deletes within its bounds, by key; touching ones are one.
  Status ReadSpans(std::vector<Span>* spans) const {
    std::unique_ptr<FragmentedRangeTombstoneIterator> it;
    const Status s = family_->table_cache()->GetRangeTombstoneIterator(
        ReadOptions(), family_->internal_comparator(), file_, version_->GetMutableCFOptions(), &it);
    if (!s.ok() || it == nullptr) {
      return s;
    }
    const Slice smallest = file_.smallest.user_key();
    const Slice largest = file_.largest.user_key();
    for (it->SeekToTopFirst(); it->Valid(); it->TopNext()) {
      const Slice begin = Compare(it->start_key(), smallest) < 0 ? smallest : it->start_key();
      const Slice end = Compare(it->end_key(), largest) > 0 ? largest : it->end_key();
      if (Compare(begin, end) >= 0) {
        continue;
      }
      if (!spans->empty() && Compare(begin, spans->back().end) <= 0) {
        spans->back().end = end.ToString();
      } else {
        spans->push_back({begin.ToString(), end.ToString()});
      }
    }
    while (spans->size() > kMostSpans) {
      *spans = Paired(std::move(*spans));
    }
    return it->status();
  }

  // Counts the entries in a span.
  uint64_t CountIn(const Span& span) const {
    const VersionStorageInfo& storage = *version_->storage_info();
    uint64_t count = 0;
    if (level_ == 0) {  // whose SSTs are in the order of their age, the newest one first
      const auto& files = storage.LevelFiles(0);
      auto it = std::find(files.begin(), files.end(), &file_);
      for (it += it == files.end() ? 0 : 1; it != files.end(); ++it) {
        count += CountOf(**it, span);
      }
    }
    for (int level = level_ + 1; level < storage.num_non_empty_levels(); level++) {
      const auto& files = storage.LevelFiles(level);
      auto it = std::partition_point(files.begin(), files.end(), [&](const FileMetaData* other) {
        return Compare(other->largest.user_key(), span.begin) < 0;
      });
      for (; it != files.end() && Compare((*it)->smallest.user_key(), span.end) < 0; ++it) {
        count += CountOf(**it, span);
      }
    }
    return count;
  }

 private:
  int Compare(const Slice& a, const Slice& b) const {
    return family_->user_comparator()->Compare(a, b);
  }

  // Counts those of one SST: by its index, if only a part of it is in the span.
  uint64_t CountOf(const FileMetaData& other, const Span& span) const {
    const Slice smallest = other.smallest.user_key();
    const Slice largest = other.largest.user_key();
    if (Compare(largest, span.begin) < 0 || Compare(smallest, span.end) >= 0) {
      return 0;
    }
    const uint64_t entries = entries_of_(other);
    if (Compare(smallest, span.begin) >= 0 && Compare(largest, span.end) < 0) {
      return entries;
    }
    const InternalKey begin(span.begin, kMaxSequenceNumber, kValueTypeForSeek);
    const InternalKey end(span.end, kMaxSequenceNumber, kValueTypeForSeek);
    const uint64_t bytes = family_->table_cache()->ApproximateSize(
        ReadOptions(), begin.Encode(), end.Encode(), other, TableReaderCaller::kUserApproximateSize,
        family_->internal_comparator(), version_->GetMutableCFOptions());
    const uint64_t all = std::max<uint64_t>(other.fd.GetFileSize(), 1);
    return static_cast<uint64_t>(static_cast<double>(entries) * static_cast<double>(bytes) /
                                 static_cast<double>(all));
  }

  ColumnFamilyData* const family_;
  Version* const version_;
  const FileMetaData& file_;
  const int level_;
  const EntriesOf& entries_of_;
};

}  // namespace

Status CountCovered(ColumnFamilyData* family, Version* version, const FileMetaData& file, int level,
                    const EntriesOf& entries_of, uint64_t* covered) {
  const Older older(family, version, file, level, entries_of);
  std::vector<Span> spans;
  const Status s = older.ReadSpans(&spans);
  *covered = 0;
  for (const Span& span : spans) {
    *covered += older.CountIn(span);
  }
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
