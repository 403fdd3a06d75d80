// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/reader.h"

#include <array>
#include <cstring>

#include "monitoring/statistics_impl.h"
#include "plugin/hot_promotion/table/scan.h"
#include "rocksdb/statistics.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Lookup: of a record of this SST: its internal key, and its key in the store if it was promoted.
class HotReader::Lookup {
 public:
  Lookup(const File& file, const Slice& internal_key) : internal_key_(internal_key) {
    const Slice user_key = ExtractUserKey(internal_key);
    size_ = kKeyHeaderSize + user_key.size();
    char* bytes = inline_.data();
    if (size_ > inline_.size()) {
      heap_.reset(new char[size_]);
      bytes = heap_.get();
    }
    EncodeKeyHeader(Way::kPromoted, file.id, Tag::kRecord, bytes);
    memcpy(bytes + kKeyHeaderSize, user_key.data(), user_key.size());
    hash_ = HashOfKey(key());
  }

  const Slice& internal_key() const { return internal_key_; }
  Slice user_key() const { return ExtractUserKey(internal_key_); }
  Slice key() const { return Slice(heap_ != nullptr ? heap_.get() : inline_.data(), size_); }
  uint64_t hash() const { return hash_; }

 private:
  const Slice internal_key_;
  size_t size_;
  uint64_t hash_;
  std::array<char, 128> inline_;
  std::unique_ptr<char[]> heap_;
};

// Whether a copy may answer this read. The reader must see all entries of the SST (GetContext
// compares sequence numbers with nothing but the key's and its callback's). No range deletion may
// cover any of them. Nothing may have been found so far. Nothing but value and state of the answer
// may be asked for.
bool HotReader::Usable(const Slice& key, GetContext* context) const {
  const SequenceNumber* covering = context->max_covering_tombstone_seq();
  return !(file_.slow && file_.has_range_deletions) &&
         GetInternalKeySeqno(key) >= file_.largest_seqno &&
         context->State() == GetContext::kNotFound && !context->has_callback() &&
         !context->NeedToReadSequence() && (covering == nullptr || *covering == 0);
}

bool HotReader::Serve(const ReadOptions& options, const Lookup& lookup, GetContext* context,
                      Status* s) {
  uint64_t value_size = 0;
  bool matched = false;
  const auto serve = [&](const Slice& value) {
    value_size = value.size();
    // Without a pinner the value is copied.
    context->SaveValue(ParsedInternalKey(lookup.user_key(), file_.largest_seqno, kTypeValue), value,
                       &matched, s);
  };
  const bool memory_only = options.read_tier == kBlockCacheTier;
  const Engine::Source source = engine_->Find(lookup.key(), lookup.hash(), memory_only, serve);
  if (source == Engine::Source::kNone) {
    return false;
  }
  engine_->counters()->Add(source == Engine::Source::kMemory ? Counter::served_memory
                                                             : Counter::served_store);
  if (source == Engine::Source::kStore) {
    RecordTick(file_.statistics, HOT_FILE_READ_COUNT);
    RecordTick(file_.statistics, HOT_FILE_READ_BYTES, value_size);
  }
  if (options.fill_cache) {
    Track(lookup.user_key(), value_size);
  }
  return true;
}

void HotReader::Track(const Slice& key, uint64_t value_size) {
  engine_->Access(file_.space, key, value_size);
}

// A copy has a checksum of its own: what was read without one must not get it.
bool HotReader::Looks(const ReadOptions& options) const {
  return file_.may_capture && options.fill_cache && options.verify_checksums &&
         options.read_tier != kBlockCacheTier && engine_->LooksAtRead();
}

// Offers what a read found. `log` is what GetContext was told while the SST was read: types and
// values. Only a single value may be copied: anything else (a merge, a deletion, a blob, an entity)
// depends on more than this SST, or is of another type.
void HotReader::Capture(const Lookup& lookup, const Slice& log, uint64_t nanos) {
  Slice input = log;
  Slice value;
  if (input.empty() || input[0] != static_cast<char>(kTypeValue)) {
    return;
  }
  input.remove_prefix(1);
  if (GetLengthPrefixedSlice(&input, &value) && input.empty()) {
    engine_->Offer(lookup.key(), lookup.hash(), file_.space, value,
                   nanos / 1000 < file_.slow_read_micros);
  }
}

// Counts a read of the SST, and offers what it found. `log` is empty if the read was not looked at;
// `nanos` is the time that it took.
void HotReader::AfterRead(const ReadOptions& options, const Lookup& lookup, const Slice& log,
                          uint64_t nanos, GetContext* context) {
  if (context->State() != GetContext::kFound || options.read_tier == kBlockCacheTier) {
    return;
  }
  engine_->counters()->Add(Counter::served_slow);
  if (!file_.has_temperature) {
    RecordTick(file_.statistics, COLD_FILE_READ_COUNT);
    RecordTick(file_.statistics, COLD_FILE_READ_BYTES, file_.mean_value_size);
  }
  if (options.fill_cache) {
    Track(lookup.user_key(), file_.mean_value_size);
  }
  Capture(lookup, log, nanos);
}

