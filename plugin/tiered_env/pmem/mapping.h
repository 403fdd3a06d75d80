// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Mapped parts of files. This is the only place that knows libpmem.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Whether the build has libpmem. Without it nothing is mapped for writing.
bool HaveLibpmem();

// A part of a file in memory, shared with all that have mapped it. Threads may write to different
// bytes at once.
class Mapping {
 public:
  // `offset` is a multiple of the page size. What is beyond the file's end must not be touched.
  static IOStatus Map(int fd, const std::string& path, uint64_t offset, size_t size, bool writable,
                      std::unique_ptr<Mapping>* result);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  char* data() const { return data_; }
  size_t size() const { return size_; }

  // True: what was copied and drained, or persisted, is durable. False: only fdatasync() makes it
  // so.
  bool pmem() const { return pmem_; }

  // Past the processor's caches; durable after Drain().
  void Copy(size_t at, const char* from, size_t n) const;
  void Drain() const;

  // Writes the cache lines back and waits for it.
  void Persist(size_t at, size_t n) const;

  // A word of 8 bytes at a multiple of 8, written and read at once. What was written before it by
  // this thread is seen by all that see the word.
  void StoreWord(size_t at, uint64_t word) const;
  uint64_t LoadWord(size_t at) const;

 private:
  Mapping(char* data, size_t size, bool pmem) : data_(data), size_(size), pmem_(pmem) {}

  char* const data_;
  const size_t size_;
  const bool pmem_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
