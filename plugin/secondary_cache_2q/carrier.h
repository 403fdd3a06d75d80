// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/cache_key.h"
#include "plugin/secondary_cache_2q/carry_plan.h"
#include "plugin/secondary_cache_2q/shard.h"
#include "plugin/secondary_cache_2q/sst_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Who holds blocks, and takes those that are carried: TwoQSecondaryCache. Thread-safe.
class CarryTarget {
 public:
  virtual ~CarryTarget() = default;
  // Whether it holds a block of the SST, and which ones. `file`: see FileKeys.
  virtual bool HasFile(uint64_t file) const = 0;
  virtual std::vector<Shard::Held> ListFile(uint64_t file) const = 0;
  // Whether a block of so many bytes can be held.
  virtual bool CanHold(uint64_t size) const = 0;
  // Whether to wait before the next block.
  virtual bool IsCrowded() const = 0;
  // A block that takes the place of one of this age.
  virtual void Carry(const CaughtBlock& block, uint64_t age) = 0;
};

struct CarriedSst {
  std::string path;
  FileKeys keys;
  uint64_t index_memory = 0;  // bytes, as expected
};

// A compaction that begins.
struct CarryBegin {
  std::string id;            // of the compaction, in the process
  SstReader::Source source;  // an SST cannot be read without a FileSystem and a comparator
  std::vector<CarriedSst> inputs;
};

// One that has ended.
struct CarryEnd {
  std::string id;
  bool ok = false;
  std::vector<CarriedSst> outputs;
};

// Lets a cache survive compactions: what it holds of the SSTs that go is read from those that take
// their place, and taken by the cache.
//
// RocksDB deletes the inputs of a compaction when the listeners have been told of its end. So their
// indexes are read when it begins, and kept. At its end it is noted which of their blocks are held,
// before these are erased. The outputs are read then. All reads are those of one thread, which
// waits for nobody else but the cache's file, and has a rate. Who tells of compactions does not
// wait. What does not work out is given up and counted.
//
// A FileSystem is kept alive while one SST is read, and let go when its database is closed.
//
// Thread-safe. The target must outlive it.
class Carrier {
 public:
  struct Counts {
    uint64_t dropped = 0;  // held blocks
    uint64_t failed = 0;   // SSTs
    uint64_t read_bytes = 0;
  };

  explicit Carrier(CarryTarget* target) : target_(target) {}
  // Gives up what is left.
  ~Carrier();
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  void Begin(const CarryBegin& begin);
  // To be called before the blocks of the inputs are erased.
  void End(const CarryEnd& end);
  Counts counts() const;
  // Waits until nothing of what has ended is left to be done.
  void TEST_Wait();

 private:
  struct Input {
    std::string path;
    FileKeys keys;
    uint64_t memory = 0;  // bytes of the index, or what is expected
    bool is_tried = false;
    SstIndex index;
    std::vector<Shard::Held> held;
  };
  struct Job;
  using JobPtr = std::shared_ptr<Job>;
  // Guarded by mutex_ until it has ended and all its inputs were tried; then constant, but for
  // `done` and `passed_on`.
  struct Job {
    std::string id;
    SstReader::Source source;
    std::vector<Input> inputs;
    std::vector<CarriedSst> outputs;
    bool has_ended = false;
    // Jobs that were not done when an output of theirs had become an input of this one: what they
    // have for it goes into the outputs of this one.
    std::vector<JobPtr> earlier;
    std::vector<std::string> passed_on;  // such outputs of this one
    size_t done = 0;                     // outputs
    uint64_t Held() const;
    uint64_t Memory() const;
    // Whether blocks are still to be carried into this SST.
    bool WillHaveFile(const std::string& path) const;
  };
  using Lock = std::unique_lock<std::mutex>;

  std::vector<JobPtr> Unfinished() const;
  bool WillHaveFile(const std::string& path) const;
  void TakeOver(Job* job);
  bool GoOn(Job* job, size_t output);
  void DropClosed();
  void MakeRoom();
  void Drop(std::deque<JobPtr>::iterator it);
  void Loop();
  void AwaitWork(Lock* lock);
  bool ReadOneIndex(Lock* lock);
  Input* FindUntried(JobPtr* job);
  JobPtr TakeEnded();
  static void AddRanges(const Job& job, std::vector<HeldRange>* ranges);
  void CarryAll(Job* job);
  bool CarryInto(const Job& job, const std::vector<HeldRange>& ranges, const CarriedSst& output);
  bool AwaitRoom(const SstReader::Source& source);
  void Charge(uint64_t bytes);
  bool Pace(uint64_t bytes);
  bool WaitUntil(std::chrono::steady_clock::time_point when);

  CarryTarget* const target_;
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> read_bytes_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<JobPtr> jobs_;  // in the order in which they began
  JobPtr current_;           // what the thread carries; not among them
  bool stop_ = false;
  std::thread thread_;

  std::chrono::steady_clock::time_point due_;  // the thread's: when the rate allows the next read
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
