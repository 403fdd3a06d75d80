// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fills a database, or reads and writes a filled one, with its SSTs on a fast and a slow device and
// with or without hot_promotion. Prints one JSON object of figures; test/bench/README.md says what
// each means. Or does both for the demo, the mix in slices. Or writes a trace, or operations.

#include <gflags/gflags.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/hot_promotion/hot_promotion.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/table.h"
#include "test/bench/common/devices.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/records.h"
#include "test/bench/common/slices.h"
#include "test/bench/common/slow_device_fs.h"
#include "test/bench/common/store.h"
#include "test/bench/common/workload.h"
#include "test/bench/hot/stages.h"
#include "test/bench/hot/trace.h"
#include "test/bench/hot/twitter_run.h"
#include "test/bench/hot/versions.h"
#include "test/support/open_db.h"

DEFINE_string(mode, "run",
              "fill: writes all records in random order; run: runs a mix; slices: fills, then runs "
              "the mix in slices; trace: writes --trace; operations: prints those of --twitter");
DEFINE_string(db, "", "directory of the database");
DEFINE_string(db_paths, "", "path=bytes;path=bytes: DBOptions::db_paths");
DEFINE_string(hot, "", "option string of a HotPromotionTable; empty: plain tables");
DEFINE_uint64(row_cache_bytes, 0, "of a row cache");
DEFINE_string(secondary_cache, "", "URI of a secondary cache; empty: none");
DEFINE_string(
    slow, "",
    "the slow folder; SSTs are read and written with direct I/O then, if --direct; empty: "
    "all with the page cache");
DEFINE_bool(direct, true, "see --slow");
DEFINE_string(options, "", "further options of RocksDB: name=value;name=value");
DEFINE_uint64(slow_us, 0, "that are added to each read of the slow folder");
DEFINE_string(devices, "", "block devices whose requests are counted: fast=loop1;slow=loop2");
DEFINE_string(mix, "ro", "ro; rw: 25% inserts; wh: 50% inserts; uh: 50% updates");
DEFINE_string(keys, "hotspot", "hotspot, shift, dynamic, zipf, uniform: see stages.h");
DEFINE_string(trace, "", "file of a trace that takes the place of --mix and --keys; see trace.h");
DEFINE_uint64(trace_operations, 1000000, "of what is written by --mode=trace, =operations");
DEFINE_string(twitter, "",
              "a cluster, see twitter.h: its records are those of the database, and its operations "
              "take the place of --mix and --keys. For one run of what --mode=fill has written");
DEFINE_uint64(records, 2000000, "that the database is filled with");
DEFINE_uint64(value_size, 1000, "bytes per value");
DEFINE_uint64(cache_bytes, 16 << 20, "capacity of the block cache");
DEFINE_uint64(level_base_bytes, 16 << 20, "max_bytes_for_level_base");
DEFINE_int32(threads, 16, "client threads");
DEFINE_double(seconds, 60, "of a run");
DEFINE_string(fast_folders, "", "FOLDER,FOLDER: their bytes without logs are told");
DEFINE_bool(kill, false, "the run ends with a SIGKILL of its own, after its figures");
DEFINE_bool(report, false, "tells figures of every second, to stderr");
DEFINE_uint64(seed, 42, "same seed, same operations");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FileSystem;
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

constexpr double kFirst = 0.05;  // of the time
constexpr double kLast = 0.9;    // of the time, from here on
constexpr double kBack = 0.9;    // of the reads without the slow device: a stage is as it should be
constexpr auto kTick = std::chrono::milliseconds(250);
constexpr int kTicksPerReport = 4;
constexpr uint64_t kMostRecords = 1ull << 31;  // of a cluster; it inserts more
constexpr auto kSecond = std::chrono::seconds(1);

// Shares of the operations; the rest are reads.
struct HotMix {
  const char* name;
  double inserts;
  double updates;
};
constexpr HotMix kMixes[] = {{"ro", 0, 0}, {"rw", 0.25, 0}, {"wh", 0.5, 0}, {"uh", 0, 0.5}};

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// What is known at a moment of a run.
struct HotMoment {
  Clock::time_point time;
  uint64_t ops = 0;
  uint64_t reads = 0;
  double cpu = 0;
  std::vector<DeviceCounts> devices;
};

