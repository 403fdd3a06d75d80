// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/block_trace.h"

#include <cstring>

#include "rocksdb/env.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::BlockCacheTraceRecord;
using ROCKSDB_NAMESPACE::BlockCacheTraceWriter;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::ReadFileToString;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableReaderCaller;
using ROCKSDB_NAMESPACE::TraceType;

namespace {

bool IsOfClient(const BlockCacheTraceRecord& record) {
  return record.block_type == TraceType::kBlockTraceDataBlock &&
         (record.caller == TableReaderCaller::kUserGet ||
          record.caller == TableReaderCaller::kUserMultiGet ||
          record.caller == TableReaderCaller::kUserIterator);
}

}  // namespace

// FNV-1a.
uint64_t BlockNumber(const Slice& key) {
  uint64_t hash = 14695981039346656037U;
  for (size_t i = 0; i < key.size(); ++i) {
    hash = (hash ^ static_cast<unsigned char>(key[i])) * 1099511628211U;
  }
  return hash;
}

Status BlockTraceWriter::Create(const std::string& path, std::atomic<uint64_t>* written,
                                std::unique_ptr<BlockCacheTraceWriter>* result) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Status::IOError(path, std::strerror(errno));
  result->reset(new BlockTraceWriter(file, written));
  return Status::OK();
}

BlockTraceWriter::~BlockTraceWriter() { std::fclose(file_); }

Status BlockTraceWriter::WriteBlockAccess(const BlockCacheTraceRecord& record,
                                          const Slice& block_key, const Slice& /*cf_name*/,
                                          const Slice& /*referenced_key*/) {
  if (!IsOfClient(record)) return Status::OK();
  const BlockAccess access = {BlockNumber(block_key), record.block_size};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (std::fwrite(&access, sizeof(access), 1, file_) != 1) {
    return Status::IOError("block trace", std::strerror(errno));
  }
  written_->fetch_add(1, std::memory_order_relaxed);
  return Status::OK();
}

Status ReadBlockTrace(const std::string& path, std::vector<BlockAccess>* accesses) {
  std::string bytes;
  Status s = ReadFileToString(Env::Default(), path, &bytes);
  if (!s.ok()) return s;
  if (bytes.size() % sizeof(BlockAccess) != 0) return Status::Corruption("ends early", path);
  accesses->resize(bytes.size() / sizeof(BlockAccess));
  std::memcpy(accesses->data(), bytes.data(), bytes.size());
  return s;
}

}  // namespace rocktier_bench
