// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/secondary_cache_2q/carrier.h"
#include "plugin/secondary_cache_2q/dead_ssts.h"
#include "plugin/secondary_cache_2q/lookup.h"
#include "plugin/secondary_cache_2q/metrics_page.h"
#include "plugin/secondary_cache_2q/metrics_reporter.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/shard.h"
#include "plugin/secondary_cache_2q/store.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

class FileStore;

// The SecondaryCache: finds the shard of a key, moves bytes between RocksDB's objects and the
// store, and encodes them. Shards decide, the store keeps.
//
// Thread-safe after PrepareOptions(). Before it, and when another cache owns the file, everything
// is passed through: nothing is found and nothing is kept.
class TwoQSecondaryCache : public SecondaryCache, private LookupObserver, private CarryTarget {
 public:
  TwoQSecondaryCache();
  ~TwoQSecondaryCache() override;

  static const char* kClassName() { return "TwoQSecondaryCache"; }
  const char* Name() const override { return kClassName(); }

  // Validates the options and opens the cache. A second call may change the capacity, nothing else.
  Status PrepareOptions(const ConfigOptions& config_options) override;
  std::string GetPrintableOptions() const override;

  Status Insert(const Slice& key, Cache::ObjectPtr obj, const Cache::CacheItemHelper* helper,
                bool force_insert) override;
  Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type,
                     CacheTier source) override;
  std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) override;
  bool SupportForceErase() const override { return true; }
  void Erase(const Slice& key) override;
  void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) override;

  // storage=file: up to the size that the file was made for; more is NotSupported.
  Status SetCapacity(size_t capacity) override;
  Status GetCapacity(size_t& capacity) override;
  Status Deflate(size_t decrease) override;
  Status Inflate(size_t increase) override;

  // Tells of compactions and what they make, so that blocks survive them. Returns at once. The end
  // is to be told before the blocks are dropped.
  void BeginCarry(const CarryBegin& begin);
  void AddCarryOutput(const std::string& id, const CarriedSst& sst);
  void EndCarry(const CarryEnd& end);
  // Drops the blocks of these SSTs (first eight bytes of their cache keys).
  void EraseFiles(const std::vector<uint64_t>& files);
  TwoQSecondaryCacheStats Stats() const;
  // What statistics call the cache: the path of its file, or "dram-N".
  const std::string& name() const { return name_; }
  // Returns why its statistics file cannot be written; empty: it can.
  std::string MetricsProblem() const;
  // Waits until admitted blocks are in the cache file.
  void TEST_Drain();
  // Waits until the blocks that survive compactions which have ended are carried.
  void TEST_WaitForCarry();

 protected:
  // Notes why, if it fails: RocksDB's tools may go on with the cache.
  Status ConfigureOptions(const ConfigOptions& config_options,
                          const std::unordered_map<std::string, std::string>& options,
                          std::unordered_map<std::string, std::string>* unused) override;
  // Called for each option that is set. Prepares those that are set one by one.
  Status ParseOption(const ConfigOptions& config_options, const OptionTypeInfo& info,
                     const std::string& name, const std::string& value, void* address) override;

 private:
  using Fill = std::function<Status(char*)>;

  void FinishLookup(Block* block, const Outcome& outcome) override;
  bool HasFile(uint64_t file) const override;
  std::vector<Shard::Held> ListFile(uint64_t file) const override;
  bool CanHold(uint64_t size) const override { return store_->CanHold(size); }
  bool IsCrowded() const override { return store_->Crowded(); }
  void Carry(const CaughtBlock& block, uint64_t age) override;
  Status OpenStore();
  void Recover();
  void RecoverShard(uint32_t number, FileStore* store);
  void CloseStore();
  // A block that was offered, or is carried, and is taken.
  struct Taken {
    Slice key;
    uint64_t hash;
    bool lasting;  // see Block
    bool is_carried = false;
    uint64_t age = 0;  // of one that is carried
  };
  // Gives a block of `size` stored bytes, written by `fill`, to the store and to its shard.
  void Keep(const Taken& taken, size_t size, const Encoding& encoding, const Fill& fill);
  void Encode(const Taken& taken, const Slice& raw);
  void KeepSaved(const Taken& taken, const Slice& saved, CompressionType type, CacheTier source);
  void Drop(const Taken& taken, Shard* shard);
  Shard& ShardFor(uint64_t hash) const;
  void SetOnlySaved(bool only_saved);
  // Whether the primary cache will offer a block that it takes now.
  bool OfferedBack() const {
    return in_force_.policy == Policy::k2Q && !only_saved_.load(std::memory_order_relaxed);
  }
  void Distribute();
  void StartReporting();

  TwoQSecondaryCacheOptions options_;  // as configured
  bool configures_ = false;            // several options are set, and prepared together

  // Constant once prepared.
  bool open_ = false;
  std::string pass_through_;  // why, if the cache does nothing
  std::string refused_;       // why the options were
  TwoQSecondaryCacheOptions in_force_;
  int shard_bits_ = 0;
  CompressionType compression_ = kNoCompression;
  std::unique_ptr<Store> store_;
  DeadSsts dead_;  // SSTs that were erased lately
  std::vector<std::unique_ptr<Shard>> shards_;
  uint64_t recovered_ = 0;
  std::string name_ = "dram-0";
  std::string metrics_path_;  // empty: there is no statistics file

  // Whether the blocks come by InsertSaved, as below a TieredSecondaryCache. What the primary cache
  // evicts is then not offered here.
  std::atomic<bool> only_saved_{false};

  mutable std::mutex capacity_mutex_;
  // Guarded by capacity_mutex_.
  size_t capacity_ = 0;
  size_t deflated_ = 0;

  mutable std::mutex problem_mutex_;
  std::string metrics_problem_;  // guarded by problem_mutex_

  std::unique_ptr<Carrier> carrier_;           // null: blocks do not survive compactions
  std::unique_ptr<MetricsReporter> reporter_;  // goes before what it reports of
};

// Adds all figures.
void AddMetrics(const TwoQSecondaryCacheStats& stats, const MetricsPage::Labels& labels,
                MetricsPage* page);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
