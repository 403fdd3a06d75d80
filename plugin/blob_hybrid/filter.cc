// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/filter.h"

#include <cinttypes>

#include "db/blob/blob_index.h"
#include "db/dbformat.h"
#include "logging/logging.h"
#include "plugin/blob_hybrid/subcompaction.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

using Decision = CompactionFilter::Decision;

namespace {

// RocksDB refuses these of filters that see values; it would take them from this one. kUndetermined
// it refuses always.
Decision Checked(Decision decision) {
  return decision == Decision::kChangeBlobIndex || decision == Decision::kIOError
             ? Decision::kUndetermined
             : decision;
}

}  // namespace

BlobHybridFilter::BlobHybridFilter(BlobFiles files, const CompactionFilter* user,
                                   std::unique_ptr<CompactionFilter> owned,
                                   std::shared_ptr<Counters> counters)
    : files_(std::move(files)),
      user_(owned != nullptr ? owned.get() : user),
      owned_(std::move(owned)),
      counters_(std::move(counters)),
      reader_(std::make_unique<BlobReader>(files_.source, files_.readahead_size)) {}

Decision BlobHybridFilter::FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                                           std::string* skip_until) const {
  return IsStackedBlobDbInternalCompactionFilter() || user_ == nullptr
             ? Decision::kUndetermined
             : user_->FilterBlobByKey(level, key, new_value, skip_until);
}

Decision BlobHybridFilter::FilterV3(int level, const Slice& key, ValueType value_type,
                                    const Slice* existing_value,
                                    const WideColumns* existing_columns, std::string* new_value,
                                    std::vector<std::pair<std::string, std::string>>* new_columns,
                                    std::string* skip_until) const {
  if (value_type == ValueType::kBlobIndex) {
    return FilterReference(key, *existing_value,
                           {level, existing_columns, new_value, new_columns, skip_until});
  }
  if (user_ == nullptr) {
    return Decision::kKeep;
  }
  return Checked(user_->FilterV3(level, key, value_type, existing_value, existing_columns,
                                 new_value, new_columns, skip_until));
}

#if ROCKSDB_MAJOR >= 11
Decision BlobHybridFilter::FilterV4(int level, const Slice& key, ValueType value_type,
                                    const Slice* existing_value,
                                    const WideColumns* existing_columns, std::string* new_value,
                                    std::vector<std::pair<std::string, std::string>>* new_columns,
                                    std::string* skip_until,
                                    WideColumnBlobResolver* blob_resolver) const {
  if (value_type == ValueType::kBlobIndex || user_ == nullptr) {
    return FilterV3(level, key, value_type, existing_value, existing_columns, new_value,
                    new_columns, skip_until);
  }
  return Checked(user_->FilterV4(level, key, value_type, existing_value, existing_columns,
                                 new_value, new_columns, skip_until, blob_resolver));
}
#endif

Decision BlobHybridFilter::FilterReference(const Slice& internal_key, const Slice& reference,
                                           const Arguments& arguments) const {
  const Slice user_key = ExtractUserKey(internal_key);
  bool ask = false;
  if (user_ != nullptr) {
    const Decision decision = user_->FilterBlobByKey(arguments.level, user_key, arguments.new_value,
                                                     arguments.skip_until);
    ask = decision == Decision::kUndetermined;
    if (!ask && decision != Decision::kKeep) {
      return Checked(decision);
    }
  }
  BlobIndex index;
  const bool decoded = index.DecodeFrom(reference).ok() && !index.IsInlined();
  const bool may_move = decoded && MayMove(index);
  if (!ask && !may_move) {
    return Decision::kKeep;
  }
  PinnableSlice value;
  if (!decoded || !Read(user_key, index, &value)) {
    // Nothing is lost as long as the reference is kept; but the user's filter cannot be passed by.
    return ask ? Decision::kIOError : Decision::kKeep;
  }
  if (files_.large_size > 0 && value.size() >= files_.large_size) {
    NoteLarge(user_key, GetInternalKeySeqno(internal_key));
  }
  const Decision decision = ask ? AskUser(user_key, value, arguments) : Decision::kKeep;
  if (decision != Decision::kKeep || !may_move || !Moves(index, value)) {
    return decision;
  }
  arguments.new_value->assign(value.data(), value.size());
  if (value.size() < files_.large_size) {
    counters_->merged_values++;
    counters_->merged_bytes += value.size();
  } else {
    counters_->moved_values++;
    counters_->moved_bytes += index.size();
  }
  return Decision::kChangeValue;
}

bool BlobHybridFilter::IsMerging() const {
  return files_.large_size > 0 && OutputLevel(files_.family) >= files_.merge_level;
}

// A large value may be compressed to less than large_size: whether it is medium shows when it has
// been read.
bool BlobHybridFilter::MayMove(const BlobIndex& index) const {
  const auto file = files_.files.find(index.file_number());
  if (file == files_.files.end()) {
    return false;
  }
  if (index.size() >= files_.large_size) {
    return file->second.move_large;
  }
  return file->second.move_medium || IsMerging();
}

bool BlobHybridFilter::Moves(const BlobIndex& index, const Slice& value) const {
  return value.size() < files_.large_size || files_.files.at(index.file_number()).move_large;
}

Decision BlobHybridFilter::AskUser(const Slice& user_key, const Slice& value,
                                   const Arguments& arguments) const {
#if ROCKSDB_MAJOR >= 11
  return Checked(user_->FilterV4(arguments.level, user_key, ValueType::kValue, &value,
                                 arguments.columns, arguments.new_value, arguments.new_columns,
                                 arguments.skip_until, /*blob_resolver=*/nullptr));
#else
  return Checked(user_->FilterV3(arguments.level, user_key, ValueType::kValue, &value,
                                 arguments.columns, arguments.new_value, arguments.new_columns,
                                 arguments.skip_until));
#endif
}

bool BlobHybridFilter::Read(const Slice& user_key, const BlobIndex& index,
                            PinnableSlice* value) const {
  const auto file = files_.files.find(index.file_number());
  const Status s = file == files_.files.end()
                       ? Status::NotFound("blob file " + std::to_string(index.file_number()),
                                          "is not one of the family")
                       : reader_->Read(user_key, index, file->second.bytes, value);
  if (!s.ok()) {
    counters_->read_errors++;
    const uint64_t count = files_.errors->Add(index.file_number());
    if (count > 0) {
      ROCKS_LOG_ERROR(files_.logger,
                      "BlobHybrid: reading a value from blob file %" PRIu64 " (error %" PRIu64
                      " of the file; the next line is at ten times as many): %s",
                      index.file_number(), count, s.ToString().c_str());
    }
  }
  return s.ok();
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
