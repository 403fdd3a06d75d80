// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/standby_copy.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/raw_wal_fs/patient.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

using Clock = std::chrono::steady_clock;

// Bytes that are written at most before a sync: a sync shall not take long.
constexpr uint64_t kMostUnsynced = 2 << 20;

}  // namespace

// What the thread and its log share.
struct StandbyCopy::State {
  State(std::shared_ptr<const Standby> to, SegmentHeader header_of_log,
        const Superblock& superblock_of_device, uint64_t most_queued)
      : standby(std::move(to)),
        header(std::move(header_of_log)),
        superblock(superblock_of_device),
        most(most_queued) {}

  // A piece of work of the thread.
  struct Work {
    std::string bytes;
    uint64_t begin = 0;    // where they are in the log
    uint64_t durable = 0;  // bytes of the log that are durable before
    bool sync = false;
    std::vector<Extent> extents;  // where they were written
  };

  bool HasWork() const { return !queue.empty() || durable < written; }
  bool IsDue() const { return stop || (wanted > durable && HasWork()) || queue.size() >= most / 2; }
  // Returns whether the copy cannot be relied on any more.
  bool HasEnded() const { return over || !error.ok(); }

  // Takes what is there to be done.
  void Begin(Work* work) {
    work->bytes.clear();
    work->bytes.swap(queue);
    work->begin = written;
    work->durable = durable;
    work->sync = stop || wanted > durable || written + work->bytes.size() - durable > kMostUnsynced;
    work->extents.clear();
    is_busy = true;
  }
  IOStatus Do(Work* work, Spill* file) const {
    FrameHeader from;
    from.log = header.log;
    from.offset = work->begin;
    from.durable = work->durable;
    IOStatus s = file->AppendBytes(superblock.uuid, from, work->bytes, &work->extents);
    return s.ok() && work->sync ? file->Sync() : s;
  }
  void End(const Work& work) {
    is_busy = false;
    written = work.begin + work.bytes.size();
    durable = work.sync ? written : durable;
    extents.insert(extents.end(), work.extents.begin(), work.extents.end());
    ForgetOnDevice();
  }
  void ForgetOnDevice() {
    while (!extents.empty() && extents.front().end() <= on_device) {
      extents.pop_front();
    }
  }

  const std::shared_ptr<const Standby> standby;
  const SegmentHeader header;
  const Superblock superblock;
  const uint64_t most;

  std::mutex mutex;
  std::condition_variable changed;
  // All below: guarded by mutex.
  std::string queue;        // bytes that the thread has not taken yet
  uint64_t written = 0;     // bytes of the log that are in the file
  uint64_t durable = 0;     // ... durably
  uint64_t wanted = 0;      // ... that somebody waits for
  uint64_t on_device = 0;   // bytes of the log that are durable on the device
  Clock::time_point since;  // when the oldest request that is not met was made
  bool has_begun = false;   // the file is there
  bool is_busy = true;      // in a call
  bool stop = false;        // when all is durable
  bool hands_over = false;  // the file, when it stops
  bool over = false;        // nothing more is written
  bool has_ended = false;   // the thread
  IOStatus error;           // what has failed
  std::deque<Extent> extents;
  std::unique_ptr<Spill> spill;  // handed over
  std::shared_ptr<void> stuck;   // while a call does not come back that nobody waits for
};

IOStatus StandbyCopy::Begin(const std::shared_ptr<const Standby>& standby,
                            const SegmentHeader& header, const Superblock& superblock,
                            uint64_t most, Limit limit, std::unique_ptr<StandbyCopy>* result) {
  if (!standby->answers()) {
    return IOStatus::TimedOut("standby=" + standby->directory(), "has not answered yet");
  }
  const auto state = std::make_shared<State>(standby, header, superblock, most);
  if (!Detach([state] { Run(state); })) {
    return standby->NoThread();
  }
  std::unique_ptr<StandbyCopy> copy(new StandbyCopy(state));
  std::unique_lock<std::mutex> lock(state->mutex);
  state->changed.wait_for(lock, limit, [&state] { return state->has_begun || state->has_ended; });
  IOStatus s = state->has_begun || state->has_ended ? state->error : standby->TimedOut(limit);
  lock.unlock();  // before the copy goes
  if (s.ok()) {
    *result = std::move(copy);
  }
  return s;
}

