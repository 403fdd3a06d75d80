// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Makes a database of many families and many small blob files, then overwrites it at a rate. Prints
// one JSON object of figures, of the time at that rate; test/bench/README.md says what each means.

#include <gflags/gflags.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/db.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/workload.h"
#include "test/support/open_db.h"

DEFINE_string(db, "", "directory of the database");
DEFINE_bool(hybrid, true, "with blob_hybrid; else a plain BlobDB, without garbage collection");
DEFINE_uint64(families, 300, "column families, which share the blob files evenly");
DEFINE_uint64(blob_files, 10000, "that the database has in the beginning");
DEFINE_uint64(puts_per_s, 1000, "of values of 1000 bytes, to random keys of all families");
DEFINE_uint64(seconds, 30, "of overwriting");
DEFINE_uint64(seed, 42, "same seed, same keys");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::ColumnFamilyMetaData;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WaitForCompactOptions;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::blob_hybrid::BlobHybridOptions;
using ROCKSDB_NAMESPACE::blob_hybrid::BlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::GetBlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::SettleBlobHybrid;
using ROCKSDB_NAMESPACE::blob_hybrid::UseBlobHybrid;

using Clock = std::chrono::steady_clock;

constexpr size_t kValueBytes = 1000;
constexpr uint64_t kValuesOfFile = 4;
constexpr auto kTick = std::chrono::milliseconds(10);

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class ManyBlobsBench {
 public:
  Status Open();
  Status Fill();
  Status Overwrite();
  Status Close();
  std::string ToString() const { return json_.ToString(); }

 private:
  uint64_t KeysOfFamily() const {
    return std::max<uint64_t>(FLAGS_blob_files * kValuesOfFile / FLAGS_families, 1);
  }
  Status Put(uint64_t family, uint64_t key);
  Status Settle();
  void AddState();

  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyHandle*> families_;
  std::string value_ = std::string(kValueBytes, 'v');
  JsonObject json_;
};

Status ManyBlobsBench::Open() {
  Options options;
  options.create_if_missing = true;
  options.enable_blob_files = true;
  options.min_blob_size = 512;
  options.blob_file_size = kValuesOfFile * kValueBytes;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.compression = ROCKSDB_NAMESPACE::kNoCompression;
  BlobHybridOptions hybrid;
  hybrid.space_floor = KeysOfFamily() * kValueBytes / 4;
  Status s = FLAGS_hybrid ? UseBlobHybrid(hybrid, &options, &options) : Status::OK();
  if (s.ok()) s = ROCKSDB_NAMESPACE::OpenDb(options, FLAGS_db, &db_);
  std::vector<std::string> names;
  for (uint64_t i = 0; i < FLAGS_families; i++) names.push_back("family" + std::to_string(i));
  return s.ok() ? db_->CreateColumnFamilies(options, names, &families_) : s;
}

Status ManyBlobsBench::Put(uint64_t family, uint64_t key) {
  char text[24];
  std::snprintf(text, sizeof(text), "%012llu", static_cast<unsigned long long>(key));
  value_.replace(0, 12, text);
  return db_->Put(WriteOptions(), families_[family], text, value_);
}

Status ManyBlobsBench::Settle() {
  Status s = db_->WaitForCompact(WaitForCompactOptions());
  return s.ok() && FLAGS_hybrid ? SettleBlobHybrid(db_.get()) : s;
}

Status ManyBlobsBench::Fill() {
  Status s;
  for (uint64_t family = 0; s.ok() && family < FLAGS_families; family++) {
    for (uint64_t key = 0; s.ok() && key < KeysOfFamily(); key++) s = Put(family, key);
    if (s.ok()) s = db_->Flush(FlushOptions(), families_[family]);
  }
  return s.ok() ? Settle() : s;
}

Status ManyBlobsBench::Overwrite() {
  AddState();
  Random random(FLAGS_seed);
  const auto start = Clock::now();
  const double cpu = CpuSeconds();
  Status s;
  uint64_t puts = 0;
  double seconds = 0;
  std::vector<double> moments, puts_then, cpu_then;
  while (s.ok() && seconds < static_cast<double>(FLAGS_seconds)) {
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const auto wanted = static_cast<uint64_t>(seconds * static_cast<double>(FLAGS_puts_per_s));
    for (; s.ok() && puts < wanted; puts++) {
      s = Put(random.Uniform(FLAGS_families), random.Uniform(KeysOfFamily()));
    }
    if (seconds >= static_cast<double>(moments.size() + 1)) {
      moments.push_back(seconds);
      puts_then.push_back(static_cast<double>(puts));
      cpu_then.push_back(CpuSeconds() - cpu);
    }
    std::this_thread::sleep_for(kTick);
  }
  json_.AddSeries("each second, from the beginning",
                  {{"seconds", moments}, {"operations", puts_then}, {"cpu_s", cpu_then}});
  json_.Add("cpu_share", (CpuSeconds() - cpu) / seconds);
  json_.Add("puts_per_s", static_cast<double>(puts) / seconds);
  return s;
}

void ManyBlobsBench::AddState() {
  uint64_t ssts = 0;
  uint64_t blobs = 0;
  for (ColumnFamilyHandle* family : families_) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    ssts += meta.file_count;
    blobs += meta.blob_files.size();
  }
  json_.Add("sst_files", ssts);
  json_.Add("blob_files", blobs);
}

Status ManyBlobsBench::Close() {
  uint64_t bytes = 0;
  uint64_t jobs = 0;
  uint64_t waited = 0;
  for (ColumnFamilyHandle* family : families_) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(family, &meta);
    bytes += meta.size + meta.blob_file_size;
    BlobHybridStats stats;
    if (FLAGS_hybrid && GetBlobHybridStats(db_.get(), family, &stats).ok()) {
      jobs = std::max(jobs, stats.jobs);  // families share a factory, which counts for all of them
      waited = std::max(waited, stats.flush_wait_micros);
    }
  }
  json_.Add("space_end", static_cast<double>(bytes) /
                             static_cast<double>(FLAGS_families * KeysOfFamily() * kValueBytes));
  json_.Add("jobs", jobs);
  json_.Add("flush_wait_s", static_cast<double>(waited) / 1e6);
  Status s;
  for (ColumnFamilyHandle* family : families_) {
    if (s.ok()) s = db_->DestroyColumnFamilyHandle(family);
  }
  if (s.ok()) s = db_->Close();
  db_.reset();
  return s;
}

Status RunAll() {
  ManyBlobsBench bench;
  Status s = bench.Open();
  if (s.ok()) s = bench.Fill();
  if (s.ok()) s = bench.Overwrite();
  if (s.ok()) s = bench.Close();
  if (s.ok()) std::printf("%s\n", bench.ToString().c_str());
  return s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const rocktier_bench::Status s = rocktier_bench::RunAll();
  if (!s.ok()) {
    std::fprintf(stderr, "many_blobs_driver: %s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
