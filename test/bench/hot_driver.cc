// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fills a database, or reads and writes a filled one, with its SSTs on a fast and a slow device and with or without
// hot_promotion. Prints one JSON object of figures; test/bench/README.md says what each means.

#include <gflags/gflags.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "devices.h"
#include "json_out.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/table.h"
#include "store.h"
#include "test/support/open_db.h"
#include "workload.h"

DEFINE_string(mode, "run", "fill: writes all records in random order; run: runs a mix");
DEFINE_string(db, "", "directory of the database");
DEFINE_string(db_paths, "", "path=bytes;path=bytes: DBOptions::db_paths");
DEFINE_string(hot, "", "option string of a HotPromotionTable; empty: plain tables");
DEFINE_uint64(row_cache_bytes, 0, "of a row cache");
DEFINE_string(secondary_cache, "", "URI of a secondary cache; empty: none");
DEFINE_bool(direct, true, "with direct I/O of SSTs");
DEFINE_string(devices, "", "block devices whose requests are counted: fast=loop1;slow=loop2");
DEFINE_string(mix, "ro", "ro; rw: 25% inserts; wh: 50% inserts; uh: 50% updates");
DEFINE_string(
    keys, "hotspot",
    "hotspot: 95% of them of 5%; zipf: 0.99; uniform; shift: hotspot, another one after half");
DEFINE_uint64(records, 2000000, "that the database is filled with");
DEFINE_uint64(value_size, 1000, "bytes per value");
DEFINE_uint64(cache_bytes, 16 << 20, "capacity of the block cache");
DEFINE_int32(threads, 16, "client threads");
DEFINE_double(seconds, 60, "of a run");
DEFINE_bool(kill, false, "the run ends with a SIGKILL of its own, after its figures");
DEFINE_uint64(seed, 42, "same seed, same operations");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::LRUCacheOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::SecondaryCache;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::TableFactory;
using ROCKSDB_NAMESPACE::WaitForCompactOptions;
using ROCKSDB_NAMESPACE::hot_promotion::GetHotPromotionStats;
using ROCKSDB_NAMESPACE::hot_promotion::HotPromotionStats;

using Clock = std::chrono::steady_clock;

constexpr double kTheta = 0.99;
constexpr double kHotShare = 0.95;  // of the operations
constexpr uint64_t kHotPart = 20;   // one of so many records
constexpr double kFirst = 0.05;     // of the time
constexpr double kLast = 0.9;       // from here on

// Shares of the operations; the rest are reads.
struct Mix {
  const char* name;
  double inserts;
  double updates;
};
constexpr Mix kMixes[] = {{"ro", 0, 0}, {"rw", 0.25, 0}, {"wh", 0.5, 0}, {"uh", 0, 0.5}};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The keys of the records, in an order that has nothing to do with their popularity.
class Keys {
 public:
  Keys()
      : keys_(std::numeric_limits<uint32_t>::max(), 1),
        popular_(FLAGS_records, 2),
        zipf_(FLAGS_keys == "zipf" ? FLAGS_records : 2, kTheta) {}

  // Of the n-th record that was inserted.
  uint64_t KeyOf(uint64_t n) const { return keys_(n); }
  // A record to read or change. `second`: of the second half of the time.
  uint64_t Choose(bool second, Random* random) const {
    if (FLAGS_keys == "uniform") return KeyOf(random->Uniform(FLAGS_records));
    if (FLAGS_keys == "zipf") return KeyOf(popular_(zipf_.Next(random)));
    const uint64_t hot = FLAGS_records / kHotPart;
    if (random->NextDouble() >= kHotShare) return KeyOf(random->Uniform(FLAGS_records));
    return KeyOf(popular_(random->Uniform(hot) + (second && FLAGS_keys == "shift" ? hot : 0)));
  }

 private:
  const Permutation keys_;
  const Permutation popular_;
  const Zipf zipf_;
};

// What is known at a moment of a run.
struct Moment {
  Clock::time_point time;
  uint64_t ops = 0;
  uint64_t reads = 0;
  double cpu = 0;
  std::vector<DeviceCounts> devices;
};

// A client.
struct Client {
  std::atomic<uint64_t> ops{0};
  std::atomic<uint64_t> reads{0};
  std::vector<float> micros;  // of operations after kLast
  Status status;
};

class Bench {
 public:
  Status Open();
  Status Fill();
  Status Run(const Mix& mix);
  Status Close();
  std::string ToString() const { return json_.ToString(); }

 private:
  Status MakeOptions();
  // Until nothing compacts.
  Status Settle();
  void Work(const Mix& mix, int number, Client* client);
  Status Operate(const Mix& mix, bool second, Random* random, Client* client);
  Moment Now() const;
  void AddSpan(const std::string& prefix, const Moment& from, const Moment& to);
  void AddLatency();
  void AddHot();

