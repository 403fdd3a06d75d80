// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Standby that waits for its disk no longer than a limit.

#include <condition_variable>
#include <mutex>
#include <utility>

#include "plugin/raw_wal_fs/patient.h"
#include "plugin/raw_wal_fs/standby.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

IOStatus Standby::InTime(const std::shared_ptr<const Standby>& standby,
                         std::chrono::milliseconds limit, const std::function<IOStatus()>& work) {
  struct Call {
    std::mutex mutex;
    std::condition_variable ended;
    // All below: guarded by mutex.
    bool has_ended = false;
    IOStatus result;
    std::shared_ptr<void> stuck;
  };
  const auto call = std::make_shared<Call>();
  const bool begun = Detach([call, standby, work] {
    IOStatus s = work();
    std::lock_guard<std::mutex> lock(call->mutex);
    call->result = std::move(s);
    call->result.PermitUncheckedError();  // nobody may wait for it any more
    call->has_ended = true;
    call->stuck.reset();
    call->ended.notify_one();
  });
  if (!begun) {  // work() here would have no limit
    return standby->NoThread();
  }
  std::unique_lock<std::mutex> lock(call->mutex);
  if (call->ended.wait_for(lock, limit, [&call] { return call->has_ended; })) {
    return call->result;
  }
  call->stuck = standby->NoteStuck();
  return standby->TimedOut(limit);
}

IOStatus Standby::DeleteInTime(const std::shared_ptr<const Standby>& standby, LogId log) {
  return InTime(standby, kPatience, [standby, log] { return standby->Delete(log); });
}

IOStatus Standby::SyncInTime(const std::shared_ptr<const Standby>& standby, LogId log,
                             std::chrono::milliseconds limit) {
  return InTime(standby, limit, [standby, log] { return standby->SyncFound(log); });
}

IOStatus Standby::SyncFound(LogId log) const {
  std::unique_ptr<FSRandomRWFile> file;
  IOStatus s = fs_->NewRandomRWFile(PathOf(log), FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Fsync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

std::shared_ptr<void> Standby::NoteStuck() const {
  (*stuck_)++;
  return std::shared_ptr<void>(nullptr, [count = stuck_](void*) { (*count)--; });
}

IOStatus Standby::NoThread() const {
  return IOStatus::IOError("standby=" + directory_, "no thread to write to it");
}

IOStatus Standby::TimedOut(std::chrono::milliseconds limit) const {
  return IOStatus::TimedOut("standby=" + directory_,
                            "did not answer within " + std::to_string(limit.count()) + " ms");
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
