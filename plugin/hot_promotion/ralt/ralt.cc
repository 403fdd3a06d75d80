// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/ralt.h"

#include <atomic>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "plugin/hot_promotion/ralt/buffer.h"
#include "plugin/hot_promotion/ralt/parameters.h"
#include "plugin/hot_promotion/ralt/tree.h"
#include "port/port.h"
#include "util/mutexlock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The buffer, the tree, and the thread that brings accesses from the one to the other.
class Ralt::Rep {
 public:
  explicit Rep(const RaltOptions& options)
      : parameters_(options),
        buffer_(parameters_.buffer_bytes, parameters_.hot_max),
        tree_(options) {}
  ~Rep();
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  Status Open(const std::string& path);

  void Access(Space space, const Slice& key, size_t value_size) {
    buffer_.Add(space, key, value_size);
  }
  Status Flush();
  void Settle();
  void Stop();
  RaltStats Stats() const;
  const ralt::Tree& tree() const { return tree_; }

 private:
  // Somebody who waits for what is recorded to be written.
  struct Waiter {
    bool done = false;
    Status status;
  };

  void Run();
  // Writes what the buffer has. In the thread only, as is Work(), until that has ended.
  Status Drain();
  Status Write();
  void Work();

  const ralt::Parameters parameters_;
  ralt::Buffer buffer_;
  ralt::Tree tree_;  // changed by the thread only; once it has ended, under drain_mutex_
  std::atomic<bool> closing_{false};

  port::Mutex drain_mutex_;  // held by Drain()
  port::Mutex mutex_;
  port::CondVar changed_{&mutex_};
  std::vector<Waiter*> waiters_;  // guarded by mutex_, as all below
  uint64_t rounds_ = 0;           // of the thread
  bool ended_ = false;            // the thread has no more rounds

  port::Thread thread_;
};

Status Ralt::Rep::Open(const std::string& path) {
  const Status s = tree_.Open();
  if (!s.ok()) {
    return s;
  }
  try {
    thread_ = port::Thread([this] { Run(); });
  } catch (const std::system_error&) {
    return Status::IOError(path, "no thread can be had for it");
  }
  return s;
}

Ralt::Rep::~Rep() {
  Stop();
  Drain().PermitUncheckedError();
}

void Ralt::Rep::Stop() {
  closing_.store(true);
  buffer_.Wake();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Ralt::Rep::Run() {
  Work();  // a merge may have been interrupted
  while (!closing_.load()) {
    buffer_.Wait(parameters_.flush_micros);
    Work();
  }
  {
    MutexLock lock(&mutex_);
    ended_ = true;
    changed_.SignalAll();
  }
  Drain().PermitUncheckedError();  // those who wait are told
}

void Ralt::Rep::Work() {
  // Failures are counted and told by the tree. What is left to do is tried again in the next round.
  Drain().PermitUncheckedError();
  if (!closing_.load()) {
    tree_
        .Maintain([this] {
          if (buffer_.Pressing()) {
            Drain().PermitUncheckedError();
          }
          return !closing_.load();
        })
        .PermitUncheckedError();
  }
  MutexLock lock(&mutex_);
  ++rounds_;
  changed_.SignalAll();
}

Status Ralt::Rep::Drain() {
  MutexLock drain(&drain_mutex_);
  buffer_.Acknowledge();  // who wakes the thread from here on needs another round
  std::vector<Waiter*> waiters;
  {
    MutexLock lock(&mutex_);
    waiters.swap(waiters_);
  }
  const Status s = Write();
  MutexLock lock(&mutex_);
  for (Waiter* waiter : waiters) {
    waiter->done = true;
    waiter->status = s;
  }
  changed_.SignalAll();
  return s;
}

Status Ralt::Rep::Write() {
  Status s;
  std::vector<ralt::Chunk> chunks = buffer_.Collect();
  if (!chunks.empty()) {
    s = tree_.Add(chunks);
  }
  buffer_.Return(std::move(chunks));
  return s;
}

Status Ralt::Rep::Flush() {
  Waiter waiter;
  bool ended = false;
  {
    MutexLock lock(&mutex_);
    ended = ended_;
    if (!ended) {
      waiters_.push_back(&waiter);
    }
  }
  if (ended) {
    return Drain();
  }
  buffer_.Wake();
  MutexLock lock(&mutex_);
  while (!waiter.done) {
    changed_.Wait();
  }
  return waiter.status;
}

// A round that begins after this has been called ends with nothing left to do.
void Ralt::Rep::Settle() {
  MutexLock lock(&mutex_);
  const uint64_t last = rounds_ + 2;
  while (!ended_ && rounds_ < last) {
    const uint64_t before = rounds_;
    mutex_.Unlock();
    buffer_.Wake();
    mutex_.Lock();
    while (!ended_ && rounds_ == before) {
      changed_.Wait();
    }
  }
}

RaltStats Ralt::Rep::Stats() const {
  RaltStats stats = tree_.Stats();
  stats.accesses = buffer_.added();
  stats.dropped += buffer_.dropped();
  stats.memory_bytes += buffer_.MemoryUsage();
  return stats;
}

Ralt::Ralt(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}

Ralt::~Ralt() = default;

Status Ralt::Open(const RaltOptions& options, std::unique_ptr<Ralt>* result) {
  auto rep = std::make_unique<Rep>(options);
  Status s = rep->Open(options.path);
  if (s.ok()) {
    result->reset(new Ralt(std::move(rep)));
  }
  return s;
}

void Ralt::Access(Space space, const Slice& key, size_t value_size) {
  rep_->Access(space, key, value_size);
}

bool Ralt::IsHot(Space space, const Slice& key) const { return rep_->tree().IsHot(space, key); }

RaltStats Ralt::Stats() const { return rep_->Stats(); }

Status Ralt::Flush() { return rep_->Flush(); }

void Ralt::Settle() { rep_->Settle(); }

void Ralt::Stop() { rep_->Stop(); }

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
