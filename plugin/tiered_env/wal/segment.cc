// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/segment.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/bitmap.h"
#include "plugin/tiered_env/wal/size_code.h"
#include "port/port.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint8_t kStuck = 255;
constexpr size_t kChunk = 1024;       // entries that memory is taken for at once
constexpr uint64_t kSmallBatch = 64;  // entries that are looked through each time
constexpr int kMostRuns = 64;  // that are searched for a sequence number; then the entry is literal

struct Mark {
  std::atomic<uint8_t> references;
  SizeCode size;
};

struct Chunk {
  uint64_t fingerprints[kChunk];
  Mark marks[kChunk];
};

// Ordinals and sequence numbers that ascend alike. Not each ordinal must be kept.
struct Run {
  bool Has(SequenceNumber sequence) const { return sequence - first < length; }
  SequenceNumber end() const { return first + length; }

  SequenceNumber first = 0;
  SequenceNumber reach = 0;  // the largest end() of this run and those before it
  Ordinal ordinal = 0;
  uint32_t length = 0;
};

bool IsSet(const std::vector<bool>& bits, uint64_t i) { return i < bits.size() && bits[i]; }

}  // namespace

// Entries have an index, the how-manieth of those that are kept; chunks are by it, all else is by
// ordinal.
struct Segment::Index {
  static constexpr uint64_t kNone = Bits::kNone;

  void Add(Ordinal ordinal, SequenceNumber sequence, SequenceNumber batch, uint64_t fingerprint,
           SizeCode size);
  void AddBatch(Ordinal ordinal, SequenceNumber sequence, SequenceNumber batch);
  void Extend(Ordinal ordinal, SequenceNumber sequence);
  void SetReach(size_t run);

  void Expect(SequenceNumber sequence) const;
  // The first run that begins behind it.
  std::vector<Run>::const_iterator After(SequenceNumber sequence) const;
  uint64_t IndexOf(uint64_t ordinal) const;
  // The first that is kept, not below `ordinal`, or kNone.
  uint64_t NextKept(uint64_t ordinal) const;
  // Calls visit(ordinal, fingerprint) of what is kept, in [begin, behind), until it is false.
  template <typename Visit>
  void ForEachOf(uint64_t begin, uint64_t behind, const Visit& visit) const;
  uint64_t FindInBatch(uint64_t begin, uint64_t fingerprint, Batches* batches) const;
  bool Find(SequenceNumber sequence, uint64_t fingerprint, Reference* reference,
            Batches* batches) const;
  std::vector<Run> RunsByOrdinal() const;

  uint64_t fingerprint(uint64_t index) const {
    return chunks[index / kChunk]->fingerprints[index % kChunk];
  }
  Mark* mark(uint64_t index) const { return &chunks[index / kChunk]->marks[index % kChunk]; }
  bool IsLive(uint64_t index) const {
    return mark(index)->references.load(std::memory_order_relaxed) > 0;
  }
  void Increment(uint64_t index);
  void Decrement(uint64_t index);

  std::vector<std::unique_ptr<Chunk>> chunks;
  uint64_t entries = 0;
  uint64_t end = 0;   // behind the last ordinal
  bool dense = true;  // all ordinals are kept, `kept` is empty
  RankedBits kept;

  std::vector<Run> runs;  // by their first sequence number
  size_t last_run = 0;    // that was added to
  Bits begins;            // ordinals that batches begin at, kept or not
  uint64_t last_begin = kNone;
  SequenceNumber last_batch = 0;

  SequenceNumber smallest = kMaxSequenceNumber;
  SequenceNumber largest = 0;
  uint64_t digest = 0;
  uint64_t bytes = 0;
  std::atomic<uint64_t> live{0};
  std::atomic<uint64_t> live_bytes{0};
};

