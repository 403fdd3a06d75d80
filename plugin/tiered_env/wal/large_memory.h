// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

constexpr size_t kHugePage = size_t{2} << 20;  // bytes

struct FreeLarge {
  void operator()(char* memory) const { operator delete (memory, std::align_val_t{kHugePage}); }
};

// Memory of whole huge pages. Where the system has such pages it is mapped and cleared by them: a
// third of the CPU of small ones.
using LargeMemory = std::unique_ptr<char[], FreeLarge>;

// Returns memory of at least so many bytes.
inline LargeMemory AllocateLarge(size_t bytes) {
  bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  LargeMemory memory(static_cast<char*>(operator new (bytes, std::align_val_t{kHugePage})));
#ifdef MADV_HUGEPAGE
  madvise(memory.get(), bytes, MADV_HUGEPAGE);  // without it pages are small, and that is all
#endif
  return memory;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
