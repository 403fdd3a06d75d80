// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/format.h"

#include <utility>

#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kHeaderSize = 32;
constexpr uint8_t kDelta = 1;
constexpr uint8_t kSeparated = 2;
constexpr uint8_t kHalves = 4;
constexpr uint64_t kOrdinals = uint64_t{1} << 32;

Status Damaged(const char* what) { return Status::Corruption("tiered_env: damaged recipe", what); }

uint8_t FlagsOf(const RecipeParts& parts) {
  return static_cast<uint8_t>((parts.encoding.delta ? kDelta : 0) |
                              (parts.encoding.separated ? kSeparated : 0) |
                              (parts.space.halves() ? kHalves : 0));
}

bool GetRange(Slice* input, uint64_t last_segment, SegmentRange* range) {
  uint64_t step = 0;
  uint64_t first = 0;
  if (!GetVarint64(input, &step) || !GetVarint64(input, &first) ||
      !GetVarint64(input, &range->count)) {
    return false;
  }
  range->segment = last_segment + step;
  range->first = static_cast<Ordinal>(first);
  return range->segment >= last_segment && first < kOrdinals && range->count != 0 &&
         range->count <= kOrdinals - first;
}

bool GetRanges(Slice* input, std::vector<SegmentRange>* ranges) {
  uint64_t count = 0;
  if (!GetVarint64(input, &count) || count > input->size()) {
    return false;
  }
  ranges->resize(count);
  uint64_t last = 0;
  for (size_t i = 0; i < ranges->size(); ++i) {
    SegmentRange* const range = &(*ranges)[i];
    if (!GetRange(input, last, range) || (i > 0 && range->segment == last)) {
      return false;
    }
    last = range->segment;
  }
  return true;
}

Status CheckFrame(const Slice& recipe) {
  if (recipe.size() < kHeaderSize) {
    return Damaged("too short");
  }
  const uint32_t crc = crc32c::Unmask(DecodeFixed32(recipe.data()));
  if (crc != crc32c::Value(recipe.data() + 4, recipe.size() - 4)) {
    return Damaged("checksum");
  }
  if (static_cast<uint8_t>(recipe[4]) != kRecipeVersion) {
    return Status::NotSupported(
        "tiered_env: recipe of version " + std::to_string(static_cast<uint8_t>(recipe[4])),
        "this build reads version " + std::to_string(kRecipeVersion));
  }
  return Status::OK();
}

// Leaves what is behind the counts in *input.
Status DecodeHeader(const Slice& recipe, Slice* input, RecipeParts* parts) {
  Status s = CheckFrame(recipe);
  if (!s.ok()) {
    return s;
  }
  const auto flags = static_cast<uint8_t>(recipe[5]);
  if (flags >= 2 * kHalves) {
    return Damaged("flags");
  }
  parts->encoding.delta = (flags & kDelta) != 0;
  parts->encoding.separated = (flags & kSeparated) != 0;
  parts->checksum = static_cast<ChecksumType>(recipe[6]);
  RecipeSummary* const summary = &parts->summary;
  summary->size = DecodeFixed64(recipe.data() + 8);
  summary->checksum = DecodeFixed64(recipe.data() + 16);
  parts->context = DecodeFixed32(recipe.data() + 24);
  parts->encoding.interval = DecodeFixed32(recipe.data() + 28);
  *input = recipe;
  input->remove_prefix(kHeaderSize);
  const bool all =
      GetVarint64(input, &parts->numbers) && GetVarint64(input, &summary->entries) &&
      GetVarint64(input, &summary->references) && GetVarint64(input, &summary->literal_bytes) &&
      GetVarint64(input, &summary->blocks) && GetVarint64(input, &summary->compressed_blocks);
  return all ? s : Damaged("counts");
}

// Leaves what is behind the segments in *input.
Status DecodeSpace(const Slice& recipe, Slice* input, RecipeParts* parts) {
  *parts = RecipeParts();
  Status s = DecodeHeader(recipe, input, parts);
  if (!s.ok()) {
    return s;
  }
  std::vector<SegmentRange> ranges;
  const bool halves = (static_cast<uint8_t>(recipe[5]) & kHalves) != 0;
  return GetRanges(input, &ranges) && parts->space.Init(std::move(ranges), halves)
             ? s
             : Damaged("segments");
}

Status CheckNumbers(const RecipeParts& parts) {
  BitReader numbers(parts.packed, parts.space.width());
  const uint64_t literal = parts.space.literal();
  uint64_t references = 0;
  for (uint64_t i = 0; i < parts.numbers; ++i) {
    const uint64_t number = numbers.Get();
    if (number > literal) {
      return Damaged("number");
    }
    if (number < literal) {
      ++references;
    }
  }
  return references == parts.summary.references ? Status::OK() : Damaged("count of references");
}

}  // namespace

