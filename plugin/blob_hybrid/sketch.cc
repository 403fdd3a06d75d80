// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/sketch.h"

#include <algorithm>

#include "db/blob/blob_log_format.h"
#include "util/coding.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr size_t kMostEntries = 512;  // of an SST
constexpr size_t kMostDecoded = 2 * kMostEntries;
constexpr size_t kMostTogether = 65536;  // of all that are combined
static_assert(kMostTogether < kMostKept, "thinning leaves room");
constexpr char kVersion = 1;

}  // namespace

void SketchBuilder::Add(const Slice& user_key, uint64_t blob_bytes, uint64_t sst_bytes,
                        bool deletion) {
  const uint64_t hash = GetSliceNPHash64(user_key);
  if (hash >= sketch_.threshold) {
    return;
  }
  const size_t count = sketch_.entries.size();
  if (count >= 2 && sketch_.entries[count - 2].hash == hash) {
    // Older versions count together: a key that has many must not take the room of others.
    sketch_.entries.back().blob_bytes += blob_bytes;
    sketch_.entries.back().sst_bytes += sst_bytes;
    return;
  }
  sketch_.entries.push_back({hash, blob_bytes, sst_bytes, deletion});
  if (sketch_.entries.size() > kMostEntries) {
    Thin();
  }
}

void SketchBuilder::Thin() {
  sketch_.threshold /= 2;
  auto& entries = sketch_.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const Sketch::Entry& e) { return e.hash >= sketch_.threshold; }),
                entries.end());
}

std::string SketchBuilder::Finish() const {
  std::string text(1, kVersion);
  PutFixed64(&text, sketch_.threshold);
  for (const Sketch::Entry& entry : sketch_.entries) {
    PutFixed64(&text, entry.hash);
    PutVarint64(&text, entry.blob_bytes);
    PutVarint64(&text, entry.sst_bytes << 1 | (entry.deletion ? 1 : 0));
  }
  return text;
}

SketchPtr DecodeSketch(const Slice& text) {
  Slice input = text;
  auto sketch = std::make_shared<Sketch>();
  if (input.empty() || input[0] != kVersion) {
    return nullptr;
  }
  input.remove_prefix(1);
  if (!GetFixed64(&input, &sketch->threshold)) {
    return nullptr;
  }
  while (!input.empty()) {
    Sketch::Entry entry;
    if (!GetFixed64(&input, &entry.hash) || !GetVarint64(&input, &entry.blob_bytes) ||
        !GetVarint64(&input, &entry.sst_bytes) || entry.blob_bytes > kMostBytes ||
        entry.sst_bytes > kMostBytes || sketch->entries.size() == kMostDecoded) {
      return nullptr;
    }
    entry.deletion = (entry.sst_bytes & 1) != 0;
    entry.sst_bytes >>= 1;
    sketch->entries.push_back(entry);
  }
  return sketch;
}

namespace {

size_t CountBelow(uint64_t threshold, const std::vector<const Sketch*>& sketches) {
  size_t count = 0;
  for (const Sketch* sketch : sketches) {
    for (const Sketch::Entry& entry : sketch->entries) {
      count += entry.hash < threshold ? 1 : 0;
    }
  }
  return count;
}

SketchPtr Below(uint64_t threshold, const Sketch& sketch) {
  auto result = std::make_shared<Sketch>();
  result->threshold = std::min(threshold, sketch.threshold);
  for (const Sketch::Entry& entry : sketch.entries) {
    if (entry.hash < threshold) result->entries.push_back(entry);
  }
  result->entries.shrink_to_fit();
  return result;
}

// The threshold of what all of them sample, and no more than is of use.
uint64_t CommonThreshold(const std::vector<const Sketch*>& sketches) {
  uint64_t threshold = UINT64_MAX;
  for (const Sketch* sketch : sketches) {
    threshold = std::min(threshold, sketch->threshold);
  }
  const size_t entries = CountBelow(threshold, sketches);
  return entries <= kMostTogether ? threshold : threshold / entries * kMostTogether;
}

// A set of hashes, with open addressing: sketches are combined before each job, and a set of nodes
// takes many times as long.
class Seen {
 public:
  explicit Seen(size_t most) {
    size_t slots = 2;
    while (slots < 2 * most) {
      slots *= 2;
    }
    slots_.resize(slots);
  }

  // Adds a hash. False if it is there.
  bool Add(uint64_t hash) {
    const uint64_t value = std::max<uint64_t>(hash, 1);  // 0 is a free slot
    size_t slot = value & (slots_.size() - 1);
    while (slots_[slot] != 0 && slots_[slot] != value) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const bool added = slots_[slot] == 0;
    slots_[slot] = value;
    return added;
  }

 private:
  std::vector<uint64_t> slots_;
};

}  // namespace

void ThinTogether(const std::vector<SketchPtr*>& sketches) {
  std::vector<const Sketch*> present;
  uint64_t threshold = 0;
  for (const SketchPtr* sketch : sketches) {
    if (*sketch != nullptr) {
      present.push_back(sketch->get());
      threshold = std::max(threshold, (*sketch)->threshold);
    }
  }
  if (CountBelow(threshold, present) <= kMostKept) {
    return;
  }
  // Thins not down to what all of them sample: one that samples little may go, and the others would
  // not get back what they had.
  while (CountBelow(threshold, present) > kMostTogether) {
    threshold /= 2;
  }
  for (SketchPtr* sketch : sketches) {
    if (*sketch != nullptr && (*sketch)->threshold > threshold) {
      *sketch = Below(threshold, **sketch);
    }
  }
}

Sampled Combine(const std::vector<const Sketch*>& sketches) {
  const uint64_t threshold = CommonThreshold(sketches);
  Sampled sampled;
  Seen seen(CountBelow(threshold, sketches));
  for (const Sketch* sketch : sketches) {
    for (const Sketch::Entry& entry : sketch->entries) {
      if (entry.hash >= threshold) {
        continue;
      }
      const bool newest = seen.Add(entry.hash);
      sampled.keys += newest ? 1 : 0;
      sampled.entries++;
      sampled.blob_bytes += entry.blob_bytes;
      sampled.sst_bytes += entry.sst_bytes;
      if (!newest) {
        sampled.hidden_blob_bytes += entry.blob_bytes;
      } else if (entry.blob_bytes > 0) {
        sampled.live_blob_bytes +=
            entry.blob_bytes - std::min<uint64_t>(entry.blob_bytes, BlobLogRecord::kHeaderSize);
      }
      if (!newest || entry.deletion) {
        sampled.hidden_sst_bytes += entry.sst_bytes;
      } else if (entry.blob_bytes == 0) {
        sampled.live_sst_bytes += entry.sst_bytes;
      }
    }
  }
  return sampled;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