  const Keys keys_;
  const std::vector<std::pair<std::string, std::string>> devices_ = ParsePairs(FLAGS_devices);
  Options options_;
  std::unique_ptr<DB> db_;
  std::atomic<uint64_t> count_{FLAGS_records};
  std::vector<std::unique_ptr<Client>> clients_;
  std::atomic<bool> last_{false};
  std::atomic<bool> second_{false};
  std::atomic<bool> stop_{false};
  JsonObject json_;
};

// Small for a database of some GB: three levels below L0, as one of a TB has with RocksDB's defaults.
Status Bench::MakeOptions() {
  options_.create_if_missing = FLAGS_mode == "fill";
  options_.compression = ROCKSDB_NAMESPACE::kNoCompression;
  options_.write_buffer_size = 16 << 20;
  options_.target_file_size_base = 8 << 20;
  options_.max_bytes_for_level_base =
      std::max<uint64_t>(8 << 20, FLAGS_records * FLAGS_value_size / 100);
  options_.level_compaction_dynamic_level_bytes = false;  // there are no others with db_paths
  options_.max_background_jobs = 3;
  options_.use_direct_reads = FLAGS_direct;
  options_.use_direct_io_for_flush_and_compaction = FLAGS_direct;
  for (const auto& path : ParsePairs(FLAGS_db_paths)) {
    options_.db_paths.emplace_back(path.first, std::stoull(path.second));
  }
  BlockBasedTableOptions table;
  LRUCacheOptions cache(FLAGS_cache_bytes, /*num_shard_bits=*/-1, /*strict_capacity_limit=*/false,
                        /*high_pri_pool_ratio=*/0);
  Status s;
  if (!FLAGS_secondary_cache.empty()) {
    s = SecondaryCache::CreateFromString(ConfigOptions(), FLAGS_secondary_cache,
                                         &cache.secondary_cache);
  }
  table.block_cache = cache.MakeSharedCache();
  table.filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  if (FLAGS_row_cache_bytes > 0) {
    options_.row_cache = ROCKSDB_NAMESPACE::NewLRUCache(FLAGS_row_cache_bytes);
  }
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  if (s.ok() && !FLAGS_hot.empty()) {
    s = TableFactory::CreateFromString(ConfigOptions(), "id=HotPromotionTable;" + FLAGS_hot,
                                       &options_.table_factory);
    if (s.ok()) {
      auto* block_based = options_.table_factory->GetOptions<BlockBasedTableOptions>();
      block_based->block_cache = table.block_cache;
      block_based->filter_policy = table.filter_policy;
    }
  }
  return s;
}

Status Bench::Open() {
  const Status s = MakeOptions();
  return s.ok() ? ROCKSDB_NAMESPACE::OpenDb(options_, FLAGS_db, &db_) : s;
}

Status Bench::Settle() {
  const Status s = db_->Flush(FlushOptions());
  return s.ok() ? db_->WaitForCompact(WaitForCompactOptions()) : s;
}

Status Bench::Fill() {
  const Moment start = Now();
  Random random(FLAGS_seed);
  Status s;
  for (uint64_t i = 0; s.ok() && i < FLAGS_records; i++)
    s = PutRecord(db_.get(), keys_.KeyOf(i), random.Next(), FLAGS_value_size);
  if (s.ok()) s = Settle();
  json_.Add("settled_s", std::chrono::duration<double>(Clock::now() - start.time).count());
  return s;
}

Status Bench::Operate(const Mix& mix, bool second, Random* random, Client* client) {
  const double which = random->NextDouble();
  if (which < mix.inserts)
    return PutRecord(db_.get(), keys_.KeyOf(count_.fetch_add(1)), random->Next(), FLAGS_value_size);
  const uint64_t key = keys_.Choose(second, random);
  if (which < mix.inserts + mix.updates)
    return PutRecord(db_.get(), key, random->Next(), FLAGS_value_size);
  client->reads.fetch_add(1, std::memory_order_relaxed);
  return GetRecord(db_.get(), key, FLAGS_value_size);
}

void Bench::Work(const Mix& mix, int number, Client* client) {
  Random random(FLAGS_seed * 1000 + static_cast<uint64_t>(number));
  while (client->status.ok() && !stop_.load(std::memory_order_relaxed)) {
    const bool measured = last_.load(std::memory_order_relaxed);
    const auto start = measured ? Clock::now() : Clock::time_point();
    client->status = Operate(mix, second_.load(std::memory_order_relaxed), &random, client);
    client->ops.fetch_add(1, std::memory_order_relaxed);
    if (measured) {
      client->micros.push_back(
          std::chrono::duration<float, std::micro>(Clock::now() - start).count());
    }
  }
}

