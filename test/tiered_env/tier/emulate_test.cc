// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Emulated slowness, on a clock that stands still but for sleeps and the time that files say they
// took.

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tiered_env/tier/slow_device.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

class TestClock : public SystemClockWrapper {
 public:
  TestClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "TestClock"; }
  uint64_t NowNanos() override { return now_.load(); }
  void SleepForMicroseconds(int micros) override { Advance(static_cast<uint64_t>(micros)); }

  void Advance(uint64_t micros) { now_ += micros * 1000; }
  uint64_t Micros() const { return now_.load() / 1000; }

 private:
  // Not 0: the device was idle before.
  std::atomic<uint64_t> now_{uint64_t{1} << 40};
};

// Each read, append and sync takes 100 us.
constexpr uint64_t kTaken = 100;

class TimedReader : public FSRandomAccessFileOwnerWrapper {
 public:
  TimedReader(std::unique_ptr<FSRandomAccessFile> file, TestClock* clock)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), clock_(clock) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    clock_->Advance(kTaken);
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
  }

 private:
  TestClock* const clock_;
};

class TimedFileSystem : public FileSystemWrapper {
 public:
  explicit TimedFileSystem(TestClock* clock)
      : FileSystemWrapper(FileSystem::Default()), clock_(clock) {}
  const char* Name() const override { return "TimedFileSystem"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus s = target()->NewRandomAccessFile(path, options, result, dbg);
    if (s.ok()) {
      result->reset(new TimedReader(std::move(*result), clock_));
    }
    return s;
  }

 private:
  TestClock* const clock_;
};

class EmulateTest : public testing::Test {
 protected:
  EmulateTest()
      : folder_(rocktier::NewFolder()),
        path_(folder_ + "/file"),
        clock_(std::make_shared<TestClock>()) {}

  std::shared_ptr<FileSystem> Emulate(const Emulation& emulation) {
    return NewEmulatedFileSystem(FileSystem::Default(), emulation, clock_);
  }

  void Write(const std::string& data) {
    ASSERT_OK(WriteStringToFile(FileSystem::Default().get(), data, path_));
  }

  std::unique_ptr<FSRandomAccessFile> Reader(FileSystem* fs) {
    std::unique_ptr<FSRandomAccessFile> file;
    EXPECT_OK(fs->NewRandomAccessFile(path_, FileOptions(), &file, nullptr));
    return file;
  }

  // How long it takes, in microseconds.
  template <typename Work>
  uint64_t Time(const Work& work) {
    const uint64_t begin = clock_->Micros();
    work();
    return clock_->Micros() - begin;
  }

  template <typename Work>
  void ExpectMicros(uint64_t expected, const Work& work) {
    EXPECT_EQ(Time(work), expected);
  }

  void Read(FSRandomAccessFile* file, uint64_t offset, size_t n, const std::string& expected) {
    std::string scratch(n, 'x');
    Slice slice;
    EXPECT_OK(file->Read(offset, n, IOOptions(), &slice, scratch.data(), nullptr));
    EXPECT_EQ(slice.ToString(), expected);
  }

  const std::string folder_;
  const std::string path_;
  const std::shared_ptr<TestClock> clock_;
};

TEST_F(EmulateTest, NothingToEmulateIsTheTarget) {
  EXPECT_EQ(Emulate(Emulation()), FileSystem::Default());
}

TEST_F(EmulateTest, LatencyIsAddedToReads) {
  Write("data");
  Emulation emulation;
  emulation.read_latency_us = 80;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::unique_ptr<FSRandomAccessFile> file = Reader(fs.get());
  ExpectMicros(80, [&] { Read(file.get(), 1, 10, "ata"); });
  std::unique_ptr<FSSequentialFile> sequential;
  ASSERT_OK(fs->NewSequentialFile(path_, FileOptions(), &sequential, nullptr));
  char scratch[10];
  Slice slice;
  ExpectMicros(80, [&] { EXPECT_OK(sequential->Read(10, IOOptions(), &slice, scratch, nullptr)); });
  EXPECT_EQ(slice.ToString(), "data");
  std::unique_ptr<FSWritableFile> writer;
  ASSERT_OK(fs->NewWritableFile(path_, FileOptions(), &writer, nullptr));
  ExpectMicros(0, [&] {
    EXPECT_OK(writer->Append("more", IOOptions(), nullptr));
    EXPECT_OK(writer->Sync(IOOptions(), nullptr));
    EXPECT_OK(writer->Close(IOOptions(), nullptr));
  });
}

TEST_F(EmulateTest, RequestsOfOneCallShareTheLatency) {
  Write("0123456789");
  Emulation emulation;
  emulation.read_latency_us = 80;
  emulation.iops = 100;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::unique_ptr<FSRandomAccessFile> file = Reader(fs.get());
  char scratch[10];
  FSReadRequest requests[5];
  for (int i = 0; i < 5; ++i) {
    requests[i].offset = static_cast<uint64_t>(2 * i);
    requests[i].len = 2;
    requests[i].scratch = scratch + 2 * i;
  }
  // One millisecond is the credit of the idle device.
  ExpectMicros(5 * 10000 - 1000 + 80,
               [&] { EXPECT_OK(file->MultiRead(requests, 5, IOOptions(), nullptr)); });
  for (const FSReadRequest& request : requests) {
    EXPECT_OK(request.status);
  }
  EXPECT_EQ(std::string(scratch, 10), "0123456789");
}