// A client.
struct HotClient {
  std::atomic<uint64_t> ops{0};
  std::atomic<uint64_t> reads{0};
  std::vector<float> micros;  // of operations after kLast
  Status status;
};

class HotBench {
 public:
  Status Open();
  Status Fill();
  Status Run(const HotMix& mix);
  // Before the first slice.
  Status Prepare(const HotMix& mix);
  Status RunSlice(const HotMix& mix, double seconds, JsonObject* figures);
  Status Close();
  std::string ToString() const { return json_.ToString(); }

 private:
  Status MakeTwitter();
  Status MakeOptions();
  Status MakeTable();
  Status Load();
  // Until nothing compacts.
  Status Settle();
  Status EmptyLevel0();
  // The key of the n-th record that was inserted: an order that has nothing to do with popularity.
  uint64_t KeyOf(uint64_t record) const { return keys_(record); }
  void Work(const HotMix& mix, int number, HotClient* client);
  // Lets all clients work while body() runs.
  template <typename Body>
  Status WithClients(const HotMix& mix, const Body& body);
  Status Operate(const HotMix& mix, Random* random, HotClient* client);
  Status Read(uint64_t record, HotClient* client);
  HotMoment Now() const;
  std::optional<double> FastShare(const HotMoment& from, const HotMoment& to) const;
  // Looks at the clients until then.
  HotMoment Watch(Clock::time_point until);
  void Report(const HotMoment& from, const HotMoment& to) const;
  void RunStages(Clock::time_point start);
  void AddSpan(const std::string& prefix, const HotMoment& from, const HotMoment& to);
  void AddStage(const Stage& stage, const HotMoment& start, const HotMoment& end);
  void AddEachSecond(const HotMoment& start);
  void AddLatency();
  void AddHot();
  uint64_t StoreBytes() const;
  void AddFast();

  const Permutation keys_{std::numeric_limits<uint32_t>::max(), 1};
  const std::vector<Stage> stages_ = StagesOf(FLAGS_keys);
  const RecordChooser chooser_{FLAGS_keys, FLAGS_records};
  const std::vector<std::pair<std::string, std::string>> devices_ = ParsePairs(FLAGS_devices);
  std::unique_ptr<TwitterRun> twitter_;
  Trace trace_;
  std::unique_ptr<Versions> versions_;
  std::shared_ptr<SlowDeviceFileSystem> device_;  // of --slow
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::atomic<uint64_t> count_{FLAGS_records};
  std::atomic<uint64_t> next_{0};  // of the trace
  std::vector<std::unique_ptr<HotClient>> clients_;
  std::atomic<const Stage*> stage_{nullptr};
  std::vector<HotMoment> moments_;  // of the run, one for each tick
  uint64_t most_store_bytes_ = 0;
  std::vector<double> fast_bytes_;  // at each tick
  std::atomic<bool> last_{false};
  std::atomic<bool> stop_{false};
  uint64_t runs_ = 0;  // of the clients
  JsonObject json_;
};

// Of --twitter.
Status FindCluster(TwitterCluster* cluster) {
  if (FLAGS_records < TwitterStream::kLeastRecords || FLAGS_records >= kMostRecords) {
    return Status::InvalidArgument("--records", std::to_string(FLAGS_records));
  }
  return ParseTwitterCluster(FLAGS_twitter, cluster);
}

Status HotBench::MakeTwitter() {
  if (FLAGS_twitter.empty()) return Status::OK();
  TwitterCluster cluster;
  const Status s = FindCluster(&cluster);
  if (s.ok()) twitter_ = std::make_unique<TwitterRun>(cluster, FLAGS_records, FLAGS_seed);
  return s;
}