void StandbyCopy::Run(const std::shared_ptr<State>& state) {
  std::unique_ptr<Spill> spill;
  IOStatus s = state->standby->Begin(state->header, state->superblock, &spill);
  s = s.ok() ? spill->Sync() : s;  // the header, too: a stub may say that it is there
  State::Work work;
  std::unique_lock<std::mutex> lock(state->mutex);
  state->has_begun = s.ok();
  state->is_busy = false;
  state->changed.notify_all();
  while (s.ok() && !state->over && !(state->stop && !state->HasWork())) {
    if (!state->IsDue()) {
      state->changed.wait(lock);
      continue;
    }
    state->Begin(&work);
    state->changed.notify_all();  // there is room
    lock.unlock();
    s = state->Do(&work, spill.get());
    lock.lock();
    if (s.ok()) {
      state->End(work);
    }
    state->changed.notify_all();
  }
  state->error = s;
  state->over = true;
  if (s.ok() && state->hands_over) {
    state->spill = std::move(spill);
  }
  state->is_busy = true;
  lock.unlock();
  spill.reset();  // closes it
  lock.lock();
  state->has_ended = true;
  state->stuck.reset();
  state->changed.notify_all();
}

void StandbyCopy::Append(const Slice& bytes) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->HasEnded()) {
    state_->queue.append(bytes.data(), bytes.size());
    if (state_->IsDue()) {
      state_->changed.notify_all();
    }
  }
}

bool StandbyCopy::HasRoom() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->HasEnded() || state_->queue.size() < state_->most;
}

bool StandbyCopy::AwaitRoom(Limit limit) const {
  std::unique_lock<std::mutex> lock(state_->mutex);
  return state_->changed.wait_for(
      lock, limit, [this] { return state_->HasEnded() || state_->queue.size() < state_->most; });
}

void StandbyCopy::Request(uint64_t end) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (end > state_->wanted) {
    state_->since = state_->wanted <= state_->durable ? Clock::now() : state_->since;
    state_->wanted = end;
    state_->changed.notify_all();
  }
}

IOStatus StandbyCopy::Await(uint64_t end, Limit limit) const {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait_until(lock, state_->since + limit,
                             [this, end] { return state_->HasEnded() || state_->durable >= end; });
  if (state_->durable >= end) {
    return IOStatus::OK();
  }
  return state_->error.ok() ? state_->standby->TimedOut(limit) : state_->error;
}

bool StandbyCopy::AwaitFirst(uint64_t end) {
  Request(end);
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->changed.wait(lock, [this, end] {
    return state_->HasEnded() || state_->durable >= end || state_->on_device >= end;
  });
  // Once it was dropped, what it has does not count: the log goes on without it.
  return state_->on_device >= end || (!state_->HasEnded() && state_->durable >= end);
}

void StandbyCopy::NoteOnDevice(uint64_t end) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->on_device = std::max(state_->on_device, end);
  state_->ForgetOnDevice();
  state_->changed.notify_all();
}

IOStatus StandbyCopy::status() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->error;
}

IOStatus StandbyCopy::TakeOver(std::unique_ptr<Spill>* spill, std::vector<Extent>* extents) {
  std::unique_lock<std::mutex> lock(state_->mutex);
  state_->stop = true;
  state_->hands_over = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->has_ended; });
  if (state_->spill == nullptr) {
    return state_->error.ok()
               ? IOStatus::IOError("standby=" + state_->standby->directory(), "was given up before")
               : state_->error;
  }
  *spill = std::move(state_->spill);
  extents->assign(state_->extents.begin(), state_->extents.end());
  return IOStatus::OK();
}

void StandbyCopy::Finish(Limit limit) {
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
    state_->changed.wait_for(lock, limit, [this] { return state_->has_ended; });
  }
  Drop();
}

void StandbyCopy::Drop() {
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->over = true;
  if (!state_->has_ended && state_->is_busy && state_->stuck == nullptr) {
    state_->stuck = state_->standby->NoteStuck();
  }
  state_->changed.notify_all();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