Moment Bench::Now() const {
  Moment moment;
  moment.time = Clock::now();
  for (const auto& client : clients_) {
    moment.ops += client->ops.load(std::memory_order_relaxed);
    moment.reads += client->reads.load(std::memory_order_relaxed);
  }
  moment.cpu = CpuSeconds();
  for (const auto& device : devices_) moment.devices.push_back(CountsOf(device.second));
  return moment;
}

void Bench::AddSpan(const std::string& prefix, const Moment& from, const Moment& to) {
  const double ops = static_cast<double>(std::max<uint64_t>(1, to.ops - from.ops));
  const double reads = static_cast<double>(std::max<uint64_t>(1, to.reads - from.reads));
  json_.Add(prefix + "ops_per_s", ops / std::chrono::duration<double>(to.time - from.time).count());
  json_.Add(prefix + "cpu_us", (to.cpu - from.cpu) * 1e6 / ops);
  for (size_t i = 0; i < devices_.size(); i++) {
    const std::string name = prefix + devices_[i].first;
    const uint64_t requests = to.devices[i].reads - from.devices[i].reads;
    json_.Add(name + "_reads", requests);
    json_.Add(name + "_read_bytes", to.devices[i].read_bytes - from.devices[i].read_bytes);
    json_.Add(name + "_written_bytes", to.devices[i].written_bytes - from.devices[i].written_bytes);
    if (devices_[i].first == "slow") {
      json_.Add(prefix + "fast_share", std::max(0.0, 1 - static_cast<double>(requests) / reads));
    }
  }
}

void Bench::AddLatency() {
  std::vector<float> all;
  for (const auto& client : clients_) {
    all.insert(all.end(), client->micros.begin(), client->micros.end());
  }
  if (all.empty()) return;
  std::sort(all.begin(), all.end());
  for (const auto& [name, share] : {std::pair("p50_us", 0.5), std::pair("p99_us", 0.99)}) {
    const auto place = static_cast<size_t>(share * static_cast<double>(all.size() - 1));
    json_.Add(name, static_cast<double>(all[place]));
  }
}

void Bench::AddHot() {
  HotPromotionStats stats;
  if (FLAGS_hot.empty() || !GetHotPromotionStats(options_.table_factory.get(), &stats).ok()) return;
  const uint64_t copies = stats.served_memory + stats.served_store;
  json_.Add("served_memory", stats.served_memory);
  json_.Add("served_store", stats.served_store);
  json_.Add("served_fast", stats.served_fast);
  json_.Add("served_slow", stats.served_slow);
  json_.Add("promoted", stats.promoted);
  json_.Add("retained", stats.retained);
  json_.Add("store_share", static_cast<double>(copies) / static_cast<double>(std::max<uint64_t>(
                                                             1, copies + stats.served_slow)));
  json_.Add("store_used", static_cast<double>(stats.store_bytes) /
                              static_cast<double>(std::max<uint64_t>(1, stats.store_budget)));
  json_.Add("store_errors", stats.errors);
}

Status Bench::Run(const Mix& mix) {
  Status s = Settle();
  if (!s.ok()) return s;
  std::vector<std::thread> threads;
  for (int i = 0; i < FLAGS_threads; i++) clients_.push_back(std::make_unique<Client>());
  const Moment start = Now();
  for (int i = 0; i < FLAGS_threads; i++) {
    threads.emplace_back([this, &mix, i] { Work(mix, i, clients_[static_cast<size_t>(i)].get()); });
  }
  const auto until = [&](double part) {
    std::this_thread::sleep_until(start.time +
                                  std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(part * FLAGS_seconds)));
  };
  until(kFirst);
  const Moment first = Now();
  until(0.5);
  second_ = true;
  until(kLast);
  const Moment last = Now();
  last_ = true;
  until(1);
  const Moment end = Now();
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& client : clients_) {
    if (s.ok()) s = client->status;
  }
  AddSpan("all_", start, end);
  AddSpan("first_", start, first);
  AddSpan("", last, end);
  AddLatency();
  AddHot();
  return s;
}

Status Bench::Close() {
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status RunAll() {
  const Mix* mix = std::find_if(std::begin(kMixes), std::end(kMixes),
                                [](const Mix& m) { return FLAGS_mix == m.name; });
  if (mix == std::end(kMixes)) return Status::InvalidArgument("--mix is not known", FLAGS_mix);
  Bench bench;
  Status s = bench.Open();
  if (s.ok()) s = FLAGS_mode == "fill" ? bench.Fill() : bench.Run(*mix);
  if (s.ok() && !FLAGS_kill) s = bench.Close();
  if (s.ok()) std::printf("%s\n", bench.ToString().c_str());
  if (s.ok() && FLAGS_kill) {
    std::fflush(stdout);
    raise(SIGKILL);
  }
  return s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const rocktier_bench::Status s = rocktier_bench::RunAll();
  if (!s.ok()) {
    std::fprintf(stderr, "hot_driver: %s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
