// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What becomes of compactions that are told of: a cache that is not there, SSTs that are.

#include "plugin/secondary_cache_2q/carrier.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/sst_reader.h"
#include "rocksdb/comparator.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/no_threads.h"
#include "test/support/scratch.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

using Clock = std::chrono::steady_clock;

class FakeTarget : public CarryTarget {
 public:
  bool HasFile(uint64_t file) const override { return held.count(file) > 0; }
  std::vector<Shard::Held> ListFile(uint64_t file) const override {
    const auto it = held.find(file);
    return it == held.end() ? std::vector<Shard::Held>() : it->second;
  }
  bool CanHold(uint64_t size) const override { return size <= largest; }
  bool IsCrowded() const override { return crowded; }
  void Carry(const CaughtBlock& block, uint64_t age) override {
    const std::lock_guard<std::mutex> lock(mutex);
    carried[block.key] = age;
  }
  size_t Carried() {
    const std::lock_guard<std::mutex> lock(mutex);
    return carried.size();
  }

  std::map<uint64_t, std::vector<Shard::Held>> held;  // before the carrier knows it
  uint64_t largest = UINT64_MAX;
  std::atomic<bool> crowded{false};
  std::mutex mutex;
  std::map<std::string, uint64_t> carried;
};

class OwnFs : public FileSystemWrapper {
 public:
  OwnFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "OwnFs"; }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus s = target()->NewRandomAccessFile(path, options, &file, dbg);
    if (s.ok()) {
      *result = std::make_unique<File>(std::move(file), this);
    }
    return s;
  }

  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> prefetched_bytes{0};

 private:
  class File : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile>&& file, OwnFs* fs)
        : FSRandomAccessFileOwnerWrapper(std::move(file)), fs_(fs) {}
    IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* dbg) const override {
      IOStatus s = target()->Read(offset, n, options, result, scratch, dbg);
      fs_->read_bytes += result->size();
      return s;
    }
    IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& options,
                      IODebugContext* dbg) override {
      fs_->prefetched_bytes += n;
      return target()->Prefetch(offset, n, options, dbg);
    }

   private:
    OwnFs* const fs_;
  };
};

class CarrierTest : public testing::Test {
 protected:
  CarrierTest() : folder_(rocktier::NewFolder()) {}
  ~CarrierTest() override { std::filesystem::remove_all(folder_); }

  struct Sst {
    std::string path;
    FileKeys keys;
    SstIndex index;
  };

  // Of keys first, first + step, first + 2 * step..., four in a block.
  Sst NewSst(const std::string& name, int keys, int step = 1, int first = 0) {
    Sst sst;
    sst.path = folder_ + "/" + name;
    Options options;
    options.compression = kNoCompression;
    SstFileWriter writer(EnvOptions(), options);
    EXPECT_OK(writer.Open(sst.path));
    for (int i = 0; i < keys; i++) {
      char key[16];
      snprintf(key, sizeof(key), "%08d", first + i * step);
      EXPECT_OK(writer.Put(key, Noise(static_cast<uint64_t>(i), 1000)));
    }
    EXPECT_OK(writer.Finish());
    std::unique_ptr<SstReader> reader;
    EXPECT_OK(SstReader::Open(Source(), sst.path, &reader));
    sst.index = reader->TakeIndex();
    SstFileReader properties(options);
    EXPECT_OK(properties.Open(sst.path));
    const auto of = properties.GetTableProperties();
    sst.keys = FindFileKeys(of->db_id, of->db_session_id, of->orig_file_number);
    return sst;
  }

  static SstReader::Source Source(const std::shared_ptr<FileSystem>& fs = FileSystem::Default()) {
    return {fs, BytewiseComparator(), {}};
  }

  // The target has this block of the SST.
  void Hold(const Sst& sst, size_t block, uint64_t age = 1) {
    target_.held[sst.keys.file].push_back({sst.keys.Block(sst.index.Offset(block)), age});
  }

  static CarriedSst Carried(const Sst& sst) {
    return {sst.path, sst.keys, sst.index.MemoryUsage()};
  }
  static CarryBegin BeginOf(const std::string& id, const std::vector<Sst>& inputs) {
    CarryBegin begin;
    begin.id = id;
    begin.source = Source();
    for (const Sst& sst : inputs) {
      begin.inputs.push_back(Carried(sst));
    }
    return begin;
  }
  static CarryEnd EndOf(const std::string& id, const std::vector<Sst>& outputs, bool ok = true) {
    CarryEnd end;
    end.id = id;
    end.ok = ok;
    for (const Sst& sst : outputs) {
      end.outputs.push_back(Carried(sst));
    }
    return end;
  }

