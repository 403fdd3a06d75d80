// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fills a database, or runs one workload over one kind of block cache and prints one JSON object of
// figures. test/bench/README.md says what each figure means. Or runs it in slices, for the demo.

#include <gflags/gflags.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "test/bench/cache/block_trace.h"
#include "test/bench/cache/cache_under_test.h"
#include "test/bench/cache/database.h"
#include "test/bench/cache/erased_blocks.h"
#include "test/bench/cache/reader_thread.h"
#include "test/bench/common/each_second.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/records.h"
#include "test/bench/common/slices.h"
#include "test/bench/common/slow_device_fs.h"
#include "test/support/open_db.h"

DEFINE_string(
    mode, "run",
    "fill: writes a database; run: runs a workload over a filled one; slices: the same in "
    "slices, after the warm-up");
DEFINE_string(db, "", "directory of the database");
DEFINE_uint64(num_keys, 1000000, "keys in the database");
DEFINE_uint64(value_size, 1024, "bytes per value");
DEFINE_string(workload, "zipf", "see workload.h");
DEFINE_string(primary, "lru", "primary cache: lru or hyper");
DEFINE_uint64(primary_bytes, 20 << 20, "capacity of the primary cache");
DEFINE_string(secondary, "", "URI of the secondary cache; empty: none");
DEFINE_uint64(cold_ops, 0, "operations on the empty cache, measured on their own (hit rate only)");
DEFINE_uint64(warmup_ops, 0, "further operations before the measured ones");
DEFINE_uint64(ops, 100000, "measured operations");
DEFINE_int32(threads, 4, "client threads");
DEFINE_int32(batch, 1, "keys per MultiGet; 1: Get");
DEFINE_uint64(read_latency_us, 80, "time added to a device read of the measured operations");
DEFINE_bool(slow_warmup, false, "--read_latency_us also holds before the measured operations");
DEFINE_uint64(seed, 42, "same seed, same operations");
DEFINE_string(trace, "", "file that gets all look-ups of data blocks; see block_trace.h");
DEFINE_uint64(turnover_bytes, 0, "if not 0: counts erased blocks, instead; see erased_blocks.h");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::BlockCacheTraceOptions;
using ROCKSDB_NAMESPACE::BlockCacheTraceWriter;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::NewCompositeEnv;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
namespace twoq = ROCKSDB_NAMESPACE::secondary_cache_2q;

struct Phase {
  Tally tally;
  DeviceReads device;
  uint64_t copied_bytes = 0;
  double seconds = 0;
  double cpu_seconds = 0;

  double HitRate() const {
    const auto requests = static_cast<double>(tally.cache_hits + tally.block_reads);
    return requests > 0 ? static_cast<double>(tally.cache_hits) / requests : 0;
  }
};

// What ends a phase, whichever comes first.
struct Limit {
  uint64_t ops = std::numeric_limits<uint64_t>::max();  // of all threads
  double seconds = std::numeric_limits<double>::infinity();
};
constexpr uint64_t kOpsBetweenLooks = 64;  // of a thread at the clock
constexpr uint64_t kMostReserved = 1 << 20;

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

DeviceReads operator-(DeviceReads a, const DeviceReads& b) {
  for (int i = 0; i < kReaders; ++i) {
    a.reads[i] -= b.reads[i];
    a.bytes[i] -= b.bytes[i];
  }
  return a;
}

// Everything of one run, in the order in which it must be taken down.
class CacheBench {
 public:
  Status Open();
  Status RunPhase(const Limit& limit, uint64_t read_latency_us, Phase* phase);
  std::string StatsJson() const { return cache_.StatsJson(); }
  // Look-ups that the trace has so far.
  uint64_t traced() const { return traced_.load(std::memory_order_relaxed); }
  // Operations of all phases, to kOpsBetweenLooks of each client.
  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  ErasedBlocks* erased() { return &erased_; }
  Status Close();

 private:
  Status RunThreads(const Limit& limit, Tally* total);
  Status WorkUntil(ReaderThread* client, uint64_t ops, double end, Tally* tally);
  Status StartTrace();

  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> traced_{0};
  ErasedBlocks erased_{FLAGS_turnover_bytes};
  std::shared_ptr<SlowDeviceFileSystem> fs_;
  std::unique_ptr<Env> env_;
  CacheUnderTest cache_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<KeyChooser> keys_;
  std::unique_ptr<KeyVersions> versions_;
  Run run_;
  std::vector<ReaderThread> clients_;
};

