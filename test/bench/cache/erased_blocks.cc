// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/erased_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "test/bench/cache/block_trace.h"
#include "test/bench/common/records.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::BlockCacheTraceRecord;
using ROCKSDB_NAMESPACE::BlockCacheTraceWriter;
using ROCKSDB_NAMESPACE::CompactionJobInfo;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::EventListener;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableReaderCaller;
using ROCKSDB_NAMESPACE::TraceType;

namespace {

constexpr uint64_t kNearby = 3;     // keys: a block has four of 1 KB
constexpr size_t kInternalKey = 8;  // bytes that an internal key of RocksDB has behind the user's

}  // namespace

void ErasedBlocks::Restart() {
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_ = Counts();
}

ErasedBlocks::Counts ErasedBlocks::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

bool ErasedBlocks::WasErased(const Use& use) const {
  return now_ - use.at <= turnover_ && compacted_.count(use.file) > 0;
}

// Judges a miss. A key between two keys of one block was in that block.
void ErasedBlocks::Judge(uint64_t key) {
  counts_.misses++;
  const auto after = uses_.lower_bound(key);
  const bool known = after != uses_.end() && after->first == key;
  if (known) {
    counts_.erased += WasErased(after->second) ? 1 : 0;
    return;
  }
  const auto before = after == uses_.begin() ? uses_.end() : std::prev(after);
  const bool near_after = after != uses_.end() && WasErased(after->second);
  const bool near_before = before != uses_.end() && WasErased(before->second);
  if (near_after && near_before && after->second.block == before->second.block) {
    counts_.erased++;
  } else if ((near_after && after->first - key <= kNearby) ||
             (near_before && key - before->first <= kNearby)) {
    counts_.perhaps_erased++;
  }
}

void ErasedBlocks::OnRead(const Read& read) {
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.lookups++;
  if (!read.hit) {
    Judge(read.key);
    now_ += read.bytes;
  }
  if (read.found) uses_[read.key] = {read.block, read.file, now_};
}

void ErasedBlocks::OnCompacted(const std::set<uint64_t>& files) {
  const std::lock_guard<std::mutex> lock(mutex_);
  counts_.compacted_files += files.size();
  compacted_.insert(files.begin(), files.end());
}

namespace {

class Tracer : public BlockCacheTraceWriter {
 public:
  explicit Tracer(ErasedBlocks* erased) : erased_(erased) {}

  Status WriteHeader() override { return Status::OK(); }

  Status WriteBlockAccess(const BlockCacheTraceRecord& record, const Slice& block_key,
                          const Slice& /*cf_name*/, const Slice& referenced_key) override {
    if (record.block_type == TraceType::kBlockTraceDataBlock &&
        record.caller == TableReaderCaller::kUserGet &&
        referenced_key.size() == kKeySize + kInternalKey) {
      ErasedBlocks::Read read;
      const std::string key(referenced_key.data(), kKeySize);
      read.key = std::strtoull(key.c_str(), nullptr, 16);
      read.block = BlockNumber(block_key);
      read.file = record.sst_fd_number;
      read.bytes = record.block_size;
      read.hit = record.is_cache_hit;
      read.found = record.referenced_key_exist_in_block;
      erased_->OnRead(read);
    }
    return Status::OK();
  }

 private:
  ErasedBlocks* const erased_;
};

class Listener : public EventListener {
 public:
  explicit Listener(ErasedBlocks* erased) : erased_(erased) {}

  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& info) override {
    std::set<uint64_t> files;
    for (const auto& input : info.input_file_infos) files.insert(input.file_number);
    for (const auto& output : info.output_file_infos) files.erase(output.file_number);  // moved
    if (info.status.ok()) erased_->OnCompacted(files);
  }

 private:
  ErasedBlocks* const erased_;
};

}  // namespace

std::shared_ptr<EventListener> NewErasedBlocksListener(ErasedBlocks* erased) {
  return std::make_shared<Listener>(erased);
}

std::unique_ptr<BlockCacheTraceWriter> NewErasedBlocksTracer(ErasedBlocks* erased) {
  return std::make_unique<Tracer>(erased);
}

}  // namespace rocktier_bench
