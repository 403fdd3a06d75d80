// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/advice.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "db/blob/blob_index.h"
#include "db/dbformat.h"
#include "plugin/blob_hybrid/inspect.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr size_t kMostSsts = 64;
constexpr uint64_t kMostRecords = 20000;  // of an SST
constexpr double kClassStep = 1.25;       // from one size to the next
constexpr double kRatios[] = {0.5, 0.4, 0.3, 0.2, 0.1, 0.05};
constexpr double kWorthwhile = 0.95;  // of the bytes written in place
constexpr double kNever = 1e18;       // bytes of a value

using Named = std::vector<std::pair<const char*, double>>;

Named FiguresOf(const Advice& advice) {
  return {
      {"sampled_records", static_cast<double>(advice.profile.sampled)},
      {"records", advice.profile.records},
      {"key_bytes", advice.profile.key_bytes},
      {"overwrite_share", advice.overwrites},
      {"medium_from", advice.thresholds.medium},
      {"large_from", advice.thresholds.large},
      {"small_share", advice.small_share},
      {"medium_share", advice.medium_share},
      {"large_share", advice.large_share},
      {"in_place_write_amplification", advice.in_place.write_amplification},
      {"in_place_space_amplification", advice.in_place.space_amplification},
      {"separated_write_amplification", advice.separated.write_amplification},
      {"separated_space_amplification", advice.separated.space_amplification},
      {"large_write_amplification", advice.large.write_amplification},
      {"large_space_amplification", advice.large.space_amplification},
      {"hybrid_write_amplification", advice.hybrid.write_amplification},
      {"hybrid_space_amplification", advice.hybrid.space_amplification},
      {"current_min_blob_size", static_cast<double>(advice.profile.cutoff)},
      {"min_blob_size", static_cast<double>(advice.min_blob_size)},
      {"gc_garbage_ratio", advice.gc_garbage_ratio},
      {"space_kept", advice.space_kept ? 1.0 : 0.0},
  };
}

std::string Text(double value) {
  char text[32];
  snprintf(text, sizeof(text), value == std::floor(value) ? "%.0f" : "%.2f", value);
  return text;
}

// Tells the bytes of a value that is in place or in a blob file; false for entries that have none.
bool ValueSize(const Slice& internal_key, const Slice& value, uint64_t* bytes) {
  switch (ExtractValueType(internal_key)) {
    case kTypeValue:
    case kTypeMerge:
    case kTypeWideColumnEntity:
      *bytes = value.size();
      return true;
    case kTypeBlobIndex: {
      BlobIndex index;
      if (!index.DecodeFrom(value).ok() || index.IsInlined()) {
        return false;
      }
      *bytes = index.size();
      return true;
    }
    default:
      return false;
  }
}

// Adds up records by size of the value.
class Sampler {
 public:
  Status Read(const Options& options, const std::string& path);
  void MoveTo(Profile* profile) const;

 private:
  std::map<int, SizeClass> classes_;
  uint64_t records_ = 0;
  double key_bytes_ = 0;
};

Status Sampler::Read(const Options& options, const std::string& path) {
  SstFileReader reader(options);
  Status s = reader.Open(path);
  if (!s.ok()) {
    return s;
  }
  const std::unique_ptr<Iterator> it = reader.NewTableIterator();
  uint64_t left = kMostRecords;
  for (it->SeekToFirst(); it->Valid() && left > 0; it->Next(), left--) {
    uint64_t bytes = 0;
    if (!ValueSize(it->key(), it->value(), &bytes)) {
      continue;
    }
    const auto value = static_cast<double>(bytes);
    SizeClass& each = classes_[static_cast<int>(std::log(value + 1) / std::log(kClassStep))];
    const auto key = static_cast<double>(ExtractUserKey(it->key()).size());
    each.count++;
    each.key_bytes += key;
    each.value_bytes += value;
    records_++;
    key_bytes_ += key;
  }
  return it->status();
}

void Sampler::MoveTo(Profile* profile) const {
  profile->sampled = records_;
  if (records_ == 0) {
    return;
  }
  const auto sampled = static_cast<double>(records_);
  profile->key_bytes = key_bytes_ / sampled;
  const double scale = profile->records / sampled;
  for (const auto& [size, each] : classes_) {
    profile->classes.push_back(
        {each.count * scale, each.key_bytes * scale, each.value_bytes * scale});
  }
}

