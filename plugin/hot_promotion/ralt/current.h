// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "plugin/hot_promotion/ralt/thread.h"
#include "plugin/hot_promotion/ralt/version.h"
#include "util/mutexlock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The version that readers see. Thread-safe; readers in different threads hardly meet: each of a
// few slots has a pointer with a reference count of its own.
class Current {
 public:
  using Pointer = std::shared_ptr<const Version>;

  Current() { Set(std::make_shared<const Version>()); }

  Pointer Get() const {
    const Slot& slot = slots_[ThreadNumber() % kSlots];
    std::lock_guard<SpinMutex> guard(slot.mutex);
    return slot.version;
  }

  void Set(const Pointer& version) {
    for (Slot& slot : slots_) {
      const auto holder = std::make_shared<const Pointer>(version);
      Pointer next(holder, version.get());
      std::lock_guard<SpinMutex> guard(slot.mutex);
      slot.version.swap(next);
    }
  }

 private:
  static constexpr size_t kSlots = 16;

  struct alignas(64) Slot {
    mutable SpinMutex mutex;
    Pointer version;
  };

  Slot slots_[kSlots];
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
