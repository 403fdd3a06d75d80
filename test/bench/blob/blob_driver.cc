// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fills a database with records of several sizes, or runs one mix of operations over a filled one,
// with RocksDB's options as they are given. Prints one JSON object of figures; test/bench/README.md
// says what each means. Or does both for the demo, the mix in slices.

#include <gflags/gflags.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "test/bench/blob/oracle.h"
#include "test/bench/blob/sized_records.h"
#include "test/bench/blob/space_sampler.h"
#include "test/bench/blob/write_trace.h"
#include "test/bench/common/each_second.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/slices.h"
#include "test/bench/common/workload.h"
#include "test/support/open_db.h"
#include "utilities/counted_fs.h"

DEFINE_string(mode, "run",
              "fill: writes all records; run: runs a mix; check: reads everything; slices: fills, "
              "then runs the mix in slices of --operations");
DEFINE_string(db, "", "directory of the database; what each record has is in the file DB.oracle");
DEFINE_string(options, "",
              "RocksDB's options of the database and the family: name=value;name=value");
DEFINE_string(sizes, "L", "of the records: S, M, L, SD, MD, LD");
DEFINE_string(mix, "a", "one of YCSB's, a to f, or scan: of 50 records each");
DEFINE_bool(uniform, false, "all keys are alike");
DEFINE_bool(direct, true, "with direct I/O of SSTs and blob files");
DEFINE_uint64(records, 100000, "that the database is filled with");
DEFINE_uint64(operations, 100000, "of a run");
DEFINE_uint64(cache_bytes, 8 << 20, "capacity of the block cache");
DEFINE_uint64(space_floor, 32 << 20, "of live bytes, for the space amplification");
DEFINE_int32(threads, 4, "client threads");
DEFINE_uint64(seed, 42, "same seed, same operations");
DEFINE_string(write_trace, "",
              "of a fill or a run: appends each put to this file; see write_trace.h");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::CountedFileSystem;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::NewCompositeEnv;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Statistics;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WaitForCompactOptions;
using ROCKSDB_NAMESPACE::blob_hybrid::BlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::GetBlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::SettleBlobHybrid;

constexpr double kTheta = 0.99;
constexpr uint64_t kLongestScan = 100;  // records
constexpr int kFixedScan = 50;
// Of the cache, for blocks, which values in blob files do not push out.
constexpr double kBlocksShare = 0.8;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Shares of the operations; the rest are scans.
struct BlobMix {
  const char* name;
  double reads;
  double updates;
  double inserts;
  double read_modify_writes;
  bool latest;  // the newest records are the most popular
  int scan;     // records of each; 0: 1 to kLongestScan
};

constexpr BlobMix kMixes[] = {
    {"a", 0.5, 0.5, 0, 0, false, 0},
    {"b", 0.95, 0.05, 0, 0, false, 0},
    {"c", 1, 0, 0, 0, false, 0},
    {"d", 0.95, 0, 0.05, 0, true, 0},
    {"e", 0, 0, 0.05, 0, false, 0},
    {"f", 0.5, 0, 0, 0.5, false, 0},
    {"scan", 0, 0, 0, 0, false, kFixedScan},
};
constexpr BlobMix kLoad = {"load", 0, 0, 1, 0, false, 0};

const BlobMix* FindMix(const std::string& name) {
  for (const BlobMix& mix : kMixes) {
    if (name == mix.name) return &mix;
  }
  return nullptr;
}

// A client thread.
struct BlobClient {
  enum Kind { kGet, kPut, kScan, kKinds };
  std::vector<float> micros[kKinds];
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
  Status status;
};

// What has been done so far.
struct BlobMoment {
  Clock::time_point time = Clock::now();
  double cpu = CpuSeconds();
  uint64_t file_read = 0;
  uint64_t file_written = 0;
  uint64_t tickers[ROCKSDB_NAMESPACE::TICKER_ENUM_MAX] = {};
};

