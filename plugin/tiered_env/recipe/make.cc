// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/make.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/tiered_env/sst/block.h"
#include "plugin/tiered_env/sst/block_encoding.h"
#include "plugin/tiered_env/sst/data_blocks.h"
#include "util/coding.h"
#include "util/xxhash.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Zeros that are worth an operation of their own.
constexpr size_t kManyZeros = 16;

// The references of an SST that are not numbers yet: those depend on all of them.
class References {
 public:
  size_t size() const { return slots_.size(); }
  void Truncate(size_t size) { slots_.resize(size); }

  void AddLiteral() { slots_.push_back({kNoSegment, 0}); }
  void Add(const Reference& reference) {
    const uint32_t segment = IndexOf(reference.segment);
    auto& range = ranges_[segment];
    range.first = std::min(range.first, reference.ordinal);
    range.last = std::max(range.last, reference.ordinal);
    halves_ |= reference.of_batch;
    slots_.push_back({2 * segment + (reference.of_batch ? 1 : 0), reference.ordinal});
  }

  void Pack(NumberSpace* space, std::string* packed) const;

 private:
  static constexpr uint32_t kNoSegment = std::numeric_limits<uint32_t>::max();

  struct Slot {
    uint32_t segment;  // its index times 2, plus 1: of the batch
    Ordinal ordinal;
  };
  struct Used {
    uint64_t segment;
    Ordinal first;
    Ordinal last;
  };

  uint32_t IndexOf(uint64_t segment) {
    uint32_t& recent = recent_[segment % recent_.size()];
    if (recent < ranges_.size() && ranges_[recent].segment == segment) {
      return recent;
    }
    const auto added = indexes_.emplace(segment, static_cast<uint32_t>(ranges_.size()));
    if (added.second) {
      ranges_.push_back({segment, std::numeric_limits<Ordinal>::max(), 0});
    }
    return recent = added.first->second;
  }

  std::vector<Slot> slots_;
  std::vector<Used> ranges_;  // in the order in which they came
  std::unordered_map<uint64_t, uint32_t> indexes_;
  std::array<uint32_t, 64> recent_ = {};  // indexes, most of them right, by segment
  bool halves_ = false;
};

void References::Pack(NumberSpace* space, std::string* packed) const {
  std::vector<uint32_t> order(ranges_.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return ranges_[a].segment < ranges_[b].segment; });
  std::vector<SegmentRange> sorted;
  std::vector<size_t> place(order.size());
  for (const uint32_t i : order) {
    place[i] = sorted.size();
    SegmentRange range;
    range.segment = ranges_[i].segment;
    range.first = ranges_[i].first;
    range.count = uint64_t{ranges_[i].last} - range.first + 1;
    sorted.push_back(range);
  }
  // Memory does not suffice for so many segments that it could fail.
  const bool enough = space->Init(std::move(sorted), halves_);
  assert(enough);
  (void)enough;
  packed->reserve(BytesFor(slots_.size(), space->width()));
  BitWriter writer(space->width(), packed);
  for (const auto& slot : slots_) {
    writer.Put(slot.segment == kNoSegment
                   ? space->literal()
                   : space->NumberOf(place[slot.segment / 2], slot.ordinal, slot.segment % 2 != 0));
  }
  writer.Finish();
}

class Maker {
 public:
  Maker(const Slice& sst, ReferenceSource* source) : sst_(sst), source_(source) {}

  void Make(std::string* recipe);
  const RecipeSummary& summary() const { return parts_.summary; }

 private:
  void AddBlock(const BlockBounds& bounds);
  // References and literal entries of a block that follows from its entries. False: there is no
  // reference.
  bool AddEntries(const BlockParts& block);
  // Whether footer and trailer follow too.
  bool IsWhole(const Slice& bytes, const BlockParts& block, uint64_t offset) const;

  void PutOperation(RecipeOperation operation, uint64_t count) {
    PutVarint64(&operations_, count * 4 + operation);
  }
  // What is before `end` and was not written yet.
  void PutLiteral(uint64_t end);

  const Slice sst_;
  ReferenceSource* const source_;
  DataBlocks data_blocks_;
  RecipeParts parts_;
  References references_;
  std::string inline_;  // literal entries of the block
  std::string operations_;
  uint64_t written_ = 0;  // what the operations so far write
};

