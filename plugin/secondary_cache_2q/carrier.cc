// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/carrier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugin/secondary_cache_2q/block_form.h"
#include "plugin/secondary_cache_2q/sync_points.h"
#include "plugin/secondary_cache_2q/thread.h"

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

// Compactions that have begun and are not carried, and bytes of what is noted of them: the indexes
// of their inputs, and which blocks were held.
constexpr size_t kMostJobs = 64;
constexpr uint64_t kMostMemory = 64 << 20;

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

}  // namespace

uint64_t Carrier::Job::Held() const {
  uint64_t blocks = 0;
  for (const Input& input : inputs) {
    blocks += input.held.size();
  }
  for (const JobPtr& job : earlier) {
    blocks += job->Held();
  }
  return blocks;
}

uint64_t Carrier::Job::Memory() const {
  uint64_t bytes = 0;
  for (const Input& input : inputs) {
    bytes += input.memory + input.held.size() * (sizeof(Shard::Held) + sizeof(HeldRange));
  }
  for (const JobPtr& job : earlier) {
    bytes += job->Memory();
  }
  return bytes;
}

bool Carrier::Job::WillHaveFile(const std::string& path) const {
  const auto begin = outputs.begin() + static_cast<ptrdiff_t>(done);
  return has_ended && std::any_of(begin, outputs.end(), [&path](const CarriedSst& output) {
           return output.path == path;
         });
}

Carrier::~Carrier() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

// Those that have ended and are not carried, or not all.
std::vector<Carrier::JobPtr> Carrier::Unfinished() const {
  std::vector<JobPtr> jobs;
  std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(jobs),
               [](const JobPtr& job) { return job->has_ended; });
  if (current_ != nullptr) {
    jobs.push_back(current_);
  }
  return jobs;
}

bool Carrier::WillHaveFile(const std::string& path) const {
  const std::vector<JobPtr> jobs = Unfinished();
  return std::any_of(jobs.begin(), jobs.end(),
                     [&path](const JobPtr& job) { return job->WillHaveFile(path); });
}

// The inputs of the job go away now, with what is still to be carried into them.
void Carrier::TakeOver(Job* job) {
  for (const JobPtr& earlier : Unfinished()) {
    const size_t before = earlier->passed_on.size();
    for (const Input& input : job->inputs) {
      if (earlier->WillHaveFile(input.path)) {
        earlier->passed_on.push_back(input.path);
      }
    }
    if (earlier->passed_on.size() > before) {
      job->earlier.push_back(earlier);
    }
  }
}

// Notes that an output of the job is the next one. Whether it still is one of the job.
bool Carrier::GoOn(Job* job, size_t output) {
  std::lock_guard<std::mutex> lock(mutex_);
  job->done = output;
  const auto& passed_on = job->passed_on;
  return std::find(passed_on.begin(), passed_on.end(), job->outputs[output].path) ==
         passed_on.end();
}

void Carrier::Begin(const CarryBegin& begin) {
  auto job = std::make_shared<Job>();
  job->id = begin.id;
  job->source = begin.source;
  std::lock_guard<std::mutex> lock(mutex_);
  DropClosed();
  for (const CarriedSst& from : begin.inputs) {
    if (from.keys.file == 0 || !(target_->HasFile(from.keys.file) || WillHaveFile(from.path))) {
      continue;
    }
    if (from.index_memory > SstIndex::kMostMemory) {
      failed_++;
      continue;
    }
    Input input;
    input.path = from.path;
    input.keys = from.keys;
    input.memory = from.index_memory;
    job->inputs.push_back(std::move(input));
  }
  if (begin.source.fs.expired() || begin.source.comparator == nullptr) {
    failed_ += job->inputs.size();
    return;
  }
  if (job->inputs.empty()) {
    return;
  }
  jobs_.push_back(std::move(job));
  if (!thread_.joinable() && !StartThread(&thread_, [this] { Loop(); })) {
    Drop(std::prev(jobs_.end()));  // the next one tries again
    return;
  }
  MakeRoom();
  changed_.notify_all();
}

