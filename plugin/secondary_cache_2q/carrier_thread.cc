// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the Carrier's thread does: it reads indexes of inputs at once, and blocks of outputs at a
// rate.

#include <algorithm>
#include <utility>

#include "plugin/secondary_cache_2q/block_form.h"
#include "plugin/secondary_cache_2q/carrier.h"
#include "plugin/secondary_cache_2q/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

using Clock = std::chrono::steady_clock;

// Of what is read, in a second.
constexpr double kBytesPerSecond = 64 << 20;
// How far ahead of the rate it may be.
constexpr std::chrono::milliseconds kAhead{10};
// Until the writer of the cache file is asked again.
constexpr std::chrono::milliseconds kCrowdedWait{5};
// Until it is seen that databases were closed, if nothing else happens.
constexpr std::chrono::seconds kLook{1};

double ShareUpTo(const Comparator& comparator, const Slice& block, const Slice& key) {
  DataBlockEntries entries(block);
  double up_to = 0;
  double all = 0;
  while (entries.Next()) {
    const auto bytes = static_cast<double>(entries.bytes());
    all += bytes;
    if (comparator.Compare(entries.UserKey(), key) <= 0) {
      up_to += bytes;
    }
  }
  return all > 0 ? up_to / all : 0.5;
}

// Opens an SST, if it is the one that was told of: a database may have been made anew at its path.
Status OpenSst(const SstReader::Source& source, const CarriedSst& sst,
               std::unique_ptr<SstReader>* result) {
  if (sst.index_memory > SstIndex::kMostMemory) {
    return Status::NotSupported(sst.path, "its index is too large");
  }
  Status s = SstReader::Open(source, sst.path, result);
  if (s.ok() && (*result)->file() != sst.keys.file) {
    s = Status::NotFound(sst.path, "is another SST now");
  }
  return s;
}

}  // namespace

void Carrier::Loop() {
  Lock lock(mutex_);
  while (!stop_) {
    if (PrepareOne(&lock)) {
      continue;
    }
    if (ended_.empty()) {
      DropClosed();
      AwaitWork(&lock);
      continue;
    }
    current_ = ended_.front();
    ended_.pop_front();
    CarryJob* const job = current_.get();
    lock.unlock();
    CarryAll(job);
    lock.lock();
    current_ = nullptr;
    changed_.notify_all();
  }
}

void Carrier::AwaitWork(Lock* lock) {
  if (open_.empty()) {
    changed_.wait(*lock);
  } else {
    changed_.wait_for(*lock, kLook);
  }
}

// Does what does not wait: inputs may soon be gone. False: there is nothing of that. The lock is
// not held meanwhile.
bool Carrier::PrepareOne(Lock* lock) { return ReadOneIndex(lock) || FindRangesOfOne(lock); }

// Reads the index of an input.
bool Carrier::ReadOneIndex(Lock* lock) {
  JobPtr job;
  CarryJob::Input* input = FindUntried(&job);
  if (input == nullptr) {
    return false;
  }
  input->is_tried = true;
  lock->unlock();
  TEST_SYNC_POINT("TwoQCarrier::ReadIndex");
  std::unique_ptr<SstReader> sst;
  Status s = OpenSst(job->source, input->sst, &sst);
  SstIndex index;
  if (s.ok()) {
    Charge(sst->read_bytes());
    index = sst->TakeIndex();
  }
  sst.reset();  // with the FileSystem, if nobody else has it any more
  lock->lock();
  failed_ += s.ok() ? 0 : 1;
  input->index = std::move(index);
  input->sst.index_memory = input->index.MemoryUsage();
  MakeRoom();
  return true;
}

CarryJob::Input* Carrier::FindUntried(JobPtr* of) const {
  for (const Jobs* jobs : {&ended_, &open_}) {
    for (const JobPtr& job : *jobs) {
      for (CarryJob::Input& input : job->inputs) {
        if (!input.is_tried) {
          *of = job;
          return &input;
        }
      }
    }
  }
  return nullptr;
}

