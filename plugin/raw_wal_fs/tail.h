// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Keeps the bytes of an open log that are not on the device yet: in memory, and written to the
// stub, so that they outlive the process. The stub is not mapped: whoever truncates it would end
// the process with SIGBUS. Two halves: one takes appended bytes while the other is being written to
// the device.
//
// LogWriter makes one for each new log, and closes it when all of it is on the device. Not
// thread-safe: LogWriter's mutex_ guards the halves, except that one that Take() returned is read
// without it until Give(). Its io_mutex_ guards the calls that only touch the stub.
class Tail {
 public:
  struct Half {
    char* base = nullptr;
    size_t used = 0;     // bytes, chunk headers included
    uint64_t begin = 0;  // offsets in the log
    uint64_t end = 0;
    bool busy = false;  // being written to the device

    bool empty() const { return used == 0; }
  };

  // Makes the stub under `path` in `target`, which must be able to write anywhere in a file.
  static IOStatus Create(FileSystem* target, const std::string& path, const Stub& stub,
                         std::unique_ptr<Tail>* result);

  // Makes the stub durable. Must be called before anything of the log is on the device.
  IOStatus MakeDurable();
  // Notes in the stub that so many bytes of the log are durable, so that their absence is an error;
  // or as many as were noted before, if that is more. The note itself is not made durable: after
  // power loss the stub may say less.
  IOStatus SetDurable(uint64_t bytes);
  // Notes in the stub, durably, that so many bytes are durable, and that the log goes on in the
  // standby: without what is there it is not whole.
  IOStatus SetInStandby(uint64_t bytes) { return SetPlace(Stub::kGoesOnInStandby, bytes); }
  // Notes in the stub, durably, that so many bytes are durable on the device, and that the log goes
  // on there: what the standby has of it may end before.
  IOStatus SetOnDevice(uint64_t bytes) { return SetPlace(Stub::kGoesOnOnDevice, bytes); }
  // Checks the stub. IOError if somebody else has cut the stub off or written over it.
  IOStatus CheckWhole() const;
  // Gives the space of the tail back if it is empty and nothing follows.
  IOStatus Close(bool truncate);

  // Appends as much of `data` as the active half has room for: `*n` bytes. `offset`: in the log.
  IOStatus Append(uint64_t offset, const Slice& data, size_t* n);
  // Makes the other half the active one; false if it is not empty.
  bool Switch();
  // Returns the half with the oldest bytes, null if there are none. The other half becomes active.
  Half* Take();
  // Gives the half back: its bytes are on the device.
  static void Give(Half* half);

  // Copies bytes of the log that are in the tail, up to the end of a chunk. Returns how many; 0 if
  // the byte at `offset` is not in the tail.
  size_t Read(uint64_t offset, size_t n, char* to) const;

 private:
  Tail(FileSystem* target, std::string path, const Stub& stub)
      : target_(target),
        path_(std::move(path)),
        stub_(stub),
        half_size_(stub.tail_size / 2),
        memory_(new char[stub.tail_size]) {
    halves_[0].base = memory_.get();
    halves_[1].base = memory_.get() + half_size_;
  }

  IOStatus SetPlace(uint64_t place, uint64_t bytes);

  FileSystem* const target_;
  const std::string path_;
  const Stub stub_;
  const size_t half_size_;
  const std::unique_ptr<char[]> memory_;  // the halves'
  std::unique_ptr<FSRandomRWFile> file_;
  bool durable_ = false;  // the stub is
  uint64_t told_ = 0;     // the most that SetDurable() was given
  Half halves_[2];
  int active_ = 0;
};

// Copies what a half holds, from its beginning, without the chunk headers.
class Gather {
 public:
  explicit Gather(const Tail::Half& half) : at_(half.base) {}
  void Copy(size_t n, char* to);

 private:
  const char* at_;   // the chunk to take from
  size_t done_ = 0;  // bytes of it that were taken
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
