// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a file says that cannot be, and what others do to files of ours: an error that names it,
// never a hang, a crash, or a loss.

#include "plugin/raw_wal_fs/raw_wal_fs.h"

#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/memory_limit.h"
#include "test_util/sync_point.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
using raw_wal_fs::FrameHeader;
using raw_wal_fs::SegmentHeader;
using raw_wal_fs::Stub;
using raw_wal_fs::Superblock;

namespace {

class RawWalMistakes : public RawWalTest {
 protected:
  ~RawWalMistakes() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    db_.reset();
    std::filesystem::remove_all(folder_);
  }

  // A closed database with a log on the device, of three segments.
  void Fill() {
    NewFs();
    Open();
    for (int i = 0; i < 300; i++) {
      Put("key" + std::to_string(i), std::string(500, 'v'), i % 10 == 0);
    }
    Put("last", "value");
    db_.reset();
    NewFs();
  }
  void ExpectWhole() {
    NewFs();
    Open();
    ExpectAll();
    db_.reset();
  }
  void ExpectAll() {
    EXPECT_EQ(Get("last"), "value");
    for (int i = 0; i < 300; i++) {
      EXPECT_EQ(Get("key" + std::to_string(i)), std::string(500, 'v'));
    }
  }

  static std::string Read(const std::string& path, uint64_t offset, size_t size) {
    std::ifstream in(path, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(offset));
    std::string bytes(size, '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
  }
  static void Write(const std::string& path, uint64_t offset, const std::string& bytes) {
    std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(offset));
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  // A program's files that end in .log, one of them in the way of whoever opens it.
  void AddOthers() {
    std::ofstream(db_name_ + "/app.log") << "a line of a program\n";
    std::ofstream(db_name_ + "/long.log") << std::string(10000, 'x');
    std::filesystem::create_directory(db_name_ + "/folder.log");
    ASSERT_EQ(mkfifo((db_name_ + "/pipe.log").c_str(), 0600), 0);
  }

  Superblock ReadSuperblock() {
    Superblock superblock;
    EXPECT_OK(Superblock::Decode(Read(device_, 0, Superblock::kSize), device_, &superblock));
    return superblock;
  }
  void WriteSuperblock(const Superblock& superblock) {
    Write(device_, 0, superblock.Encode());
    Write(device_, Superblock::kCopyOffset, superblock.Encode());
  }
  SegmentHeader ReadHeader(uint64_t segment) {
    const Superblock superblock = ReadSuperblock();
    SegmentHeader header;
    const std::string bytes =
        Read(device_, superblock.SegmentOffset(segment), SegmentHeader::kSize);
    EXPECT_TRUE(SegmentHeader::Decode(bytes.data(), superblock.uuid, &header));
    return header;
  }
  void WriteHeader(uint64_t segment, const SegmentHeader& header) {
    const Superblock superblock = ReadSuperblock();
    std::string bytes(SegmentHeader::kSize, '\0');
    header.Encode(superblock, bytes.data());
    Write(device_, superblock.SegmentOffset(segment), bytes);
  }
  // Changes the first frame of a segment, with a right checksum.
  void ChangeFrame(uint64_t segment, const std::function<void(FrameHeader*)>& change) {
    const Superblock superblock = ReadSuperblock();
    const uint64_t at = superblock.SegmentOffset(segment) + superblock.block_size;
    std::string bytes = Read(device_, at, superblock.segment_size - superblock.block_size);
    FrameHeader header;
    ASSERT_TRUE(FrameHeader::Parse(bytes.data(), ReadHeader(segment).log, bytes.size(),
                                   superblock.block_size, &header));
    bytes.resize(header.FrameSize(superblock.block_size));
    change(&header);
    header.Seal(superblock.uuid, superblock.block_size, bytes.data());
    Write(device_, at, bytes);
  }

  // Neither opened nor read, and what is wrong is named.
  void ExpectCorruption(const std::string& names) {
    NewFsOrNot();
    Status s = fs_ == nullptr ? made_ : OpenDb(DbOptions(), db_name_, &db_);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(names), std::string::npos) << s.ToString();
    db_.reset();
  }
  void CloseAll() {
    db_.reset();
    env_.reset();
    fs_.reset();
  }
  void NewFsOrNot() {
    CloseAll();
    made_ = FileSystem::CreateFromString(ConfigOptions(), Uri(), &fs_);
    if (made_.ok()) {
      env_ = NewCompositeEnv(fs_);
    } else {
      fs_.reset();
    }
  }

