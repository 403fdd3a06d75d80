// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// CPU time of one SecondaryCache::Lookup in one thread: our cache against CompressedSecondaryCache
// without compression, both full of the same 4 KB blocks. Their look-ups alternate in short rounds,
// so that a change in the machine's speed hits both; the median round counts.
//
// With --file the memory that a cache in a file takes for each block, too.

#include <gflags/gflags.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/convenience.h"
#include "rocksdb/secondary_cache.h"
#include "test/bench/cache/string_block.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/workload.h"

DEFINE_uint64(blocks, 100000, "blocks that each cache has room for");
DEFINE_uint64(block_size, 4096, "bytes per block");
DEFINE_uint64(lookups, 100000, "look-ups per round");
DEFINE_int32(rounds, 15, "rounds per cache and kind of look-up");
DEFINE_uint64(seed, 42, "same seed, same look-ups");
DEFINE_string(file, "", "path of a cache file that is made and stays");
DEFINE_uint64(file_blocks, 65536, "blocks that it has room for");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::SecondaryCache;
using ROCKSDB_NAMESPACE::SecondaryCacheResultHandle;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::secondary_cache_2q::GetTwoQSecondaryCacheStats;
using ROCKSDB_NAMESPACE::secondary_cache_2q::TwoQSecondaryCacheStats;

double ThreadCpuNanos() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Cache keys of SST blocks are 16 bytes: a file's 8 and the block's 8.
std::vector<std::string> MakeKeys(uint64_t count, uint64_t file) {
  std::vector<std::string> keys(count, std::string(16, '\0'));
  for (uint64_t i = 0; i < count; ++i) {
    Random random(file << 32 | i);
    const uint64_t words[2] = {random.Next(), random.Next()};
    std::memcpy(&keys[i][0], words, sizeof(words));
  }
  return keys;
}

class Subject {
 public:
  Subject(std::string name, std::string uri) : name_(std::move(name)), uri_(std::move(uri)) {}

  // Offers more blocks than there is room for, so that both caches work as in the long run: full,
  // and with references to blocks that they do not hold.
  Status Fill(const std::vector<std::string>& keys, const std::vector<std::string>& once);

  // Adds the nanoseconds per look-up of one round over `order`; Corruption if a look-up does not
  // end as expected.
  Status Measure(const std::vector<const std::string*>& order, bool expect_hit,
                 std::vector<double>* nanos) const;

  // Those of `keys` that are held.
  std::vector<const std::string*> Held(const std::vector<std::string>& keys) const;

  const std::string& name() const { return name_; }

  std::vector<double> hit_nanos, miss_nanos, known_miss_nanos;

 private:
  bool Lookup(const std::string& key) const;

  const std::string name_;
  const std::string uri_;
  std::shared_ptr<SecondaryCache> cache_;
};

bool Subject::Lookup(const std::string& key) const {
  bool kept = false;
  std::unique_ptr<SecondaryCacheResultHandle> handle =
      cache_->Lookup(key, StringBlockHelper(), /*create_context=*/nullptr, /*wait=*/true,
                     /*advise_erase=*/false, /*stats=*/nullptr, kept);
  if (!handle || handle->Value() == nullptr) return false;
  StringBlockHelper()->del_cb(handle->Value(), nullptr);
  return true;
}

Status Subject::Fill(const std::vector<std::string>& keys, const std::vector<std::string>& once) {
  Status s = SecondaryCache::CreateFromString(ConfigOptions(), uri_, &cache_);
  std::string block(FLAGS_block_size, 'b');
  for (size_t i = 0; s.ok() && i < keys.size(); ++i) {
    std::memcpy(&block[0], keys[i].data(), keys[i].size());
    s = cache_->Insert(keys[i], &block, StringBlockHelper(), /*force_insert=*/true);
  }
  for (size_t i = 0; s.ok() && i < once.size(); ++i) {
    s = cache_->Insert(once[i], &block, StringBlockHelper(), /*force_insert=*/false);
  }
  return s;
}

std::vector<const std::string*> Subject::Held(const std::vector<std::string>& keys) const {
  std::vector<const std::string*> held;
  for (const std::string& key : keys) {
    if (Lookup(key)) held.push_back(&key);
  }
  return held;
}

Status Subject::Measure(const std::vector<const std::string*>& order, bool expect_hit,
                        std::vector<double>* nanos) const {
  uint64_t hits = 0;
  const double start = ThreadCpuNanos();
  for (const std::string* key : order) hits += Lookup(*key) ? 1 : 0;
  nanos->push_back((ThreadCpuNanos() - start) / static_cast<double>(order.size()));
  const uint64_t expected = expect_hit ? order.size() : 0;
  return hits == expected ? Status::OK()
                          : Status::Corruption(name_, std::to_string(hits) + " hits in a round");
}

std::vector<const std::string*> Pointers(const std::vector<std::string>& keys) {
  std::vector<const std::string*> result;
  for (const std::string& key : keys) result.push_back(&key);
  return result;
}

std::vector<const std::string*> Pick(const std::vector<const std::string*>& from, Random* random) {
  std::vector<const std::string*> order(FLAGS_lookups);
  for (const std::string*& key : order) key = from[random->Uniform(from.size())];
  return order;
}

