// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/carry_job.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Adds what was held of an SST itself.
void AddHeld(const CarryJob::Input& input, std::vector<HeldRange>* ranges) {
  for (const Shard::Held& held : input.held) {
    const size_t block = input.index.Find(input.sst.keys.QuarterOffset(held.block));
    if (block < input.index.size()) {  // else not a data block
      ranges->push_back(
          {input.index.Below(block).ToString(), input.index.Separator(block).ToString(), held.age});
    }
  }
}

// Adds those of the ranges that have keys of this SST: others went into other ones.
void AddWithin(const Comparator& comparator, const SstIndex& sst,
               const std::vector<HeldRange>& from, std::vector<HeldRange>* ranges) {
  const Slice first = sst.FirstKey();
  const Slice last = sst.Separator(sst.size() - 1);
  std::copy_if(from.begin(), from.end(), std::back_inserter(*ranges), [&](const HeldRange& range) {
    return comparator.Compare(range.below, last) < 0 && comparator.Compare(range.last, first) >= 0;
  });
}

}  // namespace

CarryJob::Output* CarryJob::FindLeft(uint64_t file) {
  const auto begin = outputs.begin() + static_cast<ptrdiff_t>(done);
  const auto it = std::find_if(begin, outputs.end(), [file](const Output& output) {
    return output.sst.keys.file == file && !output.passed_on;
  });
  return it != outputs.end() ? &*it : nullptr;
}

bool CarryJob::IsEmpty() const {
  return std::all_of(inputs.begin(), inputs.end(), [](const Input& input) {
    return input.held.empty() && input.from == nullptr;
  });
}

uint64_t CarryJob::Held() const {
  uint64_t blocks = ranges.size();
  for (const Input& input : inputs) {
    blocks += input.held.size();
  }
  return blocks;
}

uint64_t CarryJob::Memory() const {
  uint64_t bytes = ranges_memory_;
  for (const Input& input : inputs) {
    bytes += input.sst.index_memory + input.held.size() * sizeof(Shard::Held);
  }
  return bytes;
}

std::vector<HeldRange> CarryJob::FindRanges() const {
  std::vector<HeldRange> found;
  // Those of which nobody knows which keys went into an SST that was gone before it was read.
  std::set<const CarryJob*> whole;
  for (const Input& input : inputs) {
    AddHeld(input, &found);
    if (input.from != nullptr && input.index.size() == 0) {
      whole.insert(input.from.get());
    }
  }
  for (const CarryJob* from : whole) {
    found.insert(found.end(), from->ranges.begin(), from->ranges.end());
  }
  for (const Input& input : inputs) {
    if (input.from != nullptr && whole.count(input.from.get()) == 0) {
      AddWithin(*source.comparator, input.index, input.from->ranges, &found);
    }
  }
  SortRanges(*source.comparator, &found);
  return found;
}

void CarryJob::SetRanges(std::vector<HeldRange>&& found) {
  ranges = std::move(found);
  ranges_memory_ = ranges.capacity() * sizeof(HeldRange);
  for (const HeldRange& range : ranges) {
    ranges_memory_ += range.below.capacity() + range.last.capacity();
  }
  inputs.clear();
  is_prepared = true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