// Files are small for a database of some GB.
Status HotBench::MakeOptions() {
  options_.create_if_missing = FLAGS_mode != "run";
  options_.compression = ROCKSDB_NAMESPACE::kNoCompression;
  options_.write_buffer_size = 16 << 20;
  options_.target_file_size_base = 8 << 20;
  options_.max_bytes_for_level_base = FLAGS_level_base_bytes;
  options_.level_compaction_dynamic_level_bytes = false;  // there are no others with db_paths
  options_.max_background_jobs = 3;
  if (!FLAGS_slow.empty()) {
    device_ = std::make_shared<SlowDeviceFileSystem>(FileSystem::Default(), FLAGS_slow);
    device_->SetReadLatency(FLAGS_slow_us);
    env_ = NewCompositeEnv(device_);
    options_.env = env_.get();
    options_.use_direct_reads = FLAGS_direct;
    options_.use_direct_io_for_flush_and_compaction = FLAGS_direct;
  }
  for (const auto& path : ParsePairs(FLAGS_db_paths)) {
    options_.db_paths.emplace_back(path.first, std::stoull(path.second));
  }
  if (FLAGS_row_cache_bytes > 0) {
    options_.row_cache = ROCKSDB_NAMESPACE::NewLRUCache(FLAGS_row_cache_bytes);
  }
  const Options base = options_;
  const Status s = GetOptionsFromString(ConfigOptions(), base, FLAGS_options, &options_);
  return s.ok() ? MakeTable() : s;
}

Status HotBench::MakeTable() {
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

Status HotBench::Open() {
  Status s = MakeTwitter();
  if (s.ok()) s = MakeOptions();
  return s.ok() ? ROCKSDB_NAMESPACE::OpenDb(options_, FLAGS_db, &db_) : s;
}

Status HotBench::Settle() {
  const Status s = db_->Flush(FlushOptions());
  return s.ok() ? db_->WaitForCompact(WaitForCompactOptions()) : s;
}

Status HotBench::Load() {
  if (twitter_ != nullptr) return twitter_->Load(db_.get());
  Status s;
  for (uint64_t i = 0; s.ok() && i < FLAGS_records; i++)
    s = PutRecord(db_.get(), KeyOf(i), 0, FLAGS_value_size);
  return s;
}

// Chance decides what L0 has at the end of a load. It may be a fifth of what there is on the fast
// device, which is to be the same for all systems.
Status HotBench::EmptyLevel0() {
  const char* const kTrigger = "level0_file_num_compaction_trigger";
  const std::string trigger = std::to_string(options_.level0_file_num_compaction_trigger);
  Status s = db_->SetOptions({{kTrigger, "1"}});
  if (s.ok()) s = db_->WaitForCompact(WaitForCompactOptions());
  return s.ok() ? db_->SetOptions({{kTrigger, trigger}}) : s;
}

Status HotBench::Fill() {
  const HotMoment start = Now();
  Status s = Load();
  if (s.ok()) s = Settle();
  json_.Add("settled_s", std::chrono::duration<double>(Clock::now() - start.time).count());
  return s.ok() ? EmptyLevel0() : s;
}

Status HotBench::Read(uint64_t record, HotClient* client) {
  client->reads.fetch_add(1, std::memory_order_relaxed);
  return versions_->Get(db_.get(), record, KeyOf(record), FLAGS_value_size);
}

Status HotBench::Operate(const HotMix& mix, Random* random, HotClient* client) {
  if (twitter_ != nullptr) {
    const TwitterStream::Operation operation = twitter_->Next();
    if (operation.kind == TwitterStream::Kind::kGet) {
      client->reads.fetch_add(1, std::memory_order_relaxed);
    }
    return twitter_->Do(db_.get(), operation);
  }
  if (!trace_.empty()) {
    const Trace::Operation operation = trace_.At(next_.fetch_add(1, std::memory_order_relaxed));
    return operation.is_read ? Read(operation.record, client)
                             : versions_->Put(db_.get(), operation.record, KeyOf(operation.record),
                                              FLAGS_value_size);
  }
  const double which = random->NextDouble();
  if (which < mix.inserts) {
    const uint64_t record = count_.fetch_add(1);
    return versions_->Put(db_.get(), record, KeyOf(record), FLAGS_value_size);
  }
  const uint64_t record = chooser_.Next(*stage_.load(std::memory_order_relaxed), random);
  return which < mix.inserts + mix.updates
             ? versions_->Put(db_.get(), record, KeyOf(record), FLAGS_value_size)
             : Read(record, client);
}

void HotBench::Work(const HotMix& mix, int number, HotClient* client) {
  Random random((FLAGS_seed + runs_) * 1000 + static_cast<uint64_t>(number));
  const ReaderScope scope(Reader::kPoint);
  do {  // one operation, however late it is
    const bool measured = last_.load(std::memory_order_relaxed);
    const auto start = measured ? Clock::now() : Clock::time_point();
    client->status = Operate(mix, &random, client);
    client->ops.fetch_add(1, std::memory_order_relaxed);
    if (measured) {
      client->micros.push_back(
          std::chrono::duration<float, std::micro>(Clock::now() - start).count());
    }
  } while (client->status.ok() && !stop_.load(std::memory_order_relaxed));
}

HotMoment HotBench::Now() const {
  HotMoment moment;
  moment.time = Clock::now();
  for (const auto& client : clients_) {
    moment.ops += client->ops.load(std::memory_order_relaxed);
    moment.reads += client->reads.load(std::memory_order_relaxed);
  }
  moment.cpu = CpuSeconds();
  for (const auto& device : devices_) moment.devices.push_back(CountsOf(device.second));
  return moment;
}

// Reads without the slow device. Requests of compactions count, so it is right if nothing is
// written.
std::optional<double> HotBench::FastShare(const HotMoment& from, const HotMoment& to) const {
  for (size_t i = 0; i < devices_.size(); i++) {
    if (devices_[i].first == "slow") {
      const auto requests = static_cast<double>(to.devices[i].reads - from.devices[i].reads);
      return std::max(
          0.0, 1 - requests / static_cast<double>(std::max<uint64_t>(1, to.reads - from.reads)));
    }
  }
  return std::nullopt;
}

// Of the files of the hot store, with those that are being written and removed.
uint64_t HotBench::StoreBytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, value] : ParsePairs(FLAGS_hot)) {
    std::vector<ROCKSDB_NAMESPACE::Env::FileAttributes> files;
    if (name == "path" && ROCKSDB_NAMESPACE::Env::Default()
                              ->GetChildrenFileAttributes(value + "/store", &files)
                              .ok()) {
      for (const auto& file : files) {
        bytes += file.name.find("LOG") == std::string::npos ? file.size_bytes : 0;
      }
    }
  }
  return bytes;
}

