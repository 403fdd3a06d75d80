// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/file.h"

#include <algorithm>
#include <cstring>

#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/opening.h"
#include "plugin/secondary_cache_2q/sync_points.h"
#include "plugin/secondary_cache_2q/thread.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Writes that run side by side.
constexpr size_t kWriteBatch = 32;

// One part in so many of the capacity may be staged, and so be lost when the process is killed.
constexpr size_t kStagedShare = 8;

FileBlock* AsFile(Block* block) { return static_cast<FileBlock*>(block); }

}  // namespace

FileStore::FileStore(const TwoQSecondaryCacheOptions& options)
    : options_(options),
      max_staged_(std::min(options.write_buffer_size, options.capacity / kStagedShare)) {}

Status FileStore::Open(const TwoQSecondaryCacheOptions& options, int shard_bits,
                       std::unique_ptr<FileStore>* result) {
  std::unique_ptr<FileStore> store(new FileStore(options));
  OpenFile opened;
  Status s = OpenCacheFile(options, 1u << shard_bits, &opened);
  if (s.ok()) {
    store->lock_ = std::move(opened.lock);
    store->superblock_ = opened.superblock;
    s = Device::Open(options, opened.path, std::move(opened.file), opened.superblock,
                     &store->device_);
  }
  if (s.ok()) {
    store->MakeParts();
    FileStore* const writer = store.get();
    if (StartThread(&store->writer_, [writer] { writer->WriterLoop(); })) {
      *result = std::move(store);
    } else {
      s = Status::IOError("path=" + options.path, "no thread to write to it");
    }
  }
  return s;
}

FileStore::~FileStore() {
  Close();
  device_.reset();
}

void FileStore::MakeParts() {
  for (uint32_t shard = 0; shard < superblock_.shards; shard++) {
    parts_.push_back(std::make_unique<FilePart>(shard, superblock_.UnitsPerShard(),
                                                superblock_.block_size,
                                                static_cast<BlockId>(superblock_.SlotsPerShard())));
  }
}

uint64_t FileStore::OffsetOf(const FileBlock* block) const {
  return (block->shard * superblock_.UnitsPerShard() + block->start) * superblock_.block_size;
}