void Segment::Index::Add(Ordinal ordinal, SequenceNumber sequence, SequenceNumber batch,
                         uint64_t fingerprint, SizeCode size) {
  assert(ordinal >= end && batch <= sequence);
  if (dense && ordinal != entries) {
    dense = false;
    for (uint64_t i = 0; i < entries; i++) {
      kept.Set(i);
    }
  }
  if (!dense) {
    kept.Set(ordinal);
  }
  if (entries % kChunk == 0) {
    chunks.push_back(std::make_unique<Chunk>());
  }
  chunks.back()->fingerprints[entries % kChunk] = fingerprint;
  chunks.back()->marks[entries % kChunk].size = size;
  bytes += DecodeSize(size);
  AddBatch(ordinal, sequence, batch);
  Extend(ordinal, sequence);
  entries++;
  end = uint64_t{ordinal} + 1;
  smallest = std::min(smallest, batch);
  largest = std::max(largest, sequence);
  const uint64_t all[] = {digest, entries, ordinal, sequence, batch, fingerprint};
  digest = XXH3_64bits(all, sizeof(all));
}

// The batch's first entry need not be kept, but its place tells the batch's number.
void Segment::Index::AddBatch(Ordinal ordinal, SequenceNumber sequence, SequenceNumber batch) {
  const uint64_t index = sequence - batch;
  const bool fits = index <= ordinal;
  assert(fits);
  const uint64_t begin = fits ? ordinal - index : ordinal;
  if (begin == last_begin && batch == last_batch) {
    return;
  }
  const bool fresh = fits && begin >= end;
  assert(fresh);
  last_begin = fresh ? begin : ordinal;
  last_batch = fresh ? batch : sequence;
  begins.Set(last_begin);
  Extend(static_cast<Ordinal>(last_begin), last_batch);
}

void Segment::Index::Extend(Ordinal ordinal, SequenceNumber sequence) {
  if (!runs.empty()) {
    Run& last = runs[last_run];
    if (sequence >= last.first && sequence - last.first == ordinal - last.ordinal) {
      last.length = ordinal - last.ordinal + 1;
      SetReach(last_run);
      return;
    }
  }
  Run run;
  run.first = sequence;
  run.ordinal = ordinal;
  run.length = 1;
  const auto at = std::upper_bound(
      runs.begin(), runs.end(), sequence,
      [](SequenceNumber number, const Run& other) { return number < other.first; });
  last_run = static_cast<size_t>(at - runs.begin());
  runs.insert(at, run);
  SetReach(last_run);
}

void Segment::Index::SetReach(size_t run) {
  for (; run < runs.size(); run++) {
    const SequenceNumber before = run > 0 ? runs[run - 1].reach : 0;
    const SequenceNumber reach = std::max(before, runs[run].end());
    if (runs[run].reach == reach) {
      return;
    }
    runs[run].reach = reach;
  }
}

uint64_t Segment::Index::IndexOf(uint64_t ordinal) const {
  if (dense) {
    return ordinal < entries ? ordinal : kNone;
  }
  return kept.Get(ordinal) ? kept.Rank(ordinal) : kNone;
}

uint64_t Segment::Index::NextKept(uint64_t ordinal) const {
  if (dense) {
    return ordinal < entries ? ordinal : kNone;
  }
  return kept.Next(ordinal);
}

template <typename Visit>
void Segment::Index::ForEachOf(uint64_t begin, uint64_t behind, const Visit& visit) const {
  uint64_t ordinal = NextKept(begin);
  uint64_t index = ordinal < behind ? IndexOf(ordinal) : 0;
  while (ordinal < behind && visit(ordinal, fingerprint(index))) {
    TEST_SYNC_POINT("Segment::Index::ForEachOf:Next");
    ordinal = NextKept(ordinal + 1);
    index++;
  }
}

