// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The cache file: superblock, slots, and the blocks that they name.

#include <cstring>
#include <memory>

#include "plugin/secondary_cache_2q/block_check.h"
#include "plugin/secondary_cache_2q/codec.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/policy.h"
#include "table/block_based/block.h"
#include "table/block_based/block_builder.h"
#include "test/fuzz/target.h"

using namespace rocktier;
namespace cache = rocksdb::secondary_cache_2q;

namespace {

cache::Superblock MakeSuperblock(Input* input) {
  cache::Superblock made;
  made.block_size = 512u << input->Byte() % 4;
  made.shards = 1u << input->Byte() % 13;
  made.capacity =
      uint64_t{made.shards} * made.block_size * (1 + input->Number() % cache::kMostShardUnits);
  made.slots = made.shards * (1 + input->Number() % (1u << 20));
  made.uuid = input->Bytes(cache::Superblock::kUuidSize);
  made.uuid.resize(cache::Superblock::kUuidSize, 'u');
  return made;
}

bool Same(const cache::Superblock& a, const cache::Superblock& b) {
  return a.block_size == b.block_size && a.shards == b.shards && a.capacity == b.capacity &&
         a.slots == b.slots && a.uuid == b.uuid;
}

void CheckSuperblock(const cache::Superblock& s) {
  Require(s.block_size >= 512 && s.block_size <= 4096 && s.shards >= 1 && s.shards <= 4096,
          "a superblock is out of its bounds");
  Require(s.SlotsPerShard() >= 1 && s.UnitsPerShard() >= 1, "a shard has no room");
  Require(s.IndexEnd() >= s.IndexOffset() + s.slots * cache::Slot::kSize &&
              s.DataOffset() >= s.OrderOffset(s.shards) && s.FileSize() > s.DataOffset() &&
              s.FileSize() - s.DataOffset() == s.capacity,
          "a file's size overflows");
  Require(uint32_t{1} << s.ShardBits() == s.shards, "a cache has another number of shards");
}

std::string MakeBlock(Input* input) {
  rocksdb::BlockBuilder builder(1 + input->Byte() % 16, /*use_delta_encoding=*/true,
                                /*use_value_delta_encoding=*/false,
                                input->Byte() % 2 == 0
                                    ? rocksdb::BlockBasedTableOptions::kDataBlockBinarySearch
                                    : rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash);
  for (int i = 0; i < 1 + input->Byte() % 20; i++) {
    rocksdb::InternalKey key("key" + std::to_string(1000 + i),
                             input->Number() & rocksdb::kMaxSequenceNumber, rocksdb::kTypeValue);
    builder.Add(key.Encode(), input->Bytes(50));
  }
  return builder.Finish().ToString();
}

}  // namespace

FUZZ_TARGET(cache_superblock) {
  Input input(bytes);
  cache::Superblock made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    made = MakeSuperblock(from);
    return made.Encode();
  });
  const Bound bound(FitFor(object.bytes.size()));
  cache::Superblock superblock;
  if (!cache::Superblock::Decode(object.bytes, "file", &superblock).ok()) {
    Require(!object.untouched, "a superblock is not read again");
    return;
  }
  Require(!object.untouched || Same(superblock, made), "a superblock changes");
  CheckSuperblock(superblock);
  cache::Superblock again;
  Require(cache::Superblock::Decode(superblock.Encode(), "file", &again).ok() &&
              Same(again, superblock),
          "a superblock is not read again");
}

FUZZ_TARGET(cache_slot) {
  Input input(bytes);
  const cache::Superblock superblock = MakeSuperblock(&input);
  const uint64_t number = input.Below(superblock.slots);
  cache::Slot made;
  Bytes object = BytesFrom(&input, [&](Input* from) {
    const std::string key = from->Bytes(cache::Slot::kKeySize);
    memcpy(made.key, key.data(), key.size());
    made.sequence = from->Number();
    made.offset = from->Number() * superblock.block_size;
    made.size = static_cast<uint32_t>(from->Number());
    std::string slot(cache::Slot::kSize, '\0');
    made.Encode(superblock.uuid, slot.data());
    return slot;
  });
  object.bytes.resize(cache::Slot::kSize, '\0');
  const Bound bound(FitFor(cache::Slot::kSize));
  cache::Slot slot;
  bool used = false;
  if (!cache::Slot::Decode(object.bytes.data(), superblock.uuid, &slot, &used) || !used) {
    Require(!object.untouched || made.size == 0, "a slot is not read again");
    return;
  }
  char once[cache::Slot::kSize];
  slot.Encode(superblock.uuid, once);
  Require(!object.untouched || memcmp(once, object.bytes.data(), sizeof(once)) == 0,
          "a slot changes");
  if (cache::Belongs(slot, number, superblock)) {
    const uint64_t length = cache::BlockHeader::kSize + slot.size;
    Require(slot.size > 0 && slot.offset % superblock.block_size == 0 &&
                slot.offset < superblock.capacity && length <= superblock.capacity - slot.offset,
            "a slot names bytes beyond the data area");
    Require(slot.size <= superblock.capacity / 8, "a slot names more bytes than a block has");
    const uint64_t part = superblock.capacity / superblock.shards;
    Require(slot.offset / part == (slot.offset + length - 1) / part &&
                slot.offset / part == number / superblock.SlotsPerShard(),
            "a slot names bytes of another shard");
  }
}