TEST_F(EmulateTest, OperationsPerSecondAreShared) {
  Write("data");
  Emulation emulation;
  emulation.iops = 1000;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  std::unique_ptr<FSWritableFile> writer;
  ASSERT_OK(fs->NewWritableFile(path_ + "2", FileOptions(), &writer, nullptr));
  std::unique_ptr<FSDirectory> directory;
  ASSERT_OK(fs->NewDirectory(folder_, IOOptions(), &directory, nullptr));
  std::unique_ptr<FSRandomRWFile> both;
  ASSERT_OK(fs->NewRandomRWFile(path_, FileOptions(), &both, nullptr));
  ExpectMicros(500 * 1000 - 1000, [&] {
    for (int i = 0; i < 100; ++i) {
      Read(reader.get(), 0, 4, "data");
      EXPECT_OK(writer->Append("x", IOOptions(), nullptr));
      EXPECT_OK(writer->Sync(IOOptions(), nullptr));
      EXPECT_OK(directory->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions()));
      EXPECT_OK(both->Write(0, "d", IOOptions(), nullptr));
    }
  });
}

TEST_F(EmulateTest, BandwidthIsOfReadsAndWrites) {
  Emulation emulation;
  emulation.bandwidth = 100000000;  // 100 bytes in a microsecond
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::string data(1000000, 'd');
  ExpectMicros(10000 - 1000, [&] {
    std::unique_ptr<FSWritableFile> writer;
    ASSERT_OK(fs->NewWritableFile(path_, FileOptions(), &writer, nullptr));
    EXPECT_OK(writer->Append(data, IOOptions(), nullptr));
    EXPECT_OK(writer->Sync(IOOptions(), nullptr));
    EXPECT_OK(writer->Close(IOOptions(), nullptr));
  });
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  // What there was, not what was asked for.
  ExpectMicros(5000, [&] { Read(reader.get(), 500000, 1000000, data.substr(500000)); });
  ExpectMicros(0, [&] { Read(reader.get(), 1000000, 1000000, ""); });
}

// A device that was idle for long has not saved its time up.
TEST_F(EmulateTest, IdleTimeIsNotSavedUp) {
  Write("data");
  Emulation emulation;
  emulation.iops = 100;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  for (int i = 0; i < 3; ++i) {
    clock_->Advance(10000000);
    ExpectMicros(10000 - 1000, [&] { Read(reader.get(), 0, 4, "data"); });
  }
}

TEST_F(EmulateTest, SlowdownMultipliesWhatItTook) {
  Write("data");
  Emulation emulation;
  emulation.slowdown = 2.5;
  const auto timed = std::make_shared<TimedFileSystem>(clock_.get());
  const std::shared_ptr<FileSystem> fs = NewEmulatedFileSystem(timed, emulation, clock_);
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  ExpectMicros(250, [&] { Read(reader.get(), 0, 4, "data"); });
}

TEST_F(EmulateTest, WhatTheTargetTookCounts) {
  Write("data");
  Emulation emulation;
  emulation.iops = 1000;
  const auto timed = std::make_shared<TimedFileSystem>(clock_.get());
  const std::shared_ptr<FileSystem> fs = NewEmulatedFileSystem(timed, emulation, clock_);
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  Read(reader.get(), 0, 4, "data");
  ExpectMicros(10 * 1000 - kTaken, [&] {
    for (int i = 0; i < 10; ++i) {
      Read(reader.get(), 0, 4, "data");
    }
  });
}

TEST_F(EmulateTest, AsynchronousReadsAreDoneAtSubmission) {
  Write("data");
  Emulation emulation;
  emulation.read_latency_us = 80;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
  char scratch[4];
  FSReadRequest request;
  request.offset = 0;
  request.len = 4;
  request.scratch = scratch;
  void* handle = nullptr;
  IOHandleDeleter deleter;
  int calls = 0;
  ExpectMicros(80, [&] {
    EXPECT_OK(reader->ReadAsync(
        request, IOOptions(),
        [&](FSReadRequest& done, void*) {
          EXPECT_OK(done.status);
          EXPECT_EQ(done.result.ToString(), "data");
          ++calls;
        },
        nullptr, &handle, &deleter, nullptr));
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(handle, nullptr);
}

// Threads share the device: none of its time is given away twice.
TEST_F(EmulateTest, ManyThreads) {
  Write("data");
  Emulation emulation;
  emulation.iops = 1000;
  const std::shared_ptr<FileSystem> fs = Emulate(emulation);
  const uint64_t elapsed = Time([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        const std::unique_ptr<FSRandomAccessFile> reader = Reader(fs.get());
        for (int j = 0; j < 250; ++j) {
          Read(reader.get(), 0, 4, "data");
        }
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  });
  EXPECT_GE(elapsed, 1000 * 1000 - 1000);
}

TEST_F(EmulateTest, Database) {
  Emulation emulation;
  emulation.read_latency_us = 10;
  emulation.iops = 1000000;
  emulation.bandwidth = 1000000000;
  emulation.slowdown = 1.5;
  const std::unique_ptr<Env> env = NewCompositeEnv(Emulate(emulation));
  Options options;
  options.env = env.get();
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options, folder_ + "/db", &db));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(db->Put(WriteOptions(), std::to_string(i), std::to_string(-i)));
  }
  ASSERT_OK(db->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  db.reset();
  ASSERT_OK(OpenDb(options, folder_ + "/db", &db));
  ReadOptions asynchronous;
  asynchronous.async_io = true;
  const std::unique_ptr<Iterator> iterator(db->NewIterator(asynchronous));
  int count = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ++count;
    EXPECT_EQ(iterator->value().ToString(), std::to_string(-std::stoi(iterator->key().ToString())));
  }
  EXPECT_OK(iterator->status());
  EXPECT_EQ(count, 1000);
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