// The ordinal of the first entry of the batch that begins there with this fingerprint, or kNone.
uint64_t Segment::Index::FindInBatch(uint64_t begin, uint64_t fp, Batches* batches) const {
  const uint64_t next_batch = std::min(begins.Next(begin + 1), end);
  if (batches != nullptr && next_batch > begin + kSmallBatch) {
    const auto [batch, is_new] = batches->try_emplace(begin);
    if (is_new) {
      ForEachOf(begin, next_batch, [&to = batch->second](uint64_t ordinal, uint64_t its) {
        to.emplace_back(its, static_cast<Ordinal>(ordinal));
        return true;
      });
      std::sort(batch->second.begin(), batch->second.end());
    }
    const auto found = std::lower_bound(batch->second.begin(), batch->second.end(),
                                        std::make_pair(fp, Ordinal{0}));
    return found != batch->second.end() && found->first == fp ? found->second : kNone;
  }
  uint64_t result = kNone;
  ForEachOf(begin, next_batch, [&](uint64_t ordinal, uint64_t its) {
    result = its == fp ? ordinal : kNone;
    return its != fp;
  });
  return result;
}

std::vector<Run>::const_iterator Segment::Index::After(SequenceNumber sequence) const {
  return std::upper_bound(
      runs.begin(), runs.end(), sequence,
      [](SequenceNumber number, const Run& other) { return number < other.first; });
}

void Segment::Index::Expect(SequenceNumber sequence) const {
  const auto after = After(sequence);
  if (after == runs.begin() || !std::prev(after)->Has(sequence)) {
    return;
  }
  const Run& run = *std::prev(after);
  const uint64_t index = IndexOf(run.ordinal + (sequence - run.first));
  if (index != kNone) {
    const Chunk& chunk = *chunks[index / kChunk];
    PREFETCH(&chunk.fingerprints[index % kChunk], 0, 3);
    PREFETCH(&chunk.marks[index % kChunk], 1, 3);
  }
}

// Several runs can have the number: where transactions are prepared, where batches have one number,
// where numbers are used again.
bool Segment::Index::Find(SequenceNumber sequence, uint64_t fp, Reference* reference,
                          Batches* batches) const {
  auto run = After(sequence);
  for (int i = 0; i < kMostRuns && run != runs.begin(); i++) {
    --run;
    if (run->reach <= sequence) {
      return false;
    }
    if (!run->Has(sequence)) {
      continue;
    }
    const uint64_t ordinal = run->ordinal + (sequence - run->first);
    const uint64_t index = IndexOf(ordinal);
    if (index != kNone && fingerprint(index) == fp) {
      reference->ordinal = static_cast<Ordinal>(ordinal);
      reference->of_batch = false;
      return true;
    }
    const uint64_t found = begins.Get(ordinal) ? FindInBatch(ordinal, fp, batches) : kNone;
    if (found != kNone) {
      reference->ordinal = static_cast<Ordinal>(found);
      reference->of_batch = true;
      return true;
    }
  }
  return false;
}

std::vector<Run> Segment::Index::RunsByOrdinal() const {
  std::vector<Run> result = runs;
  std::sort(result.begin(), result.end(),
            [](const Run& a, const Run& b) { return a.ordinal < b.ordinal; });
  return result;
}

