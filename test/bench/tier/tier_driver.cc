// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fills a database, or runs one mix of operations over a filled one, with its files in tiers, in
// db_paths or in one place, in one column family or in several, of which one is hot. Prints one
// JSON object of figures; test/bench/README.md says what each means. Or does both for the demo, the
// mix in slices.

#include <fcntl.h>
#include <gflags/gflags.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/block_cache_trace_writer.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/system_clock.h"
#include "rocksdb/table.h"
#include "rocksdb/trace_reader_writer.h"
#include "rocksdb/utilities/object_registry.h"
#include "test/bench/common/devices.h"
#include "test/bench/common/each_second.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/records.h"
#include "test/bench/common/slices.h"
#include "test/bench/common/slow_device_fs.h"
#include "test/bench/common/store.h"
#include "test/bench/common/workload.h"
#include "test/support/open_db.h"

DEFINE_string(mode, "run",
              "fill: writes all records in random order; run: runs a mix; slices: fills, then runs "
              "the mix in slices");
DEFINE_string(db, "", "directory of the database");
DEFINE_string(fs_uri, "", "FileSystem; empty: RocksDB's own");
DEFINE_bool(listener, false, "with a TieredEnvListener");
DEFINE_bool(dynamic_levels, true,
            "level_compaction_dynamic_level_bytes, which --db_paths turns off");
DEFINE_bool(direct, true, "with direct I/O of SSTs");
DEFINE_string(options, "", "further options of RocksDB: name=value;name=value");
DEFINE_string(slow, "", "folder whose reads of SSTs are counted and take --slow_us longer");
DEFINE_uint64(slow_us, 0, "see --slow");
DEFINE_string(wal_dir, "", "directory of write-ahead logs; empty: --db");
DEFINE_string(db_paths, "", "path=bytes;path=bytes: DBOptions::db_paths");
DEFINE_uint64(families, 0,
              "column families f0, f1, ... that have the records in turn; 0: the default one has "
              "them all");
DEFINE_double(hot_share, 0.9,
              "of the operations, on f0; the other families share the rest, and the keys of a "
              "family are alike, in each mix");
DEFINE_string(hot_paths, "", "path=bytes;path=bytes: cf_paths of f0; empty: --db_paths");
DEFINE_string(cold_paths, "", "the same of the other families");
DEFINE_string(devices, "",
              "block devices whose reads and writes are counted: fast=loop1;slow=loop2");
DEFINE_string(mix, "c", "one of YCSB's, a to f, or overwrite");
DEFINE_bool(uniform, false, "all keys are alike, in each mix");
DEFINE_uint64(records, 1000000, "that the database is filled with");
DEFINE_uint64(value_size, 1024, "bytes per value");
DEFINE_uint64(cache_bytes, 16 << 20, "capacity of the block cache");
DEFINE_int32(threads, 4, "client threads");
DEFINE_double(seconds, 10, "of a run");
DEFINE_uint64(rate, 0,
              "operations per second, of the filling if slices follow; 0: as many as can be");
DEFINE_uint64(slice_operations, 0, "after which a slice ends early; 0: at its time");
DEFINE_uint64(seed, 42, "same seed, same operations");
DEFINE_string(trace, "", "file that gets RocksDB's block cache trace of a run; empty: none");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::BlockCacheTraceOptions;
using ROCKSDB_NAMESPACE::BlockCacheTraceWriterOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyDescriptor;
using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DbPath;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::EnvOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FileSystemWrapper;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::get_perf_context;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::LevelMetaData;
using ROCKSDB_NAMESPACE::NewBlockCacheTraceWriter;
using ROCKSDB_NAMESPACE::NewCompositeEnv;
using ROCKSDB_NAMESPACE::NewFileTraceWriter;
using ROCKSDB_NAMESPACE::ObjectLibrary;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::SystemClock;
using ROCKSDB_NAMESPACE::TraceWriter;
using ROCKSDB_NAMESPACE::WaitForCompactOptions;
using ROCKSDB_NAMESPACE::tiered_env::GetTieredStats;
using ROCKSDB_NAMESPACE::tiered_env::TieredStats;
using ROCKSDB_NAMESPACE::tiered_env::TieredTierStats;

