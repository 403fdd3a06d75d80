// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/cache.h"

#include <algorithm>
#include <cstring>

#include "plugin/secondary_cache_2q/caches.h"
#include "plugin/secondary_cache_2q/codec.h"
#include "plugin/secondary_cache_2q/dram.h"
#include "plugin/secondary_cache_2q/file.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/options.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// To find room in a full part of the cache file, blocks are evicted one by one until an extent
// fits, but no more than so many blocks or four times the bytes wanted, whichever is more. Further
// evictions would be too high a price for one block in a fragmented file.
constexpr int kMinEvictions = 16;

}  // namespace

TwoQSecondaryCache::TwoQSecondaryCache() { RegisterOptions(&options_, &OptionTypes()); }

TwoQSecondaryCache::~TwoQSecondaryCache() {
  reporter_.reset();
  RemoveCache(this);
  carrier_.reset();
  if (open_ && in_force_.storage == Storage::kFile) {
    CloseStore();
  }
}

// Leaves the blocks in the file, and with them the order of use and A1.
void TwoQSecondaryCache::CloseStore() {
  auto* const store = static_cast<FileStore*>(store_.get());
  store->Close();
  for (uint32_t number = 0; number < shards_.size(); number++) {
    store->SaveOrder(number, shards_[number]->SaveOrder(store->References()));
  }
}

void TwoQSecondaryCache::StartReporting() {
  MetricsReport report;
  report.fs = FileSystem::Default();
  report.path = metrics_path_;
  report.alone = options_.metrics_file.empty() && !metrics_path_.empty();
  report.interval = options_.metrics_interval;
  // Column families with the same options have a cache each, and one file.
  report.shared = true;
  report.text = [this] {
    MetricsPage page;
    ForEachCache([&](TwoQSecondaryCache* cache) {
      if (cache->metrics_path_ == metrics_path_) {
        AddMetrics(cache->Stats(), {{"cache", cache->name()}}, &page);
      }
    });
    return page.Text({{"cache", name_}});
  };
  report.warn = [this](const IOStatus& reason) {
    std::lock_guard<std::mutex> lock(problem_mutex_);
    metrics_problem_ = metrics_path_ + ": " + reason.ToString();
  };
  report.written = [this] {
    std::lock_guard<std::mutex> lock(problem_mutex_);
    metrics_problem_.clear();
  };
  reporter_ = std::make_unique<MetricsReporter>(std::move(report));
}

std::string TwoQSecondaryCache::MetricsProblem() const {
  std::lock_guard<std::mutex> lock(problem_mutex_);
  return metrics_problem_;
}

Status TwoQSecondaryCache::OpenStore() {
  if (options_.storage == Storage::kDram) {
    store_ = std::make_unique<DramStore>(1u << shard_bits_);
  } else {
    std::unique_ptr<FileStore> store;
    Status s = FileStore::Open(options_, shard_bits_, &store);
    if (!s.ok()) {
      return s;
    }
    store->OnFailure([this](Block* block) {
      Shard& shard = *shards_[block->shard];
      shard.Drop(block->hash);
      shard.EraseBlock(block, /*moved=*/false);
    });
    store_ = std::move(store);
  }
  const uint32_t n = 1u << shard_bits_;
  for (uint32_t i = 0; i < n; i++) {
    shards_.push_back(std::make_unique<Shard>(options_, i, capacity_ / n, store_.get(), &dead_));
  }
  Recover();
  if (options_.storage == Storage::kFile && options_.carry) {
    carrier_ = std::make_unique<Carrier>(static_cast<CarryTarget*>(this));
  }
  open_ = true;
  static std::atomic<int> in_memory{0};
  name_ = options_.path.empty() ? "dram-" + std::to_string(++in_memory) : options_.path;
  metrics_path_ = options_.metrics_file.empty() && !options_.path.empty() ? options_.path + ".prom"
                                                                          : options_.metrics_file;
  AddCache(this);
  return Status::OK();
}

void TwoQSecondaryCache::Recover() {
  if (options_.storage == Storage::kFile) {
    for (uint32_t number = 0; number < shards_.size(); number++) {
      RecoverShard(number, static_cast<FileStore*>(store_.get()));
    }
  }
}

// Without a saved order, as after a kill, blocks were used in the order in which they came. That is
// the order of ids, from the newest one on, as long as the hand of CLOCK has made the room.
void TwoQSecondaryCache::RecoverShard(uint32_t number, FileStore* store) {
  Shard* const shard = shards_[number].get();
  BlockId newest = kNoBlock;
  store->Recover(number, [&](const Store::Found& found) {
    const bool taken = shard->Adopt(found);
    recovered_ += taken ? 1 : 0;
    newest = taken && newest == kNoBlock ? found.id : newest;
    return taken;
  });
  const std::string order = store->TakeOrder(number);
  if (newest != kNoBlock && !shard->RestoreOrder(store->References(), order)) {
    shard->SetNewest(newest);
  }
}

Shard& TwoQSecondaryCache::ShardFor(uint64_t hash) const {
  return *shards_[ShardOf(hash, shard_bits_)];
}

