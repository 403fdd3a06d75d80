// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Figure 6 of the pmemenv paper: records that are made durable in groups. A group is gathered in
// memory, and then appended and synced at once; the latency of a group is that of its first record.
// With --through=db a group is a WriteBatch of a database that syncs its log, else it is appended
// to a file. Prints one JSON object.

#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/pmem/file_system.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/bench/common/json_out.h"
#include "test/support/open_db.h"
#include "util/random.h"

DEFINE_string(folder, "", "where the file or the database is made; it exists");
DEFINE_string(system, "file", "file: a plain file; pmem: a file of a pmem tier");
DEFINE_string(through, "file", "file or db");
DEFINE_uint64(group, 1, "records in a group");
DEFINE_uint64(key_size, 16, "bytes");
DEFINE_uint64(value_size, 112, "bytes");
DEFINE_uint64(log_size, 64 << 20, "bytes after which the next file is begun, allocated at once");
DEFINE_double(seconds, 3, "how long");
DEFINE_uint64(seed, 42, "of keys and values");

namespace {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

[[noreturn]] void Fail(const Status& s) {
  std::fprintf(stderr, "append_probe: %s\n", s.ToString().c_str());
  exit(1);
}

void Check(const Status& s) {
  if (!s.ok()) Fail(s);
}

std::shared_ptr<FileSystem> NewFileSystem(bool* persistent) {
  std::shared_ptr<FileSystem> fs = FileSystem::Default();
  *persistent = false;
  if (FLAGS_system == "pmem") {
    Check(tiered_env::NewPmemFileSystem(fs, FLAGS_folder, &fs, persistent));
  } else if (FLAGS_system != "file") {
    Fail(Status::InvalidArgument("--system", FLAGS_system));
  }
  return fs;
}

// Takes groups of records and makes them durable.
class Store {
 public:
  virtual ~Store() = default;
  // Not measured.
  virtual void Gather(const Slice& key, const Slice& value) = 0;
  virtual void Prepare() = 0;
  // Measured.
  virtual void Write() = 0;
};

class FileStore : public Store {
 public:
  explicit FileStore(std::shared_ptr<FileSystem> fs) : fs_(std::move(fs)) {}
  ~FileStore() override { Close(); }

  void Gather(const Slice& key, const Slice& value) override {
    group_.append(key.data(), key.size()).append(value.data(), value.size());
  }

  void Prepare() override {
    if (file_ == nullptr || file_->GetFileSize(IOOptions(), nullptr) >= FLAGS_log_size) {
      Close();
      Check(fs_->NewWritableFile(path_, FileOptions(), &file_, nullptr));
      file_->SetPreallocationBlockSize(FLAGS_log_size);
      file_->PrepareWrite(0, 1, IOOptions(), nullptr);
    }
  }

  void Write() override {
    file_->PrepareWrite(file_->GetFileSize(IOOptions(), nullptr), group_.size(), IOOptions(),
                        nullptr);
    Check(file_->Append(group_, IOOptions(), nullptr));
    Check(file_->Sync(IOOptions(), nullptr));
    group_.clear();
  }

 private:
  void Close() {
    if (file_ != nullptr) {
      Check(file_->Close(IOOptions(), nullptr));
      file_.reset();
      Check(fs_->DeleteFile(path_, IOOptions(), nullptr));
    }
  }

  const std::shared_ptr<FileSystem> fs_;
  const std::string path_ = FLAGS_folder + "/append_probe";
  std::unique_ptr<FSWritableFile> file_;
  std::string group_;
};

class DbStore : public Store {
 public:
  explicit DbStore(const std::shared_ptr<FileSystem>& fs) : env_(NewCompositeEnv(fs)) {
    Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.compression = kNoCompression;
    options.write_buffer_size = FLAGS_log_size;
    Check(OpenDb(options, path_, &db_));
  }
  ~DbStore() override {
    Check(db_->Close());
    db_.reset();
    Options options;
    options.env = env_.get();
    Check(DestroyDB(path_, options));
  }

  void Gather(const Slice& key, const Slice& value) override { Check(batch_.Put(key, value)); }
  void Prepare() override {}
  void Write() override {
    WriteOptions options;
    options.sync = true;
    Check(db_->Write(options, &batch_));
    batch_.Clear();
  }

 private:
  const std::string path_ = FLAGS_folder + "/append_probe";
  const std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  WriteBatch batch_;
};

std::vector<double> Run(Store* store) {
  Random random(static_cast<uint32_t>(FLAGS_seed));
  const std::string value = random.RandomBinaryString(static_cast<int>(FLAGS_value_size));
  std::vector<double> micros;
  double left = FLAGS_seconds * 1e6;
  while (left > 0) {
    for (uint64_t i = 0; i < FLAGS_group; ++i) {
      store->Gather(random.RandomBinaryString(static_cast<int>(FLAGS_key_size)), value);
    }
    store->Prepare();
    const auto begin = std::chrono::steady_clock::now();
    store->Write();
    const auto end = std::chrono::steady_clock::now();
    micros.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    left -= micros.back();
  }
  return micros;
}

// Of the time that writes took: moments in seconds, and the records up to each of them.
void AddEachSecond(const std::vector<double>& micros, rocktier_bench::JsonObject* out) {
  std::vector<double> seconds, records;
  double time = 0;
  double done = 0;
  for (double each : micros) {
    time += each / 1e6;
    done += static_cast<double>(FLAGS_group);
    if (time < static_cast<double>(seconds.size() + 1)) continue;
    seconds.push_back(time);
    records.push_back(done);
    done = 0;
  }
  out->AddSeries("each second", {{"seconds", seconds}, {"operations", records}});
}

double Percentile(const std::vector<double>& sorted, double percentile) {
  return sorted[static_cast<size_t>(percentile / 100 * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  bool persistent;
  const std::shared_ptr<FileSystem> fs = NewFileSystem(&persistent);
  std::unique_ptr<Store> store;
  if (FLAGS_through == "db") {
    store = std::make_unique<DbStore>(fs);
  } else {
    store = std::make_unique<FileStore>(fs);
  }
  std::vector<double> micros = Run(store.get());
  store.reset();

  rocktier_bench::JsonObject out;
  AddEachSecond(micros, &out);
  std::sort(micros.begin(), micros.end());
  const auto groups = static_cast<double>(micros.size());
  double sum = 0;
  double squares = 0;
  for (double each : micros) {
    sum += each;
    squares += each * each;
  }
  const double mean = sum / groups;
  out.Add("system", FLAGS_system);
  out.Add("persistent", uint64_t{persistent});
  out.Add("group", FLAGS_group);
  out.Add("groups", uint64_t{micros.size()});
  // Of the time that writes took.
  out.Add("records_per_s", groups * static_cast<double>(FLAGS_group) / sum * 1e6);
  out.Add("mean_us", mean);
  out.Add("stddev_us", std::sqrt(std::max(0.0, squares / groups - mean * mean)));
  out.Add("p50_us", Percentile(micros, 50));
  out.Add("p99_us", Percentile(micros, 99));
  out.Add("p999_us", Percentile(micros, 99.9));
  std::printf("%s\n", out.ToString().c_str());
  return 0;
}
