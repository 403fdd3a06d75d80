// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The codec of recipes: the exact bytes of an SST, as literal bytes and references to entries of
// segments. Pure functions, without I/O and thread-safe. make.h makes recipes, rebuild.h makes SSTs
// of them. FORMAT.md has the rules of validity and an example. All integers are little-endian.
//
//   offset size  field
//        0    4  CRC-32C of all that follows, masked
//        4    1  version
//        5    1  flags: 1 keys share with the one before, 2 values stand by themselves, 4 the
//                numbers have a second half
//        6    1  type of the checksums of the SST's blocks
//        7    1  width of the numbers, bits
//        8    8  size of the SST
//       16    8  XXH3 of the SST
//       24    4  what the blocks' checksums depend on beside their bytes
//       28    4  entries from one restart to the next, 0: no block has two
//       32    n  varints: counts of numbers, entries, references, literal bytes, blocks, compressed
//                blocks, segments
//        n       for each segment, ascending, varints: its id less that of the one before, the
//                first ordinal used, how many from there on
//        n       the numbers
//        n       the operations

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plugin/tiered_env/recipe/bit_packing.h"
#include "plugin/tiered_env/recipe/entry.h"
#include "plugin/tiered_env/sst/block_encoding.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

constexpr uint8_t kRecipeVersion = 1;

// An operation is a varint: a count times 4, plus one of these.
enum RecipeOperation : uint8_t {
  kLiteral = 0,  // bytes, which follow
  kZeros = 1,    // bytes
  kBlock = 2,    // entries of a data block: it is written with footer and trailer
  kEntries = 3,  // the same, but footer and trailer are left to the next operations
};

// Ordinals [first, first + count) of a segment have the numbers from `bias` on.
struct SegmentRange {
  uint64_t segment = 0;
  Ordinal first = 0;
  uint64_t count = 0;
  uint64_t bias = 0;
};

// The numbers that stand for references in one recipe: below span() those by the entry's own
// sequence number, then, if there are any, those by the batch's, and the last one for an entry that
// is literal.
class NumberSpace {
 public:
  // Ascending segments; `bias` is set here. False: too many.
  bool Init(std::vector<SegmentRange> ranges, bool halves);

  const std::vector<SegmentRange>& ranges() const { return ranges_; }
  bool halves() const { return halves_; }
  uint64_t literal() const { return halves_ ? 2 * span_ : span_; }
  uint32_t width() const { return BitsFor(literal()); }

  // `range`: index of its segment.
  uint64_t NumberOf(size_t range, Ordinal ordinal, bool of_batch) const {
    return ranges_[range].bias + (ordinal - ranges_[range].first) + (of_batch ? span_ : 0);
  }
  // `number` is below literal().
  Reference ReferenceOf(uint64_t number) const;

 private:
  std::vector<SegmentRange> ranges_;
  uint64_t span_ = 0;
  bool halves_ = false;
};

struct RecipeSummary {
  uint64_t size = 0;      // of the SST, bytes
  uint64_t checksum = 0;  // XXH3, 64 bits, of the SST
  uint64_t entries = 0;   // in data blocks that are not compressed
  uint64_t references = 0;
  uint64_t literal_bytes = 0;  // keys and values of entries without a reference
  uint64_t blocks = 0;         // of data
  uint64_t compressed_blocks = 0;
};

struct RecipeParts {
  RecipeSummary summary;
  BlockEncoding encoding;
  ChecksumType checksum = kNoChecksum;
  uint32_t context = 0;
  NumberSpace space;
  uint64_t numbers = 0;
  Slice packed;  // the numbers
  Slice operations;
};

void EncodeRecipe(const RecipeParts& parts, std::string* recipe);
// Corruption: damaged. NotSupported: a recipe of a later version. The functions below return the
// same. Numbers are in their space. The slices point into `recipe`.
Status DecodeRecipe(const Slice& recipe, RecipeParts* parts);

// Reads what is before the numbers: the segments that there may be references to, and which of
// their ordinals.
Status DecodeSegments(const Slice& recipe, std::vector<SegmentRange>* ranges);
// Reads the header alone.
Status DecodeSummary(const Slice& recipe, RecipeSummary* summary);

// Visits each reference, in the order in which MakeRecipe() took them, and as often as it is in the
// recipe. The whole recipe is checked before the first visit.
Status ForEachReference(const Slice& recipe, const std::function<void(const Reference&)>& visit);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