Status TwoQSecondaryCache::Insert(const Slice& key, Cache::ObjectPtr obj,
                                  const Cache::CacheItemHelper* helper, bool force_insert) {
  if (obj == nullptr) {
    return Status::InvalidArgument("TwoQSecondaryCache", "no object to insert");
  }
  if (!open_) {
    return Status::OK();
  }
  SetOnlySaved(false);
  const uint64_t hash = KeyHash(key);
  const size_t size = helper->size_cb(obj);
  if (size == 0 || !ShardFor(hash).Offer(key, hash, size, force_insert)) {
    return Status::OK();
  }
  // RocksDB makes the keys of blobs from the session that reads them, not from that of their file.
  const Taken taken{key, hash, helper->role != CacheEntryRole::kBlobValue, false, 0};
  Status saved;
  auto save = [&](char* bytes) {
    saved = helper->saveto_cb(obj, 0, size, bytes);
    return saved;
  };
  if (compression_ == kNoCompression) {
    Keep(taken, size, Encoding{static_cast<uint32_t>(size), 0, 0, 0}, save);
    return saved;
  }
  std::unique_ptr<char[]> raw(new char[size]);
  Status s = save(raw.get());
  if (s.ok()) {
    Encode(taken, Slice(raw.get(), size));
  }
  return s;
}

// Stores the bytes compressed if that helps, else as they are.
void TwoQSecondaryCache::Encode(const Taken& taken, const Slice& raw) {
  Encoding encoding;
  encoding.raw_size = static_cast<uint32_t>(raw.size());
  std::string compressed;
  Slice bytes = raw;
  if (Compress(compression_, raw, &compressed)) {
    encoding.codec = static_cast<uint8_t>(compression_);
    bytes = compressed;
  }
  Keep(taken, bytes.size(), encoding, [&bytes](char* to) {
    memcpy(to, bytes.data(), bytes.size());
    return Status::OK();
  });
}

Status TwoQSecondaryCache::InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                                       CacheTier source) {
  if (!open_ || saved.empty()) {
    return Status::OK();
  }
  SetOnlySaved(true);
  const uint64_t hash = KeyHash(key);
  if (!ShardFor(hash).Offer(key, hash, saved.size(), /*force=*/false)) {
    return Status::OK();
  }
  KeepSaved(Taken{key, hash, /*lasting=*/true, false, 0}, saved, type, source);
  return Status::OK();
}

void TwoQSecondaryCache::KeepSaved(const Taken& taken, const Slice& saved, CompressionType type,
                                   CacheTier source) {
  if (type == kNoCompression && compression_ != kNoCompression &&
      source == CacheTier::kVolatileTier) {
    Encode(taken, saved);
    return;
  }
  Encoding encoding;
  encoding.raw_size = static_cast<uint32_t>(saved.size());
  encoding.type = static_cast<uint8_t>(type);
  encoding.source = static_cast<uint8_t>(source);
  Keep(taken, saved.size(), encoding, [&saved](char* to) {
    memcpy(to, saved.data(), saved.size());
    return Status::OK();
  });
}

void TwoQSecondaryCache::SetOnlySaved(bool only_saved) {
  if (only_saved_.load(std::memory_order_relaxed) != only_saved) {  // seldom: spares a write
    only_saved_.store(only_saved, std::memory_order_relaxed);
  }
}

void TwoQSecondaryCache::Keep(const Taken& taken, size_t size, const Encoding& encoding,
                              const Fill& fill) {
  const uint32_t number = ShardOf(taken.hash, shard_bits_);
  Shard& shard = *shards_[number];
  Block* block = nullptr;
  char* bytes = nullptr;
  Store::Room room = store_->Allocate(number, taken.key, size, &block, &bytes);
  size_t evicted = 0;
  for (int i = 0; room == Store::Room::kFull && (i < kMinEvictions || evicted < 4 * size); i++) {
    const size_t charge = shard.EvictOne();
    if (charge == 0) {
      break;
    }
    evicted += charge;
    room = store_->Allocate(number, taken.key, size, &block, &bytes);
  }
  if (room != Store::Room::kOk) {
    Drop(taken, &shard);
    return;
  }
  block->hash = taken.hash;
  block->lasting = taken.lasting;
  block->encoding = encoding;
  if (fill(bytes).ok()) {
    if (taken.is_carried ? shard.AddCarried(block, taken.age) : shard.Add(block)) {
      store_->Commit(block);
    }
  } else {
    Drop(taken, &shard);
  }
  store_->Release(block);
}

void TwoQSecondaryCache::Drop(const Taken& taken, Shard* shard) {
  if (taken.is_carried) {
    shard->DropCarried();
  } else {
    shard->Drop(taken.hash);
  }
}