// Of all that is there for long: not of logs.
uint64_t FastBytes() {
  uint64_t bytes = 0;
  std::istringstream folders(FLAGS_fast_folders);
  for (std::string folder; std::getline(folders, folder, ',');) {
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      std::error_code gone;
      const uint64_t size = it->is_regular_file(gone) ? it->file_size(gone) : 0;
      const bool is_log = name.find("LOG") == 0 || it->path().extension() == ".log";
      bytes += gone || is_log ? 0 : size;
    }
  }
  return bytes;
}

HotMoment HotBench::Watch(Clock::time_point until) {
  for (;;) {
    const auto next = std::min(until, Clock::now() + kTick);
    std::this_thread::sleep_until(next);
    moments_.push_back(Now());
    most_store_bytes_ = std::max(most_store_bytes_, StoreBytes());
    if (!FLAGS_fast_folders.empty()) fast_bytes_.push_back(static_cast<double>(FastBytes()));
    if (FLAGS_report && moments_.size() > kTicksPerReport &&
        moments_.size() % kTicksPerReport == 0) {
      Report(moments_[moments_.size() - 1 - kTicksPerReport], moments_.back());
    }
    if (next == until) return moments_.back();
  }
}

void HotBench::Report(const HotMoment& from, const HotMoment& to) const {
  HotPromotionStats stats;
  GetHotPromotionStats(options_.table_factory.get(), &stats).PermitUncheckedError();
  std::fprintf(stderr, "%s: %.0f ops/s, fast %.4f, %s\n", stage_.load()->name,
               static_cast<double>(to.ops - from.ops) /
                   std::chrono::duration<double>(to.time - from.time).count(),
               FastShare(from, to).value_or(0), stats.ToJson().c_str());
}

