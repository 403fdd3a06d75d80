// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// An array that grows and shrinks at its end by small chunks: nothing is copied, and little memory
// is taken before it is needed. New elements are zero. Not thread-safe.
template <typename T>
class ChunkedArray {
  static_assert(std::is_trivially_copyable<T>::value, "elements are plain");

 public:
  T& operator[](size_t i) { return chunks_[i / kElements][i % kElements]; }
  const T& operator[](size_t i) const { return chunks_[i / kElements][i % kElements]; }
  size_t size() const { return size_; }

  void Resize(size_t size) {
    const size_t chunks = (size + kElements - 1) / kElements;
    while (chunks_.size() < chunks) {
      chunks_.push_back(std::make_unique<T[]>(kElements));
    }
    for (size_t i = size; i < size_ && i < chunks * kElements; i++) {
      (*this)[i] = T();
    }
    if (chunks_.size() > chunks) {
      chunks_.resize(chunks);
      chunks_.shrink_to_fit();
    }
    size_ = size;
  }

  // Bytes, with those that the allocator needs for itself.
  size_t MemoryUsage() const {
    return chunks_.size() * (kElements * sizeof(T) + 2 * sizeof(size_t)) +
           chunks_.capacity() * sizeof(void*);
  }

 private:
  static constexpr size_t Elements() {
    size_t elements = 1;
    while (elements * 2 * sizeof(T) <= 1024) {
      elements *= 2;
    }
    return elements;
  }
  static constexpr size_t kElements = Elements();  // of a chunk

  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
