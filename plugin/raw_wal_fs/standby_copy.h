// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/raw_wal_fs/extent_map.h"
#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/spill.h"
#include "plugin/raw_wal_fs/standby.h"
#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// The copy of an open log in the standby: all of its bytes, from the first on. A thread writes what
// it is given. LogWriter has one for each log with hedge or durable=both, and drops it when the
// standby fails or takes too long; when the device does, it goes on in the copy's file.
//
// Thread-safe. The thread may outlive this object, in a call that does not come back: it then keeps
// the standby, and writes nothing more.
class StandbyCopy {
 public:
  using Limit = std::chrono::milliseconds;

  // Begins the copy of a log whose header is `header`, and whose stub is durable. It has room for
  // `most` bytes that wait for the thread. TimedOut: not within the limit, or an earlier call has
  // not come back.
  static IOStatus Begin(const std::shared_ptr<const Standby>& standby, const SegmentHeader& header,
                        const Superblock& superblock, uint64_t most, Limit limit,
                        std::unique_ptr<StandbyCopy>* result);
  ~StandbyCopy() { Drop(); }
  StandbyCopy(const StandbyCopy&) = delete;
  StandbyCopy& operator=(const StandbyCopy&) = delete;

  // Adds bytes of the log. Does nothing once the copy has failed or was dropped.
  void Append(const Slice& bytes);
  // Returns whether more may be added. There is always room once it has failed or was dropped.
  bool HasRoom() const;
  // Waits for room. False: there was none within the limit.
  bool AwaitRoom(Limit limit) const;

  // Asks for all bytes before `end` to be made durable.
  void Request(uint64_t end);
  // Waits until they are. TimedOut: not within the limit, counted from Request().
  IOStatus Await(uint64_t end, Limit limit) const;
  // Asks for them, and waits until either the copy or the device has them. False: the copy was
  // dropped, or has failed, and the device has not said that it has them.
  bool AwaitFirst(uint64_t end);
  // Notes that the device has all bytes before `end`, durably.
  void NoteOnDevice(uint64_t end);
  // Returns what has failed. OK: nothing has.
  IOStatus status() const;

  // Waits until all that was added is durable, however long that takes, and hands over the file,
  // and where in it the bytes are that NoteOnDevice() has not named. The copy is dropped then.
  IOStatus TakeOver(std::unique_ptr<Spill>* spill, std::vector<Extent>* extents);
  // Waits until all that was added is durable and the file is closed. Not longer than the limit:
  // then drops the copy.
  void Finish(Limit limit);
  // Has the thread end, as soon as it can: what it has not written yet is not written.
  void Drop();

 private:
  struct State;

  explicit StandbyCopy(std::shared_ptr<State> state) : state_(std::move(state)) {}
  static void Run(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