constexpr double kTheta = 0.99;
constexpr int kLongestScan = 100;  // records

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Shares of the operations; the rest are scans.
struct TierMix {
  const char* name;
  double reads;
  double updates;
  double inserts;
  double read_modify_writes;
  bool latest;   // the newest records are the most popular
  bool uniform;  // all are alike
};

constexpr TierMix kMixes[] = {
    {"a", 0.5, 0.5, 0, 0, false, false},    {"b", 0.95, 0.05, 0, 0, false, false},
    {"c", 1, 0, 0, 0, false, false},        {"d", 0.95, 0, 0.05, 0, true, false},
    {"e", 0, 0, 0.05, 0, false, false},     {"f", 0.5, 0, 0, 0.5, false, false},
    {"overwrite", 0, 1, 0, 0, false, true},
};

const TierMix* FindMix(const std::string& name) {
  for (const TierMix& mix : kMixes) {
    if (name == mix.name) return &mix;
  }
  return nullptr;
}

// Of one of some threads that have a rate together; 0: none.
class Pace {
 public:
  Pace(int threads, uint64_t rate) : pause_(rate == 0 ? 0 : threads / static_cast<double>(rate)) {}

  // False: there is no rate.
  bool Wait() {
    if (pause_.count() == 0) return false;
    std::this_thread::sleep_until(next_);
    next_ += std::chrono::duration_cast<Clock::duration>(pause_);
    return true;
  }

 private:
  const std::chrono::duration<double> pause_;
  Clock::time_point next_ = Clock::now();
};

class Devices {
 public:
  Devices() : devices_(ParsePairs(FLAGS_devices)) { Start(); }

  void Start() {
    before_.clear();
    for (const auto& device : devices_) before_.push_back(CountsOf(device.second));
  }
  void AddTo(JsonObject* json) const {
    for (size_t i = 0; i < devices_.size(); i++) {
      const DeviceCounts now = CountsOf(devices_[i].second);
      const std::string& name = devices_[i].first;
      json->Add(name + "_reads", now.reads - before_[i].reads);
      json->Add(name + "_read_bytes", now.read_bytes - before_[i].read_bytes);
      json->Add(name + "_written_bytes", now.written_bytes - before_[i].written_bytes);
    }
  }

 private:
  const std::vector<std::pair<std::string, std::string>> devices_;
  std::vector<DeviceCounts> before_;
};

// Bytes that this process has given to file systems that are on a device.
uint64_t WrittenBytes() {
  constexpr uint64_t kUnit = 512;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_oublock) * kUnit;
}

// Until what a file system has in the page cache is on its device.
Status SyncFileSystemOf(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && syncfs(fd) == 0;
  if (fd >= 0) close(fd);
  return synced ? Status::OK() : Status::IOError(folder, "cannot be synced");
}

// The keys of the records, in an order that has nothing to do with their age or popularity.
class Keys {
 public:
  Keys()
      : keys_(std::numeric_limits<uint32_t>::max(), 1),
        popular_(FLAGS_records, 2),
        zipf_(FLAGS_records, kTheta) {}

  // Of the n-th record that was inserted.
  uint64_t KeyOf(uint64_t n) const { return keys_(n); }
  // The number of a record to read or change.
  uint64_t Choose(const TierMix& mix, uint64_t count, Random* random) const {
    if (FLAGS_families > 0) {
      return ChooseInFamilies(FLAGS_records, FLAGS_families, FLAGS_hot_share, random);
    }
    if (mix.uniform || FLAGS_uniform) return random->Uniform(FLAGS_records);
    const uint64_t rank = zipf_.Next(random);
    return mix.latest ? count - 1 - rank : popular_(rank);
  }

 private:
  const Permutation keys_;
  const Permutation popular_;
  const Zipf zipf_;
};