bool Fills() { return FLAGS_mode == "fill" || FLAGS_mode == "slices"; }

class BlobBench {
 public:
  explicit BlobBench(const SizedRecords& records)
      : oracle_(records, Fills() ? FLAGS_records : FLAGS_operations),
        popular_(FLAGS_records, 2),
        zipf_(FLAGS_records, kTheta) {}

  Status Open();
  Status Do(const BlobMix& mix, uint64_t operations);
  // Ends early after so many seconds, but not before it has settled.
  Status RunSlice(const BlobMix& mix, double seconds, JsonObject* figures);
  Status Check();
  Status Close();
  std::string ToString() const { return json_.ToString(); }

 private:
  Status MakeOptions(Options* options) const;
  // Until nothing compacts any more.
  Status Settle();
  // All clients, until so many operations are done or it is time.
  Status RunClients(const BlobMix& mix, uint64_t operations, Clock::time_point end);
  void Work(const BlobMix& mix, uint64_t operations, Clock::time_point end, BlobClient* client,
            uint64_t seed);
  Status Operate(const BlobMix& mix, BlobClient* client, Random* random);
  uint64_t Choose(const BlobMix& mix, Random* random) const;
  BlobMoment Now() const;
  void AddFigures(const BlobMoment& start, const BlobMoment& clients, const BlobMoment& end);
  void AddLatencies();
  void AddTickers(const BlobMoment& start, const BlobMoment& end);
  void AddState();
  std::string OraclePath() const { return FLAGS_db + ".oracle"; }

  std::unique_ptr<WriteTrace> trace_;
  Oracle oracle_;
  const Permutation popular_;
  const Zipf zipf_;
  std::shared_ptr<CountedFileSystem> fs_;
  std::unique_ptr<Env> env_;
  std::shared_ptr<Statistics> statistics_;
  std::unique_ptr<DB> db_;
  std::atomic<uint64_t> next_{0};  // number of a record to insert
  std::atomic<uint64_t> done_{0};
  std::vector<BlobClient> clients_;
  uint64_t runs_ = 0;  // of the clients
  JsonObject json_;
};

// Small for a database of some hundred MB, so that it has as many levels as one of a TB with
// RocksDB's defaults.
Status BlobBench::MakeOptions(Options* options) const {
  Options base;
  base.env = env_.get();
  base.statistics = statistics_;
  base.create_if_missing = Fills();
  base.compression = ROCKSDB_NAMESPACE::kNoCompression;
  base.write_buffer_size = 512 << 10;
  base.target_file_size_base = 256 << 10;
  base.max_bytes_for_level_base = 512 << 10;
  base.max_bytes_for_level_multiplier = 4;
  base.max_background_jobs = 4;
  base.use_direct_reads = FLAGS_direct;
  base.use_direct_io_for_flush_and_compaction = FLAGS_direct;
  const Status s = GetOptionsFromString(ConfigOptions(), base, FLAGS_options, options);
  if (s.ok()) {  // all systems' tables are block-based; values in blob files are in the same cache
    auto* table = options->table_factory->GetOptions<BlockBasedTableOptions>();
    ROCKSDB_NAMESPACE::LRUCacheOptions cache;
    cache.capacity = FLAGS_cache_bytes;
    cache.high_pri_pool_ratio = 0;
    cache.low_pri_pool_ratio = kBlocksShare;
    table->block_cache = cache.MakeSharedCache();
    table->filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
    if (options->enable_blob_files) options->blob_cache = table->block_cache;
  }
  return s;
}

Status BlobBench::Open() {
  fs_ = std::make_shared<CountedFileSystem>(FileSystem::Default());
  env_ = NewCompositeEnv(fs_);
  statistics_ = ROCKSDB_NAMESPACE::CreateDBStatistics();
  Options options;
  Status s = MakeOptions(&options);
  if (s.ok()) s = ROCKSDB_NAMESPACE::OpenDb(options, FLAGS_db, &db_);
  if (s.ok() && !Fills()) s = oracle_.Load(OraclePath());
  next_ = oracle_.count();
  if (s.ok() && !FLAGS_write_trace.empty()) {
    s = WriteTrace::Open(FLAGS_write_trace, Fills() ? WriteTrace::kLoad : WriteTrace::kRun,
                         &trace_);
    oracle_.TraceTo(trace_.get());
  }
  return s;
}

