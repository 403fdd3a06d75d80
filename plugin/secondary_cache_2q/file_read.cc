// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <cstring>

#include "plugin/secondary_cache_2q/file.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/index.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Reads a block from where it is: the staging buffer, the persistent memory mapping, or the file.
class FileRead : public Read {
 public:
  FileRead(FileStore* store, FileBlock* block, const Slice& key)
      : store_(store), block_(block), key_(key.data(), key.size()) {}
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
    buffer_ = AlignedBuffer(store_->LengthOf(block_));
    if (buffer_.data() == nullptr) {
      return;
    }
    transfer_.offset = Offset();
    transfer_.data = buffer_.data();
    transfer_.size = store_->LengthOf(block_);
    started_ = true;
    store_->device_->Start(&transfer_, async);
  }

  bool Poll() override { return !started_ || store_->device_->Poll(&transfer_); }

  void Wait() override {
    if (started_) {
      store_->device_->Wait(&transfer_);
    }
  }

  Status Result(Slice* bytes, Encoding* encoding) override {
    if (staged_ != nullptr) {  // its header may not be written yet
      *bytes = Slice(staged_->data() + BlockHeader::kSize, block_->size);
      *encoding = block_->encoding;
      return CheckKey(block_->Key());
    }
    const char* data = nullptr;
    Status s = Data(&data);
    if (!s.ok()) {
      return s;
    }
    BlockHeader header;
    const Slice extent(data, store_->LengthOf(block_));
    if (!BlockHeader::Decode(extent, &header, bytes)) {
      return Status::Corruption(store_->options_.path, "a damaged block");
    }
    *encoding = header.encoding;
    return CheckKey(header.Key());
  }

 private:
  uint64_t Offset() const { return store_->superblock_.DataOffset() + store_->OffsetOf(block_); }

  // The extent's bytes, once they are there.
  Status Data(const char** data) {
    if (store_->device_->mapping() != nullptr) {
      *data = store_->device_->mapping() + Offset();
      return Status::OK();
    }
    if (!started_) {
      return Status::MemoryLimit("no memory to read a block of " + store_->options_.path);
    }
    Wait();
    Status s = store_->device_->Check(transfer_);
    if (!s.ok()) {
      store_->io_errors_.fetch_add(1, std::memory_order_relaxed);
    }
    *data = buffer_.data();
    return s;
  }

  // Of two keys with the same tag in a shard one is found for the other. Any other key is what a
  // lost write or an old page leaves: the block is not where the index says.
  Status CheckKey(const Slice& key) const {
    if (key == key_) {
      return Status::OK();
    }
    const uint64_t hash = KeyHash(key);
    const int shard_bits = store_->superblock_.ShardBits();
    return Index::TagOf(hash) == Index::TagOf(block_->hash) &&
                   ShardOf(hash, shard_bits) == block_->shard
               ? Status::NotFound()
               : Status::Corruption(store_->options_.path, "another block is in its place");
  }

  FileStore* const store_;
  FileBlock* const block_;
  const std::string key_;
  std::shared_ptr<AlignedBuffer> staged_;
  AlignedBuffer buffer_;
  Transfer transfer_;
  bool started_ = false;
};

std::unique_ptr<Read> FileStore::NewRead(Block* block, const Slice& key) {
  return std::make_unique<FileRead>(this, static_cast<FileBlock*>(block), key);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