// Of "path=bytes;path=bytes".
std::vector<DbPath> PathsOf(const std::string& text) {
  std::vector<DbPath> paths;
  for (const auto& path : ParsePairs(text)) {
    paths.emplace_back(path.first, std::stoull(path.second));
  }
  return paths;
}

class TierBench {
 public:
  Status Open();
  Status Fill();
  Status Run(const TierMix& mix);
  Status RunSlice(const TierMix& mix, double seconds, JsonObject* figures);
  Status Close();
  std::string ToString() const { return json_.ToString(); }

 private:
  Status MakeOptions(Options* options) const;
  Status MakeFileSystem();
  Status OpenFamilies(Options options);
  // Of the n-th record that was inserted.
  ColumnFamilyHandle* FamilyOf(uint64_t n) const;
  Status Put(uint64_t n, Random* random);
  Status Get(uint64_t n);
  // Until nothing compacts or moves.
  Status Settle();
  // All clients, for so long or until --slice_operations are done. Adds the time of each operation.
  Status RunClients(const TierMix& mix, double seconds, std::vector<double>* micros);
  Status Work(const TierMix& mix, int number, std::vector<double>* micros);
  Status Operate(const TierMix& mix, Random* random);
  Status Scan(uint64_t n, Random* random);
  Status StartTrace();
  void AddTiers();
  void AddFamilies();
  // Of --slow.
  uint64_t SlowReads() const;

  const Keys keys_;
  std::shared_ptr<SlowDeviceFileSystem> slow_;  // of --slow
  std::shared_ptr<FileSystem> fs_;
  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  // The default one, then those of --families; empty without these. They go before db_.
  std::vector<std::unique_ptr<ColumnFamilyHandle>> families_;
  std::atomic<uint64_t> count_{FLAGS_records};
  Clock::time_point end_;
  std::atomic<uint64_t> started_{0};  // operations of the filling, a run or a slice
  // Of scans: how many, and what RocksDB's perf counters say that they read from SSTs.
  std::atomic<uint64_t> scans_{0};
  std::atomic<uint64_t> scan_reads_{0};
  std::atomic<uint64_t> scan_read_bytes_{0};
  uint64_t runs_ = 0;  // of the clients
  JsonObject json_;
};

