// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/patient.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Has a thread that does the work.
class ThreadWriter : public PatientWriter {
 public:
  explicit ThreadWriter(Device* device) : state_(std::make_shared<State>(device)) {}
  bool Start() {
    try {
      thread_ = std::thread(Loop, state_);
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }
  // Waits for the thread, but not after GiveUp().
  ~ThreadWriter() override {
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

  IOStatus Run(const DeviceWork& work, std::chrono::milliseconds limit) override {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->work = work;
    state_->has_work = true;
    state_->begun.notify_one();
    return state_->ended.wait_for(lock, limit, [this] { return !state_->has_work; })
               ? std::move(state_->result)
               : TimedOut(*state_->device, limit);
  }

  void GiveUp(std::shared_ptr<void> keep, Buffer buffer) override {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->keep = std::move(keep);
    state_->buffer = std::move(buffer);
    state_->stop = true;
    state_->begun.notify_one();
    thread_.detach();
  }

 private:
  struct State {
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

  static void Loop(const std::shared_ptr<State>& state) {
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
    state->result.PermitUncheckedError();  // of a work that was given up
    state->buffer.reset();
    const std::shared_ptr<void> keep = std::move(state->keep);
    lock.unlock();  // before keep goes: it may be the last one that keeps the device
  }

  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace

IOStatus PatientWriter::TimedOut(const Device& device, std::chrono::milliseconds limit) {
  return IOStatus::TimedOut("device=" + device.path(),
                            "did not answer within " + std::to_string(limit.count()) + " ms");
}

std::unique_ptr<PatientWriter> PatientWriter::New(Device* device) {
  bool may_use_ring = true;
  TEST_SYNC_POINT_CALLBACK("PatientWriter::New", &may_use_ring);
  std::unique_ptr<PatientWriter> writer = may_use_ring ? NewRingWriter(device) : nullptr;
  return writer != nullptr ? std::move(writer) : NewThreadWriter(device);
}

std::unique_ptr<PatientWriter> NewThreadWriter(Device* device) {
  auto writer = std::make_unique<ThreadWriter>(device);
  return writer->Start() ? std::move(writer) : nullptr;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