Status HotReader::Get(const ReadOptions& options, const Slice& key, GetContext* context,
                      const SliceTransform* prefix_extractor, bool skip_filters) {
  if (Usable(key, context)) {
    if (file_.slow) {
      return GetSlow(options, key, context, prefix_extractor, skip_filters);
    }
    const Status s = target_->Get(options, key, context, prefix_extractor, skip_filters);
    if (s.ok() && context->State() == GetContext::kFound) {
      engine_->counters()->Add(Counter::served_fast);
      if (options.fill_cache) {
        Track(ExtractUserKey(key), file_.mean_value_size);
      }
    }
    return s;
  }
  if (file_.slow) {
    engine_->counters()->Add(Counter::bypassed);
  }
  return target_->Get(options, key, context, prefix_extractor, skip_filters);
}

Status HotReader::GetSlow(const ReadOptions& options, const Slice& key, GetContext* context,
                          const SliceTransform* prefix_extractor, bool skip_filters) {
  const Lookup lookup(file_, key);
  Status s;
  if (Serve(options, lookup, context, &s)) {
    return s;
  }
  std::string log;
  const bool looks = Looks(options);
  if (looks) {
    context->SetReplayLog(&log);
  }
  const uint64_t begin = looks ? engine_->NowNanos() : 0;
  s = target_->Get(options, key, context, prefix_extractor, skip_filters);
  const uint64_t nanos = looks ? engine_->NowNanos() - begin : 0;
  if (looks) {
    context->SetReplayLog(nullptr);
  }
  if (s.ok()) {
    AfterRead(options, lookup, log, nanos, context);
  }
  return s;
}

void HotReader::MultiGet(const ReadOptions& options, const MultiGetContext::Range* range,
                         const SliceTransform* prefix_extractor, bool skip_filters) {
  if (file_.slow) {
    MultiGetSlow(options, range, prefix_extractor, skip_filters);
    return;
  }
  std::array<KeyContext*, MultiGetContext::MAX_BATCH_SIZE> usable;
  size_t count = 0;
  for (auto it = range->begin(); it != range->end(); ++it) {
    if (Usable(it->ikey, it->get_context)) {
      usable[count++] = &*it;
    }
  }
  target_->MultiGet(options, range, prefix_extractor, skip_filters);
  for (size_t i = 0; i < count; i++) {
    if (usable[i]->s->ok() && usable[i]->get_context->State() == GetContext::kFound) {
      engine_->counters()->Add(Counter::served_fast);
      if (options.fill_cache) {
        Track(ExtractUserKey(usable[i]->ikey), file_.mean_value_size);
      }
    }
  }
}

void HotReader::MultiGetSlow(const ReadOptions& options, const MultiGetContext::Range* range,
                             const SliceTransform* prefix_extractor, bool skip_filters) {
  struct Pending {
    Pending(const File& file, const KeyContext* context)
        : lookup(file, context->ikey), key(context) {}
    const Lookup lookup;
    const KeyContext* const key;
    bool looks = false;
    std::string log;
  };
  MultiGetContext::Range rest(*range, range->begin(), range->end());
  // No element moves when another is added.
  std::array<std::unique_ptr<Pending>, MultiGetContext::MAX_BATCH_SIZE> pending;
  size_t count = 0;
  for (auto it = range->begin(); it != range->end(); ++it) {
    if (!Usable(it->ikey, it->get_context)) {
      engine_->counters()->Add(Counter::bypassed);
      continue;
    }
    auto& read = pending[count] = std::make_unique<Pending>(file_, &*it);
    Status s;
    if (Serve(options, read->lookup, it->get_context, &s)) {
      *it->s = s;
      rest.SkipKey(it);
      continue;
    }
    read->looks = Looks(options);
    if (read->looks) {
      it->get_context->SetReplayLog(&read->log);
    }
    count++;
  }
  if (rest.empty()) {
    return;
  }
  const uint64_t keys = rest.KeysLeft();
  const uint64_t begin = engine_->NowNanos();
  target_->MultiGet(options, &rest, prefix_extractor, skip_filters);
  // Each further key may take a quarter more: in memory it takes less, and a device may read keys
  // at the same time.
  const uint64_t nanos = (engine_->NowNanos() - begin) * 4 / (keys + 3);
  for (size_t i = 0; i < count; i++) {
    const Pending& read = *pending[i];
    if (read.looks) {
      read.key->get_context->SetReplayLog(nullptr);
    }
    if (read.key->s->ok()) {
      AfterRead(options, read.lookup, read.log, nanos, read.key->get_context);
    }
  }
}

InternalIterator* HotReader::NewIterator(const ReadOptions& options,
                                         const SliceTransform* prefix_extractor, Arena* arena,
                                         bool skip_filters, TableReaderCaller caller,
                                         size_t compaction_readahead_size,
                                         bool allow_unprepared_value) {
  InternalIterator* iterator =
      target_->NewIterator(options, prefix_extractor, arena, skip_filters, caller,
                           compaction_readahead_size, allow_unprepared_value);
  if (caller != TableReaderCaller::kUserIterator || !options.fill_cache ||
      file_.scan_records == 0) {
    return iterator;
  }
  return ScanRecorder::New(iterator, arena, engine_.get(), file_.space, file_.mean_value_size,
                           file_.scan_records);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