Status BlobBench::Settle() {
  Status s = db_->Flush(FlushOptions());
  for (int i = 0; s.ok() && i < 2; i++) {
    s = db_->WaitForCompact(WaitForCompactOptions());
    if (s.ok()) s = SettleBlobHybrid(db_.get());
  }
  return s.ok() ? db_->WaitForCompact(WaitForCompactOptions()) : s;
}

uint64_t BlobBench::Choose(const BlobMix& mix, Random* random) const {
  if (FLAGS_uniform) return random->Uniform(FLAGS_records);
  const uint64_t rank = zipf_.Next(random);
  return mix.latest ? next_.load() - 1 - rank : popular_(rank);
}

Status BlobBench::Operate(const BlobMix& mix, BlobClient* client, Random* random) {
  const auto start = Clock::now();
  BlobClient::Kind kind = BlobClient::kPut;
  const double which = random->NextDouble();
  const bool insert = which < mix.inserts;
  const uint64_t number = insert ? next_++ : Choose(mix, random);
  double limit = mix.inserts;
  Status s;
  if (insert) {
    s = oracle_.Put(db_.get(), number, &client->written_bytes);
  } else if (which < (limit += mix.reads)) {
    kind = BlobClient::kGet;
    s = oracle_.Get(db_.get(), number, &client->read_bytes);
  } else if (which < (limit += mix.updates)) {
    s = oracle_.Put(db_.get(), number, &client->written_bytes);
  } else if (which < limit + mix.read_modify_writes) {
    s = oracle_.Get(db_.get(), number, &client->read_bytes);
    if (s.ok()) s = oracle_.Put(db_.get(), number, &client->written_bytes);
  } else {
    kind = BlobClient::kScan;
    const int count = mix.scan > 0 ? mix.scan : 1 + static_cast<int>(random->Uniform(kLongestScan));
    s = oracle_.Scan(db_.get(), number, count, &client->read_bytes);
  }
  client->micros[kind].push_back(static_cast<float>(SecondsSince(start) * 1e6));
  return s;
}

void BlobBench::Work(const BlobMix& mix, uint64_t operations, Clock::time_point end,
                     BlobClient* client, uint64_t seed) {
  Random random(seed);
  bool in_time = true;  // for one operation, however late it is
  while (client->status.ok() && in_time && done_.fetch_add(1) < operations) {
    client->status = Operate(mix, client, &random);
    in_time = Clock::now() < end;
  }
}

Status BlobBench::RunClients(const BlobMix& mix, uint64_t operations, Clock::time_point end) {
  clients_.clear();
  clients_.resize(static_cast<size_t>(FLAGS_threads));
  done_ = 0;
  const uint64_t seed = (FLAGS_seed + runs_++) * 1000;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients_.size(); i++) {
    threads.emplace_back([&, i] { Work(mix, operations, end, &clients_[i], seed + i); });
  }
  for (std::thread& thread : threads) thread.join();
  Status s;
  for (const BlobClient& client : clients_) {
    if (s.ok()) s = client.status;
  }
  return s;
}

Status BlobBench::RunSlice(const BlobMix& mix, double seconds, JsonObject* figures) {
  const BlobMoment start = Now();
  SpaceSampler sampler(
      db_.get(), FLAGS_space_floor, [this] { return oracle_.live_bytes(); }, [] { return 1.0; });
  Status s = RunClients(mix, FLAGS_operations,
                        start.time + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(seconds)));
  if (s.ok()) s = Settle();
  const BlobMoment end = Now();
  sampler.Stop();
  uint64_t operations = 0;
  uint64_t user_bytes = 0;
  for (const BlobClient& client : clients_) {
    for (const auto& micros : client.micros) operations += micros.size();
    user_bytes += client.read_bytes + client.written_bytes;
  }
  figures->Add("seconds", std::chrono::duration<double>(end.time - start.time).count());
  figures->Add("ops", operations);
  figures->Add("user_bytes", user_bytes);
  figures->Add("file_bytes",
               end.file_read - start.file_read + end.file_written - start.file_written);
  sampler.AddSums(figures);
  return s;
}