// Small for a database of a GB: three levels below L0, as one of a TB has with RocksDB's defaults.
Status TierBench::MakeOptions(Options* result) const {
  Options options;
  options.env = env_.get();
  options.create_if_missing = FLAGS_mode != "run";
  options.compression = ROCKSDB_NAMESPACE::kNoCompression;
  options.write_buffer_size = 16 << 20;
  options.target_file_size_base = 8 << 20;
  options.max_bytes_for_level_base = 32 << 20;
  options.max_bytes_for_level_multiplier = 5;
  options.level_compaction_dynamic_level_bytes = FLAGS_dynamic_levels;
  options.max_background_jobs = 3;
  options.use_direct_reads = FLAGS_direct;
  options.use_direct_io_for_flush_and_compaction = FLAGS_direct;
  options.wal_dir = FLAGS_wal_dir;
  BlockBasedTableOptions table;
  table.block_cache = ROCKSDB_NAMESPACE::NewLRUCache(FLAGS_cache_bytes);
  table.filter_policy.reset(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  options.db_paths = PathsOf(FLAGS_db_paths);
  if (FLAGS_listener) {
    options.listeners.push_back(ROCKSDB_NAMESPACE::tiered_env::NewTieredEnvListener());
  }
  return GetOptionsFromString(ConfigOptions(), options, FLAGS_options, result);
}

// A name for slow_, so that a URI can have it as its target.
class SlowDeviceByName : public FileSystemWrapper {
 public:
  explicit SlowDeviceByName(const std::shared_ptr<FileSystem>& device)
      : FileSystemWrapper(device) {}
  static const char* kClassName() { return "SlowDeviceByName"; }
  const char* Name() const override { return kClassName(); }
};

// With --slow all files are on a SlowDeviceFileSystem, the tiers' too.
Status TierBench::MakeFileSystem() {
  std::string uri = FLAGS_fs_uri;
  if (!FLAGS_slow.empty()) {
    slow_ = std::make_shared<SlowDeviceFileSystem>(FileSystem::Default(), FLAGS_slow);
    slow_->SetReadLatency(FLAGS_slow_us);
    const std::string name = SlowDeviceByName::kClassName();
    ObjectLibrary::Default()->AddFactory<FileSystem>(
        name,
        [device = slow_](const std::string&, std::unique_ptr<FileSystem>* guard, std::string*) {
          *guard = std::make_unique<SlowDeviceByName>(device);
          return guard->get();
        });
    uri = uri.empty() ? name : uri + ";target=" + name;
  }
  fs_ = FileSystem::Default();
  return uri.empty() ? Status::OK() : FileSystem::CreateFromString(ConfigOptions(), uri, &fs_);
}

Status TierBench::Open() {
  Status s = MakeFileSystem();
  env_ = NewCompositeEnv(fs_);
  Options options;
  if (s.ok()) s = MakeOptions(&options);
  if (!s.ok()) return s;
  return FLAGS_families == 0 ? ROCKSDB_NAMESPACE::OpenDb(options, FLAGS_db, &db_)
                             : OpenFamilies(options);
}

// They share the block cache, and else have the same options but for the paths.
Status TierBench::OpenFamilies(Options options) {
  options.create_missing_column_families = options.create_if_missing;
  std::vector<ColumnFamilyDescriptor> descriptors;
  descriptors.emplace_back(ROCKSDB_NAMESPACE::kDefaultColumnFamilyName, options);
  for (uint64_t i = 0; i < FLAGS_families; i++) {
    descriptors.emplace_back("f" + std::to_string(i), options);
    descriptors.back().options.cf_paths = PathsOf(i == 0 ? FLAGS_hot_paths : FLAGS_cold_paths);
  }
  std::vector<ColumnFamilyHandle*> handles;
  Status s = ROCKSDB_NAMESPACE::OpenInto(&db_, [&](auto* result) {
    return DB::Open(options, FLAGS_db, descriptors, &handles, result);
  });
  for (ColumnFamilyHandle* handle : handles) families_.emplace_back(handle);
  return s;
}

ColumnFamilyHandle* TierBench::FamilyOf(uint64_t n) const {
  return families_.empty() ? db_->DefaultColumnFamily() : families_[1 + n % FLAGS_families].get();
}

Status TierBench::Put(uint64_t n, Random* random) {
  return PutRecord(db_.get(), keys_.KeyOf(n), random->Next(), FLAGS_value_size, FamilyOf(n));
}

Status TierBench::Get(uint64_t n) {
  return GetRecord(db_.get(), keys_.KeyOf(n), FLAGS_value_size, /*oldest=*/0, FamilyOf(n));
}

Status TierBench::Settle() {
  Status s = db_->Flush(FlushOptions());
  for (const auto& family : families_) {
    if (s.ok()) s = db_->Flush(FlushOptions(), family.get());
  }
  if (s.ok()) s = db_->WaitForCompact(WaitForCompactOptions());
  if (s.ok() && !FLAGS_fs_uri.empty()) {
    s = ROCKSDB_NAMESPACE::tiered_env::WaitForMoves(fs_.get());
  }
  return s;
}

Status TierBench::Fill() {
  Devices devices;
  const auto start = Clock::now();
  Random random(FLAGS_seed);
  Status s;
  Pace pace(1, FLAGS_rate);
  EachSecond each_second([this] { return started_.load(); });
  for (uint64_t i = 0; s.ok() && i < FLAGS_records; i++) {
    pace.Wait();
    s = Put(i, &random);
    started_.store(i + 1, std::memory_order_relaxed);
  }
  each_second.Stop();
  each_second.AddTo(&json_);
  json_.Add("ops_per_s", static_cast<double>(FLAGS_records) / SecondsSince(start));
  if (s.ok()) s = Settle();
  json_.Add("settled_s", SecondsSince(start));
  devices.AddTo(&json_);
  AddTiers();
  AddFamilies();
  return s;
}

Status TierBench::Scan(uint64_t n, Random* random) {
  std::string name;
  MakeKey(keys_.KeyOf(n), &name);
  const uint64_t reads = get_perf_context()->block_read_count;
  const uint64_t bytes = get_perf_context()->block_read_byte;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), FamilyOf(n)));
  int left = 1 + static_cast<int>(random->Uniform(kLongestScan));
  for (it->Seek(name); it->Valid() && left > 0; it->Next()) left--;
  scans_.fetch_add(1);
  scan_reads_.fetch_add(get_perf_context()->block_read_count - reads);
  scan_read_bytes_.fetch_add(get_perf_context()->block_read_byte - bytes);
  return it->status();
}