void HotBench::AddSpan(const std::string& prefix, const HotMoment& from, const HotMoment& to) {
  const double ops = static_cast<double>(std::max<uint64_t>(1, to.ops - from.ops));
  json_.Add(prefix + "ops_per_s", ops / std::chrono::duration<double>(to.time - from.time).count());
  json_.Add(prefix + "cpu_us", (to.cpu - from.cpu) * 1e6 / ops);
  for (size_t i = 0; i < devices_.size(); i++) {
    const std::string name = prefix + devices_[i].first;
    json_.Add(name + "_reads", to.devices[i].reads - from.devices[i].reads);
    json_.Add(name + "_read_bytes", to.devices[i].read_bytes - from.devices[i].read_bytes);
    json_.Add(name + "_written_bytes", to.devices[i].written_bytes - from.devices[i].written_bytes);
  }
  if (const auto share = FastShare(from, to)) json_.Add(prefix + "fast_share", *share);
}

// The end of the stage, and how long it took until it was as it should be, and was so until its
// end: operations of all clients, by the number of records. Nothing, if it never was.
void HotBench::AddStage(const Stage& stage, const HotMoment& start, const HotMoment& end) {
  const std::string prefix = std::string("stage_").append(stage.name).append("_");
  const auto first = std::find_if(moments_.begin(), moments_.end(), [&](const HotMoment& moment) {
    return moment.time > start.time;
  });
  const auto last_begins = end.time - (end.time - start.time) / 10;
  const HotMoment* last = &start;  // the latest one before the last tenth
  for (auto it = first; it != moments_.end() && it->time <= last_begins; ++it) last = &*it;
  AddSpan(prefix, *last, end);
  const HotMoment* before = &start;
  uint64_t back = start.ops;
  for (auto it = first; it != moments_.end(); ++it) {
    if (FastShare(*before, *it).value_or(0) < kBack) back = it->ops;
    before = &*it;
  }
  if (back < end.ops) {
    json_.Add(prefix + "back",
              static_cast<double>(back - start.ops) / static_cast<double>(FLAGS_records));
  }
}

// Of the moments that Watch() has seen: operations, and the part of reads without the slow device.
void HotBench::AddEachSecond(const HotMoment& start) {
  std::vector<double> seconds, operations, shares;
  const HotMoment* before = &start;
  for (const HotMoment& moment : moments_) {
    if (moment.time - before->time < kSecond) continue;
    seconds.push_back(std::chrono::duration<double>(moment.time - start.time).count());
    operations.push_back(static_cast<double>(moment.ops - before->ops));
    if (const auto share = FastShare(*before, moment)) shares.push_back(*share);
    before = &moment;
  }
  json_.AddSeries("each second",
                  {{"seconds", seconds}, {"operations", operations}, {"fast_share", shares}});
}

void HotBench::AddLatency() {
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

void HotBench::AddHot() {
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
  json_.Add("store_used", static_cast<double>(most_store_bytes_) /
                              static_cast<double>(std::max<uint64_t>(1, stats.store_budget)));
  json_.Add("store_errors", stats.errors);
}

void HotBench::AddFast() {
  if (fast_bytes_.empty()) return;
  const auto last = fast_bytes_.begin() +
                    static_cast<std::ptrdiff_t>(static_cast<double>(fast_bytes_.size()) * kLast);
  json_.Add("fast_bytes", std::accumulate(last, fast_bytes_.end(), 0.0) /
                              static_cast<double>(fast_bytes_.end() - last));
  json_.Add("fast_bytes_max", *std::max_element(fast_bytes_.begin(), fast_bytes_.end()));
}

Status HotBench::Prepare(const HotMix& mix) {
  if (stages_.empty()) return Status::InvalidArgument("--keys is not known", FLAGS_keys);
  stage_ = &stages_[0];
  Status s;
  if (!FLAGS_trace.empty()) s = trace_.Read(FLAGS_trace, FLAGS_records);
  versions_ = std::make_unique<Versions>(mix.updates > 0 || !trace_.empty() ? FLAGS_records : 0);
  for (int i = 0; i < FLAGS_threads; i++) clients_.push_back(std::make_unique<HotClient>());
  return s.ok() ? Settle() : s;
}

void HotBench::RunStages(Clock::time_point start) {
  const auto at = [&](double part) {
    return start + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(part * FLAGS_seconds));
  };
  const HotMoment begin = Now();
  AddSpan("first_", begin, Watch(at(kFirst)));
  HotMoment last, before = begin;
  for (size_t i = 0; i < stages_.size(); i++) {
    stage_ = &stages_[i];
    if (i + 1 == stages_.size()) {
      last = Watch(at(kLast));
      last_ = true;
    }
    const HotMoment end =
        Watch(at(static_cast<double>(i + 1) / static_cast<double>(stages_.size())));
    AddStage(stages_[i], before, end);
    before = end;
  }
  AddEachSecond(begin);
  AddSpan("all_", begin, before);
  AddSpan("", last, before);
}