  // Exports the logs. Returns folders with the database and the device as they are before each
  // write to the device, and when a log has been replaced: as a process that is killed leaves them.
  std::vector<std::string> ExportInSteps(bool force) {
    std::vector<std::string> moments;
    const auto keep = [&](void*) {
      const std::string to = folder_ + "/moment" + std::to_string(moments.size());
      std::filesystem::remove_all(to);
      std::filesystem::create_directory(to);
      std::filesystem::copy(db_name_, to + "/db", std::filesystem::copy_options::recursive);
      std::filesystem::copy_file(device_, to + "/device");
      moments.push_back(to);
    };
    for (const char* point : {"PosixDevice::Write", "RawWalFileSystem::ReplaceLog:Replaced"}) {
      SyncPoint::GetInstance()->SetCallBack(point, keep);
    }
    SyncPoint::GetInstance()->EnableProcessing();
    Export(force);
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    return moments;
  }
  void Export(bool force = false) {
    CloseAll();
    raw_wal_fs::RawWalOptions options;
    options.device = device_;
    options.force = force;
    uint64_t logs = 0;
    EXPECT_OK(raw_wal_fs::ExportLogs(options, db_name_, &logs));
  }
  // Puts what was kept into the directory and the file that are there: theirs are the logs.
  void PutBack(const std::string& moment) {
    CloseAll();
    for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
      std::filesystem::remove_all(entry.path());
    }
    std::filesystem::copy(moment + "/db", db_name_, std::filesystem::copy_options::recursive);
    std::filesystem::copy_file(moment + "/device", device_,
                               std::filesystem::copy_options::overwrite_existing);
  }
  Status TryOpen(bool paranoid) {
    NewFs();
    Options options = DbOptions();
    options.paranoid_checks = paranoid;
    return OpenDb(options, db_name_, &db_);
  }
  void ExpectWholeWithoutThePlugin() {
    ASSERT_OK(OpenDb(Options(), db_name_, &db_));
    ExpectAll();
    db_.reset();
  }

  Status made_;
};

TEST_F(RawWalMistakes, FilesOfProgramsThatEndInLogStayWhatTheyAre) {
  Fill();
  AddOthers();
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  uint64_t logs = 0;
  for (int i = 0; i < 2; i++) {
    ASSERT_OK(raw_wal_fs::ExportLogs(options, db_name_, &logs));
    EXPECT_GT(logs, 0u);
    const uint64_t exported = logs;
    ASSERT_OK(raw_wal_fs::ImportLogs(options, db_name_, &logs));
    EXPECT_EQ(logs, exported);
    EXPECT_EQ(Read(db_name_ + "/app.log", 0, 20), "a line of a program\n");
    EXPECT_EQ(Read(db_name_ + "/long.log", 0, 10000), std::string(10000, 'x'));
    ExpectWhole();
    Fill();
  }
  std::vector<FileAttributes> files;
  ASSERT_OK(fs_->GetChildrenFileAttributes(db_name_, IOOptions(), &files, nullptr));
}

// Whoever opens the database has all of it, or is told to export again: also with
// paranoid_checks=false, with which RocksDB passes over a log that it cannot read.
TEST_F(RawWalMistakes, AnExportThatIsKilled) {
  device_size_ = 4 << 20;
  for (const bool force : {false, true}) {
    CloseAll();
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove(device_);
    Fill();
    const std::vector<std::string> moments = ExportInSteps(force);
    EXPECT_GT(moments.size(), 4u);
    for (const std::string& moment : moments) {
      for (const bool paranoid : {true, false}) {
        PutBack(moment);
        const Status s = TryOpen(paranoid);
        if (s.ok()) {
          ExpectAll();
        } else {
          EXPECT_TRUE(force) << s.ToString();
          EXPECT_NE(s.ToString().find("run 'rocktier wal export' again"), std::string::npos)
              << s.ToString();
        }
      }
      PutBack(moment);
      Export(force);
      ExpectWholeWithoutThePlugin();
    }
  }
}