  const std::string folder_;
  FakeTarget target_;
};

TEST_F(CarrierTest, HeldBlocksAreCarriedWithTheirAge) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3, 30);
  Hold(in, 50, 500);
  target_.held[in.keys.file].push_back({12345, 1});  // not of a data block
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  const std::map<std::string, uint64_t> expected = {{out.keys.KeyOf(out.index.Offset(3)), 30},
                                                    {out.keys.KeyOf(out.index.Offset(50)), 500}};
  EXPECT_EQ(expected, target_.carried);
  EXPECT_EQ(0u, carrier.counts().failed);
  EXPECT_EQ(0u, carrier.counts().dropped);
  EXPECT_GT(carrier.counts().read_bytes, 4 * 4000u);  // the first blocks, too
  EXPECT_LT(carrier.counts().read_bytes, 40000u);
}

TEST_F(CarrierTest, NothingIsReadOfSstsOfWhichNothingIsHeld) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(0u, carrier.counts().read_bytes);
  EXPECT_EQ(0u, target_.Carried());
}

TEST_F(CarrierTest, WhatFailsIsGivenUp) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  Carrier carrier(&target_);
  carrier.End(EndOf("unknown", {out}));
  carrier.Begin(BeginOf("failed", {in}));
  carrier.End(EndOf("failed", {out}, /*ok=*/false));
  carrier.Begin(BeginOf("no outputs", {in}));
  carrier.End(EndOf("no outputs", {}));
  CarryBegin begin = BeginOf("no comparator", {in});
  begin.source.comparator = nullptr;
  carrier.Begin(begin);
  carrier.End(EndOf("no comparator", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(1u, carrier.counts().failed);
  Sst gone = in;
  gone.path += ".gone";
  carrier.Begin(BeginOf("no input", {gone}));
  carrier.End(EndOf("no input", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(2u, carrier.counts().failed);
  carrier.Begin(BeginOf("no output", {in}));
  carrier.End(EndOf("no output", {gone, out}));
  carrier.TEST_Wait();
  EXPECT_EQ(3u, carrier.counts().failed);
  EXPECT_EQ(1u, target_.Carried());  // of the output that is there
}

// As when databases are closed in the midst of compactions.
TEST_F(CarrierTest, CompactionsWithoutAnEndAreForgotten) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  Hold(in, 4);
  Carrier carrier(&target_);
  for (int i = 0; i < 100; i++) {
    carrier.Begin(BeginOf(std::to_string(i), {in}));
  }
  EXPECT_EQ(2u * 36, carrier.counts().dropped);
  carrier.End(EndOf("1", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(0u, target_.Carried());
  carrier.End(EndOf("99", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(2u, target_.Carried());
}

// RocksDB does not tell of the end of a compaction whose database is closed meanwhile.
TEST_F(CarrierTest, CompactionsOfClosedDatabasesMakeRoom) {
  const Sst in = NewSst("in", 400);
  Hold(in, 3);
  Carrier carrier(&target_);
  const auto begin = [&](const std::shared_ptr<FileSystem>& fs, const std::string& name) {
    for (int i = 0; i < 60; i++) {
      CarryBegin compaction = BeginOf(name + std::to_string(i), {in});
      compaction.source = Source(fs);
      carrier.Begin(compaction);
    }
  };
  auto fs = std::make_shared<OwnFs>();
  const std::weak_ptr<OwnFs> gone = fs;
  begin(fs, "a");
  fs.reset();
  EXPECT_TRUE(rocktier::WaitFor([&] { return gone.expired(); }));
  begin(FileSystem::Default(), "b");
  EXPECT_EQ(0u, carrier.counts().dropped);
}

TEST_F(CarrierTest, NothingMoreIsReadOfAClosedDatabase) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  target_.crowded = true;
  Carrier carrier(&target_);
  const auto fs = std::make_shared<OwnFs>();
  auto of_database = std::make_shared<int>();
  CarryBegin begin = BeginOf("a", {in});
  begin.source = Source(fs);
  begin.source.held = {of_database};
  carrier.Begin(begin);
  EXPECT_TRUE(
      rocktier::WaitFor([&] { return carrier.counts().read_bytes > 0 && fs.use_count() == 1; }));
  carrier.End(EndOf("a", {out, out}));
  EXPECT_TRUE(rocktier::WaitFor([&] { return fs.use_count() > 1; }));
  of_database.reset();
  EXPECT_TRUE(rocktier::WaitFor([&] { return fs.use_count() == 1; }));
  EXPECT_TRUE(rocktier::WaitFor([&] { return carrier.counts().failed == 2; }));
  carrier.TEST_Wait();
  EXPECT_EQ(0u, target_.Carried());
}

TEST_F(CarrierTest, WithoutAThreadTheNextOneTriesAgain) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  Hold(in, 4);
  Carrier carrier(&target_);
  {
    const rocktier::NoThreads none;
    carrier.Begin(BeginOf("a", {in}));
    carrier.End(EndOf("a", {out}));
  }
  EXPECT_EQ(2u, carrier.counts().dropped);
  carrier.TEST_Wait();
  EXPECT_EQ(0u, target_.Carried());
  carrier.Begin(BeginOf("b", {in}));
  carrier.End(EndOf("b", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(2u, carrier.counts().dropped);
  EXPECT_EQ(2u, target_.Carried());
}

TEST_F(CarrierTest, TooLargeIndexesAreNotRead) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  CarryBegin begin = BeginOf("large", {in});
  begin.inputs[0].index_memory = SstIndex::kMostMemory + 1;
  Carrier carrier(&target_);
  carrier.Begin(begin);
  carrier.End(EndOf("large", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(1u, carrier.counts().failed);
  begin = BeginOf("many", std::vector<Sst>(5, in));
  for (CarriedSst& input : begin.inputs) {
    input.index_memory = SstIndex::kMostMemory;
  }
  carrier.Begin(begin);
  carrier.End(EndOf("many", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(5u, carrier.counts().dropped);
  EXPECT_EQ(0u, target_.Carried());
  EXPECT_EQ(0u, carrier.counts().read_bytes);
  carrier.Begin(BeginOf("output", {in}));
  CarryEnd end = EndOf("output", {out, out});
  end.outputs[0].index_memory = SstIndex::kMostMemory + 1;
  carrier.End(end);
  carrier.TEST_Wait();
  EXPECT_EQ(2u, carrier.counts().failed);
  EXPECT_EQ(1u, target_.Carried());
}

TEST_F(CarrierTest, BlocksThatCannotBeHeldAreNotRead) {
  const Sst in = NewSst("in", 4000);
  const Sst out = NewSst("out", 1500, 3);  // whose bounds cut ranges
  for (size_t block = 0; block < in.index.size(); block++) {
    Hold(in, block);
  }
  target_.largest = 3000;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(0u, carrier.counts().failed);
  EXPECT_EQ(0u, target_.Carried());
  EXPECT_LT(carrier.counts().read_bytes, 100000u);
}

TEST_F(CarrierTest, WaitsWhileTheCacheIsCrowdedAndEndsAtOnce) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  target_.crowded = true;
  {
    Carrier carrier(&target_);
    carrier.Begin(BeginOf("a", {in}));
    carrier.End(EndOf("a", {out}));
    usleep(50000);
    EXPECT_EQ(0u, target_.Carried());
  }
  EXPECT_EQ(0u, target_.Carried());
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  usleep(20000);
  target_.crowded = false;
  carrier.TEST_Wait();
  EXPECT_EQ(1u, target_.Carried());
}

// Four are held up: the inputs of the next ones are read all the same.
TEST_F(CarrierTest, IndexesAreReadWhileBlocksAreCarried) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  const Sst other = NewSst("other", 400);
  const Sst other_out = NewSst("other_out", 400);
  Hold(in, 3);
  Hold(other, 5);
  target_.crowded = true;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  usleep(20000);
  carrier.Begin(BeginOf("b", {other}));
  usleep(200000);
  EXPECT_EQ(0, unlink(other.path.c_str()));
  carrier.End(EndOf("b", {other_out}));
  target_.crowded = false;
  carrier.TEST_Wait();
  EXPECT_EQ(0u, carrier.counts().failed);
  EXPECT_EQ(2u, target_.Carried());
}

// An input of two is an input of one, by two ways. A block of the first one is a quarter of one of
// the last: too little, if it counts once.
TEST_F(CarrierTest, WhatComesByTwoWaysCountsOnce) {
  const Sst in = NewSst("in", 400, 4);
  const std::vector<Sst> parts = {NewSst("a0", 200, 4), NewSst("a1", 200, 4, 800)};
  const std::vector<Sst> next = {NewSst("b0", 200, 4), NewSst("b1", 200, 4, 800)};
  const Sst out = NewSst("out", 1600);
  for (size_t block = 0; block < in.index.size(); block++) {
    Hold(in, block);
  }
  target_.crowded = true;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", parts));
  for (size_t i = 0; i < 2; i++) {
    carrier.Begin(BeginOf("b" + std::to_string(i), {parts[i]}));
    carrier.End(EndOf("b" + std::to_string(i), {next[i]}));
  }
  carrier.Begin(BeginOf("c", next));
  carrier.End(EndOf("c", {out}));
  target_.crowded = false;
  carrier.TEST_Wait();
  EXPECT_LE(target_.Carried(), 4u);  // of the block across the bound of the parts
  EXPECT_EQ(0u, carrier.counts().failed);
}

// The other output of the first one stays, though the last one has its keys, too.
TEST_F(CarrierTest, OnlyWhatAnOutputHasGoesOnWithIt) {
  const Sst in = NewSst("in", 1600);
  const std::vector<Sst> parts = {NewSst("a0", 800), NewSst("a1", 800, 1, 800)};
  const Sst out = NewSst("out", 1600);
  Hold(in, 10, 30);
  Hold(in, 300, 40);
  target_.crowded = true;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", parts));
  carrier.Begin(BeginOf("b", {parts[0]}));
  carrier.End(EndOf("b", {out}));
  target_.crowded = false;
  carrier.TEST_Wait();
  const std::map<std::string, uint64_t> expected = {
      {out.keys.KeyOf(out.index.Offset(10)), 30},
      {parts[1].keys.KeyOf(parts[1].index.Offset(100)), 40}};
  EXPECT_EQ(expected, target_.carried);
  EXPECT_EQ(0u, carrier.counts().failed);
}

// Each takes over what the one before has: that is there once.
TEST_F(CarrierTest, WhatIsTakenOverTakesMemoryOnce) {
  const Sst in = NewSst("in", 8000);
  const std::vector<Sst> outs = {NewSst("out0", 8000), NewSst("out1", 8000)};
  for (size_t block = 0; block < in.index.size(); block++) {
    Hold(in, block);
  }
  target_.crowded = true;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("0", {in}));
  carrier.End(EndOf("0", {outs[0]}));
  for (size_t i = 1; i < 30; i++) {
    carrier.Begin(BeginOf(std::to_string(i), {outs[(i - 1) % 2]}));
    carrier.End(EndOf(std::to_string(i), {outs[i % 2]}));
  }
  target_.crowded = false;
  carrier.TEST_Wait();
  EXPECT_EQ(0u, carrier.counts().dropped);
  EXPECT_EQ(0u, carrier.counts().failed);
  EXPECT_EQ(in.index.size(), target_.Carried());
  EXPECT_EQ(1u, target_.carried.count(outs[1].keys.KeyOf(outs[1].index.Offset(0))));
}

// While the thread reads one SST, each compaction takes over what the one before has. Those that
// are dropped, for want of room, are not kept by those that follow.
TEST_F(CarrierTest, WhatIsDroppedIsGone) {
  const Sst in = NewSst("in", 400);
  const std::vector<Sst> outs = {NewSst("out0", 400), NewSst("out1", 400)};
  const std::vector<Shard::Held> many(128 << 10, Shard::Held{12345, 1});  // 2 MiB; no data blocks
  for (const Sst* sst : {&in, &outs[0], &outs[1]}) {
    target_.held[sst->keys.file] = many;
  }
  std::vector<std::weak_ptr<CarryJob>> jobs;
  SyncPoint::GetInstance()->SetCallBack("TwoQCarrier::Begin", [&](void* job) {
    jobs.emplace_back(*static_cast<std::shared_ptr<CarryJob>*>(job));
  });
  std::atomic<bool> held_up{true};
  SyncPoint::GetInstance()->SetCallBack(
      "TwoQCarrier::ReadIndex", [&](void*) { rocktier::WaitFor([&] { return !held_up; }); });
  SyncPoint::GetInstance()->EnableProcessing();
  Carrier carrier(&target_);
  for (size_t i = 0; i < 200; i++) {
    const std::string id = std::to_string(i);
    carrier.Begin(BeginOf(id, {i == 0 ? in : outs[(i - 1) % 2]}));
    carrier.End(EndOf(id, {outs[i % 2]}));
  }
  EXPECT_EQ(200u, jobs.size());
  EXPECT_GE(carrier.counts().dropped, 100 * many.size());
  // The one whose SST is read may be one that was dropped.
  EXPECT_LE(std::count_if(jobs.begin(), jobs.end(), [](const auto& job) { return !job.expired(); }),
            65);
  held_up = false;
  carrier.TEST_Wait();
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
}

// A database was destroyed, and one made anew at its path, with the same names of SSTs.
TEST_F(CarrierTest, AnotherSstOfTheSamePathIsAnotherOne) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  const Sst next = NewSst("next", 400);
  Hold(in, 3);
  std::atomic<bool> held_up{true};
  SyncPoint::GetInstance()->SetCallBack(
      "TwoQCarrier::Open", [&](void*) { rocktier::WaitFor([&] { return !held_up; }); });
  SyncPoint::GetInstance()->EnableProcessing();
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out, out}));
  EXPECT_EQ(0, unlink(out.path.c_str()));
  const Sst anew = NewSst("out", 400);
  ASSERT_EQ(anew.path, out.path);
  ASSERT_NE(anew.keys.file, out.keys.file);
  carrier.Begin(BeginOf("b", {anew}));
  carrier.End(EndOf("b", {next}));
  held_up = false;
  carrier.TEST_Wait();
  EXPECT_EQ(0u, target_.Carried());
  EXPECT_EQ(2u, carrier.counts().failed);
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
}

// RocksDB lets the second one begin before it tells of the end of the first one.
TEST_F(CarrierTest, AnInputMayBeMadeByACompactionThatHasNotEnded) {
  const Sst in = NewSst("in", 400);
  const Sst out = NewSst("out", 400);
  const Sst next = NewSst("next", 400);
  Hold(in, 3);
  target_.crowded = true;
  Carrier carrier(&target_);
  carrier.Begin(BeginOf("a", {in}));
  carrier.AddOutput("a", Carried(out));
  carrier.AddOutput("unknown", Carried(next));
  carrier.Begin(BeginOf("b", {out}));
  carrier.End(EndOf("a", {out}));
  carrier.End(EndOf("b", {next}));
  target_.crowded = false;
  carrier.TEST_Wait();
  EXPECT_EQ(1u, target_.carried.count(next.keys.KeyOf(next.index.Offset(3))));
}

TEST_F(CarrierTest, AllThatIsReadIsCounted) {
  const Sst in = NewSst("in", 4000);
  const Sst out = NewSst("out", 4000);
  Hold(in, 3);
  Hold(in, 500);
  const auto fs = std::make_shared<OwnFs>();
  Carrier carrier(&target_);
  CarryBegin begin = BeginOf("a", {in});
  begin.source = Source(fs);
  carrier.Begin(begin);
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(2u, target_.Carried());
  EXPECT_EQ(0u, fs->prefetched_bytes);
  EXPECT_EQ(fs->read_bytes, carrier.counts().read_bytes);
  EXPECT_GT(carrier.counts().read_bytes, 2 * 15000u);  // of each the index, with 1,000 blocks
  EXPECT_LT(carrier.counts().read_bytes, 200000u);
}

TEST_F(CarrierTest, TheRateHoldsForIndexesOfInputs) {
  const Sst in = NewSst("in", 16000);
  const Sst out = NewSst("out", 400);
  Hold(in, 3);
  Carrier carrier(&target_);
  const auto begin = Clock::now();
  carrier.Begin(BeginOf("a", std::vector<Sst>(60, in)));
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  const std::chrono::duration<double> took = Clock::now() - begin;
  EXPECT_EQ(1u, target_.Carried());
  EXPECT_GT(carrier.counts().read_bytes, 2u << 20);
  EXPECT_GT(took.count() + 0.02, static_cast<double>(carrier.counts().read_bytes) / (64 << 20));
}

// 8 MB, at 64 MiB/s.
TEST_F(CarrierTest, ReadsAtARate) {
  const Sst in = NewSst("in", 8000);
  const Sst out = NewSst("out", 8000);
  for (size_t block = 0; block < in.index.size(); block++) {
    Hold(in, block);
  }
  Carrier carrier(&target_);
  const auto begin = Clock::now();
  carrier.Begin(BeginOf("a", {in}));
  carrier.End(EndOf("a", {out}));
  carrier.TEST_Wait();
  EXPECT_EQ(out.index.size(), target_.Carried());
  EXPECT_GT(Clock::now() - begin, std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
