// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/tier/tier.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// An open SST or blob file. When the mover has put the file into another tier, reads go there from
// then on, and the old file is closed when the reads that are under way have ended, so that its
// space is free.
//
// There are two sides, of which one is current. A read announces itself on the current side and
// looks whether it still is; who changes sides waits until nobody is on the old one. Reads wait for
// nobody.
class TieredRandomAccessFile : public FSRandomAccessFile {
 public:
  using Closed = std::function<void(TieredRandomAccessFile* reader)>;

  // `closed` is called at the end of this object, and goes after all that it has of tiers.
  TieredRandomAccessFile(std::string path, const FileOptions& options, Tier* tier,
                         std::unique_ptr<FSRandomAccessFile> file, Closed closed);
  ~TieredRandomAccessFile() override;

  const std::string& path() const { return path_; }
  const FileOptions& options() const { return options_; }

  // Reads from `file` from now on. False if it cannot take the place of the other one; one without
  // direct I/O always can. The old file has `bytes`, which count in the budget of a tier in memory
  // as long as it must stay open. Not to be called by two threads at once.
  bool Switch(Tier* tier, std::unique_ptr<FSRandomAccessFile> file, uint64_t bytes);

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override;
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override;
  // Keeps the file open until this object is destroyed: nobody says when the read has ended.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> callback, void* argument,
                     void** handle, IOHandleDeleter* deleter, IODebugContext* dbg) override;
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                    IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;
  void Hint(AccessPattern pattern) override;
  bool use_direct_io() const override { return direct_; }
  size_t GetRequiredBufferAlignment() const override { return alignment_; }
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  Temperature GetTemperature() const override;
#ifdef TIERED_HAS_FILE_SIZE_OF_READER
  IOStatus GetFileSize(uint64_t* result) override;
#endif

  // Adds what was not added yet to the tier's statistics.
  void AddStats();

 private:
  static constexpr size_t kSlots = 4;

  // Counts for a part of the threads, on a cache line of its own.
  struct alignas(64) Slot {
    std::atomic<uint32_t> on_side[2] = {{0}, {0}};
    std::atomic<uint64_t> reads{0};
    std::atomic<uint64_t> bytes{0};
  };
  struct Side {
    Tier* tier = nullptr;
    std::unique_ptr<FSRandomAccessFile> file;
  };
  // Holds a side while it exists.
  class Use {
   public:
    explicit Use(const TieredRandomAccessFile* reader);
    ~Use();
    FSRandomAccessFile* operator->() const { return reader_->sides_[side_].file.get(); }
    const Side& side() const { return reader_->sides_[side_]; }
    void Count(uint64_t reads, uint64_t bytes) const;

   private:
    const TieredRandomAccessFile* const reader_;
    Slot* const slot_;
    int side_;
  };

  bool MustStayOpen(const Side& side) const;

  const std::string path_;
  const FileOptions options_;
  const bool direct_;
  const size_t alignment_;
  const Closed closed_;
  mutable Slot slots_[kSlots];
  std::atomic<int> side_{0};
  Side sides_[2];
  std::atomic<bool> async_{false};
  struct Kept {
    Tier* tier;
    uint64_t bytes;
    std::unique_ptr<FSRandomAccessFile> file;
  };
  std::vector<Kept> kept_;  // what may still be in use
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
