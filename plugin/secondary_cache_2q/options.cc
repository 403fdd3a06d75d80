// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/options.h"

#include <cstddef>
#include <map>

#include "plugin/secondary_cache_2q/codec.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

using Options = TwoQSecondaryCacheOptions;

constexpr uint64_t kMostMetricsInterval = 24 * 60 * 60;  // seconds
constexpr char kMetricsEnd[] = ".prom";
constexpr size_t kMinDram = 64 << 10;
constexpr size_t kMinFile = 4 << 20;
constexpr size_t kMaxFile = size_t{8} << 40;
constexpr size_t kMinWriteBuffer = 64 << 10;
constexpr size_t kMinShardDram = 512 << 10;
constexpr size_t kMinShardFile = 4 << 20;
constexpr size_t kMaxShardFile = size_t{256} << 30;  // kMostShardUnits of 512 bytes
constexpr int kDefaultShardBits = 4;
constexpr int kMaxShardBits = 12;

const std::map<std::string, Policy>& Policies() {
  static const std::map<std::string, Policy> names = {
      {"2q", Policy::k2Q}, {"2q_paper", Policy::k2QPaper}, {"lru", Policy::kLru}};
  return names;
}

const std::map<std::string, Storage>& Storages() {
  static const std::map<std::string, Storage> names = {{"dram", Storage::kDram},
                                                       {"file", Storage::kFile}};
  return names;
}

const std::map<std::string, Io>& Ios() {
  static const std::map<std::string, Io> names = {
      {"auto", Io::kAuto}, {"uring", Io::kUring}, {"pread", Io::kPread}, {"pmem", Io::kPmem}};
  return names;
}

// An enum option whose parse error names the option and the values it takes.
template <typename T>
OptionTypeInfo Named(int offset, const std::map<std::string, T>& (*names)()) {
  OptionTypeInfo info(offset, OptionType::kEnum);
  info.SetParseFunc([names](const ConfigOptions&, const std::string& name, const std::string& value,
                            void* address) {
    const auto it = names().find(value);
    if (it != names().end()) {
      *static_cast<T*>(address) = it->second;
      return Status::OK();
    }
    std::string known;
    for (const auto& [text, unused] : names()) {
      known += (known.empty() ? "" : ", ") + text;
    }
    return Status::InvalidArgument("TwoQSecondaryCache: " + name + "=" + value,
                                   "not one of: " + known);
  });
  info.SetSerializeFunc(
      [names](const ConfigOptions&, const std::string&, const void* address, std::string* value) {
        for (const auto& [text, known] : names()) {
          if (known == *static_cast<const T*>(address)) {
            *value = text;
          }
        }
        return Status::OK();
      });
  info.SetEqualsFunc(
      [](const ConfigOptions&, const std::string&, const void* a, const void* b, std::string*) {
        return *static_cast<const T*>(a) == *static_cast<const T*>(b);
      });
  return info;
}

Status Invalid(const std::string& option, const std::string& reason) {
  return Status::InvalidArgument("TwoQSecondaryCache: " + option, reason);
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"capacity", {offsetof(Options, capacity), OptionType::kSizeT}},
      {"policy", Named(offsetof(Options, policy), &Policies)},
      {"ghost_ratio", {offsetof(Options, ghost_ratio), OptionType::kDouble}},
      {"exclusive", {offsetof(Options, exclusive), OptionType::kBoolean}},
      {"num_shard_bits", {offsetof(Options, num_shard_bits), OptionType::kInt}},
      {"compression", {offsetof(Options, compression), OptionType::kString}},
      {"storage", Named(offsetof(Options, storage), &Storages)},
      {"path", {offsetof(Options, path), OptionType::kString}},
      {"io", Named(offsetof(Options, io), &Ios)},
      {"carry", {offsetof(Options, carry), OptionType::kBoolean}},
      {"direct_io", {offsetof(Options, direct_io), OptionType::kBoolean}},
      {"metrics_interval", {offsetof(Options, metrics_interval), OptionType::kUInt64T}},
      {"metrics_file", {offsetof(Options, metrics_file), OptionType::kString}},
      {"write_buffer_size", {offsetof(Options, write_buffer_size), OptionType::kSizeT}},
  };
  return types;
}

