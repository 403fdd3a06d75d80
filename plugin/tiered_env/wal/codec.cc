// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Blocks are compressed as RocksDB does it for its tables: the bytes are the same in all of its
// versions.

#include "plugin/tiered_env/wal/codec.h"

#include "plugin/tiered_env/compat.h"
#include "util/coding.h"
#include "util/compression.h"

#ifdef TIERED_HAS_COMPRESSION_MANAGER
#include "rocksdb/advanced_compression.h"
#endif

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// The codecs have lengths of 31 bits.
constexpr size_t kMostCompressed = size_t{1} << 30;

#ifndef TIERED_HAS_COMPRESSION_MANAGER
constexpr uint32_t kSizeIsVarint = 2;  // of RocksDB's formats of compressed blocks
#endif

}  // namespace

bool IsCodec(CompressionType codec) {
  return codec == kNoCompression || codec == kLZ4Compression || codec == kZSTD;
}

const char* NameOf(CompressionType codec) {
  switch (codec) {
    case kNoCompression:
      return "none";
    case kLZ4Compression:
      return "lz4";
    case kZSTD:
      return "zstd";
    default:
      return "unknown";
  }
}

bool HasCodec(CompressionType codec) { return CompressionTypeSupported(codec); }

#ifdef TIERED_HAS_COMPRESSION_MANAGER

struct Compressing::State {
  explicit State(CompressionType codec)
      : compressor(GetBuiltinV2CompressionManager()->GetCompressor(CompressionOptions(), codec)) {
    if (compressor != nullptr) {
      area = compressor->ObtainWorkingArea();
    }
  }

  bool Compress(const Slice& raw, std::string* stored) {
    if (compressor == nullptr) {
      return false;
    }
    stored->resize(raw.size());
    size_t size = raw.size();
    CompressionType made = kNoCompression;
    const Status s = compressor->CompressBlock(raw, stored->data(), &size, &made, &area);
    if (!s.ok() || made == kNoCompression) {
      return false;
    }
    stored->resize(size);
    return true;
  }

  const std::unique_ptr<Compressor> compressor;
  Compressor::ManagedWorkingArea area;
};

bool Uncompress(CompressionType codec, const Slice& stored, size_t raw_size, std::string* raw) {
  const std::shared_ptr<Decompressor> decompressor =
      GetBuiltinV2CompressionManager()->GetDecompressor();
  Decompressor::Args args;
  args.compression_type = codec;
  args.compressed_data = stored;
  Status s = decompressor->ExtractUncompressedSize(args);
  if (!s.ok() || args.uncompressed_size != raw_size) {
    return false;
  }
  raw->resize(raw_size);
  s = decompressor->DecompressBlock(args, raw->data());
  return s.ok();
}

#else

struct Compressing::State {
  explicit State(CompressionType type) : codec(type), context(type, options) {}

  bool Compress(const Slice& raw, std::string* stored) {
    const CompressionInfo info(options, context, CompressionDict::GetEmptyDict(), codec,
                               /*_sample_for_compression=*/0);
    stored->clear();
    return CompressData(raw, info, kSizeIsVarint, stored);
  }

  const CompressionType codec;
  const CompressionOptions options;
  const CompressionContext context;
};

bool Uncompress(CompressionType codec, const Slice& stored, size_t raw_size, std::string* raw) {
  Slice rest = stored;
  uint32_t size = 0;
  if (!GetVarint32(&rest, &size) || size != raw_size) {
    return false;
  }
  const UncompressionContext context(codec);
  const UncompressionInfo info(context, UncompressionDict::GetEmptyDict(), codec);
  size_t got = 0;
  const CacheAllocationPtr bytes =
      UncompressData(info, stored.data(), stored.size(), &got, kSizeIsVarint);
  if (bytes == nullptr || got != raw_size) {
    return false;
  }
  raw->assign(bytes.get(), got);
  return true;
}

#endif

Compressing::Compressing(CompressionType codec)
    : state_(codec == kNoCompression ? nullptr : std::make_unique<State>(codec)) {}

Compressing::~Compressing() = default;

bool Compressing::Compress(const Slice& raw, std::string* stored) {
  return state_ != nullptr && raw.size() <= kMostCompressed && state_->Compress(raw, stored) &&
         stored->size() < raw.size();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