bool NumberSpace::Init(std::vector<SegmentRange> ranges, bool halves) {
  ranges_ = std::move(ranges);
  halves_ = halves;
  span_ = 0;
  for (auto& range : ranges_) {
    range.bias = span_;
    span_ += range.count;
    if (span_ < range.count || span_ >> 62 != 0) {
      return false;
    }
  }
  return true;
}

Reference NumberSpace::ReferenceOf(uint64_t number) const {
  Reference reference;
  reference.of_batch = number >= span_;
  if (reference.of_batch) {
    number -= span_;
  }
  // A search without branches: which one it is cannot be predicted.
  const SegmentRange* range = ranges_.data();
  for (size_t left = ranges_.size(); left > 1;) {
    const size_t half = left / 2;
    range += range[half].bias <= number ? half : 0;
    left -= half;
  }
  reference.segment = range->segment;
  reference.ordinal = static_cast<Ordinal>(range->first + (number - range->bias));
  return reference;
}

void EncodeRecipe(const RecipeParts& parts, std::string* recipe) {
  const RecipeSummary& summary = parts.summary;
  recipe->clear();
  recipe->reserve(256 + 16 * parts.space.ranges().size() + parts.packed.size() +
                  parts.operations.size());
  PutFixed32(recipe, 0);  // the checksum
  for (const uint32_t byte : {uint32_t{kRecipeVersion}, uint32_t{FlagsOf(parts)},
                              static_cast<uint32_t>(parts.checksum), parts.space.width()}) {
    recipe->push_back(static_cast<char>(byte));
  }
  PutFixed64(recipe, summary.size);
  PutFixed64(recipe, summary.checksum);
  PutFixed32(recipe, parts.context);
  PutFixed32(recipe, parts.encoding.interval);
  for (const uint64_t count :
       {parts.numbers, summary.entries, summary.references, summary.literal_bytes, summary.blocks,
        summary.compressed_blocks, static_cast<uint64_t>(parts.space.ranges().size())}) {
    PutVarint64(recipe, count);
  }
  uint64_t last = 0;
  for (const auto& range : parts.space.ranges()) {
    PutVarint64Varint64(recipe, range.segment - last, range.first);
    PutVarint64(recipe, range.count);
    last = range.segment;
  }
  recipe->append(parts.packed.data(), parts.packed.size());
  recipe->append(parts.operations.data(), parts.operations.size());
  EncodeFixed32(&(*recipe)[0], crc32c::Mask(crc32c::Value(recipe->data() + 4, recipe->size() - 4)));
}

Status DecodeRecipe(const Slice& recipe, RecipeParts* parts) {
  Slice input;
  Status s = DecodeSpace(recipe, &input, parts);
  if (!s.ok()) {
    return s;
  }
  const uint32_t width = parts->space.width();
  if (width != static_cast<uint8_t>(recipe[7])) {
    return Damaged("width of numbers");
  }
  if (parts->numbers != 0 && (width == 0 || parts->numbers > input.size() * 8 / width)) {
    return Damaged("numbers");
  }
  const uint64_t bytes = BytesFor(parts->numbers, width);
  parts->packed = Slice(input.data(), bytes);
  parts->operations = Slice(input.data() + bytes, input.size() - bytes);
  return CheckNumbers(*parts);
}

Status DecodeSegments(const Slice& recipe, std::vector<SegmentRange>* ranges) {
  RecipeParts parts;
  Slice input;
  Status s = DecodeSpace(recipe, &input, &parts);
  if (s.ok()) {
    *ranges = parts.space.ranges();
  }
  return s;
}

Status DecodeSummary(const Slice& recipe, RecipeSummary* summary) {
  RecipeParts parts;
  Slice input;
  Status s = DecodeHeader(recipe, &input, &parts);
  if (s.ok()) {
    *summary = parts.summary;
  }
  return s;
}

Status ForEachReference(const Slice& recipe, const std::function<void(const Reference&)>& visit) {
  RecipeParts parts;
  Status s = DecodeRecipe(recipe, &parts);
  if (!s.ok()) {
    return s;
  }
  BitReader numbers(parts.packed, parts.space.width());
  for (uint64_t i = 0; i < parts.numbers; ++i) {
    const uint64_t number = numbers.Get();
    if (number != parts.space.literal()) {
      visit(parts.space.ReferenceOf(number));
    }
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
