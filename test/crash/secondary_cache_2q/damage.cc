// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/damage.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "test/crash/secondary_cache_2q/observer.h"

namespace rocktier {

using ROCKSDB_NAMESPACE::secondary_cache_2q::BlockHeader;
using ROCKSDB_NAMESPACE::secondary_cache_2q::Slot;
using ROCKSDB_NAMESPACE::secondary_cache_2q::Superblock;

namespace {

constexpr size_t kPage = 4096;
constexpr int kSpoiled = 200;

std::string Load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void Save(const std::string& path, const std::string& bytes) {
  // In place: the file keeps its size unless the damage is another one.
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  Require(out.good(), "write " + path);
}

// Of a block with its header.
size_t LengthOf(const Slot& slot) { return BlockHeader::kSize + slot.size; }

// The file as bytes, and what of it is worth damaging.
class Image {
 public:
  Image(const std::string& path, std::mt19937_64* random)
      : bytes_(Load(path)), layout_(ReadLayout(path)), random_(random) {
    for (const auto& [key, slot] : ReadIndex(path)) {
      blocks_.push_back(slot);
    }
    for (uint64_t i = 0; i < layout_.slots; i++) {
      Slot slot;
      bool used;
      if (Slot::Decode(SlotBytes(i), layout_.uuid, &slot, &used) && used) {
        used_slots_.push_back(i);
      }
    }
    Require(blocks_.size() > 100, "enough blocks to damage");
  }

  std::string& bytes() { return bytes_; }
  const Superblock& layout() const { return layout_; }
  uint64_t Random(uint64_t below) { return (*random_)() % below; }

  char* SlotBytes(uint64_t number) {
    return bytes_.data() + layout_.IndexOffset() + number * Slot::kSize;
  }
  uint64_t AnyUsedSlot() { return used_slots_[Random(used_slots_.size())]; }
  uint64_t AnySlot() { return Random(layout_.slots); }
  const Slot& AnyBlock() { return blocks_[Random(blocks_.size())]; }
  char* BytesOf(const Slot& slot) { return bytes_.data() + layout_.DataOffset() + slot.offset; }

  void Flip(char* byte) { *byte = static_cast<char>(*byte ^ (1 << Random(8))); }
  // Pages of the index and of the data area, not the superblock.
  void ReplacePages(const std::string& other, uint64_t one_in) {
    for (size_t page = kPage; page + kPage <= bytes_.size(); page += kPage) {
      if (Random(one_in) == 0) {
        bytes_.replace(page, kPage, other, page, kPage);
      }
    }
  }

 private:
  std::string bytes_;
  const Superblock layout_;
  std::mt19937_64* const random_;
  std::vector<Slot> blocks_;
  std::vector<uint64_t> used_slots_;
};

void SwapBlocks(Image* image) {
  std::map<uint32_t, Slot> by_size;
  for (int i = 0; i < kSpoiled * 10; i++) {
    const Slot& a = image->AnyBlock();
    const auto [it, added] = by_size.emplace(a.size, a);
    const Slot b = it->second;
    if (!added && b.offset != a.offset) {
      std::swap_ranges(image->BytesOf(a), image->BytesOf(a) + LengthOf(a), image->BytesOf(b));
      it->second = a;
    }
  }
}

void SwapSlots(Image* image) {
  for (int i = 0; i < kSpoiled; i++) {
    char* a = image->SlotBytes(image->AnyUsedSlot());
    char* b = image->SlotBytes(image->AnySlot());
    std::swap_ranges(a, a + Slot::kSize, b);
  }
}

void CopySlots(Image* image) {
  for (int i = 0; i < kSpoiled; i++) {
    const std::string slot(image->SlotBytes(image->AnyUsedSlot()), Slot::kSize);
    slot.copy(image->SlotBytes(image->AnySlot()), Slot::kSize);
  }
}

}  // namespace

bool MustBeRefused(Damage damage) {
  return damage == Damage::kTruncate || damage == Damage::kEmpty ||
         damage == Damage::kFlipSuperblock || damage == Damage::kZeroSuperblock;
}

bool SpoilsBlocks(Damage damage) {
  return damage == Damage::kFlipDataBytes || damage == Damage::kZeroPages ||
         damage == Damage::kSwapBlocks;
}

const char* NameOf(Damage damage) {
  static const char* const names[] = {
      "FlipIndexBytes", "FlipDataBytes",  "ZeroPages",     "OldPages",      "OldIndex",
      "SwapBlocks",     "SwapSlots",      "CopySlot",      "AppendGarbage", "Truncate",
      "Empty",          "FlipSuperblock", "ZeroSuperblock"};
  return names[static_cast<int>(damage)];
}

void Apply(Damage damage, const std::string& file, const std::string& older,
           std::mt19937_64* random) {
  Image image(file, random);
  std::string& bytes = image.bytes();
  const uint64_t data = image.layout().DataOffset();
  switch (damage) {
    case Damage::kFlipIndexBytes:
      for (int i = 0; i < kSpoiled; i++) {
        image.Flip(image.SlotBytes(image.AnyUsedSlot()) + image.Random(Slot::kSize));
        image.Flip(image.SlotBytes(image.AnySlot()) + image.Random(Slot::kSize));
      }
      break;
    case Damage::kFlipDataBytes:
      for (int i = 0; i < kSpoiled; i++) {
        const Slot& slot = image.AnyBlock();
        image.Flip(image.BytesOf(slot) + image.Random(LengthOf(slot)));
      }
      break;
    case Damage::kZeroPages:
      image.ReplacePages(std::string(bytes.size(), '\0'), 8);
      break;
    case Damage::kOldPages:
      image.ReplacePages(Load(older), 2);
      break;
    case Damage::kOldIndex:
      bytes.replace(0, data, Load(older), 0, data);
      break;
    case Damage::kSwapBlocks:
      SwapBlocks(&image);
      break;
    case Damage::kSwapSlots:
      SwapSlots(&image);
      break;
    case Damage::kCopySlot:
      CopySlots(&image);
      break;
    case Damage::kAppendGarbage:
      for (int i = 0; i < 5000; i++) {
        bytes.push_back(static_cast<char>(image.Random(256)));
      }
      break;
    case Damage::kTruncate:
      bytes.resize(Superblock::kSize + image.Random(bytes.size() - Superblock::kSize));
      break;
    case Damage::kEmpty:
      bytes.clear();
      break;
    case Damage::kFlipSuperblock:
      image.Flip(bytes.data() + image.Random(Superblock::kSize));
      break;
    case Damage::kZeroSuperblock:
      bytes.replace(0, Superblock::kSize, Superblock::kSize, '\0');
      break;
  }
  Save(file, bytes);
}

}  // namespace rocktier
