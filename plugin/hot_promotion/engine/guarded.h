// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "rocksdb/rocksdb_namespace.h"
#include "util/core_local.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Guards an object that any number of threads use, and that one thread takes away: it waits for
// those that use it. A user takes no lock, and writes to a cache line of its core only.
template <typename T>
class Guarded {
 private:
  struct alignas(64) Users {
    std::atomic<uint64_t> count{0};
  };

 public:
  Guarded() = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { delete object_.load(); }

  // Keeps the object, if there is one, as long as it lives.
  class Use {
   public:
    explicit Use(const Guarded& guarded) : users_(guarded.users_.Access()) {
      // Counts before the look at the object, as Take() looks at the count after its change.
      users_->count.fetch_add(1);
      object_ = guarded.object_.load();
    }
    ~Use() { users_->count.fetch_sub(1, std::memory_order_release); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    T* get() const { return object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

   private:
    Users* const users_;
    T* object_;
  };

  // Returns the object, which is there until Take() only. Nobody waits for whoever uses this
  // pointer.
  T* get() const { return object_.load(std::memory_order_relaxed); }

  // Sets the object. There must be none.
  void Set(std::unique_ptr<T> object) { object_.store(object.release()); }

  // Takes the object away once nobody uses it.
  std::unique_ptr<T> Take() {
    std::unique_ptr<T> object(object_.exchange(nullptr));
    for (size_t i = 0; i < users_.Size(); i++) {
      while (users_.AccessAtCore(i)->count.load() != 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
    return object;
  }

 private:
  std::atomic<T*> object_{nullptr};
  CoreLocalArray<Users> users_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