// Finds the ranges of the first job that has none. All indexes were tried.
bool Carrier::FindRangesOfOne(Lock* lock) {
  const auto it = std::find_if(ended_.begin(), ended_.end(),
                               [](const JobPtr& job) { return !job->is_prepared; });
  if (it == ended_.end()) {
    return false;
  }
  const JobPtr job = *it;
  finding_ = job;
  lock->unlock();
  std::vector<HeldRange> ranges = job->FindRanges();
  lock->lock();
  finding_ = nullptr;
  job->SetRanges(std::move(ranges));
  MakeRoom();
  return true;
}

void Carrier::CarryAll(CarryJob* job) {
  for (size_t i = 0; !job->ranges.empty() && i < job->outputs.size(); i++) {
    if (GoOn(job, i) && !CarryInto(job, i)) {
      return;
    }
  }
}

// Notes that an output of the job is the next one. Whether it still is one of the job.
bool Carrier::GoOn(CarryJob* job, size_t output) {
  std::lock_guard<std::mutex> lock(mutex_);
  job->done = output;
  return !job->outputs[output].passed_on;
}

// Carries blocks of one output. What is left when the database is closed is given up. False: to
// stop.
bool Carrier::CarryInto(CarryJob* job, size_t output) {
  TEST_SYNC_POINT("TwoQCarrier::Open");
  std::unique_ptr<SstReader> sst;
  Status s = OpenSst(job->source, job->outputs[output].sst, &sst);
  const bool ok = s.ok() && Pace(sst->read_bytes()) && CarryBlocks(job, output, sst.get());
  sst.reset();  // with the FileSystem, if nobody else has it any more
  const bool goes_on = WaitUntil(Clock::now());
  failed_ += !ok && goes_on && GoOn(job, output) ? 1 : 0;
  return goes_on;
}

// False if not all were carried, or need to be.
bool Carrier::CarryBlocks(CarryJob* job, size_t output, SstReader* sst) {
  const Comparator& comparator = *job->source.comparator;
  // NotFound: the block cannot be reached, or not be held. Another error: to stop.
  const auto read = [&](size_t block, const CaughtBlock** caught) {
    if (job->source.IsClosed() || !GoOn(job, output)) {
      return Status::Aborted();
    }
    if (!target_->CanHold(sst->index().Bytes(block))) {
      return Status::NotFound();
    }
    const uint64_t before = sst->read_bytes();
    Status s = sst->Read(block, caught);
    return Pace(sst->read_bytes() - before) ? s : Status::Aborted();
  };
  const auto share = [&](size_t block, const Slice& key) {
    const CaughtBlock* caught;
    Status s = read(block, &caught);
    return s.ok() ? ShareUpTo(comparator, caught->bytes, key) : s.IsNotFound() ? 0.5 : -1.0;
  };
  const auto take = [&](size_t block, uint64_t age) {
    const CaughtBlock* caught;
    Status s = AwaitRoom(job->source) ? read(block, &caught) : Status::Aborted();
    if (s.ok()) {
      target_->Carry(*caught, age);
    }
    return s.ok() || s.IsNotFound();
  };
  return CarryPlan(comparator, sst->index(), share, take).Run(job->ranges);
}

// False: to stop, or the database is closed.
bool Carrier::AwaitRoom(const SstReader::Source& source) {
  while (target_->IsCrowded()) {
    if (source.IsClosed() || !WaitUntil(Clock::now() + kCrowdedWait)) {
      return false;
    }
  }
  return true;
}

// Counts what was read, and what it takes of the rate.
void Carrier::Charge(uint64_t bytes) {
  read_bytes_ += bytes;
  const std::chrono::duration<double> takes(static_cast<double>(bytes) / kBytesPerSecond);
  due_ = std::max(due_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(takes);
}

bool Carrier::Pace(uint64_t bytes) {
  Charge(bytes);
  const Clock::time_point now = Clock::now();
  return WaitUntil(due_ - now > kAhead ? due_ : now);
}

// Waits, and meanwhile does what does not wait. False: to stop.
bool Carrier::WaitUntil(Clock::time_point when) {
  TEST_SYNC_POINT("TwoQCarrier::Wait");
  Lock lock(mutex_);
  while (!stop_) {
    if (PrepareOne(&lock)) {
      continue;
    }
    if (Clock::now() >= when) {
      return true;
    }
    changed_.wait_until(lock, when);
  }
  return false;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
