// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/file.h"

#include <algorithm>
#include <cstring>

#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/opening.h"
#include "plugin/secondary_cache_2q/shard.h"
#include "plugin/secondary_cache_2q/sync_points.h"
#include "plugin/secondary_cache_2q/thread.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// The index is read in pieces of kPiece bytes, and mended in pages of kPage bytes.
constexpr size_t kPiece = 1 << 20;
constexpr size_t kPage = 4096;

// Writes that run side by side.
constexpr size_t kWriteBatch = 32;

// One part in so many of the capacity may be staged, and so be lost when the process is killed.
constexpr size_t kStagedShare = 8;

FileBlock* AsFile(Block* block) { return static_cast<FileBlock*>(block); }

}  // namespace

// Reads the bytes from where they are: the staging buffer, the persistent memory mapping, or the
// file.
class FileRead : public Read {
 public:
  FileRead(FileStore* store, FileBlock* block) : store_(store), block_(block) {}
  ~FileRead() override {
    if (started_) {
      store_->device_->Wait(&transfer_);
    }
  }

  void Start(bool async) override {
    if (!block_->written.load(std::memory_order_acquire)) {
      std::lock_guard<std::mutex> lock(store_->staged_mutex_);
      staged_ = block_->staged;
    }
    if (staged_ != nullptr || store_->device_->mapping() != nullptr) {
      return;
    }
    const uint64_t length = block_->units * store_->superblock_.block_size;
    buffer_ = AlignedBuffer(length);
    if (buffer_.data() == nullptr) {
      return;
    }
    transfer_.offset = store_->superblock_.DataOffset() + block_->offset;
    transfer_.data = buffer_.data();
    transfer_.size = length;
    started_ = true;
    store_->device_->Start(&transfer_, async);
  }

  bool Poll() override { return !started_ || store_->device_->Poll(&transfer_); }

  void Wait() override {
    if (started_) {
      store_->device_->Wait(&transfer_);
    }
  }

  Status Result(Slice* bytes) override {
    if (staged_ != nullptr) {
      *bytes = Slice(staged_->data(), block_->size);
      return Status::OK();
    }
    const char* data = nullptr;
    if (store_->device_->mapping() != nullptr) {
      data = store_->device_->mapping() + store_->superblock_.DataOffset() + block_->offset;
    } else if (!started_) {
      return Status::MemoryLimit("no memory to read a block of " + store_->options_.path);
    } else {
      Wait();
      Status s = store_->device_->Check(transfer_);
      if (!s.ok()) {
        store_->io_errors_.fetch_add(1, std::memory_order_relaxed);
        return s;
      }
      data = buffer_.data();
    }
    *bytes = Slice(data, block_->size);
    if (BlockChecksum(block_->Key(), *bytes) != block_->checksum) {
      return Status::Corruption(store_->options_.path, "block checksum mismatch");
    }
    return Status::OK();
  }

 private:
  FileStore* const store_;
  FileBlock* const block_;
  std::shared_ptr<AlignedBuffer> staged_;
  AlignedBuffer buffer_;
  Transfer transfer_;
  bool started_ = false;
};

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
    parts_.push_back(std::make_unique<Part>(superblock_.UnitsPerShard()));
    std::vector<uint32_t>& slots = parts_.back()->free_slots;
    const uint64_t first = shard * superblock_.SlotsPerShard();
    for (uint64_t slot = first + superblock_.SlotsPerShard(); slot-- > first;) {
      slots.push_back(static_cast<uint32_t>(slot));
    }
  }
}

bool FileStore::TakeSlot(Part* part, uint32_t* slot) {
  std::lock_guard<std::mutex> lock(part->mutex);
  if (part->free_slots.empty()) {
    return false;
  }
  *slot = part->free_slots.back();
  part->free_slots.pop_back();
  return true;
}

void FileStore::GiveBackSlot(Part* part, uint32_t slot) {
  std::lock_guard<std::mutex> lock(part->mutex);
  part->free_slots.push_back(slot);
}

void FileStore::CheckIndexIo(const Status& s) {
  if (!s.ok()) {
    io_errors_.fetch_add(1, std::memory_order_relaxed);
  }
}