Status TierBench::Operate(const TierMix& mix, Random* random) {
  const double which = random->NextDouble();
  if (which < mix.inserts) return Put(count_.fetch_add(1), random);
  const uint64_t n = keys_.Choose(mix, count_.load(), random);
  if (which < mix.inserts + mix.reads) {
    Status s = Get(n);
    return mix.latest && s.IsNotFound() ? Status::OK() : s;  // another thread is about to write it
  }
  if (which < mix.inserts + mix.reads + mix.updates) return Put(n, random);
  if (which < mix.inserts + mix.reads + mix.updates + mix.read_modify_writes) {
    Status s = Get(n);
    return s.ok() ? Put(n, random) : s;
  }
  return Scan(n, random);
}

Status TierBench::Work(const TierMix& mix, int number, std::vector<double>* micros) {
  Random random((FLAGS_seed + runs_) * 1000 + static_cast<uint64_t>(number));
  const uint64_t most =
      FLAGS_slice_operations > 0 ? FLAGS_slice_operations : std::numeric_limits<uint64_t>::max();
  Status s;
  Pace pace(FLAGS_threads, FLAGS_mode == "run" ? FLAGS_rate : 0);
  // At least one operation, however late it is: a starved machine is told by its figures.
  for (auto start = Clock::now();
       s.ok() && (start < end_ || micros->empty()) && started_.fetch_add(1) < most;) {
    if (pace.Wait()) start = Clock::now();
    s = Operate(mix, &random);
    const auto now = Clock::now();
    micros->push_back(std::chrono::duration<double, std::micro>(now - start).count());
    start = now;
  }
  return s;
}

