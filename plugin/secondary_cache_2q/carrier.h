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

#include "plugin/secondary_cache_2q/carry_job.h"
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
// before these are erased. The outputs are read then. If one of these is an input of a compaction
// that ends meanwhile, that one takes over what is to be carried into it. All reads are those of
// one thread, which waits for nobody else but the cache's file, and has a rate. Who tells of
// compactions does not wait. What does not work out is given up and counted.
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
  // Tells that a compaction has made an SST. RocksDB may let another one begin with it before the
  // end of this one is told.
  void AddOutput(const std::string& id, const CarriedSst& sst);
  // To be called before the blocks of the inputs are erased.
  void End(const CarryEnd& end);
  Counts counts() const;
  // Waits until nothing of what has ended is left to be done.
  void TEST_Wait();

 private:
  using JobPtr = std::shared_ptr<CarryJob>;
  using Jobs = std::deque<JobPtr>;
  using Lock = std::unique_lock<std::mutex>;

  Jobs::iterator FindOpen(const std::string& id);
  CarryJob::Output* FindLeft(uint64_t file, JobPtr* of) const;
  bool WillHave(uint64_t file) const;
  void TakeOver(CarryJob* job) const;
  void DropClosed();
  void MakeRoom();
  void Drop(Jobs* jobs, Jobs::iterator it);
  void CutOff(const JobPtr& job);

  // The thread's, in carrier_thread.cc.
  void Loop();
  void AwaitWork(Lock* lock);
  bool PrepareOne(Lock* lock);
  bool ReadOneIndex(Lock* lock);
  CarryJob::Input* FindUntried(JobPtr* of) const;
  bool FindRangesOfOne(Lock* lock);
  void CarryAll(CarryJob* job);
  bool GoOn(CarryJob* job, size_t output);
  bool CarryInto(CarryJob* job, size_t output);
  bool CarryBlocks(CarryJob* job, size_t output, SstReader* sst);
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
  Jobs open_;       // have not ended; in the order in which they began
  Jobs ended_;      // in the order in which they ended
  JobPtr current_;  // what the thread carries; not among them
  JobPtr finding_;  // of which the thread finds the ranges
  bool stop_ = false;
  std::thread thread_;

  std::chrono::steady_clock::time_point due_;  // the thread's: when the rate allows the next read
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