// Frees a slot in the file. If that fails, the slot stays and names bytes that will not match its
// checksum.
void FileStore::ClearSlot(uint32_t slot) {
  static constexpr char kFree[Slot::kSize] = {};
  CheckIndexIo(device_->StoreIndex(SlotOffset(slot), Slice(kFree, sizeof(kFree))));
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
  Part* part = parts_[shard].get();
  uint32_t slot;
  if (!TakeSlot(part, &slot)) {
    return Room::kFull;
  }
  uint64_t start;
  if (!part->extents.Allocate(units, &start)) {
    GiveBackSlot(part, slot);
    return Room::kFull;
  }
  auto staged = std::make_shared<AlignedBuffer>(length);
  if (staged->data() == nullptr) {
    part->extents.Free(start, units);
    GiveBackSlot(part, slot);
    return Room::kBusy;
  }
  memset(staged->data() + size, 0, length - size);
  auto* block = new FileBlock();
  memcpy(block->key, key.data(), key.size());
  block->key_data = block->key;
  block->key_size = Slot::kKeySize;
  block->shard = shard;
  block->size = static_cast<uint32_t>(size);
  block->charge = length;
  block->units = units;
  block->slot = slot;
  block->offset = (shard * superblock_.UnitsPerShard() + start) * superblock_.block_size;
  block->staged = std::move(staged);
  staged_bytes_.fetch_add(length, std::memory_order_relaxed);
  *bytes = block->staged->data();
  *result = block;
  return Room::kOk;
}

void FileStore::Commit(Block* block) {
  FileBlock* file_block = AsFile(block);
  file_block->checksum =
      BlockChecksum(block->Key(), Slice(file_block->staged->data(), block->size));
  block->Ref();
  std::lock_guard<std::mutex> lock(queue_mutex_);
  queue_.push_back(file_block);
  queue_changed_.notify_all();
}

void FileStore::Destroy(Block* block) {
  FileBlock* file_block = AsFile(block);
  if (file_block->staged != nullptr) {
    staged_bytes_.fetch_sub(block->charge, std::memory_order_relaxed);
  }
  // Once the store is closed, the file keeps what it has. Before that, the slot is cleared first,
  // so that the index never names an extent that has another owner.
  if (!closed_.load(std::memory_order_relaxed)) {
    if (file_block->published) {
      ClearSlot(file_block->slot);
    }
    Part* part = parts_[block->shard].get();
    const uint64_t first = block->shard * superblock_.UnitsPerShard();
    part->extents.Free(file_block->offset / superblock_.block_size - first, file_block->units);
    GiveBackSlot(part, file_block->slot);
  }
  delete file_block;
}

std::unique_ptr<Read> FileStore::NewRead(Block* block) {
  return std::make_unique<FileRead>(this, AsFile(block));
}

// Reads a piece of the index. A page that cannot be read is free from now on. It is written anew,
// which also lets a disk put another sector in the place of a bad one.
void FileStore::ReadPiece(Piece* piece) {
  if (device_->ReadIndex(piece->offset, piece->bytes.size(), piece->bytes.data()).ok()) {
    return;
  }
  for (size_t at = 0; at < piece->bytes.size(); at += kPage) {
    Status s = device_->ReadIndex(piece->offset + at, kPage, piece->bytes.data() + at);
    if (!s.ok()) {
      CheckIndexIo(s);
      memset(piece->bytes.data() + at, 0, kPage);
      CheckIndexIo(device_->WriteIndex(piece->offset + at, Slice(piece->bytes.data() + at, kPage)));
    }
  }
}

// Sets entries that name no block to zero, page by page.
void FileStore::ScanPiece(Piece* piece, Candidates* found) {
  for (size_t page = 0; page < piece->bytes.size(); page += kPage) {
    bool changed = false;
    for (size_t at = page; at < page + kPage; at += Slot::kSize) {
      const uint64_t number = (piece->offset + at - superblock_.IndexOffset()) / Slot::kSize;
      char* bytes = piece->bytes.data() + at;
      Slot slot;
      bool used;
      const bool sound = number < superblock_.slots &&
                         Slot::Decode(bytes, superblock_.uuid, &slot, &used) &&
                         (!used || Belongs(slot, number, superblock_));
      if (!sound && number < superblock_.slots) {
        memset(bytes, 0, Slot::kSize);
        changed = true;
      } else if (sound && used) {
        found->push_back(Candidate(static_cast<uint32_t>(number), slot));
      }
    }
    if (changed) {
      CheckIndexIo(
          device_->WriteIndex(piece->offset + page, Slice(piece->bytes.data() + page, kPage)));
    }
  }
}

