// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/engine.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "logging/logging.h"
#include "plugin/hot_promotion/engine/clock.h"
#include "plugin/hot_promotion/engine/registry.h"
#include "plugin/hot_promotion/metrics.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kLogInterval = 600 * 1000000;  // microseconds

// Never destroyed: objects that are closed while the process ends need it.
Registry<Engine>* Engines() {
  static auto* engines = new Registry<Engine>();
  return engines;
}

pid_t process = 0;  // whose threads EndAll() ends: a child of fork() has none

// RocksDB makes static objects when it first writes and reads an SST. They are destroyed at exit in
// the opposite order: what is made after atexit() is gone while EndAll() waits for threads that
// read. So they are made here, by an SST in memory.
void MakeStaticObjects() {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  Options options;
  options.env = env.get();
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  SstFileWriter writer(EnvOptions(), options);
  Status s = writer.Open("/sst");
  if (s.ok()) {
    s = writer.Put("key", "value");
  }
  if (s.ok()) {
    s = writer.Finish();
  }
  SstFileReader reader(options);
  if (s.ok()) {
    s = reader.Open("/sst");
  }
  if (s.ok()) {
    const std::unique_ptr<Iterator> iterator(reader.NewIterator(ReadOptions()));
    iterator->SeekToFirst();
    s = iterator->status();
  }
  s.PermitUncheckedError();
}

// Returns the name of a folder in the registry: its id if it is there, else its path.
std::string KeyOf(const std::string& path) {
  const std::string id = Folder::IdOf(path);
  return id.empty() ? path : id;
}

}  // namespace

std::shared_ptr<Engine> Engine::Find(const std::string& path) {
  return Engines()->Find(KeyOf(path));
}

std::shared_ptr<Engine> Engine::Get(const HotPromotionOptions& options) {
  static std::once_flag once;
  std::call_once(once, [] {
    process = getpid();
    MakeStaticObjects();
    atexit(EndAll);
  });
  Folder::Make(options.path);
  return Engines()->Get(KeyOf(options.path),
                        [&] { return std::unique_ptr<Engine>(new Engine(options)); });
}

Engine::Engine(const HotPromotionOptions& options)
    : env_(Env::Default()),
      state_(options,
             [this](Space space, const Slice& user_key) {
               const Ralt* const table = directory_.table();
               return table != nullptr && table->IsHot(space, user_key);
             }),
      directory_(&state_, [this] { StartReporting(); }),
      writer_(&state_, &directory_, [this] { promoter_.Wake(); }),
      promoter_(&state_, &directory_, &writer_),
      next_log_(SteadyMicros() + kLogInterval) {
  promoter_.Start();
}

// Ends what is in the background when the process ends with a table factory that nobody destroys,
// as in Java: static objects of RocksDB, such as the names of properties, go next.
void Engine::EndAll() {
  if (getpid() == process) {
    for (const std::shared_ptr<Engine>& engine : Engines()->All()) {
      engine->End();
    }
  }
}

void Engine::End() {
  promoter_.Stop();
  reporter_.reset();
  Ralt* const table = directory_.table();
  if (table != nullptr) {
    table->Stop();
  }
  const Guarded<Store>::Use store(directory_.store());
  if (store) {
    store->EndCompactions();
  }
}

void Engine::Offer(const Slice& key, uint64_t hash, Space space, const Slice& value, bool quick) {
  using Result = PromotionCache::Result;
  if (quick) {
    state_.counters.Add(Counter::quick);
    return;
  }
  state_.sampling.CountOffer();
  if (!directory_.IsServing() || !state_.policy.Admits(space, UserKeyOf(key), hash)) {
    return;
  }
  const Result result = state_.policy.Fits(key.size() + value.size())
                            ? state_.cache.Put(key, hash, space, value)
                            : Result::kRefused;
  if (result == Result::kAdded) {
    state_.presence.Add(hash);
  }
  state_.counters.Add(result == Result::kRefused ? Counter::refused : Counter::captured);
  promoter_.WakeIfDue();
}

void Engine::NoteObsolete(const FileId& file) {
  if (state_.catalog.NoteObsolete(file)) {
    promoter_.WakeForObsolete();
  }
}

HotPromotionStats Engine::Stats() const {
  HotPromotionStats stats;
#define X(name, type, unit, description) stats.name = state_.counters.Sum(Counter::name);
  HOT_PROMOTION_STATS(X)
#undef X
  stats.sampling = static_cast<uint64_t>(state_.sampling.one_access_in());
  stats.cache_bytes = state_.cache.Bytes();
  stats.store_budget = state_.options.budget;
  stats.store_files = state_.catalog.Count();
  directory_.GetStats(&stats);
  return stats;
}

std::string Engine::MetricsText() const {
  const MetricsPage::Labels labels = {{"path", state_.options.path}};
  MetricsPage page;
  AddMetrics(Stats(), labels, &page);
  return page.Text(labels);
}

void Engine::StartReporting() {
  const HotPromotionOptions& options = state_.options;
  MetricsReport report;
  report.fs = FileSystem::Default();
  report.path =
      options.metrics_file.empty() ? options.path + "/" + kMetricsName : options.metrics_file;
  report.alone = options.metrics_file.empty();
  report.interval = options.metrics_interval;
  report.text = [this] { return MetricsText(); };
  report.warn = [this, path = report.path](const IOStatus& reason) {
    ROCKS_LOG_WARN(directory_.logger(), "hot_promotion: cannot write statistics to %s: %s",
                   path.c_str(), reason.ToString().c_str());
  };
  reporter_ = std::make_unique<MetricsReporter>(std::move(report));
}

void Engine::MaybeLog(Logger* logger) {
  const uint64_t now = SteadyMicros();
  uint64_t due = next_log_.load(std::memory_order_relaxed);
  if (now >= due && next_log_.compare_exchange_strong(due, now + kLogInterval)) {
    MetricsPage page;
    AddMetrics(Stats(), {}, &page);
    ROCKS_LOG_INFO(logger, "hot_promotion: statistics of %s\n%s", state_.options.path.c_str(),
                   page.Lines().c_str());
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
