// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/cache_key.h"
#include "plugin/secondary_cache_2q/carry_plan.h"
#include "plugin/secondary_cache_2q/shard.h"
#include "plugin/secondary_cache_2q/sst_index.h"
#include "plugin/secondary_cache_2q/sst_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

struct CarriedSst {
  std::string path;
  FileKeys keys;
  uint64_t index_memory = 0;  // bytes, as expected
};

// A compaction that the Carrier knows, from its begin until all its outputs are done. What is held
// of its inputs becomes ranges of keys when it has ended and their indexes were tried: it is
// prepared then, and needs the inputs no more.
//
// Guarded by the Carrier's mutex. Its thread reads without that what does not change meanwhile: the
// source, an SST whose index it reads, all inputs while it finds the ranges, and these afterwards.
struct CarryJob {
  struct Input {
    CarriedSst sst;
    bool is_tried = false;
    SstIndex index;
    std::vector<Shard::Held> held;
    // The compaction that made it, if that was not done with it when this one ended: what is held
    // for it goes into the outputs of this one. Prepared before this one is. Null, too, when that
    // was dropped.
    std::shared_ptr<const CarryJob> from;
  };
  struct Output {
    CarriedSst sst;
    bool passed_on = false;  // it was an input of a compaction that has ended
  };

  std::string id;
  SstReader::Source source;
  std::vector<Input> inputs;
  std::vector<Output> outputs;  // until it has ended: those that are made so far
  size_t done = 0;              // outputs
  bool is_prepared = false;
  std::vector<HeldRange> ranges;  // in order

  // The output with these keys into which blocks are still to be carried; null if there is none.
  Output* FindLeft(uint64_t file);
  // Whether nothing is to be carried.
  bool IsEmpty() const;
  // Blocks that were held.
  uint64_t Held() const;
  // Bytes.
  uint64_t Memory() const;

  // Returns the ranges, in order.
  std::vector<HeldRange> FindRanges() const;
  void SetRanges(std::vector<HeldRange>&& found);

 private:
  uint64_t ranges_memory_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
