// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/device_thread.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

struct DeviceThread::State {
  explicit State(Device* written) : device(written) {}

  Device* const device;
  std::mutex mutex;
  std::condition_variable begun;
  std::condition_variable ended;
  // All below: guarded by mutex.
  bool has_work = false;
  bool stop = false;
  DeviceWork work;
  IOStatus result;
  std::shared_ptr<void> keep;
  Buffer buffer;
};

DeviceThread::DeviceThread(Device* device)
    : state_(std::make_shared<State>(device)), thread_(Loop, state_) {}

DeviceThread::~DeviceThread() {
  if (!thread_.joinable()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stop = true;
    state_->begun.notify_one();
  }
  thread_.join();
}

void DeviceThread::Loop(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  while (true) {
    state->begun.wait(lock, [&state] { return state->has_work || state->stop; });
    if (state->has_work) {
      const DeviceWork work = state->work;
      lock.unlock();
      IOStatus result = work.Run(state->device);
      lock.lock();
      state->result = std::move(result);
      state->has_work = false;
      state->ended.notify_one();
    }
    if (state->stop) {
      break;
    }
  }
  state->result.PermitUncheckedError();
  state->buffer.reset();
  const std::shared_ptr<void> keep = std::move(state->keep);
  lock.unlock();
}

IOStatus DeviceThread::Run(const DeviceWork& work, std::chrono::milliseconds limit) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->work = work;
  state_->has_work = true;
  state_->begun.notify_one();
  if (!state_->ended.wait_for(lock, limit, [this] { return !state_->has_work; })) {
    return IOStatus::TimedOut("device=" + state_->device->path(),
                              "did not answer within " + std::to_string(limit.count()) + " ms");
  }
  return std::move(state_->result);
}

void DeviceThread::GiveUp(std::shared_ptr<void> keep, Buffer buffer) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->keep = std::move(keep);
  state_->buffer = std::move(buffer);
  state_->stop = true;
  state_->begun.notify_one();
  thread_.detach();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