// The key of a block in a cache in a file: as of forty SSTs.
std::string FileKey(uint64_t block) {
  Random random(block);
  const uint64_t words[2] = {1 + block % 40, random.Next()};
  return std::string(reinterpret_cast<const char*>(words), sizeof(words));
}

// Looks a block up, and offers it if it is not held.
Status Use(SecondaryCache* cache, uint64_t number, std::string* block) {
  const std::string key = FileKey(number);
  bool kept = false;
  const std::unique_ptr<SecondaryCacheResultHandle> handle = cache->Lookup(
      key, StringBlockHelper(), nullptr, /*wait=*/true, /*advise_erase=*/false, nullptr, kept);
  if (handle && handle->Value() != nullptr) {
    StringBlockHelper()->del_cb(handle->Value(), nullptr);
    return Status::OK();
  }
  std::memcpy(&(*block)[0], key.data(), key.size());
  return cache->Insert(key, block, StringBlockHelper(), /*force_insert=*/false);
}

// Uses a cache in a file, by Zipf's law, until it is full of blocks and of references. Sets the
// bytes of bookkeeping for each block.
Status MeasureFile(double* memory_per_block) {
  const uint64_t capacity = FLAGS_file_blocks * (FLAGS_block_size + FLAGS_block_size / 8);
  std::shared_ptr<SecondaryCache> cache;
  Status s = SecondaryCache::CreateFromString(
      ConfigOptions(),
      "id=TwoQSecondaryCache;storage=file;metrics_interval=0;capacity=" + std::to_string(capacity) +
          ";path=" + FLAGS_file,
      &cache);
  const Zipf zipf(FLAGS_file_blocks * 8, 0.8);
  Random random(FLAGS_seed);
  std::string block(FLAGS_block_size - FLAGS_block_size / 32, 'b');
  TwoQSecondaryCacheStats stats;
  for (int round = 0; s.ok() && round < 100; ++round) {
    for (uint64_t i = 0; s.ok() && i < FLAGS_file_blocks; ++i) {
      s = Use(cache.get(), zipf.Next(&random), &block);
    }
    if (s.ok()) s = GetTwoQSecondaryCacheStats(cache.get(), &stats);
    if (s.ok() && stats.blocks > FLAGS_file_blocks * 9 / 10 && stats.ghosts > stats.blocks / 5) {
      *memory_per_block = static_cast<double>(stats.memory) / static_cast<double>(stats.blocks);
      return s;
    }
  }
  return s.ok() ? Status::NotSupported("the cache in a file is not filled", stats.ToJson()) : s;
}

void Print(const std::vector<Subject*>& subjects, double memory_per_block) {
  std::string out;
  for (const Subject* subject : subjects) {
    JsonObject figures;
    figures.Add("hit_ns", Median(subject->hit_nanos));
    figures.Add("miss_ns", Median(subject->miss_nanos));
    figures.Add("known_miss_ns", Median(subject->known_miss_nanos));
    out.append(out.empty() ? "" : ", ");
    out.append("\"").append(subject->name()).append("\": ").append(figures.ToString());
  }
  if (!FLAGS_file.empty()) {
    JsonObject figures;
    figures.Add("memory_per_block", memory_per_block);
    out.append(", \"2q_file\": ").append(figures.ToString());
  }
  std::printf("{%s}\n", out.c_str());
}

Status Main() {
  const uint64_t capacity = FLAGS_blocks * (FLAGS_block_size + FLAGS_block_size / 16);
  const std::string bytes = std::to_string(capacity);
  Subject stock("csc",
                "compressed_secondary_cache://compression_type=kNoCompression;capacity=" + bytes);
  Subject ours("2q", "id=TwoQSecondaryCache;policy=2q;capacity=" + bytes);
  const std::vector<Subject*> subjects = {&stock, &ours};

  const std::vector<std::string> keys = MakeKeys(FLAGS_blocks + FLAGS_blocks / 4, 1);
  const std::vector<std::string> once = MakeKeys(FLAGS_blocks / 4, 2);
  const std::vector<std::string> unknown = MakeKeys(FLAGS_blocks, 3);
  std::vector<std::vector<const std::string*>> held;
  for (Subject* subject : subjects) {
    Status s = subject->Fill(keys, once);
    if (!s.ok()) return s;
    held.push_back(subject->Held(keys));
    if (held.back().size() < FLAGS_blocks / 2) {
      return Status::Corruption(subject->name(), "holds less than half of what it has room for");
    }
  }

  Random random(FLAGS_seed);
  for (int round = 0; round < FLAGS_rounds; ++round) {
    for (size_t i = 0; i < subjects.size(); ++i) {
      Subject* subject = subjects[i];
      Status s = subject->Measure(Pick(held[i], &random), true, &subject->hit_nanos);
      if (s.ok()) {
        s = subject->Measure(Pick(Pointers(unknown), &random), false, &subject->miss_nanos);
      }
      if (s.ok()) {
        s = subject->Measure(Pick(Pointers(once), &random), false, &subject->known_miss_nanos);
      }
      if (!s.ok()) return s;
    }
  }
  double memory_per_block = 0;
  Status s = FLAGS_file.empty() ? Status::OK() : MeasureFile(&memory_per_block);
  if (s.ok()) Print(subjects, memory_per_block);
  return s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const auto s = rocktier_bench::Main();
  if (!s.ok()) std::fprintf(stderr, "cache_micro: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