Status Validate(const Options& options) {
  const bool file = options.storage == Storage::kFile;
  const size_t minimum = file ? kMinFile : kMinDram;
  if (options.capacity == 0) {
    return Invalid("capacity", "is required and must not be 0");
  }
  if (options.capacity < minimum) {
    return Invalid("capacity=" + std::to_string(options.capacity),
                   "must be at least " + std::to_string(minimum) + " bytes");
  }
  if (file && options.capacity > kMaxFile) {
    return Invalid("capacity=" + std::to_string(options.capacity),
                   "must be at most " + std::to_string(kMaxFile) + " bytes with storage=file");
  }
  if (options.ghost_ratio != -1 && !(options.ghost_ratio >= 0 && options.ghost_ratio <= 16)) {
    return Invalid("ghost_ratio=" + std::to_string(options.ghost_ratio),
                   "must be from 0 to 16, or -1");
  }
  if (options.num_shard_bits < -1 || options.num_shard_bits > kMaxShardBits) {
    return Invalid("num_shard_bits=" + std::to_string(options.num_shard_bits),
                   "must be from 0 to 12, or -1");
  }
  const CompressionType compression = CompressionOf(options);
  if (compression == kDisableCompressionOption) {
    return Invalid("compression=" + options.compression, "not one of: none, lz4, zstd");
  }
  if (!CodecSupported(compression)) {
    return Invalid("compression=" + options.compression, "RocksDB was built without it");
  }
  if (file && options.path.empty()) {
    return Invalid("path", "is required with storage=file");
  }
  if (!file && !options.path.empty()) {
    return Invalid("path=" + options.path, "needs storage=file");
  }
  if (file && options.write_buffer_size < kMinWriteBuffer) {
    return Invalid("write_buffer_size=" + std::to_string(options.write_buffer_size),
                   "must be at least " + std::to_string(kMinWriteBuffer) + " bytes");
  }
  if (options.metrics_interval > kMostMetricsInterval) {
    return Invalid("metrics_interval=" + std::to_string(options.metrics_interval),
                   "must be at most 86400 seconds");
  }
  const std::string& metrics = options.metrics_file;
  if (!metrics.empty() && (metrics[0] != '/' || !Slice(metrics).ends_with(kMetricsEnd))) {
    return Invalid("metrics_file=" + metrics, "must be absolute, and end in .prom");
  }
  const size_t per_shard = options.capacity >> ShardBits(options);
  if (per_shard < 4096) {
    return Invalid("num_shard_bits=" + std::to_string(options.num_shard_bits),
                   "leaves less than 4096 bytes per shard");
  }
  if (file && per_shard > kMaxShardFile) {
    return Invalid("num_shard_bits=" + std::to_string(options.num_shard_bits),
                   "leaves more than 256G per shard");
  }
  return Status::OK();
}

int ShardBits(const Options& options) {
  if (options.num_shard_bits >= 0) {
    return options.num_shard_bits;
  }
  const size_t minimum = options.storage == Storage::kFile ? kMinShardFile : kMinShardDram;
  int bits = kDefaultShardBits;
  while (bits > 0 && options.capacity >> bits < minimum) {
    bits--;
  }
  while (options.storage == Storage::kFile && options.capacity >> bits > kMaxShardFile) {
    bits++;
  }
  return bits;
}

CompressionType CompressionOf(const Options& options) {
  if (options.compression == "none") {
    return kNoCompression;
  }
  if (options.compression == "lz4") {
    return kLZ4Compression;
  }
  return options.compression == "zstd" ? kZSTD : kDisableCompressionOption;
}

bool SameButCapacity(const Options& a, const Options& b) {
  return a.policy == b.policy && a.ghost_ratio == b.ghost_ratio && a.exclusive == b.exclusive &&
         a.num_shard_bits == b.num_shard_bits && a.compression == b.compression &&
         a.storage == b.storage && a.path == b.path && a.io == b.io && a.direct_io == b.direct_io &&
         a.write_buffer_size == b.write_buffer_size && a.carry == b.carry &&
         a.metrics_interval == b.metrics_interval && a.metrics_file == b.metrics_file;
}

std::string FirstChange(const Options& a, const Options& b) {
  Options same = b;
  same.capacity = a.capacity;
  std::string name;
  OptionTypeInfo::TypesAreEqual(ConfigOptions(), OptionTypes(), &a, &same, &name);
  return name;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
