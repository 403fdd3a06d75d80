// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Counts what is allocated by operator new within a Bound.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "test/fuzz/target.h"

namespace rocktier {

namespace {

constexpr size_t kNone = SIZE_MAX;
thread_local size_t left = kNone;

void Count(size_t size) {
  if (left == kNone) {
    return;
  }
  if (size > left) {
    const size_t was = left;
    left = kNone;
    fprintf(stderr, "wrong: %zu bytes are asked for where no more than %zu are due\n", size, was);
    abort();
  }
  left -= size;
}

void* Allocate(size_t size, size_t alignment) {
  Count(size);
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = malloc(std::max<size_t>(size, 1));
  } else if (posix_memalign(&memory, alignment, size) != 0) {
    memory = nullptr;
  }
  if (memory == nullptr) {
    fprintf(stderr, "wrong: %zu bytes are asked for\n", size);
    abort();
  }
  return memory;
}

}  // namespace

Bound::Bound(size_t bytes) { left = bytes; }
Bound::~Bound() { left = kNone; }

}  // namespace rocktier

using rocktier::Allocate;

void* operator new(size_t size) { return Allocate(size, 1); }
void* operator new[](size_t size) { return Allocate(size, 1); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, 1); }
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { free(memory); }
