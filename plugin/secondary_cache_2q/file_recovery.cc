// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What FileStore reads when the file is opened, and what it writes for that when it is closed.

#include <algorithm>
#include <cstring>

#include "plugin/secondary_cache_2q/file.h"
#include "plugin/secondary_cache_2q/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// The index is read in pieces of kPiece bytes, and mended in pages of kPage bytes.
constexpr uint64_t kPiece = 1 << 20;
constexpr uint64_t kPage = 4096;

}  // namespace

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

// Sets entries of the shard that name no block to zero, page by page.
void FileStore::ScanPiece(uint32_t shard, Piece* piece, Candidates* found) {
  for (size_t page = 0; page < piece->bytes.size(); page += kPage) {
    bool changed = false;
    for (size_t at = page; at < page + kPage; at += Slot::kSize) {
      const uint64_t number = (piece->offset + at - superblock_.IndexOffset()) / Slot::kSize;
      if (number / superblock_.SlotsPerShard() == shard &&
          !ScanSlot(shard, number, piece->bytes.data() + at, found)) {
        memset(piece->bytes.data() + at, 0, Slot::kSize);
        changed = true;
      }
    }
    if (changed) {
      CheckIndexIo(
          device_->WriteIndex(piece->offset + page, Slice(piece->bytes.data() + page, kPage)));
    }
  }
}

// False unless the entry is free or names a block.
bool FileStore::ScanSlot(uint32_t shard, uint64_t number, char* bytes, Candidates* found) {
  Slot slot;
  bool used;
  if (!Slot::Decode(bytes, superblock_.uuid, &slot, &used)) {
    return false;
  }
  if (used && !Belongs(slot, number, superblock_)) {
    return false;
  }
  if (used) {
    found->push_back(MakeCandidate(shard, number, slot));
  }
  return true;
}

FileStore::Candidate FileStore::MakeCandidate(uint32_t shard, uint64_t number,
                                              const Slot& slot) const {
  const Slice key(slot.key, Slot::kKeySize);
  Candidate candidate;
  candidate.sequence = slot.sequence;
  candidate.start = slot.offset / superblock_.block_size - shard * superblock_.UnitsPerShard();
  candidate.found.id = static_cast<BlockId>(number - shard * superblock_.SlotsPerShard());
  candidate.found.hash = KeyHash(key);
  candidate.found.file = FileOfKey(key);
  candidate.found.charge = superblock_.UnitsOf(slot.size) * superblock_.block_size;
  return candidate;
}

// The newest come first: where two slots claim the same bytes, the newer block was written last.
void FileStore::Recover(uint32_t shard, const std::function<bool(const Found&)>& take) {
  Candidates found;
  const uint64_t begin = SlotOffset(shard, 0) / kPage * kPage;
  const uint64_t end = (SlotOffset(shard + 1, 0) + kPage - 1) / kPage * kPage;
  for (uint64_t offset = begin; offset < end; offset += kPiece) {
    Piece piece{offset, std::string(std::min(kPiece, end - offset), '\0')};
    ReadPiece(&piece);
    ScanPiece(shard, &piece, &found);
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.sequence > b.sequence; });
  if (!found.empty()) {
    sequence_ = std::max(sequence_.load(), found.front().sequence + 1);
  }
  FilePart* const part = parts_[shard].get();
  for (const Candidate& candidate : found) {
    const BlockId id = candidate.found.id;
    const uint64_t units = candidate.found.charge / superblock_.block_size;
    bool taken = part->Adopt(id, candidate.start, units);
    if (taken && !take(candidate.found)) {
      part->Reject(id);
      taken = false;
    }
    if (!taken) {
      ClearSlot(shard, id);
    }
  }
  part->EndAdoption();
}

bool FileStore::FindKey(uint32_t shard, BlockId id, std::string* key) {
  switch (parts_[shard]->FindKey(id, key)) {
    case FilePart::Known::kNo:
      return false;
    case FilePart::Known::kKey:
      return true;
    case FilePart::Known::kSlot:
      break;
  }
  char bytes[Slot::kSize];
  Status s = device_->ReadIndex(SlotOffset(shard, id), sizeof(bytes), bytes);
  CheckIndexIo(s);
  Slot slot;
  bool used = false;
  if (!s.ok() || !Slot::Decode(bytes, superblock_.uuid, &slot, &used) || !used) {
    return false;
  }
  key->assign(slot.key, Slot::kKeySize);
  return true;
}

void FileStore::SaveOrder(uint32_t shard, const std::string& state) {
  const std::string bytes = EncodeOrder(superblock_.uuid, shard, state);
  if (bytes.size() <= superblock_.OrderSize()) {
    CheckIndexIo(device_->WriteIndex(superblock_.OrderOffset(shard), bytes));
  }
}

std::string FileStore::TakeOrder(uint32_t shard) {
  const uint64_t offset = superblock_.OrderOffset(shard);
  static constexpr char kNone[kOrderHead] = {};
  std::string bytes(kOrderHead, '\0');
  Status s = device_->ReadIndex(offset, bytes.size(), bytes.data());
  if (s.ok() && memcmp(bytes.data(), kNone, kOrderHead) == 0) {
    return "";
  }
  if (s.ok()) {
    bytes.resize(OrderBytes(bytes.data(), superblock_.OrderSize()));
    s = device_->ReadIndex(offset, bytes.size(), bytes.data());
  }
  CheckIndexIo(s);
  CheckIndexIo(device_->WriteIndex(offset, Slice(kNone, kOrderHead)));
  return s.ok() ? DecodeOrder(superblock_.uuid, shard, bytes).ToString() : "";
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