// As earlier versions left it: the log was deleted before the copy had its name. What nobody had
// synced the stub does not know of.
TEST_F(RawWalMistakes, AnExportThatAnEarlierVersionHasNotFinished) {
  for (const bool synced : {true, false}) {
    CloseAll();
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove(device_);
    Fill();
    const std::string path = NewestLog();
    const std::string stub = ReadAll(path);
    std::string log;
    ASSERT_OK(ReadFileToString(env_.get(), path, &log));
    std::ofstream(path + ".exported", std::ios::binary) << log;
    ASSERT_OK(fs_->DeleteFile(path, IOOptions(), nullptr));
    std::ofstream(path, std::ios::binary) << stub;
    if (!synced) {
      Write(path, Stub::kDurableAt, std::string(8, '\0'));
    }
    for (const bool paranoid : {true, false}) {
      const Status s = TryOpen(paranoid);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find("run 'rocktier wal export' again"), std::string::npos)
          << s.ToString();
    }
    Export();
    ExpectWholeWithoutThePlugin();
  }
}

// Numbers of logs come again when a database was destroyed, or put back from a backup. Neither
// takes away what an export has left that was killed.
TEST_F(RawWalMistakes, ACopyOfAnEarlierLogOfTheName) {
  const std::string other(300 << 10, 'x');  // longer than the log
  for (const bool exports : {false, true}) {
    CloseAll();
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove(device_);
    std::filesystem::create_directory(db_name_);
    for (int i = 1; i < 20; i++) {
      char name[40];
      snprintf(name, sizeof(name), "/%06d.log.exported", i);
      std::ofstream(db_name_ + name, std::ios::binary) << other;
    }
    Fill();
    const std::string path = NewestLog();
    EXPECT_EQ(ReadAll(path + ".exported.old-1"), other);
    if (!exports) {
      ASSERT_OK(TryOpen(/*paranoid=*/true));
      ExpectAll();
      continue;
    }
    Export();
    // The other way round: the log gets the name of a plain one.
    std::ofstream(path + ".exported", std::ios::binary) << other;
    raw_wal_fs::RawWalOptions options;
    options.device = device_;
    uint64_t logs = 0;
    ASSERT_OK(raw_wal_fs::ImportLogs(options, db_name_, &logs));
    EXPECT_GT(logs, 0u);
    EXPECT_EQ(ReadAll(path + ".exported.old-2"), other);
    Export();
    ExpectWholeWithoutThePlugin();
  }
}

// The first one had not all of the log at hand, and was killed when it had its copy.
TEST_F(RawWalMistakes, AnExportByForceAfterAnotherOne) {
  Fill();
  const std::string path = NewestLog();
  std::string log;
  ASSERT_OK(ReadFileToString(env_.get(), path, &log));
  std::ofstream(path + ".exported", std::ios::binary) << log.substr(0, log.size() / 2);
  Export(/*force=*/true);
  ExpectWholeWithoutThePlugin();
}

TEST_F(RawWalMistakes, SuperblocksThatCannotBe) {
  Fill();
  const Superblock good = ReadSuperblock();
  const struct {
    const char* names;
    std::function<void(Superblock*)> change;
  } kCases[] = {
      {"segments=17179869184",  // all of 2^64 bytes
       [](Superblock* s) { s->segments = uint64_t{1} << 34, s->segment_size = 1 << 30; }},
      {"segments=0", [](Superblock* s) { s->segments = 0; }},
      {"segments=18446744073709551615", [](Superblock* s) { s->segments = UINT64_MAX; }},
      {"segment_size=3", [](Superblock* s) { s->segment_size = 3; }},
      {"segment_size=2147483648", [](Superblock* s) { s->segment_size = uint64_t{2} << 30; }},
      {"block_size=1", [](Superblock* s) { s->block_size = 1; }},
      {"was formatted with", [](Superblock* s) { s->segments++; }},
  };
  for (const auto& each : kCases) {
    Superblock bad = good;
    each.change(&bad);
    WriteSuperblock(bad);
    ExpectCorruption(each.names);
    raw_wal_fs::RawWalDeviceInfo info;
    EXPECT_TRUE(raw_wal_fs::InspectLogDevice(device_, true, &info).IsCorruption());
  }
  WriteSuperblock(good);
  ExpectWhole();
}