void Carrier::End(const CarryEnd& end) {
  const auto find = [&] {
    return std::find_if(jobs_.begin(), jobs_.end(),
                        [&end](const JobPtr& job) { return job->id == end.id; });
  };
  std::vector<uint64_t> files;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = find();
    if (it == jobs_.end()) {
      return;
    }
    if (!end.ok || end.outputs.empty()) {
      jobs_.erase(it);
      return;
    }
    for (const Input& input : (*it)->inputs) {
      files.push_back(input.keys.file);
    }
  }
  std::vector<std::vector<Shard::Held>> held;
  held.reserve(files.size());
  for (uint64_t file : files) {
    held.push_back(target_->ListFile(file));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = find();
  if (it == jobs_.end()) {
    return;  // dropped meanwhile
  }
  Job& job = **it;
  for (size_t i = 0; i < held.size(); i++) {
    job.inputs[i].held = std::move(held[i]);
  }
  TakeOver(&job);
  if (job.Held() == 0) {
    jobs_.erase(it);
    return;
  }
  job.outputs = end.outputs;
  job.has_ended = true;
  MakeRoom();
  changed_.notify_all();
}

Carrier::Counts Carrier::counts() const {
  return {dropped_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
          read_bytes_.load(std::memory_order_relaxed)};
}

void Carrier::TEST_Wait() {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return Unfinished().empty(); });
}

// Drops jobs that never end, as their databases are closed: RocksDB does not tell of it. What is
// held is still of SSTs that are there.
void Carrier::DropClosed() {
  jobs_.erase(
      std::remove_if(jobs_.begin(), jobs_.end(),
                     [](const JobPtr& job) { return !job->has_ended && job->source.IsClosed(); }),
      jobs_.end());
}

// Drops the oldest jobs until there are not too many. Those of which no end has come go first.
void Carrier::MakeRoom() {
  const auto memory = [this] {
    uint64_t bytes = current_ != nullptr ? current_->Memory() : 0;
    for (const JobPtr& job : jobs_) {
      bytes += job->Memory();
    }
    return bytes;
  };
  while (!jobs_.empty() && (jobs_.size() > kMostJobs || memory() > kMostMemory)) {
    const auto open =
        std::find_if(jobs_.begin(), jobs_.end(), [](const JobPtr& job) { return !job->has_ended; });
    Drop(open != jobs_.end() ? open : jobs_.begin());
  }
}

void Carrier::Drop(std::deque<JobPtr>::iterator it) {
  const Job& job = **it;
  for (const Input& input : job.inputs) {
    dropped_ += job.has_ended ? input.held.size() : target_->ListFile(input.keys.file).size();
  }
  jobs_.erase(it);
}

void Carrier::Loop() {
  Lock lock(mutex_);
  while (!stop_) {
    if (ReadOneIndex(&lock)) {
      continue;
    }
    const JobPtr job = TakeEnded();
    if (job == nullptr) {
      DropClosed();
      AwaitWork(&lock);
      continue;
    }
    current_ = job;
    lock.unlock();
    CarryAll(job.get());
    lock.lock();
    current_ = nullptr;
    changed_.notify_all();
  }
}

void Carrier::AwaitWork(Lock* lock) {
  if (jobs_.empty()) {
    changed_.wait(*lock);
  } else {
    changed_.wait_for(*lock, kLook);
  }
}

// Reads the index of an input, if one is to be read. The lock is not held meanwhile. Does not wait,
// as the SST may soon be gone: what is read of outputs does.
bool Carrier::ReadOneIndex(Lock* lock) {
  JobPtr job;
  Input* input = FindUntried(&job);
  if (input == nullptr) {
    return false;
  }
  input->is_tried = true;
  lock->unlock();
  TEST_SYNC_POINT("TwoQCarrier::ReadIndex");
  std::unique_ptr<SstReader> sst;
  Status s = SstReader::Open(job->source, input->path, &sst);
  SstIndex index;
  if (s.ok()) {
    Charge(sst->read_bytes());
    index = sst->TakeIndex();
    sst.reset();  // with the FileSystem, if nobody else has it any more
  }
  lock->lock();
  if (s.ok()) {
    input->index = std::move(index);
    input->memory = input->index.MemoryUsage();
    MakeRoom();
  } else {
    failed_++;
    input->memory = 0;
  }
  return true;
}