void FileStore::CheckIndexIo(const Status& s) {
  if (!s.ok()) {
    io_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Frees a slot in the file. If that fails, the slot stays and names bytes that will not match its
// checksum.
void FileStore::ClearSlot(uint32_t shard, BlockId id) {
  static constexpr char kFree[Slot::kSize] = {};
  CheckIndexIo(device_->StoreIndex(SlotOffset(shard, id), Slice(kFree, sizeof(kFree))));
}

Store::Room FileStore::Allocate(uint32_t shard, const Slice& key, size_t size, Block** result,
                                char** bytes) {
  if (size == 0 || !CanHold(size) || key.size() != Slot::kKeySize) {
    return Room::kNever;
  }
  const uint64_t units = superblock_.UnitsOf(size);
  const size_t length = units * superblock_.block_size;
  if (staged_bytes_.load(std::memory_order_relaxed) + length > max_staged_) {
    return Room::kBusy;
  }
  auto staged = std::make_shared<AlignedBuffer>(length);
  if (staged->data() == nullptr) {
    return Room::kBusy;
  }
  FileBlock* const block = parts_[shard]->Allocate(key, units);
  if (block == nullptr) {
    return Room::kFull;
  }
  memset(staged->data() + BlockHeader::kSize + size, 0, length - BlockHeader::kSize - size);
  block->file = FileOfKey(key);
  block->size = static_cast<uint32_t>(size);
  block->written.store(false, std::memory_order_relaxed);
  block->staged = std::move(staged);
  staged_bytes_.fetch_add(length, std::memory_order_relaxed);
  *bytes = block->staged->data() + BlockHeader::kSize;
  *result = block;
  return Room::kOk;
}

bool FileStore::Keep(Block* block) {
  PartOf(block)->Keep(AsFile(block));
  return true;
}

Block* FileStore::Pin(uint32_t shard, BlockId id, uint64_t hash) {
  return parts_[shard]->Pin(id, hash);
}

Block* FileStore::Detach(uint32_t shard, BlockId id) { return parts_[shard]->Detach(id); }

void FileStore::Commit(Block* block) {
  FileBlock* file_block = AsFile(block);
  BlockHeader header;
  memcpy(header.key, file_block->key, sizeof(header.key));
  header.size = block->size;
  header.encoding = block->encoding;
  header.Encode(file_block->staged->data());
  PartOf(block)->Enqueue(file_block);
  std::lock_guard<std::mutex> lock(queue_mutex_);
  file_block->place = queue_.insert(queue_.end(), file_block);
  queue_changed_.notify_all();
}

// Once the store is closed, the file keeps what it has. Before that, the slot is cleared before
// anybody can get the extent, so that the index never names an extent that has another owner.
void FileStore::Release(Block* block) {
  FileBlock* const file_block = AsFile(block);
  FilePart* const part = PartOf(block);
  const uint32_t shard = block->shard;
  const BlockId id = block->id;
  const FilePart::Left left = part->Unpin(file_block);
  if (left == FilePart::Left::kWaits) {
    Withdraw(shard, id);
    return;
  }
  if (left == FilePart::Left::kOthers) {
    return;
  }
  if (file_block->staged != nullptr) {
    staged_bytes_.fetch_sub(block->charge, std::memory_order_relaxed);
  }
  if (left == FilePart::Left::kNone && !closed_.load(std::memory_order_relaxed)) {
    if (part->IsPublished(file_block)) {
      ClearSlot(block->shard, block->id);
    }
    part->Free(file_block);
  }
  delete file_block;
}

// Takes a block that nobody wants any more out of the queue. Behind a disk that is busy there would
// be many of them, each with an id, an extent and a buffer that others are waiting for.
void FileStore::Withdraw(uint32_t shard, BlockId id) {
  FileBlock* block;
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    block = parts_[shard]->Withdraw(id);
    if (block == nullptr) {
      return;
    }
    queue_.erase(block->place);
    queue_changed_.notify_all();
  }
  staged_bytes_.fetch_sub(block->charge, std::memory_order_relaxed);
  parts_[shard]->Free(block);  // no slot names it yet
  delete block;
}

void FileStore::Close() {
  {
    std::lock_guard<std::mutex> lock(queue_mutex_);
    stop_ = true;
    queue_changed_.notify_all();
  }
  if (writer_.joinable()) {
    writer_.join();
  }
  closed_.store(true, std::memory_order_relaxed);
}

void FileStore::Drain() {
  std::unique_lock<std::mutex> lock(queue_mutex_);
  queue_changed_.wait(lock, [this] { return queue_.empty() && !writing_; });
}

void FileStore::WriterLoop() {
  std::unique_lock<std::mutex> lock(queue_mutex_);
  while (true) {
    queue_changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    std::vector<FileBlock*> batch;
    while (!queue_.empty() && batch.size() < kWriteBatch) {
      batch.push_back(queue_.front());
      PartOf(queue_.front())->Begin(queue_.front());
      queue_.pop_front();
    }
    writing_ = true;
    lock.unlock();
    WriteBatch(batch);
    lock.lock();
    writing_ = false;
    queue_changed_.notify_all();
  }
}

void FileStore::WriteBatch(const std::vector<FileBlock*>& batch) {
  std::vector<Transfer> transfers(batch.size());
  for (size_t i = 0; i < batch.size(); i++) {
    transfers[i].write = true;
    transfers[i].offset = superblock_.DataOffset() + OffsetOf(batch[i]);
    transfers[i].data = batch[i]->staged->data();
    transfers[i].size = batch[i]->charge;
    device_->Start(&transfers[i], /*async=*/true);
  }
  for (size_t i = 0; i < batch.size(); i++) {
    device_->Wait(&transfers[i]);
    if (device_->Check(transfers[i]).ok()) {
      Publish(batch[i]);
    } else {
      io_errors_.fetch_add(1, std::memory_order_relaxed);
      on_failure_(batch[i]);
    }
    Release(batch[i]);
  }
}

void FileStore::Publish(FileBlock* block) {
  TEST_SYNC_POINT("TwoQFileStore::Publish");
  // Keys that are unique only as long as the process or the cache lives must not be found again.
  // Those of blobs could not be.
  if (block->lasting && FileOfKey(block->Key()) != 0) {
    Slot slot;
    memcpy(slot.key, block->key, Slot::kKeySize);
    slot.sequence = sequence_.fetch_add(1, std::memory_order_relaxed);
    slot.offset = OffsetOf(block);
    slot.size = block->size;
    char bytes[Slot::kSize];
    slot.Encode(superblock_.uuid, bytes);
    PartOf(block)->SetPublished(block);  // even a store that fails may have changed the slot
    CheckIndexIo(
        device_->StoreIndex(SlotOffset(block->shard, block->id), Slice(bytes, sizeof(bytes))));
  }
  std::lock_guard<std::mutex> lock(staged_mutex_);
  block->written.store(true, std::memory_order_release);
  block->staged.reset();
  staged_bytes_.fetch_sub(block->charge, std::memory_order_relaxed);
}

std::string FileStore::ToString() const {
  return "    io_in_use : " + device_->ToString() +
         "\n    block_size : " + std::to_string(superblock_.block_size) + "\n";
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
