// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/random_access_file.h"

#include <thread>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

size_t SlotOfThread() {
  static std::atomic<size_t> next{0};
  static thread_local const size_t slot = next.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

}  // namespace

TieredRandomAccessFile::Use::Use(const TieredRandomAccessFile* reader)
    : reader_(reader), slot_(&reader->slots_[SlotOfThread() % kSlots]) {
  while (true) {
    side_ = reader_->side_.load();
    slot_->on_side[side_].fetch_add(1);
    if (reader_->side_.load() == side_) {
      return;
    }
    slot_->on_side[side_].fetch_sub(1);
  }
}

TieredRandomAccessFile::Use::~Use() {
  slot_->on_side[side_].fetch_sub(1, std::memory_order_release);
}

void TieredRandomAccessFile::Use::Count(uint64_t reads, uint64_t bytes) const {
  slot_->reads.fetch_add(reads, std::memory_order_relaxed);
  slot_->bytes.fetch_add(bytes, std::memory_order_relaxed);
}

TieredRandomAccessFile::TieredRandomAccessFile(std::string path, const FileOptions& options,
                                               Tier* tier, std::unique_ptr<FSRandomAccessFile> file,
                                               Closed closed)
    : path_(std::move(path)),
      options_(options),
      direct_(file->use_direct_io()),
      alignment_(file->GetRequiredBufferAlignment()),
      closed_(std::move(closed)) {
  sides_[0].tier = tier;
  sides_[0].file = std::move(file);
}

TieredRandomAccessFile::~TieredRandomAccessFile() {
  closed_(this);
  AddStats();
  for (Kept& kept : kept_) {
    kept.file.reset();
    kept.tier->LetGo(kept.bytes);
  }
}

void TieredRandomAccessFile::AddStats() {
  Tier* const tier = sides_[side_.load()].tier;
  for (Slot& slot : slots_) {
    tier->reads.fetch_add(slot.reads.exchange(0), std::memory_order_relaxed);
    tier->read_bytes.fetch_add(slot.bytes.exchange(0), std::memory_order_relaxed);
  }
}

// Slices that were handed out point into mapped files.
bool TieredRandomAccessFile::MustStayOpen(const Side& side) const {
  return async_.load() || options_.use_mmap_reads || side.tier->options().kind == TierKind::kPmem;
}

// Whoever asked before a read must not be wrong now: what is laid out for direct I/O can be read
// without it.
bool TieredRandomAccessFile::Switch(Tier* tier, std::unique_ptr<FSRandomAccessFile> file,
                                    uint64_t bytes) {
  const int old = side_.load();
  if (file->use_direct_io() && (!direct_ || file->GetRequiredBufferAlignment() > alignment_)) {
    return false;
  }
  AddStats();
  sides_[1 - old].tier = tier;
  sides_[1 - old].file = std::move(file);
  side_.store(1 - old);
  for (Slot& slot : slots_) {
    while (slot.on_side[old].load() != 0) {
      std::this_thread::yield();
    }
  }
  if (MustStayOpen(sides_[old])) {
    // Elsewhere the mover would find no room for what goes to and fro.
    const uint64_t held = sides_[old].tier->is_volatile() ? bytes : 0;
    sides_[old].tier->Hold(held);
    kept_.push_back({sides_[old].tier, held, std::move(sides_[old].file)});
  }
  sides_[old].file.reset();
  return true;
}

IOStatus TieredRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions& options,
                                      Slice* result, char* scratch, IODebugContext* dbg) const {
  const Use file(this);
  IOStatus s = file->Read(offset, n, options, result, scratch, dbg);
  file.Count(1, result->size());
  return s;
}

IOStatus TieredRandomAccessFile::MultiRead(FSReadRequest* requests, size_t count,
                                           const IOOptions& options, IODebugContext* dbg) {
  const Use file(this);
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; i++) {
    bytes += requests[i].len;
  }
  file.Count(count, bytes);
  return file->MultiRead(requests, count, options, dbg);
}

IOStatus TieredRandomAccessFile::ReadAsync(FSReadRequest& request, const IOOptions& options,
                                           std::function<void(FSReadRequest&, void*)> callback,
                                           void* argument, void** handle, IOHandleDeleter* deleter,
                                           IODebugContext* dbg) {
  async_.store(true);
  const Use file(this);
  file.Count(1, request.len);
  return file->ReadAsync(request, options, std::move(callback), argument, handle, deleter, dbg);
}

IOStatus TieredRandomAccessFile::Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                                          IODebugContext* dbg) {
  return Use(this)->Prefetch(offset, n, options, dbg);
}

size_t TieredRandomAccessFile::GetUniqueId(char* id, size_t max_size) const {
  return Use(this)->GetUniqueId(id, max_size);
}

void TieredRandomAccessFile::Hint(AccessPattern pattern) { Use(this)->Hint(pattern); }

IOStatus TieredRandomAccessFile::InvalidateCache(size_t offset, size_t length) {
  return Use(this)->InvalidateCache(offset, length);
}

Temperature TieredRandomAccessFile::GetTemperature() const {
  return Use(this).side().tier->options().temperature;
}

#ifdef TIERED_HAS_FILE_SIZE_OF_READER
IOStatus TieredRandomAccessFile::GetFileSize(uint64_t* result) {
  return Use(this)->GetFileSize(result);
}
#endif

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