// Who releases the last reference sees what the one who took the first has added: no sum falls
// below 0.
void Segment::Index::Increment(uint64_t index) {
  Mark* const entry = mark(index);
  uint8_t old = entry->references.load(std::memory_order_relaxed);
  while (old != kStuck && !entry->references.compare_exchange_weak(
                              old, old + 1, std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  if (old == 0) {
    live.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_add(DecodeSize(entry->size), std::memory_order_relaxed);
  }
}

void Segment::Index::Decrement(uint64_t index) {
  Mark* const entry = mark(index);
  uint8_t old = entry->references.load(std::memory_order_relaxed);
  while (old != kStuck && old != 0 &&
         !entry->references.compare_exchange_weak(old, old - 1, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed)) {
  }
  assert(old != 0);
  if (old == 1) {
    live.fetch_sub(1, std::memory_order_relaxed);
    live_bytes.fetch_sub(DecodeSize(entry->size), std::memory_order_relaxed);
  }
}

Segment::Segment(uint64_t id) : id_(id), index_(std::make_unique<Index>()) {}

Segment::~Segment() = default;

void Segment::Add(Ordinal ordinal, const Entry& entry) {
  index_->Add(ordinal, entry.sequence, entry.batch,
              FingerprintOf(entry.type, entry.key, entry.value),
              EncodeSize(ArchiveBlockBuilder::SizeOf(entry)));
}

uint64_t Segment::digest() const { return index_->digest; }

void Segment::Expect(SequenceNumber sequence) const { index_->Expect(sequence); }

bool Segment::Take(SequenceNumber sequence, uint64_t fingerprint, Reference* reference,
                   Batches* batches) {
  if (!index_->Find(sequence, fingerprint, reference, batches)) {
    return false;
  }
  reference->segment = id_;
  index_->Increment(index_->IndexOf(reference->ordinal));
  return true;
}

bool Segment::Take(Ordinal ordinal) {
  const uint64_t index = index_->IndexOf(ordinal);
  if (index == Index::kNone) {
    return false;
  }
  index_->Increment(index);
  return true;
}

void Segment::Release(Ordinal ordinal) {
  const uint64_t index = index_->IndexOf(ordinal);
  assert(index != Index::kNone);
  if (index != Index::kNone) {
    index_->Decrement(index);
  }
}

uint64_t Segment::entries() const { return index_->entries; }

uint64_t Segment::live() const { return index_->live.load(std::memory_order_relaxed); }

uint64_t Segment::bytes() const { return index_->bytes; }

uint64_t Segment::live_bytes() const { return index_->live_bytes.load(std::memory_order_relaxed); }

SequenceNumber Segment::smallest() const { return index_->smallest; }

SequenceNumber Segment::largest() const { return index_->largest; }

std::vector<bool> Segment::Bitmap() const {
  std::vector<bool> result(index_->end);
  uint64_t ordinal = index_->NextKept(0);
  for (uint64_t index = 0; index < index_->entries; index++) {
    result[ordinal] = index_->IsLive(index);
    ordinal = index_->NextKept(ordinal + 1);
  }
  return result;
}

bool Segment::Trim(const std::vector<bool>& kept) {
  const Index& old = *index_;
  auto trimmed = std::make_unique<Index>();
  const std::vector<Run> runs = old.RunsByOrdinal();
  auto run = runs.begin();
  uint64_t begin = 0;
  uint64_t ordinal = old.NextKept(0);
  for (uint64_t i = 0; i < old.entries; i++, ordinal = old.NextKept(ordinal + 1)) {
    while (ordinal - run->ordinal >= run->length) {
      ++run;
    }
    for (uint64_t next = begin; next <= ordinal; next = old.begins.Next(next + 1)) {
      begin = next;
    }
    if (IsSet(kept, ordinal)) {
      const SequenceNumber sequence = run->first + (ordinal - run->ordinal);
      trimmed->Add(static_cast<Ordinal>(ordinal), sequence, sequence - (ordinal - begin),
                   old.fingerprint(i), old.mark(i)->size);
      trimmed->mark(trimmed->entries - 1)
          ->references.store(old.mark(i)->references.load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
    } else if (old.IsLive(i)) {
      return false;
    }
  }
  trimmed->live = old.live.load();
  trimmed->live_bytes = old.live_bytes.load();
  index_ = std::move(trimmed);
  return true;
}

size_t Segment::memory_bytes() const {
  return sizeof(*this) + sizeof(*index_) + index_->chunks.size() * sizeof(Chunk) +
         index_->chunks.capacity() * sizeof(index_->chunks[0]) +
         index_->runs.capacity() * sizeof(Run) + index_->kept.memory_bytes() +
         index_->begins.memory_bytes();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
