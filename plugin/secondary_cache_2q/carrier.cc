// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is told of compactions. What is done about it is in carrier_thread.cc.

#include "plugin/secondary_cache_2q/carrier.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugin/secondary_cache_2q/sync_points.h"
#include "plugin/secondary_cache_2q/thread.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Compactions that have begun and are not carried, and bytes of what is noted of them: the indexes
// of their inputs, and which blocks were held.
constexpr size_t kMostJobs = 64;
constexpr uint64_t kMostMemory = 64 << 20;

}  // namespace

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

Carrier::Jobs::iterator Carrier::FindOpen(const std::string& id) {
  return std::find_if(open_.begin(), open_.end(),
                      [&id](const JobPtr& job) { return job->id == id; });
}

// Finds the output with these keys of one that has ended, if blocks are still to be carried into
// it.
CarryJob::Output* Carrier::FindLeft(uint64_t file, JobPtr* of) const {
  CarryJob::Output* output = current_ != nullptr ? current_->FindLeft(file) : nullptr;
  *of = current_;
  for (auto it = ended_.begin(); output == nullptr && it != ended_.end(); ++it) {
    output = (*it)->FindLeft(file);
    *of = *it;
  }
  return output;
}

// Whether blocks are, or may be, carried into the SST with these keys.
bool Carrier::WillHave(uint64_t file) const {
  JobPtr of;
  return FindLeft(file, &of) != nullptr ||
         std::any_of(open_.begin(), open_.end(),
                     [file](const JobPtr& job) { return job->FindLeft(file) != nullptr; });
}

// The inputs of the job go away now, with what is still to be carried into them.
void Carrier::TakeOver(CarryJob* job) const {
  for (CarryJob::Input& input : job->inputs) {
    JobPtr of;
    CarryJob::Output* output = FindLeft(input.sst.keys.file, &of);
    if (output != nullptr && of->source.comparator == job->source.comparator) {
      output->passed_on = true;
      input.from = of;
    }
  }
}

void Carrier::Begin(const CarryBegin& begin) {
  auto job = std::make_shared<CarryJob>();
  TEST_SYNC_POINT_CALLBACK("TwoQCarrier::Begin", &job);
  job->id = begin.id;
  job->source = begin.source;
  std::lock_guard<std::mutex> lock(mutex_);
  DropClosed();
  for (const CarriedSst& sst : begin.inputs) {
    if (sst.keys.file == 0 || !(target_->HasFile(sst.keys.file) || WillHave(sst.keys.file))) {
      continue;
    }
    if (sst.index_memory > SstIndex::kMostMemory) {
      failed_++;  // others need not make room for it
      continue;
    }
    CarryJob::Input input;
    input.sst = sst;
    job->inputs.push_back(std::move(input));
  }
  if (begin.source.fs.expired() || begin.source.comparator == nullptr) {
    failed_ += job->inputs.size();
    return;
  }
  if (job->inputs.empty()) {
    return;
  }
  open_.push_back(std::move(job));
  if (!thread_.joinable() && !StartThread(&thread_, [this] { Loop(); })) {
    Drop(&open_, std::prev(open_.end()));  // the next one tries again
    return;
  }
  MakeRoom();
  changed_.notify_all();
}

void Carrier::AddOutput(const std::string& id, const CarriedSst& sst) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = FindOpen(id);
  if (it != open_.end()) {
    (*it)->outputs.push_back({sst});
  }
}

void Carrier::End(const CarryEnd& end) {
  std::vector<uint64_t> files;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    DropClosed();
    const auto it = FindOpen(end.id);
    if (it == open_.end()) {
      return;
    }
    if (!end.ok || end.outputs.empty()) {
      open_.erase(it);
      return;
    }
    for (const CarryJob::Input& input : (*it)->inputs) {
      files.push_back(input.sst.keys.file);
    }
  }
  std::vector<std::vector<Shard::Held>> held;
  held.reserve(files.size());
  for (uint64_t file : files) {
    held.push_back(target_->ListFile(file));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = FindOpen(end.id);
  if (it == open_.end()) {
    return;  // dropped meanwhile
  }
  const JobPtr job = *it;
  open_.erase(it);
  for (size_t i = 0; i < held.size(); i++) {
    job->inputs[i].held = std::move(held[i]);
  }
  TakeOver(job.get());
  if (job->IsEmpty()) {
    return;
  }
  job->outputs.clear();
  for (const CarriedSst& sst : end.outputs) {
    job->outputs.push_back({sst});
  }
  ended_.push_back(job);
  MakeRoom();
  changed_.notify_all();
}

Carrier::Counts Carrier::counts() const {
  return {dropped_.load(std::memory_order_relaxed), failed_.load(std::memory_order_relaxed),
          read_bytes_.load(std::memory_order_relaxed)};
}

void Carrier::TEST_Wait() {
  Lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_.empty() && current_ == nullptr; });
}

// Drops jobs that never end, as their databases are closed: RocksDB does not tell of it. What is
// held is still of SSTs that are there.
void Carrier::DropClosed() {
  open_.erase(std::remove_if(open_.begin(), open_.end(),
                             [](const JobPtr& job) { return job->source.IsClosed(); }),
              open_.end());
}

// Drops the oldest jobs until there are not too many. Those of which no end has come go first.
void Carrier::MakeRoom() {
  const auto memory = [this] {
    uint64_t bytes = current_ != nullptr ? current_->Memory() : 0;
    for (const Jobs* jobs : {&open_, &ended_}) {
      for (const JobPtr& job : *jobs) {
        bytes += job->Memory();
      }
    }
    return bytes;
  };
  while (open_.size() + ended_.size() > 0 &&
         (open_.size() + ended_.size() > kMostJobs || memory() > kMostMemory)) {
    Jobs* const jobs = !open_.empty() ? &open_ : &ended_;
    Drop(jobs, jobs->begin());
  }
}

void Carrier::Drop(Jobs* jobs, Jobs::iterator it) {
  const JobPtr job = *it;
  jobs->erase(it);
  if (jobs == &ended_) {
    dropped_ += job->Held();
    CutOff(job);
  } else {
    for (const CarryJob::Input& input : job->inputs) {
      dropped_ += target_->ListFile(input.sst.keys.file).size();
    }
  }
}

// Takes a job that is dropped away from those that were to take over what it has. They would keep
// it, and the one that it has something from, and so on, for as long as the thread reads one SST.
void Carrier::CutOff(const JobPtr& job) {
  for (const JobPtr& later : ended_) {
    if (later == finding_) {
      continue;  // the thread reads it, and does not wait for anything
    }
    for (CarryJob::Input& input : later->inputs) {
      if (input.from == job) {
        input.from = nullptr;
      }
    }
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
