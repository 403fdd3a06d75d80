// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/blob/write_trace.h"

#include <cerrno>
#include <cstring>

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::Status;

Status WriteTrace::Open(const std::string& path, Phase phase, std::unique_ptr<WriteTrace>* result) {
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  if (file == nullptr) return Status::IOError(path, std::strerror(errno));
  result->reset(new WriteTrace(file, phase));
  return Status::OK();
}

WriteTrace::~WriteTrace() {
  if (file_ != nullptr) std::fclose(file_);
}

Status WriteTrace::Add(uint64_t record, size_t value_bytes) {
  const TracedWrite write = {record, static_cast<uint32_t>(value_bytes), phase_};
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::fwrite(&write, sizeof(write), 1, file_) == 1
             ? Status::OK()
             : Status::IOError("write trace", std::strerror(errno));
}

Status WriteTrace::Close() {
  const int result = std::fclose(file_);
  file_ = nullptr;
  return result == 0 ? Status::OK() : Status::IOError("write trace", std::strerror(errno));
}

}  // namespace rocktier_bench