std::unique_ptr<FileBlock> FileStore::Candidate(uint32_t number, const Slot& slot) const {
  auto block = std::make_unique<FileBlock>();
  memcpy(block->key, slot.key, Slot::kKeySize);
  block->key_data = block->key;
  block->key_size = Slot::kKeySize;
  block->hash = KeyHash(block->Key());
  block->shard = static_cast<uint32_t>(number / superblock_.SlotsPerShard());
  block->size = slot.size;
  block->units = superblock_.UnitsOf(slot.size);
  block->charge = block->units * superblock_.block_size;
  block->slot = number;
  block->sequence = slot.sequence;
  block->offset = slot.offset;
  block->checksum = slot.checksum;
  block->encoding = slot.encoding;
  block->published = true;
  block->recovered = true;
  block->written.store(true, std::memory_order_relaxed);
  return block;
}

bool FileStore::Adopt(FileBlock* block) {
  const uint64_t first = block->shard * superblock_.UnitsPerShard();
  return parts_[block->shard]->extents.Reserve(block->offset / superblock_.block_size - first,
                                               block->units);
}

std::vector<Block*> FileStore::Recover() {
  Candidates found;
  const uint64_t end = superblock_.DataOffset();
  for (uint64_t offset = superblock_.IndexOffset(); offset < end; offset += kPiece) {
    Piece piece{offset, std::string(std::min<uint64_t>(kPiece, end - offset), '\0')};
    ReadPiece(&piece);
    ScanPiece(&piece, &found);
  }
  // The newest come first: where two slots claim the same bytes, the newer block was written last.
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a->sequence > b->sequence; });
  sequence_.store(found.empty() ? 1 : found.front()->sequence + 1, std::memory_order_relaxed);
  std::vector<Block*> blocks;
  std::vector<bool> taken(superblock_.slots);
  for (std::unique_ptr<FileBlock>& block : found) {
    if (Adopt(block.get())) {
      taken[block->slot] = true;
      blocks.push_back(block.release());
    } else {
      ClearSlot(block->slot);
    }
  }
  for (const auto& part : parts_) {
    std::lock_guard<std::mutex> lock(part->mutex);
    auto& slots = part->free_slots;
    slots.erase(std::remove_if(slots.begin(), slots.end(), [&](uint32_t s) { return taken[s]; }),
                slots.end());
  }
  std::reverse(blocks.begin(), blocks.end());
  return blocks;
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
    const size_t n = std::min(queue_.size(), kWriteBatch);
    std::vector<FileBlock*> batch(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(n));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(n));
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
    // A block that only we hold was evicted meanwhile.
    if (batch[i]->refs.load(std::memory_order_acquire) == 1) {
      continue;
    }
    transfers[i].write = true;
    transfers[i].offset = superblock_.DataOffset() + batch[i]->offset;
    transfers[i].data = batch[i]->staged->data();
    transfers[i].size = batch[i]->charge;
    device_->Start(&transfers[i], /*async=*/true);
  }
  for (size_t i = 0; i < batch.size(); i++) {
    if (transfers[i].write) {
      device_->Wait(&transfers[i]);
      if (device_->Check(transfers[i]).ok()) {
        Publish(batch[i]);
      } else {
        io_errors_.fetch_add(1, std::memory_order_relaxed);
        on_failure_(batch[i]);
      }
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
    slot.offset = block->offset;
    slot.size = block->size;
    slot.checksum = block->checksum;
    slot.encoding = block->encoding;
    char bytes[Slot::kSize];
    slot.Encode(superblock_.uuid, bytes);
    CheckIndexIo(device_->StoreIndex(SlotOffset(block->slot), Slice(bytes, sizeof(bytes))));
    block->published = true;
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