Carrier::Input* Carrier::FindUntried(JobPtr* result) {
  for (const JobPtr& job : jobs_) {
    for (Input& input : job->inputs) {
      if (!input.is_tried) {
        *result = job;
        return &input;
      }
    }
  }
  return nullptr;
}

Carrier::JobPtr Carrier::TakeEnded() {
  const auto it =
      std::find_if(jobs_.begin(), jobs_.end(), [](const JobPtr& job) { return job->has_ended; });
  if (it == jobs_.end()) {
    return nullptr;
  }
  JobPtr job = *it;
  jobs_.erase(it);
  return job;
}

void Carrier::AddRanges(const Job& job, std::vector<HeldRange>* ranges) {
  for (const Input& input : job.inputs) {
    for (const Shard::Held& held : input.held) {
      const size_t block = input.index.Find(input.keys.QuarterOffset(held.block));
      if (block < input.index.size()) {  // else not a data block
        ranges->push_back({input.index.Below(block), input.index.Separator(block), held.age});
      }
    }
  }
  for (const JobPtr& earlier : job.earlier) {
    AddRanges(*earlier, ranges);
  }
}

void Carrier::CarryAll(Job* job) {
  std::vector<HeldRange> ranges;
  ranges.reserve(job->Held());
  AddRanges(*job, &ranges);
  SortRanges(*job->source.comparator, &ranges);
  for (size_t i = 0; i < job->outputs.size(); i++) {
    if (GoOn(job, i) && !CarryInto(*job, ranges, job->outputs[i])) {
      return;
    }
  }
}

// Carries blocks of one output. What is left when the database is closed is given up. False: to
// stop.
bool Carrier::CarryInto(const Job& job, const std::vector<HeldRange>& ranges,
                        const CarriedSst& output) {
  TEST_SYNC_POINT("TwoQCarrier::Open");
  if (output.index_memory > SstIndex::kMostMemory) {
    failed_++;
    return WaitUntil(Clock::now());
  }
  std::unique_ptr<SstReader> sst;
  Status s = SstReader::Open(job.source, output.path, &sst);
  bool ok = s.ok() && Pace(sst->read_bytes());
  const auto read = [&](size_t block, const CaughtBlock** caught) {
    if (job.source.IsClosed()) {
      return false;
    }
    const uint64_t before = sst->read_bytes();
    s = sst->Read(block, caught);
    return Pace(sst->read_bytes() - before) && (s.ok() || s.IsNotFound());
  };
  const auto share = [&](size_t block, const Slice& key) {
    const CaughtBlock* caught;
    if (!target_->CanHold(sst->index().Bytes(block))) {
      return 0.5;
    }
    if (!read(block, &caught)) {
      return -1.0;
    }
    return s.ok() ? ShareUpTo(*job.source.comparator, caught->bytes, key) : 0.5;
  };
  const auto take = [&](size_t block, uint64_t age) {
    const CaughtBlock* caught;
    if (!target_->CanHold(sst->index().Bytes(block))) {
      return true;
    }
    if (!AwaitRoom(job.source) || !read(block, &caught)) {
      return false;
    }
    if (s.ok()) {
      target_->Carry(*caught, age);
    }
    return true;
  };
  ok = ok && CarryPlan(*job.source.comparator, sst->index(), share, take).Run(ranges);
  const bool goes_on = WaitUntil(Clock::now());
  failed_ += ok || !goes_on ? 0 : 1;
  return goes_on;
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

// Waits, and meanwhile reads indexes of inputs, which do not wait. False: to stop.
bool Carrier::WaitUntil(Clock::time_point when) {
  TEST_SYNC_POINT("TwoQCarrier::Wait");
  Lock lock(mutex_);
  while (!stop_) {
    if (ReadOneIndex(&lock)) {
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