// The extent of a block.
FUZZ_TARGET(cache_block_header) {
  Input input(bytes);
  cache::BlockHeader made;
  const Bytes extent = BytesFrom(&input, [&made](Input* from) {
    const std::string key = from->Bytes(cache::Slot::kKeySize);
    memcpy(made.key, key.data(), key.size());
    const std::string stored = from->Bytes(100);
    made.size = static_cast<uint32_t>(stored.size());
    made.encoding.codec = from->Byte();
    made.encoding.raw_size =
        made.encoding.codec == 0 ? made.size : static_cast<uint32_t>(from->Number());
    made.encoding.type = from->Byte();
    made.encoding.source = from->Byte();
    std::string whole = std::string(cache::BlockHeader::kSize, '\0') + stored;
    made.Encode(whole.data());
    return whole;
  });
  cache::BlockHeader header;
  rocksdb::Slice stored;
  if (!cache::BlockHeader::Decode(extent.bytes, &header, &stored)) {
    return;
  }
  Require(header.size > 0 && stored.size() == header.size &&
              stored.data() + stored.size() <= extent.bytes.data() + extent.bytes.size(),
          "a block has bytes beyond its extent");
  Require(header.encoding.codec == 0 ? header.encoding.raw_size == header.size
                                     : header.encoding.raw_size > header.size,
          "a block has another size");
  std::string again(extent.bytes.data(), cache::BlockHeader::kSize + header.size);
  header.Encode(again.data());
  Require(!extent.untouched || memcmp(again.data(), extent.bytes.data(), again.size()) == 0,
          "a block's header changes");
}

// The order of use and A1 of a shard, behind its checksum.
FUZZ_TARGET(cache_order) {
  Input input(bytes);
  constexpr size_t kMost = 64;
  const auto add_all = [](cache::TwoQ* policy, uint32_t blocks) {
    for (uint32_t id = 0; id < blocks; id++) {
      policy->Add(id, (uint64_t{id} + 1) * 0x9E3779B97F4A7C15u);
    }
  };
  const uint32_t blocks = 1 + input.Byte();
  const Bytes saved = BytesFrom(&input, [&](Input* from) {
    cache::TwoQ policy(cache::Policy::k2Q, 0.5);
    add_all(&policy, blocks);
    while (!from->empty()) {
      policy.Offer(from->Number(), /*room=*/false);
      bool ghost_hit;
      policy.Lookup(from->Number(), &ghost_hit);
      if (policy.blocks() > 1 && from->Byte() % 4 == 0) {
        policy.Victim();
      }
    }
    std::string state;
    policy.Save(kMost, &state);
    return state;
  });
  cache::TwoQ policy(cache::Policy::k2Q, 0.5);
  policy.SetGhostLimit(kMost);
  add_all(&policy, blocks);
  const bool restored = policy.Restore(kMost, saved.bytes);
  Require(restored || !saved.untouched, "an order is not read again");
  for (uint64_t hash = 0; hash < 100; hash++) {
    bool ghost_hit;
    policy.Lookup(hash << 20, &ghost_hit);
    policy.Offer(hash << 20, /*room=*/false);
  }
  uint32_t victims = 0;
  while (policy.Victim() != cache::kNoBlock) {
    victims++;
  }
  Require(victims == blocks, "an order loses blocks");
}

FUZZ_TARGET(cache_codec) {
  Input input(bytes);
  const auto codec = input.Byte() % 2 == 0 ? rocksdb::kLZ4Compression : rocksdb::kZSTD;
  const uint64_t raw_size = input.Below(1 << 16);
  std::string raw;
  const Bytes stored = BytesFrom(&input, [&](Input* from) {
    while (!from->empty()) {
      raw += std::string(from->Byte(), static_cast<char>(from->Byte())) + from->Bytes(40);
    }
    std::string compressed;
    return cache::Compress(codec, raw, &compressed) ? compressed : std::string();
  });
  if (stored.untouched && !stored.bytes.empty()) {
    const auto again = cache::Decompress(codec, stored.bytes, raw.size());
    Require(again != nullptr && memcmp(again.get(), raw.data(), raw.size()) == 0,
            "a block changes");
  }
  (void)cache::Decompress(codec, stored.bytes, raw_size);
}

// What is taken for a block of data can be read by RocksDB, forwards and backwards.
FUZZ_TARGET(cache_block) {
  Input input(bytes);
  const Bytes object = BytesFrom(&input, MakeBlock);
  (void)cache::SoundBlock(object.bytes, /*entries=*/false);
  if (!cache::SoundBlock(object.bytes, /*entries=*/true)) {
    Require(!object.untouched, "a block of RocksDB is refused");
    return;
  }
  // A copy of exactly this size, so that sanitizers see its end.
  std::unique_ptr<char[]> copy(new char[object.bytes.size()]);
  memcpy(copy.get(), object.bytes.data(), object.bytes.size());
  rocksdb::Block block(rocksdb::BlockContents(rocksdb::Slice(copy.get(), object.bytes.size())));
  const std::unique_ptr<rocksdb::DataBlockIter> it(
      block.NewDataIterator(rocksdb::BytewiseComparator(), rocksdb::kDisableGlobalSequenceNumber));
  size_t entries = 0;
  for (it->SeekToFirst(); it->Valid() && entries <= object.bytes.size(); it->Next()) {
    entries += it->key().size() >= 8 && it->value().size() <= object.bytes.size() ? 1 : 0;
  }
  Require(entries <= object.bytes.size(), "a block has no end");
  for (it->SeekToLast(); it->Valid() && entries > 0; it->Prev()) {
    entries--;
  }
  it->status().PermitUncheckedError();
}