Status TierBench::RunClients(const TierMix& mix, double seconds, std::vector<double>* all) {
  std::vector<std::vector<double>> micros(static_cast<size_t>(FLAGS_threads));
  std::vector<Status> statuses(micros.size());
  std::vector<std::thread> threads;
  started_ = 0;
  end_ = Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (size_t i = 0; i < micros.size(); i++) {
    threads.emplace_back([&, i] { statuses[i] = Work(mix, static_cast<int>(i), &micros[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  runs_++;
  Status s;
  for (size_t i = 0; i < micros.size(); i++) {
    all->insert(all->end(), micros[i].begin(), micros[i].end());
    if (s.ok()) s = statuses[i];
  }
  return s.ok() && all->empty() ? Status::Aborted("no operation was done") : s;
}

// Writes are done when nothing compacts or moves any more, and all is on the device: nothing is
// left for the time of another database's slice.
Status TierBench::RunSlice(const TierMix& mix, double seconds, JsonObject* figures) {
  const bool writes = mix.reads < 1;
  const uint64_t slow_reads = SlowReads();
  const uint64_t written = WrittenBytes();
  const auto start = Clock::now();
  std::vector<double> micros;
  Status s = RunClients(mix, seconds, &micros);
  if (s.ok() && writes) s = Settle();
  if (s.ok() && writes) s = SyncFileSystemOf(FLAGS_db);
  figures->Add("seconds", SecondsSince(start));
  figures->Add("ops", uint64_t{micros.size()});
  figures->Add("user_bytes", uint64_t{micros.size() * (kKeySize + FLAGS_value_size)});
  figures->Add("slow_reads", SlowReads() - slow_reads);
  figures->Add("written_bytes", WrittenBytes() - written);
  return s;
}

uint64_t TierBench::SlowReads() const {
  uint64_t reads = 0;
  if (slow_ == nullptr) return reads;
  const DeviceReads all = slow_->Snapshot();
  for (uint64_t of_one : all.reads) reads += of_one;
  return reads;
}

Status TierBench::StartTrace() {
  if (FLAGS_trace.empty()) return Status::OK();
  std::unique_ptr<TraceWriter> file;
  const Status s = NewFileTraceWriter(Env::Default(), EnvOptions(), FLAGS_trace, &file);
  if (!s.ok()) return s;
  return db_->StartBlockCacheTrace(
      BlockCacheTraceOptions(),
      NewBlockCacheTraceWriter(SystemClock::Default().get(), BlockCacheTraceWriterOptions(),
                               std::move(file)));
}

Status TierBench::Run(const TierMix& mix) {
  Status s = Settle();
  if (s.ok()) s = StartTrace();
  if (!s.ok()) return s;
  Devices devices;
  std::vector<double> all;
  EachSecond each_second([this] { return started_.load(); });
  const auto start = Clock::now();
  s = RunClients(mix, FLAGS_seconds, &all);
  const double seconds = SecondsSince(start);
  each_second.Stop();
  each_second.AddTo(&json_);
  if (s.ok() && !FLAGS_trace.empty()) s = db_->EndBlockCacheTrace();
  devices.AddTo(&json_);
  AddTiers();
  AddFamilies();
  if (!s.ok()) return s;
  std::sort(all.begin(), all.end());
  const auto percentile = [&](double p) {
    return all[static_cast<size_t>(p / 100 * static_cast<double>(all.size() - 1))];
  };
  json_.Add("ops_per_s", static_cast<double>(all.size()) / seconds);
  json_.Add("p50_us", percentile(50));
  json_.Add("p99_us", percentile(99));
  json_.Add("p999_us", percentile(99.9));
  json_.Add("max_us", all.back());
  json_.Add("scans", scans_.load());
  json_.Add("scan_reads", scan_reads_.load());
  json_.Add("scan_read_bytes", scan_read_bytes_.load());
  return s;
}

// As the FileSystem counts, if it is ours.
void TierBench::AddTiers() {
  TieredStats stats;
  if (FLAGS_fs_uri.empty() || !GetTieredStats(fs_.get(), &stats).ok()) return;
  for (const TieredTierStats& tier : stats.tiers) {
    json_.Add("tier_" + tier.name + "_bytes", tier.bytes);
    json_.Add("tier_" + tier.name + "_reads", tier.reads);
    json_.Add("tier_" + tier.name + "_moved_bytes", tier.moved_bytes);
    json_.Add("tier_" + tier.name + "_stranded_bytes", tier.stranded_bytes);
  }
}

// Bytes of each level of each family, as the MANIFEST has them: "f0_level3_bytes".
void TierBench::AddFamilies() {
  for (size_t i = 1; i < families_.size(); i++) {
    ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(families_[i].get(), &family);
    for (const LevelMetaData& level : family.levels) {
      json_.Add(family.name + "_level" + std::to_string(level.level) + "_bytes", level.size);
    }
  }
}

Status TierBench::Close() {
  families_.clear();
  Status s = db_->Close();
  db_.reset();
  return s;
}

Status RunAll() {
  const TierMix* mix = FindMix(FLAGS_mix);
  if (mix == nullptr) return Status::InvalidArgument("--mix is not known", FLAGS_mix);
  TierBench bench;
  Status s = bench.Open();
  if (s.ok()) s = FLAGS_mode == "run" ? bench.Run(*mix) : bench.Fill();
  if (s.ok() && FLAGS_mode == "slices") {
    s = ServeSlices([&](double seconds, JsonObject* figures) {
      return bench.RunSlice(*mix, seconds, figures);
    });
  }
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
    std::fprintf(stderr, "tier_driver: %s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
