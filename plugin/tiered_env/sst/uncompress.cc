// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/sst/uncompress.h"

#include "plugin/tiered_env/compat.h"
#include "util/compression.h"

#ifdef TIERED_HAS_COMPRESSION_MANAGER
#include "rocksdb/advanced_compression.h"
#endif

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

#ifdef TIERED_HAS_COMPRESSION_MANAGER
Status Decompress(CompressionType type, const Slice& data, std::string* result) {
  const auto decompressor = GetBuiltinV2CompressionManager()->GetDecompressor();
  Decompressor::Args args;
  args.compression_type = type;
  args.compressed_data = data;
  Status s = decompressor->ExtractUncompressedSize(args);
  if (!s.ok()) {
    return s;
  }
  result->resize(args.uncompressed_size);
  return decompressor->DecompressBlock(args, &(*result)[0]);
}
#else
Status Decompress(CompressionType type, const Slice& data, std::string* result) {
  UncompressionContext context(type);
  UncompressionInfo info(context, UncompressionDict::GetEmptyDict(), type);
  size_t size = 0;
  CacheAllocationPtr bytes =
      UncompressData(info, data.data(), data.size(), &size, /*compress_format_version=*/2);
  if (!bytes) {
    return Status::Corruption("tiered_env: damaged compressed block",
                              CompressionTypeToString(type));
  }
  result->assign(bytes.get(), size);
  return Status::OK();
}
#endif

}  // namespace

Status UncompressBlock(CompressionType type, const Slice& data, std::string* result) {
  if (type == kNoCompression) {
    result->assign(data.data(), data.size());
    return Status::OK();
  }
  if (type > kZSTD || !CompressionTypeSupported(type)) {
    return Status::NotSupported(
        "tiered_env: block compressed by a method that this RocksDB does not have",
        std::to_string(static_cast<int>(type)));
  }
  return Decompress(type, data, result);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