TEST_F(RawWalMistakes, StubsThatCannotBe) {
  Fill();
  const std::string path = NewestLog();
  const std::string good = Read(path, 0, Stub::kSize);
  for (const uint64_t tail_size : {uint64_t{0}, uint64_t{1}, uint64_t{1025}, UINT64_MAX}) {
    Stub stub;
    ASSERT_OK(Stub::Decode(good, path, &stub));
    stub.tail_size = tail_size;
    Write(path, 0, stub.Encode());
    ExpectCorruption("tail_size=" + std::to_string(tail_size));
  }
  Write(path, 0, good);
  // More than any device has was durable: with and without force.
  Stub stub;
  ASSERT_OK(Stub::Decode(good, path, &stub));
  stub.durable = uint64_t{1} << 63;
  Write(path, 0, stub.Encode());
  ExpectCorruption("durable=9223372036854775808");
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  wal.force = true;
  uint64_t logs = 0;
  NewFsOrNot();
  const Status s = raw_wal_fs::ExportLogs(wal, db_name_, &logs);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("which cannot be"), std::string::npos) << s.ToString();
  Write(path, 0, good);
  ExpectWhole();
}

TEST_F(RawWalMistakes, FramesThatCannotBe) {
  const struct {
    const char* names;
    std::function<void(FrameHeader*)> change;
  } kCases[] = {
      {"durable=9223372036854775808", [](FrameHeader* f) { f->durable = uint64_t{1} << 63; }},
      {"offset=4611686018427387904",
       [](FrameHeader* f) { f->offset = f->durable = uint64_t{1} << 62; }},
  };
  for (const auto& each : kCases) {
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove(device_);
    Fill();
    raw_wal_fs::RawWalDeviceInfo info;
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
    const uint64_t last = info.segments_used - 1;  // of the only log
    ASSERT_EQ(ReadHeader(last).ordinal, last);
    ChangeFrame(last, each.change);
    ExpectCorruption(each.names);
  }
}

TEST_F(RawWalMistakes, TwoSegmentsOfOneOrdinal) {
  Fill();
  const SegmentHeader good = ReadHeader(2);
  SegmentHeader bad = good;
  bad.ordinal = 1;
  WriteHeader(2, bad);
  ExpectCorruption("ordinal=1");
  WriteHeader(2, good);
  ExpectWhole();
}

// With its header alone, what is in the segment is found; with all of it, the rest of the log is.
TEST_F(RawWalMistakes, AnExportByForceOfALogThatLacksASegment) {
  for (const bool header_alone : {true, false}) {
    CloseAll();
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove(device_);
    Fill();
    ASSERT_EQ(ReadHeader(1).ordinal, 1u);
    ASSERT_EQ(ReadHeader(2).ordinal, 2u);
    const Superblock superblock = ReadSuperblock();
    Write(device_, superblock.SegmentOffset(1),
          header_alone ? std::string(SegmentHeader::kSize, 'x')
                       : std::string(superblock.segment_size, '\0'));
    ExpectCorruption("segment 1 of log ");
    raw_wal_fs::RawWalOptions options;
    options.device = device_;
    uint64_t logs = 0;
    EXPECT_TRUE(raw_wal_fs::ExportLogs(options, db_name_, &logs).IsCorruption());
    Export(/*force=*/true);
    if (header_alone) {
      ExpectWholeWithoutThePlugin();
      continue;
    }
    Options plain;
    plain.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
    ASSERT_OK(OpenDb(plain, db_name_, &db_));
    EXPECT_EQ(Get("key0"), std::string(500, 'v'));
    EXPECT_EQ(Get("key100"), "NotFound: ");
    EXPECT_EQ(Get("last"), "value");
    db_.reset();
  }
}