Status CacheBench::Open() {
  const uint64_t kilobytes = FLAGS_num_keys * FLAGS_value_size / 1024;
  if (!FindWorkload(FLAGS_workload, FLAGS_num_keys, kilobytes, &run_.workload)) {
    return Status::InvalidArgument("--workload is not known", FLAGS_workload);
  }
  fs_ = std::make_shared<SlowDeviceFileSystem>(FileSystem::Default());
  env_ = NewCompositeEnv(fs_);
  Status s = cache_.Create(FLAGS_primary, FLAGS_primary_bytes, FLAGS_secondary);
  Options options = DatabaseOptions(env_.get(), cache_.block_cache());
  if (FLAGS_turnover_bytes > 0) {
    options.listeners.push_back(NewErasedBlocksListener(&erased_));
    options.listeners.push_back(twoq::NewTwoQSecondaryCacheListener());
  }
  if (s.ok()) s = ROCKSDB_NAMESPACE::OpenDb(options, FLAGS_db, &db_);
  if (s.ok()) s = StartTrace();
  if (!s.ok()) return s;
  keys_ = std::make_unique<KeyChooser>(run_.workload, FLAGS_num_keys, FLAGS_seed);
  if (run_.workload.overwrite_share > 0) versions_ = std::make_unique<KeyVersions>(FLAGS_num_keys);
  run_.db = db_.get();
  run_.keys = keys_.get();
  run_.versions = versions_.get();
  run_.num_keys = FLAGS_num_keys;
  run_.value_size = FLAGS_value_size;
  run_.threads = FLAGS_threads;
  run_.batch = FLAGS_batch;
  for (int i = 0; i < FLAGS_threads; ++i) clients_.emplace_back(run_, i, FLAGS_seed);
  return s;
}

Status CacheBench::StartTrace() {
  std::unique_ptr<BlockCacheTraceWriter> writer;
  Status s;
  if (FLAGS_turnover_bytes > 0) {
    writer = NewErasedBlocksTracer(&erased_);
  } else if (!FLAGS_trace.empty()) {
    s = BlockTraceWriter::Create(FLAGS_trace, &traced_, &writer);
  } else {
    return s;
  }
  return s.ok() ? db_->StartBlockCacheTrace(BlockCacheTraceOptions(), std::move(writer)) : s;
}

Status CacheBench::WorkUntil(ReaderThread* client, uint64_t ops, double end, Tally* tally) {
  Status s;
  do {  // some, however late it is
    const uint64_t some = std::min(ops, kOpsBetweenLooks);
    s = client->Work(some, tally);
    done_.fetch_add(some, std::memory_order_relaxed);
    ops -= some;
  } while (s.ok() && ops > 0 && Now() < end);
  return s;
}