// Picks the SSTs to read: so many at most, from all levels alike.
std::vector<std::string> PickSsts(const ColumnFamilyMetaData& meta) {
  std::vector<std::string> all;
  for (const LevelMetaData& level : meta.levels) {
    for (const SstFileMetaData& sst : level.files) {
      all.push_back(sst.directory + "/" + sst.relative_filename);
    }
  }
  std::vector<std::string> picked;
  const size_t count = std::min(all.size(), kMostSsts);
  for (size_t i = 0; i < count; i++) {
    picked.push_back(all[i * all.size() / count]);
  }
  return picked;
}

Status Look(const Options& options, DB* db, ColumnFamilyHandle* family, Profile* profile) {
  uint64_t keys = 0;
  if (db->GetIntProperty(family, DB::Properties::kEstimateNumKeys, &keys)) {
    profile->records = static_cast<double>(keys);
  }
  profile->tree.growth = options.max_bytes_for_level_multiplier;
  profile->tree.memory_bytes =
      static_cast<double>(std::max<uint64_t>(options.write_buffer_size, 1));
  profile->cutoff = options.enable_blob_files ? options.min_blob_size : 0;
  ColumnFamilyMetaData meta;
  db->GetColumnFamilyMetaData(family, &meta);
  Sampler sampler;
  Status s;
  for (const std::string& path : PickSsts(meta)) {
    s = s.ok() ? sampler.Read(options, path) : s;
  }
  sampler.MoveTo(profile);
  return s;
}

void SetShares(Advice* advice) {
  double all = 0;
  double medium = 0;
  double large = 0;
  for (const SizeClass& each : advice->profile.classes) {
    const double bytes = each.key_bytes + each.value_bytes;
    const double value = each.value_bytes / each.count;
    all += bytes;
    if (value >= advice->thresholds.large) {
      large += bytes;
    } else if (value >= advice->thresholds.medium) {
      medium += bytes;
    }
  }
  if (all > 0) {
    advice->medium_share = medium / all;
    advice->large_share = large / all;
    advice->small_share = 1 - advice->medium_share - advice->large_share;
  }
}

}  // namespace

std::string Advice::ToString() const {
  std::string text;
  for (const auto& [name, value] : FiguresOf(*this)) {
    text += std::string(name) + ": " + Text(value) + "\n";
  }
  return text;
}

std::string Advice::ToJson() const {
  std::string text;
  for (const auto& [name, value] : FiguresOf(*this)) {
    text += (text.empty() ? "{\"" : ",\"") + std::string(name) + "\":" + Text(value);
  }
  return text + "}";
}

Advice Advise(Profile profile, double overwrites, double max_space) {
  Advice advice;
  advice.profile = std::move(profile);
  advice.overwrites = overwrites;
  advice.thresholds = PaperThresholds(advice.profile.key_bytes);
  SetShares(&advice);
  const Tree& tree = advice.profile.tree;
  const auto& classes = advice.profile.classes;
  advice.in_place = Predict(tree, classes, {kNever, kNever}, overwrites, 1);
  // Most garbage that keeps to the space; if none does, least.
  for (const double ratio : kRatios) {
    advice.gc_garbage_ratio = ratio;
    advice.hybrid = Predict(tree, classes, advice.thresholds, overwrites, ratio);
    advice.separated = Predict(tree, classes, {0, 0}, overwrites, ratio);
    advice.large = Predict(tree, classes, {advice.thresholds.large, advice.thresholds.large},
                           overwrites, ratio);
    if (advice.large.space_amplification <= max_space) {
      break;
    }
  }
  const bool large_fits = advice.large.space_amplification <= max_space;
  const bool in_place_fits = advice.in_place.space_amplification <= max_space;
  const bool use =
      advice.large.write_amplification < advice.in_place.write_amplification * kWorthwhile &&
      (large_fits || !in_place_fits);
  if (use) {
    advice.min_blob_size = static_cast<uint64_t>(advice.thresholds.large);
  } else {
    advice.gc_garbage_ratio = 0;
  }
  advice.space_kept = use ? large_fits : in_place_fits;
  return advice;
}

Status AdviseDatabase(const std::string& path, double max_space,
                      std::map<std::string, Advice>* families) {
  families->clear();
  std::map<std::string, Profile> profiles;
  double keys = 0;
  double writes = 0;
  const Status s =
      LookAtFamilies(path, [&](const Options& options, DB* db, ColumnFamilyHandle* family) {
        Profile& profile = profiles[family->GetName()];
        const Status looked = Look(options, db, family, &profile);
        keys += profile.records;
        writes = static_cast<double>(db->GetLatestSequenceNumber());
        return looked;
      });
  const double overwrites = writes == 0 ? 0 : std::max(0.0, 1 - keys / writes);
  for (auto& [name, profile] : profiles) {
    (*families)[name] = Advise(std::move(profile), overwrites, max_space);
  }
  return s;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