TEST_F(RawWalMistakes, ASyncThatFailedIsNotFollowedByOneThatSucceeds) {
  NewFs();
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_, IOOptions(), nullptr));
  FileOptions options;
  options.io_options.type = IOType::kWAL;
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->NewWritableFile(db_name_ + "/000001.log", options, &log, nullptr));
  ASSERT_OK(log->Append("a record", IOOptions(), nullptr));
  SyncPoint::GetInstance()->SetCallBack("LogWriter::WriteFrame", [](void* s) {
    *static_cast<IOStatus*>(s) = IOStatus::IOError("the device fails");
  });
  SyncPoint::GetInstance()->EnableProcessing();
  EXPECT_TRUE(log->Sync(IOOptions(), nullptr).IsIOError());
  SyncPoint::GetInstance()->DisableProcessing();
  for (int i = 0; i < 3; i++) {
    EXPECT_TRUE(log->Sync(IOOptions(), nullptr).IsIOError());
    EXPECT_TRUE(log->Append("more", IOOptions(), nullptr).IsIOError());
  }
  EXPECT_TRUE(log->Close(IOOptions(), nullptr).IsIOError());
  // Until there is another one.
  ASSERT_OK(fs_->NewWritableFile(db_name_ + "/000002.log", options, &log, nullptr));
  ASSERT_OK(log->Append("a record", IOOptions(), nullptr));
  ASSERT_OK(log->Sync(IOOptions(), nullptr));
  ASSERT_OK(log->Close(IOOptions(), nullptr));
}

// A disk below may have no space, as of a thin volume, and say so when it is flushed. That is no
// device without a free segment: the log does not go on in its stub.
TEST_F(RawWalMistakes, AFlushThatFindsNoSpaceIsNoFullDevice) {
  NewFs();
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_, IOOptions(), nullptr));
  const std::string path = db_name_ + "/000001.log";
  FileOptions options;
  options.io_options.type = IOType::kWAL;
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->NewWritableFile(path, options, &log, nullptr));
  ASSERT_OK(log->Append(std::string(1000, 'a'), IOOptions(), nullptr));
  ASSERT_OK(log->Sync(IOOptions(), nullptr));
  ASSERT_OK(log->Append(std::string(50000, 'b'), IOOptions(), nullptr));
  ASSERT_OK(log->RangeSync(0, 51000, IOOptions(), nullptr));  // written, and not flushed
  const auto durable = [&path] {
    Stub stub;
    EXPECT_OK(Stub::Decode(Read(path, 0, Stub::kSize), path, &stub));
    return stub.durable;
  };
  EXPECT_EQ(durable(), 1000u);
  SyncPoint::GetInstance()->SetCallBack("PosixDevice::Flush", [](void* status) {
    *static_cast<IOStatus*>(status) = IOStatus::NoSpace("the disk", "is full");
  });
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(log->Append(std::string(40000, 'c'), IOOptions(), nullptr));  // into the next segment
  EXPECT_TRUE(log->Sync(IOOptions(), nullptr).IsNoSpace());
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_FALSE(log->Sync(IOOptions(), nullptr).ok());
  EXPECT_FALSE(log->Close(IOOptions(), nullptr).ok());
  EXPECT_EQ(durable(), 1000u);
  raw_wal_fs::RawWalStats stats;
  ASSERT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
  EXPECT_EQ(stats.logs_spilled, 0u);
}

