// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/version.h"

#include <algorithm>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

Amounts Part::Total() const {
  const Digest& digest = file->digest();
  return begin == file->first() ? digest.total : digest.From(begin);
}

Run::Run(uint64_t id, std::vector<Part> parts) : id_(id), parts_(std::move(parts)) {
  for (const Part& part : parts_) {
    total_.Add(part.Total());
    file_bytes_ += part.file->file_size();
  }
}

std::vector<Part>::const_iterator Run::PartOf(const Slice& key) const {
  return std::lower_bound(parts_.begin(), parts_.end(), key, [](const Part& part, const Slice& k) {
    return Slice(part.file->last()).compare(k) < 0;
  });
}

bool Run::MayBeHot(const Slice& key, uint64_t hash) const {
  const auto part = PartOf(key);
  return part != parts_.end() && key.compare(part->begin) >= 0 && part->file->MayBeHot(hash);
}

std::vector<Part> Run::After(const Slice& last) const {
  const std::string next = last.ToString() + '\0';
  std::vector<Part> rest(PartOf(next), parts_.end());
  if (!rest.empty()) {
    rest.front().begin = std::max(rest.front().begin, next);
  }
  return rest;
}

bool MayBeHot(const Runs& runs, const Slice& key, uint64_t hash) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const RunPtr& run) { return run->MayBeHot(key, hash); });
}

Amounts Version::Total() const {
  Amounts total;
  for (const RunPtr& run : runs) {
    total.Add(run->total());
  }
  return total;
}

uint64_t Version::FileBytes() const {
  uint64_t bytes = 0;
  for (const RunPtr& run : runs) {
    bytes += run->file_bytes();
  }
  return bytes;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