Status CacheBench::RunThreads(const Limit& limit, Tally* total) {
  const uint64_t share = limit.ops / clients_.size();
  const double end = Now() + limit.seconds;
  std::vector<Tally> tallies(clients_.size());
  std::vector<Status> statuses(clients_.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clients_.size(); ++i) {
    tallies[i].latency_ns.reserve(std::min(share, kMostReserved));
    threads.emplace_back(
        [&, i] { statuses[i] = WorkUntil(&clients_[i], share, end, &tallies[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tally& tally : tallies) total->Add(tally);
  for (const Status& s : statuses) {
    if (!s.ok()) return s;
  }
  return Status::OK();
}

Status CacheBench::RunPhase(const Limit& limit, uint64_t read_latency_us, Phase* phase) {
  uint64_t copied_before = 0;
  Status s = cache_.CopiedBytes(&copied_before);
  if (!s.ok()) return s;
  fs_->SetReadLatency(read_latency_us);
  const DeviceReads device_before = fs_->Snapshot();
  const double cpu_before = CpuSeconds();
  const double start = Now();
  s = RunThreads(limit, &phase->tally);
  phase->seconds = Now() - start;
  phase->cpu_seconds = CpuSeconds() - cpu_before;
  phase->device = fs_->Snapshot() - device_before;
  fs_->SetReadLatency(0);
  if (s.ok()) s = cache_.CopiedBytes(&phase->copied_bytes);
  phase->copied_bytes -= copied_before;
  return s;
}

Status CacheBench::Close() {
  clients_.clear();  // an unfinished scan holds an iterator
  Status s = db_->EndBlockCacheTrace();
  return s.ok() ? db_->Close() : s;
}

double PercentileMicros(std::vector<uint32_t>* latency_ns, double percentile) {
  if (latency_ns->empty()) return 0;
  const auto at =
      static_cast<size_t>(percentile / 100 * static_cast<double>(latency_ns->size() - 1));
  const auto nth = latency_ns->begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(latency_ns->begin(), nth, latency_ns->end());
  return *nth / 1e3;
}

void AddErased(const ErasedBlocks::Counts& counts, JsonObject* out) {
  const auto misses = static_cast<double>(counts.misses);
  out->Add("erased_share", static_cast<double>(counts.erased) / misses);
  out->Add("perhaps_erased_share",
           static_cast<double>(counts.erased + counts.perhaps_erased) / misses);
  out->Add("compacted_files", counts.compacted_files);
}

// `warmup`: look-ups that were traced before the phase; so many come first in the trace.
void Print(const Phase& cold, Phase* phase, const EachSecond& each_second, uint64_t warmup,
           const ErasedBlocks::Counts& erased, const std::string& stats) {
  const auto ops = static_cast<double>(phase->tally.ops);
  const auto requests = static_cast<double>(phase->tally.cache_hits + phase->tally.block_reads);
  const auto secondary = static_cast<double>(phase->tally.secondary_hits);
  const DeviceReads& device = phase->device;
  const auto at = [](Reader reader) { return static_cast<int>(reader); };
  JsonObject out;
  out.Add("ops", phase->tally.ops);
  out.Add("seconds", phase->seconds);
  out.Add("ops_per_s", ops / phase->seconds);
  out.Add("p50_us", PercentileMicros(&phase->tally.latency_ns, 50));
  out.Add("p99_us", PercentileMicros(&phase->tally.latency_ns, 99));
  out.Add("p999_us", PercentileMicros(&phase->tally.latency_ns, 99.9));
  out.Add("cpu_us_per_op", phase->cpu_seconds * 1e6 / ops);
  out.Add("hit_rate", phase->HitRate());
  out.Add("primary_hit_rate",
          requests > 0 ? (static_cast<double>(phase->tally.cache_hits) - secondary) / requests : 0);
  out.Add("secondary_hits", phase->tally.secondary_hits);
  out.Add("secondary_hits_per_op", secondary / ops);
  out.Add("cold_hit_rate", cold.HitRate());
  out.Add("device_reads", device.reads[at(Reader::kPoint)]);
  out.Add("device_reads_per_op", static_cast<double>(device.reads[at(Reader::kPoint)]) / ops);
  out.Add("scan_device_bytes", device.bytes[at(Reader::kScan)]);
  out.Add("background_device_bytes", device.bytes[at(Reader::kBackground)]);
  out.Add("copied_bytes", phase->copied_bytes);
  out.Add("copied_bytes_per_op", static_cast<double>(phase->copied_bytes) / ops);
  each_second.AddTo(&out);
  if (!FLAGS_trace.empty()) out.Add("traced_warmup", warmup);
  if (erased.misses > 0) AddErased(erased, &out);
  std::printf("{\"figures\": %s, \"secondary_stats\": %s}\n", out.ToString().c_str(),
              stats.c_str());
}

Status Serve(CacheBench* bench) {
  return ServeSlices([&](double seconds, JsonObject* figures) {
    Phase phase;
    Limit limit;
    limit.seconds = seconds;
    const Status s = bench->RunPhase(limit, FLAGS_read_latency_us, &phase);
    figures->Add("seconds", phase.seconds);
    figures->Add("ops", phase.tally.ops);
    figures->Add("slow_reads", phase.device.reads[static_cast<int>(Reader::kPoint)]);
    figures->Add("copied_bytes", phase.copied_bytes);
    return s;
  });
}

Status RunWorkload() {
  CacheBench bench;
  Phase cold, warm, measured;
  Status s = bench.Open();
  // What a cache in memory holds does not depend on the device's pace.
  const uint64_t warmup_latency_us = FLAGS_slow_warmup ? FLAGS_read_latency_us : 0;
  const auto ops = [](uint64_t n) {
    Limit limit;
    limit.ops = n;
    return limit;
  };
  if (s.ok()) s = bench.RunPhase(ops(FLAGS_cold_ops), warmup_latency_us, &cold);
  if (s.ok()) s = bench.RunPhase(ops(FLAGS_warmup_ops), warmup_latency_us, &warm);
  if (s.ok() && FLAGS_mode == "slices") {
    s = Serve(&bench);
    return s.ok() ? bench.Close() : s;
  }
  const uint64_t warmup = bench.traced();
  bench.erased()->Restart();
  EachSecond each_second([&bench] { return bench.done(); });
  if (s.ok()) s = bench.RunPhase(ops(FLAGS_ops), FLAGS_read_latency_us, &measured);
  each_second.Stop();
  if (s.ok()) s = bench.Close();
  if (!s.ok()) return s;
  Print(cold, &measured, each_second, warmup, bench.erased()->counts(), bench.StatsJson());
  return s;
}

Status Main() {
  // The default slack of 50 us would be added to every device read. Threads inherit it.
  prctl(PR_SET_TIMERSLACK, 1);
  if (FLAGS_db.empty()) return Status::InvalidArgument("--db is needed");
  if (FLAGS_value_size < kMinValueSize) {
    return Status::InvalidArgument("--value_size is too small");
  }
  if (FLAGS_threads < 1) return Status::InvalidArgument("--threads must be at least 1");
  if (FLAGS_batch < 1) return Status::InvalidArgument("--batch must be at least 1");
  if (FLAGS_mode == "fill") return FillDatabase(FLAGS_db, FLAGS_num_keys, FLAGS_value_size);
  if (FLAGS_mode == "run" || FLAGS_mode == "slices") return RunWorkload();
  return Status::InvalidArgument("--mode is not known", FLAGS_mode);
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::SetUsageMessage("cache benchmark driver; see test/bench/README.md");
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const auto s = rocktier_bench::Main();
  if (!s.ok()) std::fprintf(stderr, "cache_driver: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
