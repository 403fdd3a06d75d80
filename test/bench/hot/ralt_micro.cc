// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What RALT costs where it is called: Access() on each read, IsHot() on a promotion and a
// compaction. The table holds a hot set like that of a fast tier of 200 MB and has been through
// evictions. Time is that of the calling thread's CPU: with fewer CPUs than threads the wall clock
// would count the others.
//
//   ralt_micro [--benchmark_filter=...] [folder]

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "file/file_util.h"
#include "plugin/hot_promotion/ralt/ralt.h"
#include "rocksdb/env.h"
#include "util/random.h"

namespace {

using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::Random64;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::hot_promotion::Ralt;
using ROCKSDB_NAMESPACE::hot_promotion::RaltOptions;
using ROCKSDB_NAMESPACE::hot_promotion::RaltStats;

constexpr uint64_t kKeys = 2000000;
constexpr uint64_t kHotKeys = 100000;
constexpr size_t kValueSize = 1000;
constexpr int kMaxThreads = 16;

std::string folder;
std::unique_ptr<Ralt> ralt;

void Require(const Status& s) {
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    exit(1);
  }
}

// Hotspot: 95% of the accesses are to 5% of the keys. Unknown: the table does not have them.
enum class Choice { kHotspot, kUniform, kUnknown };

uint64_t Choose(Random64* random, Choice choice) {
  const bool hot = choice == Choice::kHotspot && random->Uniform(20) != 0;
  const uint64_t number = random->Uniform(hot ? kHotKeys : kKeys);
  return choice == Choice::kUnknown ? kKeys + number : number;
}

// Keys of 24 bytes.
std::vector<std::string> Keys(uint64_t seed, Choice choice) {
  Random64 random(seed);
  std::vector<std::string> keys;
  for (int i = 0; i < 1 << 14; ++i) {
    char key[32];
    snprintf(key, sizeof(key), "user%020llu",
             static_cast<unsigned long long>(Choose(&random, choice)));
    keys.emplace_back(key);
  }
  return keys;
}

void OpenEmpty(const std::string& path) {
  RaltOptions options;
  options.path = path;
  options.fast_bytes = 200 << 20;
  options.buffer_bytes = 16 << 20;
  ralt.reset();
  Require(DestroyDir(Env::Default(), path));
  Require(Ralt::Open(options, &ralt));
}

void Open() {
  OpenEmpty(folder + "/hotspot");
  for (uint64_t round = 0; round < 60; ++round) {
    for (const std::string& key : Keys(round, Choice::kHotspot)) {
      ralt->Access(1, key, kValueSize);
    }
    Require(ralt->Flush());
  }
  ralt->Settle();
}

// With room in the buffer: where there is none, accesses are dropped, which is faster.
void BM_Access(benchmark::State& state) {
  const std::vector<std::string> keys =
      Keys(static_cast<uint64_t>(state.thread_index()) + 100, Choice::kHotspot);
  const RaltStats before = ralt->Stats();
  size_t i = 0;
  for (auto _ : state) {
    ralt->Access(1, keys[i++ & (keys.size() - 1)], kValueSize);
    if (i % 2048 == 0) {
      state.PauseTiming();
      Require(ralt->Flush());
      state.ResumeTiming();
    }
  }
  if (state.thread_index() == 0) {
    const RaltStats after = ralt->Stats();
    const auto dropped = static_cast<double>(after.dropped - before.dropped);
    state.counters["dropped"] =
        dropped / (dropped + static_cast<double>(after.accesses - before.accesses));
  }
}

void IsHot(benchmark::State& state, Choice choice) {
  const std::vector<std::string> keys =
      Keys(static_cast<uint64_t>(state.thread_index()) + 100, choice);
  size_t i = 0;
  int64_t hot = 0;
  for (auto _ : state) {
    hot += ralt->IsHot(1, keys[i++ & (keys.size() - 1)]) ? 1 : 0;
  }
  state.counters["hot"] =
      benchmark::Counter(static_cast<double>(hot) / static_cast<double>(state.iterations()),
                         benchmark::Counter::kAvgThreads);
}

void BM_IsHotKnown(benchmark::State& state) { IsHot(state, Choice::kHotspot); }
void BM_IsHotUnknown(benchmark::State& state) { IsHot(state, Choice::kUnknown); }

// What an access costs in the background: to sort it, write it, and merge it.
void Background(benchmark::State& state, Choice choice) {
  static uint64_t seed = 1000;
  for (auto _ : state) {
    state.PauseTiming();
    for (const std::string& key : Keys(++seed, choice)) {
      ralt->Access(1, key, kValueSize);
    }
    state.ResumeTiming();
    Require(ralt->Flush());
    ralt->Settle();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * (1 << 14));
}

void BM_BackgroundHotspot(benchmark::State& state) { Background(state, Choice::kHotspot); }

void BM_BackgroundUniform(benchmark::State& state) {
  OpenEmpty(folder + "/uniform");  // nothing was hot before
  Background(state, Choice::kUniform);
}

BENCHMARK(BM_Access)->ThreadRange(1, kMaxThreads)->Iterations(200000);
BENCHMARK(BM_IsHotKnown)->ThreadRange(1, kMaxThreads);
BENCHMARK(BM_IsHotUnknown)->ThreadRange(1, kMaxThreads);
BENCHMARK(BM_BackgroundHotspot)
    ->Iterations(20)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_BackgroundUniform)
    ->Iterations(20)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  folder = argc > 1 ? argv[1] : "/tmp/ralt_micro";
  Require(Env::Default()->CreateDirIfMissing(folder));
  Open();
  benchmark::RunSpecifiedBenchmarks();
  ralt.reset();
  return 0;
}
