// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdarg>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A database's LOG, which others write to as well. RocksDB closes it when it begins a new one;
// after that nobody must write to it. Thread-safe.
class SharedLogger : public Logger {
 public:
  explicit SharedLogger(std::shared_ptr<Logger> target)
      : Logger(target->GetInfoLogLevel()), target_(std::move(target)) {}
  ~SharedLogger() override { Close().PermitUncheckedError(); }

  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    if (target_ != nullptr) {
      target_->Logv(format, arguments);
    }
  }
  void Flush() override {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    if (target_ != nullptr) {
      target_->Flush();
    }
  }
  size_t GetLogFileSize() const override {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    return target_ != nullptr ? target_->GetLogFileSize() : 0;
  }

 protected:
  Status CloseImpl() override {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    Status s;
    if (target_ != nullptr) {
      s = target_->Close();
      target_.reset();
    }
    return s;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::shared_ptr<Logger> target_;  // null once it is closed; guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
