// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <memory>

#include "env/composite_env_wrapper.h"
#include "plugin/hot_promotion/store/unsynced.h"
#include "util/threadpool_imp.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The Env of the hot store: the default Env without syncs and with threads of its own. The store
// must make progress while all threads of the default Env compact the databases that wait for it.
class StoreEnv : public CompositeEnvWrapper {
 public:
  StoreEnv()
      : CompositeEnvWrapper(Env::Default(),
                            std::make_shared<UnsyncedFileSystem>(FileSystem::Default())) {
    for (int i = 0; i < Env::TOTAL; i++) {
      pools_[i].SetThreadPriority(static_cast<Env::Priority>(i));
      pools_[i].SetHostEnv(this);
    }
  }
  ~StoreEnv() override {
    for (ThreadPoolImpl& pool : pools_) {
      pool.JoinAllThreads();
    }
  }

  static const char* kClassName() { return "HotPromotionEnv"; }
  const char* Name() const override { return kClassName(); }

  // See UnsyncedFileSystem.
  bool unsized() const {
    return static_cast<const UnsyncedFileSystem*>(GetFileSystem().get())->unsized();
  }

  void Schedule(void (*function)(void*), void* arg, Priority priority, void* tag,
                void (*unschedule)(void*)) override {
    pools_[priority].Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority priority) override { return pools_[priority].UnSchedule(tag); }
  unsigned int GetThreadPoolQueueLen(Priority priority) const override {
    return pools_[priority].GetQueueLen();
  }
  int ReserveThreads(int count, Priority priority) override {
    return pools_[priority].ReserveThreads(count);
  }
  int ReleaseThreads(int count, Priority priority) override {
    return pools_[priority].ReleaseThreads(count);
  }
  void SetBackgroundThreads(int count, Priority priority) override {
    pools_[priority].SetBackgroundThreads(count);
  }
  int GetBackgroundThreads(Priority priority) override {
    return pools_[priority].GetBackgroundThreads();
  }
  void IncBackgroundThreadsIfNeeded(int count, Priority priority) override {
    pools_[priority].IncBackgroundThreadsIfNeeded(count);
  }
  void LowerThreadPoolIOPriority(Priority priority) override { pools_[priority].LowerIOPriority(); }
  using CompositeEnvWrapper::LowerThreadPoolCPUPriority;
  Status LowerThreadPoolCPUPriority(Priority priority, CpuPriority cpu) override {
    pools_[priority].LowerCPUPriority(cpu);
    return Status::OK();
  }

 private:
  std::array<ThreadPoolImpl, Env::TOTAL> pools_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
