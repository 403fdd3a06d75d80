// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Has one object for each name in the process, as long as anybody has it. No lock is held while an
// object is made or closed: that takes I/O, which only those who want an object of this name wait
// for. Thread-safe.
template <typename T>
class Registry {
 public:
  using Make = std::function<std::unique_ptr<T>()>;

  // The object of that name, made if there is none. One that is being made or closed is waited for.
  std::shared_ptr<T> Get(const std::string& name, const Make& make) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const auto it = objects_.find(name);
      if (it == objects_.end()) {
        break;
      }
      if (auto object = it->second.lock()) {
        return object;
      }
      changed_.wait(lock);
    }
    objects_.emplace(name, std::weak_ptr<T>());
    lock.unlock();
    std::shared_ptr<T> result(make().release(), [this, name](T* object) { Close(name, object); });
    lock.lock();
    objects_[name] = result;
    changed_.notify_all();
    return result;
  }

  // All objects that somebody has. Waits for nothing, as does Find().
  std::vector<std::shared_ptr<T>> All() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (const auto& entry : objects_) {
      if (auto object = entry.second.lock()) {
        all.push_back(std::move(object));
      }
    }
    return all;
  }

  // The object of that name, or null; also if it is being made.
  std::shared_ptr<T> Find(const std::string& name) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = objects_.find(name);
    return it == objects_.end() ? nullptr : it->second.lock();
  }

 private:
  void Close(const std::string& name, T* object) {
    delete object;
    std::lock_guard<std::mutex> lock(mutex_);
    objects_.erase(name);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::weak_ptr<T>> objects_;  // null: is being made or closed
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