// Who made its file could not make the name durable, or was killed before: power may take it away,
// with all logs.
TEST_F(RawWalMistakes, ADeviceWhoseNameIsNotDurableYet) {
  int syncs = 0;
  bool fails = true;
  SyncPoint::GetInstance()->SetCallBack("FormatDevice::SyncDirectoryOf", [&](void* status) {
    syncs++;
    if (fails) {
      *static_cast<IOStatus*>(status) = IOStatus::IOError("the directory", "cannot be synced");
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  NewFs();
  for (int i = 0; i < 2; i++) {  // the second time the file is there
    const Status s = OpenDb(DbOptions(), db_name_, &db_);
    EXPECT_NE(s.ToString().find("cannot be synced"), std::string::npos) << s.ToString();
    EXPECT_TRUE(std::filesystem::exists(device_));
  }
  fails = false;
  Open();
  Put("last", "value");
  EXPECT_EQ(syncs, 3);
  SyncPoint::GetInstance()->DisableProcessing();
}

// The process lives and says what happened; nothing is lost without a word.
TEST_F(RawWalMistakes, AStubThatSomebodyCutsOffWhileItIsWritten) {
  for (const uint64_t size : {100, 5000}) {
    std::filesystem::remove_all(db_name_);
    NewFs();
    Open();
    Put("a", "1");
    std::filesystem::resize_file(NewestLog(), size);
    WriteOptions options;
    options.sync = true;
    Status s = db_->Put(options, "b", "2");
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find("was cut off"), std::string::npos) << s.ToString();
    for (int i = 0; i < 1000; i++) {
      db_->Put(WriteOptions(), "c", std::string(1000, 'c')).PermitUncheckedError();
    }
    EXPECT_EQ(Get("a"), "1");
    db_.reset();
    if (size < Stub::kSize) {
      ExpectCorruption("stub");
    } else {
      NewFs();
      Open();
      EXPECT_EQ(Get("a"), "1");
    }
  }
}

TEST_F(RawWalMistakes, AStubThatSomebodyCutOff) {
  Fill();
  const std::string path = NewestLog();
  const std::string good = Read(path, 0, Stub::kSize);
  for (const uint64_t size : {100, 4000, 4095}) {
    std::filesystem::resize_file(path, size);
    ExpectCorruption(path);
    Write(path, 0, good);
  }
  ExpectWhole();
}

// Neither does a frame that is said to be as long as all memory take that, nor does the rest of the
// file take forever.
TEST_F(RawWalMistakes, AStubThatSomebodyMadeLarge) {
  Fill();
  const std::string path = NewestLog();
  Stub stub;
  ASSERT_OK(Stub::Decode(Read(path, 0, Stub::kSize), path, &stub));
  FrameHeader header;
  header.log = stub.log;
  header.length = 1;
  std::string frame(header.FrameSize(512), '\0');
  header.Seal(stub.uuid, 512, frame.data());
  const uint32_t length = 0xffff0000;
  memcpy(&frame[FrameHeader::kSize - sizeof(length)], &length, sizeof(length));
  Write(path, stub.SpillOffset(), frame);
  std::error_code error;
  std::filesystem::resize_file(path, uint64_t{1} << 40, error);
  ASSERT_FALSE(error) << error.message();
  const auto begin = std::chrono::steady_clock::now();
  {
    const MemoryLimit limit(uint64_t{3} << 30);
    ExpectWhole();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(RawWalMistakes, AFileThatIsCalledAsATemporaryOneMightBe) {
  const std::string precious = folder_ + "/precious";
  std::ofstream(precious) << "precious";
  std::ofstream(device_ + ".tmp") << "precious";
  Fill();
  EXPECT_EQ(ReadAll(device_ + ".tmp"), "precious");
  std::filesystem::remove(device_ + ".tmp");
  std::filesystem::create_symlink(precious, device_ + ".tmp");
  std::filesystem::remove_all(db_name_);
  std::filesystem::remove(device_);
  Fill();
  EXPECT_EQ(ReadAll(precious), "precious");
  ExpectWhole();
  // Nor is one made through a link that leads nowhere.
  device_ = folder_ + "/link";
  std::filesystem::create_symlink(folder_ + "/nowhere", device_);
  NewFsOrNot();
  std::unique_ptr<DB> db;
  EXPECT_FALSE(made_.ok() && OpenDb(DbOptions(), db_name_, &db).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/nowhere"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_TRUE(entry.path().extension() != ".tmp" || entry.path() == folder_ + "/device.tmp")
        << entry.path();
  }
}

// What another program that was started holds is not the lock.
TEST_F(RawWalMistakes, AProgramThatTheDatabasesProcessStarted) {
  Fill();
  Open();
  const char* arguments[] = {"sleep", "600", nullptr};
  pid_t child;
  ASSERT_EQ(posix_spawnp(&child, "sleep", nullptr, nullptr, const_cast<char**>(arguments), environ),
            0);
  // The child has nothing of ours open.
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(child) + "/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    EXPECT_EQ(target.find(folder_), std::string::npos) << target;
  }
  ExpectWhole();
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
}

// A child that was forked and has started no program has what its parent had open.
TEST_F(RawWalMistakes, AForkedChildDoesNotKeepTheDevice) {
  Fill();
  Open();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(pipe_ends[1]);
    char byte;
    _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);  // until the parent is done
  }
  close(pipe_ends[0]);
  ExpectWhole();
  close(pipe_ends[1]);
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace

}  // namespace rocktier