void Maker::PutLiteral(uint64_t end) {
  uint64_t zeros = end;
  while (zeros > written_ && sst_[zeros - 1] == 0) {
    --zeros;
  }
  if (end - zeros < kManyZeros) {
    zeros = end;
  }
  if (zeros > written_) {
    PutOperation(kLiteral, zeros - written_);
    operations_.append(sst_.data() + written_, zeros - written_);
  }
  if (end > zeros) {
    PutOperation(kZeros, end - zeros);
  }
  written_ = end;
}

bool Maker::AddEntries(const BlockParts& block) {
  const size_t before = references_.size();
  uint64_t taken = 0;
  inline_.clear();
  Entry entry;
  Reference reference;
  // What is known of entries is all over memory: it is fetched while others are looked at.
  for (BlockReader reader(block); reader.Next();) {
    UnPackSequenceAndType(ExtractInternalKeyFooter(reader.key()), &entry.sequence, &entry.type);
    source_->Expect(entry.sequence);
  }
  for (BlockReader reader(block); reader.Next();) {
    const Slice key = reader.key();
    uint64_t packed = ExtractInternalKeyFooter(key);
    UnPackSequenceAndType(packed, &entry.sequence, &entry.type);
    entry.key = ExtractUserKey(key);
    entry.value = reader.value();
    ++parts_.summary.entries;
    if (source_->Take(entry, &reference)) {
      references_.Add(reference);
      ++taken;
    } else {
      references_.AddLiteral();
      parts_.summary.literal_bytes += reader.head().fresh + entry.value.size();
      inline_.append(reader.bytes().data(), reader.bytes().size());
      inline_.append(entry.value.data(), entry.value.size());
    }
  }
  parts_.summary.references += taken;
  if (taken == 0) {
    references_.Truncate(before);
  }
  return taken != 0;
}

bool Maker::IsWhole(const Slice& bytes, const BlockParts& block, uint64_t offset) const {
  char footer[kMaxBlockFooter];
  const size_t size = EncodeBlockFooter(parts_.encoding, block.restart_count,
                                        static_cast<uint32_t>(block.entries.size()), footer);
  if (block.rest != Slice(footer, size)) {
    return false;
  }
  char trailer[kBlockTrailerSize];
  EncodeBlockTrailer(bytes, offset, data_blocks_.checksum, data_blocks_.context, trailer);
  return memcmp(trailer, bytes.data() + bytes.size(), kBlockTrailerSize) == 0;
}

void Maker::AddBlock(const BlockBounds& bounds) {
  if (bounds.compressed) {
    ++parts_.summary.compressed_blocks;
    return;
  }
  const Slice bytes(sst_.data() + bounds.offset, bounds.size);
  BlockParts block;
  uint32_t entries = 0;
  if (!SplitBlock(bytes, &block) || !Follows(block, parts_.encoding, &entries)) {
    parts_.summary.literal_bytes += bytes.size();
    return;
  }
  if (!AddEntries(block)) {
    return;
  }
  PutLiteral(bounds.offset);
  const bool whole = IsWhole(bytes, block, bounds.offset);
  PutOperation(whole ? kBlock : kEntries, entries);
  if (parts_.encoding.separated) {
    PutVarint64(&operations_, block.entries.size());
  }
  operations_ += inline_;
  written_ += bytes.size() - block.rest.size();
  if (whole) {
    written_ += block.rest.size() + kBlockTrailerSize;
  }
}

void Maker::Make(std::string* recipe) {
  parts_.summary.size = sst_.size();
  parts_.summary.checksum = XXH3_64bits(sst_.data(), sst_.size());
  // All is literal if they are not found.
  FindDataBlocks(sst_, &data_blocks_).PermitUncheckedError();
  parts_.encoding = FindEncoding(sst_, data_blocks_);
  parts_.checksum = data_blocks_.checksum;
  parts_.context = data_blocks_.context;
  parts_.summary.blocks = data_blocks_.blocks.size();
  for (const auto& block : data_blocks_.blocks) {
    AddBlock(block);
  }
  PutLiteral(sst_.size());
  std::string packed;
  references_.Pack(&parts_.space, &packed);
  parts_.numbers = references_.size();
  parts_.packed = packed;
  parts_.operations = operations_;
  EncodeRecipe(parts_, recipe);
}

}  // namespace

void MakeRecipe(const Slice& sst, ReferenceSource* source, std::string* recipe,
                RecipeSummary* summary) {
  Maker maker(sst, source);
  maker.Make(recipe);
  *summary = maker.summary();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