std::unique_ptr<SecondaryCacheResultHandle> TwoQSecondaryCache::Lookup(
    const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
    bool wait, bool advise_erase, Statistics* /*stats*/, bool& kept_in_sec_cache) {
  kept_in_sec_cache = false;
  if (!open_) {
    return nullptr;
  }
  const uint64_t hash = KeyHash(key);
  Block* block = ShardFor(hash).Lookup(key, hash);
  if (block == nullptr) {
    return nullptr;
  }
  // A block that the primary cache keeps shall be offered when it is evicted there, even if
  // policy=2q still has it. Then we know when that is, and may evict blocks that both caches have.
  const bool promote = advise_erase && (in_force_.exclusive || OfferedBack());
  kept_in_sec_cache = !promote;
  const Slice view = store_->View(block);
  if (view.data() != nullptr) {
    Cache::ObjectPtr value = nullptr;
    size_t charge = 0;
    Outcome outcome;
    outcome.s =
        CreateObject(*block, block->encoding, view, helper, create_context, &value, &charge);
    outcome.size = view.size();
    outcome.promoted = promote;
    FinishLookup(block, outcome);
    return outcome.s.ok() ? std::make_unique<ReadyResult>(value, charge) : nullptr;
  }
  std::unique_ptr<Read> read = store_->NewRead(block, key);
  read->Start(/*async=*/!wait);
  auto result = std::make_unique<PendingResult>(static_cast<LookupObserver*>(this), block,
                                                std::move(read), helper, create_context, promote);
  if (wait) {
    result->Wait();
    if (result->Value() == nullptr) {
      return nullptr;
    }
  }
  return result;
}

void TwoQSecondaryCache::FinishLookup(Block* block, const Outcome& outcome) {
  Shard& shard = *shards_[block->shard];
  if (outcome.is_other) {
    // It is a miss, and the block stays.
  } else if (!outcome.s.ok()) {
    // A block that cannot be read, or be made an object, will not get better. Lack of memory may.
    if (outcome.s.IsCorruption()) {
      shard.CountCorrupt();
    }
    if (!outcome.s.IsMemoryLimit()) {
      shard.EraseBlock(block, /*moved=*/false);
    }
  } else {
    shard.CountRead(outcome.size);
    if (outcome.promoted && in_force_.exclusive) {
      shard.EraseBlock(block, /*moved=*/true);
    } else if (outcome.promoted) {
      shard.Promote(block);
    }
  }
  store_->Release(block);
}

void TwoQSecondaryCache::WaitAll(std::vector<SecondaryCacheResultHandle*> handles) {
  // The first Wait() hands all queued reads to the kernel.
  for (SecondaryCacheResultHandle* handle : handles) {
    handle->Wait();
  }
}

void TwoQSecondaryCache::Erase(const Slice& key) {
  if (open_) {
    const uint64_t hash = KeyHash(key);
    ShardFor(hash).Erase(key, hash);
  }
}

void TwoQSecondaryCache::EraseFiles(const std::vector<uint64_t>& files) {
  for (uint64_t file : files) {
    dead_.Add(file);
  }
  for (const auto& shard : shards_) {
    shard->EraseFiles(files);
  }
}

Status TwoQSecondaryCache::SetCapacity(size_t capacity) {
  if (in_force_.storage == Storage::kFile && capacity > in_force_.capacity) {
    return Status::NotSupported("TwoQSecondaryCache: capacity=" + std::to_string(capacity),
                                "the cache file " + in_force_.path + " was made for " +
                                    std::to_string(in_force_.capacity) + " bytes");
  }
  std::lock_guard<std::mutex> lock(capacity_mutex_);
  capacity_ = capacity;
  Distribute();
  return Status::OK();
}

Status TwoQSecondaryCache::GetCapacity(size_t& capacity) {
  std::lock_guard<std::mutex> lock(capacity_mutex_);
  capacity = capacity_;
  return Status::OK();
}

Status TwoQSecondaryCache::Deflate(size_t decrease) {
  std::lock_guard<std::mutex> lock(capacity_mutex_);
  deflated_ += decrease;
  Distribute();
  return Status::OK();
}

Status TwoQSecondaryCache::Inflate(size_t increase) {
  std::lock_guard<std::mutex> lock(capacity_mutex_);
  deflated_ -= std::min(increase, deflated_);
  Distribute();
  return Status::OK();
}

void TwoQSecondaryCache::Distribute() {
  const size_t in_force = capacity_ - std::min(deflated_, capacity_);
  for (const auto& shard : shards_) {
    shard->SetCapacity(in_force >> shard_bits_);
  }
}

void TwoQSecondaryCache::TEST_Drain() {
  if (open_ && in_force_.storage == Storage::kFile) {
    static_cast<FileStore*>(store_.get())->Drain();
  }
}

std::string TwoQSecondaryCache::GetPrintableOptions() const {
  std::string result = SecondaryCache::GetPrintableOptions();
  ConfigOptions config;
  config.delimiter = "\n    ";
  std::string options;
  if (GetOptionString(config, &options).ok()) {
    result += "    " + options + "\n";
  }
  if (!open_) {
    const std::string why = !pass_through_.empty() ? pass_through_
                            : !refused_.empty()    ? "options were refused: " + refused_
                                                   : "no options were set";
    return result + "    state : pass-through (" + why + ")\n";
  }
  result += "    state : open\n    shards : " + std::to_string(shards_.size()) + "\n";
  return result + store_->ToString() + Stats().ToString();
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
