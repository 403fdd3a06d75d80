// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/codec.h"

#include <climits>
#include <new>

#ifdef LZ4
#include <lz4.h>
#endif
#ifdef ZSTD
#include <zstd.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

bool CodecSupported(CompressionType type) {
  switch (type) {
    case kNoCompression:
      return true;
#ifdef LZ4
    case kLZ4Compression:
      return true;
#endif
#ifdef ZSTD
    case kZSTD:
      return true;
#endif
    default:
      return false;
  }
}

bool Compress(CompressionType type, const Slice& raw, std::string* compressed) {
  const size_t limit = raw.size() - raw.size() / 8;
  if (raw.size() < 8 || raw.size() > INT_MAX) {
    return false;
  }
  compressed->resize(limit);
  size_t size = 0;
#ifdef LZ4
  if (type == kLZ4Compression) {
    const int n = LZ4_compress_default(raw.data(), compressed->data(), static_cast<int>(raw.size()),
                                       static_cast<int>(limit));
    size = n > 0 ? static_cast<size_t>(n) : 0;
  }
#endif
#ifdef ZSTD
  if (type == kZSTD) {
    const size_t n = ZSTD_compress(compressed->data(), limit, raw.data(), raw.size(), /*level=*/1);
    size = ZSTD_isError(n) ? 0 : n;
  }
#endif
  (void)type;
  compressed->resize(size);
  return size > 0;
}

std::unique_ptr<char[]> Decompress(CompressionType type, const Slice& compressed, size_t raw_size) {
  if (raw_size > INT_MAX || compressed.size() > INT_MAX) {
    return nullptr;
  }
  // The size comes from the cache file, and may be more memory than there is.
  std::unique_ptr<char[]> raw(new (std::nothrow) char[raw_size]);
  if (raw == nullptr) {
    return nullptr;
  }
#ifdef LZ4
  if (type == kLZ4Compression) {
    const int n =
        LZ4_decompress_safe(compressed.data(), raw.get(), static_cast<int>(compressed.size()),
                            static_cast<int>(raw_size));
    return n >= 0 && static_cast<size_t>(n) == raw_size ? std::move(raw) : nullptr;
  }
#endif
#ifdef ZSTD
  if (type == kZSTD) {
    const size_t n = ZSTD_decompress(raw.get(), raw_size, compressed.data(), compressed.size());
    return !ZSTD_isError(n) && n == raw_size ? std::move(raw) : nullptr;
  }
#endif
  (void)type;
  (void)compressed;
  return nullptr;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