BlobMoment BlobBench::Now() const {
  BlobMoment now;
  now.file_read = fs_->counters()->reads.bytes;
  now.file_written = fs_->counters()->writes.bytes;
  for (uint32_t i = 0; i < ROCKSDB_NAMESPACE::TICKER_ENUM_MAX; i++) {
    now.tickers[i] = statistics_->getTickerCount(i);
  }
  return now;
}

Status BlobBench::Do(const BlobMix& mix, uint64_t operations) {
  const BlobMoment start = Now();
  const double all = static_cast<double>(operations);
  SpaceSampler sampler(
      db_.get(), FLAGS_space_floor, [this] { return oracle_.live_bytes(); },
      [&] { return std::min(1.0, static_cast<double>(done_) / all); });
  EachSecond each_second([&] { return std::min(operations, done_.load()); });
  Status s = RunClients(mix, operations, Clock::time_point::max());
  const BlobMoment clients = Now();
  each_second.Stop();
  each_second.AddTo(&json_);
  if (s.ok()) s = Settle();
  const BlobMoment end = Now();
  sampler.Stop();
  if (!s.ok()) return s;
  AddFigures(start, clients, end);
  sampler.AddTo(&json_);
  AddLatencies();
  AddTickers(start, end);
  AddState();
  return oracle_.Save(OraclePath());
}

void BlobBench::AddFigures(const BlobMoment& start, const BlobMoment& clients,
                           const BlobMoment& end) {
  uint64_t operations = 0;
  double user_read = 0;
  double user_written = 0;
  for (const BlobClient& client : clients_) {
    for (const auto& micros : client.micros) operations += micros.size();
    user_read += static_cast<double>(client.read_bytes);
    user_written += static_cast<double>(client.written_bytes);
  }
  const auto count = static_cast<double>(operations);
  const auto seconds = [&](const BlobMoment& to) {
    return std::chrono::duration<double>(to.time - start.time).count();
  };
  const auto read = static_cast<double>(end.file_read - start.file_read);
  const auto written = static_cast<double>(end.file_written - start.file_written);
  json_.Add("ops_per_s", count / seconds(clients));
  json_.Add("settled_per_s", count / seconds(end));
  json_.Add("cpu_us", (end.cpu - start.cpu) * 1e6 / count);
  json_.Add("io_amp", (read + written) / (user_read + user_written));
  json_.Add("read_amp", read / (user_read + user_written));
  json_.Add("write_amp", written / (user_read + user_written));
  json_.Add("user_read_bytes", user_read);
  json_.Add("user_written_bytes", user_written);
  json_.Add("read_bytes", read);
  json_.Add("written_bytes", written);
}

void BlobBench::AddLatencies() {
  static const char* const kNames[] = {"get", "put", "scan"};
  for (int kind = 0; kind < BlobClient::kKinds; kind++) {
    std::vector<float> all;
    for (const BlobClient& client : clients_) {
      all.insert(all.end(), client.micros[kind].begin(), client.micros[kind].end());
    }
    if (all.empty()) continue;
    std::sort(all.begin(), all.end());
    const auto percentile = [&](double p) {
      return static_cast<double>(all[static_cast<size_t>(p * static_cast<double>(all.size() - 1))]);
    };
    const std::string name = kNames[kind];
    json_.Add(name + "_p50_us", percentile(0.5));
    json_.Add(name + "_p99_us", percentile(0.99));
  }
}