template <typename Body>
Status HotBench::WithClients(const HotMix& mix, const Body& body) {
  std::vector<std::thread> threads;
  stop_ = false;
  for (int i = 0; i < FLAGS_threads; i++) {
    threads.emplace_back([this, &mix, i] { Work(mix, i, clients_[static_cast<size_t>(i)].get()); });
  }
  body();
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  runs_++;
  Status s;
  for (const auto& client : clients_) {
    if (s.ok()) s = client->status;
  }
  return s;
}

Status HotBench::RunSlice(const HotMix& mix, double seconds, JsonObject* figures) {
  const auto slow_reads = [this] {
    return device_ == nullptr ? 0 : device_->Snapshot().reads[static_cast<int>(Reader::kPoint)];
  };
  const uint64_t slow_before = slow_reads();
  const HotMoment before = Now();
  const Status s = WithClients(
      mix, [&] { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); });
  const HotMoment after = Now();
  figures->Add("seconds", std::chrono::duration<double>(after.time - before.time).count());
  figures->Add("ops", after.ops - before.ops);
  figures->Add("reads", after.reads - before.reads);
  figures->Add("slow_reads", slow_reads() - slow_before);
  figures->Add("fast_bytes", FastBytes());
  figures->Add("looks", uint64_t{1});
  return s;
}

Status HotBench::Run(const HotMix& mix) {
  Status s = Prepare(mix);
  if (!s.ok()) return s;
  const auto start = Clock::now();
  s = WithClients(mix, [&] { RunStages(start); });
  AddLatency();
  AddHot();
  AddFast();
  if (twitter_ != nullptr) twitter_->AddTo(&json_);
  return s;
}

Status HotBench::Close() {
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status PrintOperations() {
  TwitterCluster cluster;
  const Status s = FindCluster(&cluster);
  return s.ok() ? PrintTwitterOperations(cluster, FLAGS_records, FLAGS_trace_operations, FLAGS_seed,
                                         stdout)
                : s;
}

Status RunAll() {
  const HotMix* mix = std::find_if(std::begin(kMixes), std::end(kMixes),
                                   [](const HotMix& m) { return FLAGS_mix == m.name; });
  if (mix == std::end(kMixes)) return Status::InvalidArgument("--mix is not known", FLAGS_mix);
  if (FLAGS_mode == "trace") {
    return WriteTrace(FLAGS_trace, FLAGS_trace_operations, FLAGS_records, FLAGS_value_size,
                      FLAGS_seed);
  }
  if (FLAGS_mode == "operations") return PrintOperations();
  HotBench bench;
  Status s = bench.Open();
  if (s.ok()) s = FLAGS_mode == "run" ? bench.Run(*mix) : bench.Fill();
  if (s.ok() && FLAGS_mode == "slices") {
    s = bench.Prepare(*mix);
    if (s.ok()) {
      s = ServeSlices([&](double seconds, JsonObject* figures) {
        return bench.RunSlice(*mix, seconds, figures);
      });
    }
  }
  if (s.ok() && !FLAGS_kill) s = bench.Close();
  if (s.ok() && FLAGS_mode != "slices") std::printf("%s\n", bench.ToString().c_str());
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