void BlobBench::AddTickers(const BlobMoment& start, const BlobMoment& end) {
  const auto add = [&](const char* name, uint32_t ticker) {
    json_.Add(name, end.tickers[ticker] - start.tickers[ticker]);
  };
  add("wal_bytes", ROCKSDB_NAMESPACE::WAL_FILE_BYTES);
  add("flush_bytes", ROCKSDB_NAMESPACE::FLUSH_WRITE_BYTES);
  add("compact_read_bytes", ROCKSDB_NAMESPACE::COMPACT_READ_BYTES);
  add("compact_written_bytes", ROCKSDB_NAMESPACE::COMPACT_WRITE_BYTES);
  add("blob_read_bytes", ROCKSDB_NAMESPACE::BLOB_DB_BLOB_FILE_BYTES_READ);
  add("blob_written_bytes", ROCKSDB_NAMESPACE::BLOB_DB_BLOB_FILE_BYTES_WRITTEN);
  add("stall_us", ROCKSDB_NAMESPACE::STALL_MICROS);
}

// Of the database at the end, and what the plugin has done.
void BlobBench::AddState() {
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  uint64_t levels = 0;
  for (const auto& level : meta.levels) {
    levels += level.level > 0 && !level.files.empty() ? 1 : 0;
  }
  json_.Add("levels", levels);
  json_.Add("sst_bytes", meta.size);
  json_.Add("blob_bytes", meta.blob_file_size);
  json_.Add("blob_files", uint64_t{meta.blob_file_count});
  json_.Add("live_bytes", oracle_.live_bytes());
  BlobHybridStats stats;
  if (!GetBlobHybridStats(db_.get(), db_->DefaultColumnFamily(), &stats).ok()) return;
#define X(name, unit, description) json_.Add("hybrid_" #name, stats.name);
  BLOB_HYBRID_COUNTERS(X)
#undef X
}

Status BlobBench::Check() {
  ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  // With its blob files in the page cache: they are read at random then.
  for (const auto& blob : meta.blob_files) {
    std::ifstream file(blob.blob_file_path + "/" + blob.blob_file_name, std::ios::binary);
    std::vector<char> buffer(1 << 20);
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
    }
  }
  const Status s = oracle_.CheckAll(db_.get());
  json_.Add("records", oracle_.count());
  return s;
}

Status BlobBench::Close() {
  Status s = db_->Close();
  db_.reset();
  if (s.ok() && trace_ != nullptr) s = trace_->Close();
  return s;
}

Status RunMode(const BlobMix& mix, BlobBench* bench) {
  if (FLAGS_mode == "check") return bench->Check();
  if (!Fills()) return bench->Do(mix, FLAGS_operations);
  const Status s = bench->Do(kLoad, FLAGS_records);
  if (!s.ok() || FLAGS_mode == "fill") return s;
  return ServeSlices(
      [&](double seconds, JsonObject* figures) { return bench->RunSlice(mix, seconds, figures); });
}

Status RunAll() {
  SizedRecords records;
  const BlobMix* mix = FindMix(FLAGS_mix);
  if (mix == nullptr) return Status::InvalidArgument("--mix is not known", FLAGS_mix);
  if (!FLAGS_write_trace.empty() && FLAGS_mode != "fill" && FLAGS_mode != "run") {
    return Status::InvalidArgument("--write_trace is of --mode=fill or run", FLAGS_mode);
  }
  if (!SizedRecords::Find(FLAGS_sizes, &records)) {
    return Status::InvalidArgument("--sizes is not known", FLAGS_sizes);
  }
  BlobBench bench(records);
  Status s = bench.Open();
  if (s.ok()) s = RunMode(*mix, &bench);
  if (s.ok()) s = bench.Close();
  if (s.ok() && FLAGS_mode != "slices") std::printf("%s\n", bench.ToString().c_str());
  return s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const rocktier_bench::Status s = rocktier_bench::RunAll();
  if (!s.ok()) {
    std::fprintf(stderr, "blob_driver: %s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
