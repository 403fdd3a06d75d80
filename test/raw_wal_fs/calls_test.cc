// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Every call that RocksDB makes on write-ahead logs, made on the FileSystem as RocksDB makes it,
// and what goes wrong with file systems for logs (traps). A test is named here for each; "db:",
// "power:", "process:" are db_test.cc, power_test.cc, process_test.cc.
//
//   CreateDirIfMissing                              DirectoriesAreMadeSyncedAndDeleted
//   NewDirectory, Close, FsyncWithDirOptions        DirectoriesAreMadeSyncedAndDeleted
//   AreFilesSame                                    DirectoriesAreTheTargets
//   OptimizeForLogWrite, OptimizeForLogRead         OptionsForLogsAreBuffered
//   NewWritableFile                                 ANewLogHasAStubAndASegment,
//                                                   ANewLogReplacesOneOfItsName
//   ReuseWritableFile                               AReusedLogIsANewOne; db: LogsAreRecycled
//   SetWriteLifeTimeHint, SetPreallocationBlockSize,
//   PrepareWrite, Allocate, GetIOPriority           HintsTakeNoSpace
//   GetRequiredBufferAlignment, use_direct_io       OptionsForLogsAreBuffered
//   Append, with and without a checksum             AppendedBytesAreThere
//   PositionedAppend                                PositionedAppendIsForDirectWritesOnly
//   GetFileSize of the file and by name             AppendedBytesAreThere, SizesAreThoseOfTheLog
//   Flush                                           AnAppendSurvivesTheProcess
//   RangeSync                                       ARangeSyncWritesToTheDevice
//   Sync, Fsync                                     ASyncedLogIsOnTheDevice;
//                                                   power: WhatWasSyncedSurvives
//   SyncWithoutFlush, IsSyncThreadSafe              SyncsRunBesideAppends, AClosedLogIsSynced
//   Truncate and Fsync at Close                     TruncateGivesTheSizeThatItHas
//   Close                                           AClosedLogIsSynced, ALogIsClosedByItsDestructor
//   ReopenWritableFile, Truncate, Close             AFoundLogIsReopenedToBeTruncated,
//                                                   TrashIsDeletedAtOnce,
//                                                   AFoundLogIsReopenedToBeSynced
//   GetChildren                                     LogsAreListed
//   GetFileModificationTime                         TheModificationTimeIsThatOfTheLastClose
//   FileExists                                      LogsAreListed
//   NewSequentialFile, Read, re-read after EOF      ReadingGoesOnBehindTheEnd, ReadsOfAllSizes
//   PositionedRead                                  ReadersAreBuffered
//   RenameFile                                      ALogIsArchived, ALogIsMarkedAsTrash,
//                                                   ACheckpointIsRenamedAsAWhole,
//                                                   ALogIsKeptUnderAnotherName
//   LinkFile                                        ALogIsCopiedWhereALinkIsRefused
//   NumFileLinks                                    TrashIsDeletedAtOnce
//   DeleteFile                                      ADeletedLogGivesItsSpaceBack,
//                                                   TrashIsDeletedAtOnce
//   DeleteDir                                       DirectoriesAreMadeSyncedAndDeleted
//   LockFile, UnlockFile                            ADatabaseIsLockedOnce
//   SyncFile (RocksDB 11.5)                         SyncFileSyncsALog
//
//   1 Sync is skipped for direct writes             ASyncOfTheWriterIsNotSkipped
//   2 OptimizeForLogWrite keeps use_direct_writes   OptionsForLogsAreBuffered
//   3 readers see what was appended                 ReadingGoesOnBehindTheEnd,
//                                                   SizesAreThoseOfTheLog;
//                                                   db: AppendedBytesAreSeenAtOnce,
//                                                   ASecondaryFollows
//   4 the end is exact after a crash                StaleBytesAreNotPartOfALog
//   5 logs are told by more than their suffix       CopiesOfLogsArePlain, ALogIsMarkedAsTrash,
//                                                   ALogIsArchived, ACheckpointIsRenamedAsAWhole
//   6 logs do not go in the order they came         SpaceIsFreedInAnyOrder
//   7 a secondary is another process                process: all
//   8 unsynced appends survive kill -9              AnAppendSurvivesTheProcess; crash_raw_wal_test
//   9 a recycled log's old bytes are not read       AReusedLogIsANewOne,
//                                                   RecycledLogsWithGapsInTheirSequenceNumbers

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "file/file_util.h"
#include "file/filename.h"
#include "file/writable_file_writer.h"
#include "plugin/raw_wal_fs/compat.h"
#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/version.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/seed.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

const IOOptions kIO;
constexpr uint64_t kStubSize = raw_wal_fs::Stub::kSize;

// Bytes that tell their log and their offset.
std::string Bytes(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    c = static_cast<char>(random());
  }
  return bytes;
}

class RawWalCallsTest : public RawWalTest {
 protected:
  void SetUp() override {
    NewFs();
    ASSERT_OK(fs_->CreateDirIfMissing(db_name_, kIO, nullptr));
  }

  std::string Path(uint64_t number) const { return LogFileName(db_name_, number); }

  // As DBImpl::CreateWAL() asks for a log.
  FileOptions ForWriting() const {
    const DBOptions db_options;
    return fs_->OptimizeForLogWrite(FileOptions(db_options), db_options);
  }
  void NewLog(const std::string& path, std::unique_ptr<FSWritableFile>* log) {
    ASSERT_OK(fs_->NewWritableFile(path, ForWriting(), log, nullptr));
    (*log)->SetWriteLifeTimeHint(Env::WLTH_SHORT);
    (*log)->SetPreallocationBlockSize(4 << 20);
  }
  // A closed log.
  void WriteLog(const std::string& path, const std::string& bytes) {
    std::unique_ptr<FSWritableFile> log;
    NewLog(path, &log);
    ASSERT_OK(log->Append(bytes, kIO, nullptr));
    ASSERT_OK(log->Sync(kIO, nullptr));
    ASSERT_OK(log->Close(kIO, nullptr));
  }
  // As log::Reader reads: to the end, in blocks.
  std::string Read(FileSystem* fs, const std::string& path) {
    std::unique_ptr<FSSequentialFile> file;
    EXPECT_OK(fs->NewSequentialFile(path, fs->OptimizeForLogRead(FileOptions()), &file, nullptr));
    return file == nullptr ? "" : ReadOn(file.get());
  }
  std::string Read(const std::string& path) { return Read(fs_.get(), path); }
  // Reads what a reader finds from where it is.
  static std::string ReadOn(FSSequentialFile* file) {
    std::string all;
    std::string scratch(32768, '\0');
    Slice bytes;
    do {
      EXPECT_OK(file->Read(scratch.size(), kIO, &bytes, scratch.data(), nullptr));
      all.append(bytes.data(), bytes.size());
    } while (!bytes.empty());
    return all;
  }
  uint64_t SizeOf(const std::string& path) {
    uint64_t size = UINT64_MAX;
    EXPECT_OK(fs_->GetFileSize(path, kIO, &size, nullptr));
    return size;
  }
  raw_wal_fs::RawWalStats Stats() const {
    raw_wal_fs::RawWalStats stats;
    EXPECT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats;
  }
  // Returns what the device alone knows of the only log, nothing if that was not written yet.
  raw_wal_fs::RawWalLogInfo OnTheDevice() const {
    raw_wal_fs::RawWalDeviceInfo info;
    EXPECT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
    EXPECT_LE(info.logs.size(), 1u);
    return info.logs.empty() ? raw_wal_fs::RawWalLogInfo() : info.logs[0];
  }
  bool IsStub(const std::string& path) const {
    raw_wal_fs::Stub stub;
    return raw_wal_fs::Stub::Decode(ReadAll(path), path, &stub).ok();
  }

  // A copy of all files as they are now, which is what a process that is killed now leaves behind,
  // and a FileSystem over it.
  void Kill(std::shared_ptr<FileSystem>* fs, std::string* db_name) {
    const std::string copy = folder_ + "/copy" + std::to_string(copies_++);
    std::filesystem::create_directories(copy);
    *db_name = copy + "/db";
    if (db_ != nullptr) {  // nothing changes while it is copied
      ASSERT_OK(db_->PauseBackgroundWork());
      ASSERT_OK(db_->DisableFileDeletions());
    }
    std::filesystem::copy(db_name_, *db_name, std::filesystem::copy_options::recursive);
    do {  // a thread may be writing to it: as it was at one moment
      std::filesystem::copy_file(device_, copy + "/device",
                                 std::filesystem::copy_options::overwrite_existing);
    } while (ReadAll(copy + "/device") != ReadAll(device_));
    if (db_ != nullptr) {
      ASSERT_OK(db_->EnableFileDeletions());
      ASSERT_OK(db_->ContinueBackgroundWork());
    }
    raw_wal_fs::RawWalOptions options;
    options.device = copy + "/device";
    ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(options, FileSystem::Default(), fs));
  }

 private:
  int copies_ = 0;
};

TEST_F(RawWalCallsTest, DirectoriesAreMadeSyncedAndDeleted) {
  const std::string archive = ArchivalDirectory(db_name_);
  ASSERT_OK(fs_->CreateDirIfMissing(archive, kIO, nullptr));
  ASSERT_OK(fs_->CreateDirIfMissing(archive, kIO, nullptr));
  WriteLog(Path(1), "bytes");
  for (const std::string& name : {db_name_, archive}) {
    std::unique_ptr<FSDirectory> directory;
    ASSERT_OK(fs_->NewDirectory(name, kIO, &directory, nullptr));
    ASSERT_OK(directory->FsyncWithDirOptions(
        kIO, nullptr, DirFsyncOptions(DirFsyncOptions::FsyncReason::kNewFileSynced)));
    ASSERT_OK(directory->FsyncWithDirOptions(
        kIO, nullptr, DirFsyncOptions(DirFsyncOptions::FsyncReason::kFileDeleted)));
    ASSERT_OK(directory->Close(kIO, nullptr));
  }
  EXPECT_FALSE(fs_->DeleteDir(db_name_, kIO, nullptr).ok()) << "it is not empty";
  ASSERT_OK(fs_->DeleteFile(Path(1), kIO, nullptr));
  ASSERT_OK(fs_->DeleteDir(archive, kIO, nullptr));
  ASSERT_OK(fs_->DeleteDir(db_name_, kIO, nullptr));
  EXPECT_FALSE(std::filesystem::exists(db_name_));
}

TEST_F(RawWalCallsTest, DirectoriesAreTheTargets) {
  bool same = false;
  ASSERT_OK(fs_->AreFilesSame(db_name_, db_name_ + "/.", kIO, &same, nullptr));
  EXPECT_TRUE(same);
  ASSERT_OK(fs_->AreFilesSame(db_name_, folder_, kIO, &same, nullptr));
  EXPECT_FALSE(same);
}

// Keeps use_direct_writes, as FileSystem does where it is not overridden.
class DirectFileSystem : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  static const char* kClassName() { return "DirectFileSystem"; }
  const char* Name() const override { return kClassName(); }
  FileOptions OptimizeForLogWrite(const FileOptions& options,
                                  const DBOptions& db_options) const override {
    return FileSystem::OptimizeForLogWrite(options, db_options);
  }
};

TEST_F(RawWalCallsTest, OptionsForLogsAreBuffered) {
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  options.size = device_size_;
  std::shared_ptr<FileSystem> fs;
  ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(
      options, std::make_shared<DirectFileSystem>(FileSystem::Default()), &fs));
  DBOptions db_options;
  db_options.use_direct_io_for_flush_and_compaction = true;
  db_options.bytes_per_sync = 1 << 20;
  db_options.wal_bytes_per_sync = 2 << 20;
  FileOptions direct{EnvOptions(db_options)};
  direct.use_direct_writes = true;
  direct.use_direct_reads = true;
  const FileOptions optimized = fs->OptimizeForLogWrite(direct, db_options);
  EXPECT_FALSE(optimized.use_direct_writes);
  EXPECT_EQ(optimized.io_options.type, IOType::kWAL);
  EXPECT_EQ(optimized.bytes_per_sync, db_options.wal_bytes_per_sync);
  for (const FileOptions& each : {optimized, ForWriting()}) {
    std::unique_ptr<FSWritableFile> log;
    ASSERT_OK(fs->NewWritableFile(Path(1), each, &log, nullptr));
    EXPECT_TRUE(IsStub(Path(1)));
    EXPECT_FALSE(log->use_direct_io());
    const size_t alignment = log->GetRequiredBufferAlignment();
    EXPECT_TRUE(alignment > 0 && (alignment & (alignment - 1)) == 0) << alignment;
    ASSERT_OK(log->Append("odd", kIO, nullptr));
    ASSERT_OK(log->Close(kIO, nullptr));
    log.reset();
    EXPECT_EQ(Read(fs.get(), Path(1)), "odd");
  }
}

TEST_F(RawWalCallsTest, ReadersAreBuffered) {
  WriteLog(Path(1), Bytes(5000, 1));
  FileOptions options;
  options.use_direct_reads = true;
  options.use_mmap_reads = true;
  std::unique_ptr<FSSequentialFile> file;
  ASSERT_OK(fs_->NewSequentialFile(Path(1), fs_->OptimizeForLogRead(options), &file, nullptr));
  // RocksDB then does not come with PositionedRead() and aligned buffers.
  EXPECT_FALSE(file->use_direct_io());
  EXPECT_EQ(ReadOn(file.get()), Bytes(5000, 1));
  std::string scratch(4096, '\0');
  Slice bytes;
  const IOStatus s = file->PositionedRead(0, 4096, kIO, &bytes, scratch.data(), nullptr);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
}

TEST_F(RawWalCallsTest, ANewLogHasAStubAndASegment) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  EXPECT_TRUE(IsStub(Path(1)));
  EXPECT_EQ(Stats().segments_used, 1u);
  EXPECT_EQ(SizeOf(Path(1)), 0u);
  EXPECT_EQ(Read(Path(1)), "");
}

TEST_F(RawWalCallsTest, ANewLogReplacesOneOfItsName) {
  WriteLog(Path(1), Bytes(300000, 1));
  WriteLog(Path(1), Bytes(100, 2));
  EXPECT_EQ(Read(Path(1)), Bytes(100, 2));
  EXPECT_EQ(Stats().segments_used, 1u);
  // Over a plain file, as stock RocksDB may have left it.
  std::ofstream(Path(2)) << "plain bytes, longer than the log";
  WriteLog(Path(2), "log");
  EXPECT_EQ(Read(Path(2)), "log");
  EXPECT_TRUE(IsStub(Path(2)));
  // And a plain file over a log, which is what a restored backup writes.
  std::unique_ptr<FSWritableFile> plain;
  ASSERT_OK(fs_->NewWritableFile(Path(2), FileOptions(), &plain, nullptr));
  ASSERT_OK(plain->Append("plain", kIO, nullptr));
  ASSERT_OK(plain->Close(kIO, nullptr));
  EXPECT_EQ(ReadAll(Path(2)), "plain");
  EXPECT_EQ(Read(Path(2)), "plain");
  EXPECT_EQ(Stats().segments_used, 1u);
}

TEST_F(RawWalCallsTest, AReusedLogIsANewOne) {
  WriteLog(Path(1), Bytes(50000, 1));
  const std::string old_id = OnTheDevice().id;
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->ReuseWritableFile(Path(2), Path(1), ForWriting(), &log, nullptr));
  EXPECT_TRUE(fs_->FileExists(Path(1), kIO, nullptr).IsNotFound());
  EXPECT_EQ(SizeOf(Path(2)), 0u);
  ASSERT_OK(log->Append(Bytes(100, 2), kIO, nullptr));
  ASSERT_OK(log->Sync(kIO, nullptr));
  EXPECT_NE(OnTheDevice().id, old_id);
  // Neither now nor after a crash is there anything of the old one.
  EXPECT_EQ(Read(Path(2)), Bytes(100, 2));
  std::shared_ptr<FileSystem> killed;
  std::string name;
  Kill(&killed, &name);
  EXPECT_EQ(Read(killed.get(), LogFileName(name, 2)), Bytes(100, 2));
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, HintsTakeNoSpace) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  const uint64_t stub = std::filesystem::file_size(Path(1));
  for (int i = 0; i < 10; i++) {
    // WritableFileWriter::Append().
    log->PrepareWrite(static_cast<size_t>(i) * 1000, 1000, kIO, nullptr);
    ASSERT_OK(log->Append(std::string(1000, 'x'), kIO, nullptr));
  }
  ASSERT_OK(log->Allocate(0, 100 << 20, kIO, nullptr));
  log->SetIOPriority(Env::IO_HIGH);
  EXPECT_EQ(log->GetIOPriority(), Env::IO_HIGH);
  EXPECT_EQ(log->GetWriteLifeTimeHint(), Env::WLTH_SHORT);
  EXPECT_EQ(std::filesystem::file_size(Path(1)), stub);
  EXPECT_EQ(Stats().segments_used, 1u);
  EXPECT_EQ(SizeOf(Path(1)), 10000u);
  EXPECT_EQ(log->GetFileSize(kIO, nullptr), 10000u);
  ASSERT_OK(log->Close(kIO, nullptr));
}

// Each of the frames says what was durable before the sync that has written them. How much was so
// when it returned, only the stub says.
TEST_F(RawWalCallsTest, DamageBetweenTheFramesOfTheLastSyncIsMissed) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  for (uint64_t i = 0; i < 3; i++) {
    ASSERT_OK(log->Append(Bytes(9000, i), kIO, nullptr));
    ASSERT_OK(log->RangeSync(0, 9000 * (i + 1), kIO, nullptr));
  }
  ASSERT_OK(log->Sync(kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();
  const std::vector<raw_wal_fs::RawWalFrame> frames = OnTheDevice().frames;
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(OnTheDevice().problem, "");
  for (const size_t damaged : {size_t{0}, size_t{1}, size_t{2}}) {
    SCOPED_TRACE(damaged);
    EXPECT_EQ(frames[damaged].durable, 0u);
    const std::string before = ReadAll(device_);
    {
      std::fstream device(device_, std::ios::binary | std::ios::in | std::ios::out);
      device.seekp(static_cast<std::streamoff>(frames[damaged].position + 1000));
      device << "damage";
    }
    NewFs();
    std::unique_ptr<FSSequentialFile> file;
    const Status s = fs_->NewSequentialFile(Path(1), FileOptions(), &file, nullptr);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("says durable=27000"), std::string::npos) << s.ToString();
    EXPECT_EQ(OnTheDevice().problem, "bytes from " + std::to_string(9000 * damaged) +
                                         " on are damaged; 27000 were durable");
    std::ofstream(device_, std::ios::binary) << before;
  }
  NewFs();
  EXPECT_EQ(Read(Path(1)), Bytes(9000, 0) + Bytes(9000, 1) + Bytes(9000, 2));
}

TEST_F(RawWalCallsTest, AppendedBytesAreThere) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  std::string expected;
  // Over the ends of the halves of the tail and of segments; every third one with a checksum, as
  // for checksum_handoff_file_types, every seventh one synced.
  for (uint64_t i = 0; i < 300; i++) {
    const std::string bytes = Bytes(1 + (i * i * 37) % 9000, i);
    if (i % 3 == 0) {
      std::string checksum(4, '\0');
      EncodeFixed32(checksum.data(), crc32c::Value(bytes.data(), bytes.size()));
      DataVerificationInfo info;
      info.checksum = checksum;
      ASSERT_OK(log->Append(bytes, kIO, info, nullptr));
    } else {
      ASSERT_OK(log->Append(bytes, kIO, nullptr));
    }
    expected += bytes;
    ASSERT_EQ(log->GetFileSize(kIO, nullptr), expected.size());
    if (i % 7 == 0) {
      ASSERT_OK(log->Sync(kIO, nullptr));
    }
  }
  EXPECT_TRUE(Read(Path(1)) == expected);
  ASSERT_OK(log->Append("", kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();
  EXPECT_TRUE(Read(Path(1)) == expected);
  NewFs();
  EXPECT_TRUE(Read(Path(1)) == expected);
}

TEST_F(RawWalCallsTest, PositionedAppendIsForDirectWritesOnly) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append("first", kIO, nullptr));
  EXPECT_TRUE(log->PositionedAppend("second", 5, kIO, nullptr).IsNotSupported());
  EXPECT_TRUE(
      log->PositionedAppend("second", 5, kIO, DataVerificationInfo(), nullptr).IsNotSupported());
  ASSERT_OK(log->Close(kIO, nullptr));
  EXPECT_EQ(Read(Path(1)), "first");
}

TEST_F(RawWalCallsTest, SizesAreThoseOfTheLog) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(12345, 1), kIO, nullptr));
  EXPECT_EQ(SizeOf(Path(1)), 12345u);
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();
  EXPECT_EQ(SizeOf(Path(1)), 12345u);
  NewFs();
  EXPECT_EQ(SizeOf(Path(1)), 12345u);
  // What is no log, or is not there, is the target's.
  std::ofstream(db_name_ + "/CURRENT") << "1234567";
  EXPECT_EQ(SizeOf(db_name_ + "/CURRENT"), 7u);
  uint64_t size;
  const IOStatus missing = fs_->GetFileSize(Path(9), kIO, &size, nullptr);
  const IOStatus expected = FileSystem::Default()->GetFileSize(Path(9), kIO, &size, nullptr);
  EXPECT_EQ(missing.code(), expected.code()) << missing.ToString();
  EXPECT_EQ(missing.subcode(), expected.subcode()) << missing.ToString();
}

TEST_F(RawWalCallsTest, AnAppendSurvivesTheProcess) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  std::string expected;
  for (uint64_t i = 0; i < 40; i++) {
    const std::string bytes = Bytes(1 + i * 1111, i);
    ASSERT_OK(log->Append(bytes, kIO, nullptr));
    ASSERT_OK(log->Flush(kIO, nullptr));
    expected += bytes;
    if (i % 8 == 0) {
      std::shared_ptr<FileSystem> killed;
      std::string name;
      Kill(&killed, &name);
      ASSERT_TRUE(Read(killed.get(), LogFileName(name, 1)) == expected) << i;
    }
  }
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, ARangeSyncWritesToTheDevice) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(10000, 1), kIO, nullptr));
  EXPECT_EQ(Stats().frames, 0u);
  ASSERT_OK(log->RangeSync(0, 8192, kIO, nullptr));
  EXPECT_GE(OnTheDevice().bytes, 8192u);
  EXPECT_EQ(Stats().syncs, 0u);
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, ASyncedLogIsOnTheDevice) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  uint64_t size = 0;
  for (const size_t n : {size_t{1}, size_t{100}, size_t{100000}, size_t{3000}}) {
    ASSERT_OK(log->Append(Bytes(n, n), kIO, nullptr));
    size += n;
    EXPECT_LT(OnTheDevice().bytes, size);
    ASSERT_OK(n % 2 == 0 ? log->Sync(kIO, nullptr) : log->Fsync(kIO, nullptr));
    EXPECT_EQ(OnTheDevice().bytes, size);
    EXPECT_EQ(OnTheDevice().problem, "");
  }
  EXPECT_EQ(Stats().syncs, 4u);
  ASSERT_OK(log->Sync(kIO, nullptr));  // nothing to do
  EXPECT_EQ(Stats().syncs, 4u);
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, SyncsRunBesideAppends) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_TRUE(log->IsSyncThreadSafe());
  WritableFileWriter writer(std::move(log), Path(1), ForWriting());
  std::atomic<bool> done{false};
  std::thread syncing([&] {
    while (!done) {
      EXPECT_OK(writer.SyncWithoutFlush(kIO, /*use_fsync=*/false));
    }
  });
  std::string expected;
  for (uint64_t i = 0; i < 500; i++) {
    const std::string bytes = Bytes(1 + i % 5000, i);
    EXPECT_OK(writer.Append(kIO, bytes));
    EXPECT_OK(writer.Flush(kIO));
    expected += bytes;
  }
  done = true;
  syncing.join();
  ASSERT_OK(writer.SyncWithoutFlush(kIO, /*use_fsync=*/true));
  EXPECT_EQ(OnTheDevice().bytes, expected.size());
  ASSERT_OK(writer.Close(kIO));
  EXPECT_TRUE(Read(Path(1)) == expected);
}

// DBImpl syncs logs that it has closed.
TEST_F(RawWalCallsTest, AClosedLogIsSynced) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  EXPECT_EQ(std::filesystem::file_size(Path(1)), kStubSize) << "the tail is given back";
  ASSERT_OK(log->Sync(kIO, nullptr));
  EXPECT_EQ(OnTheDevice().bytes, 5000u);
  EXPECT_EQ(Stats().syncs, 0u) << "Close() has made it durable";
  EXPECT_FALSE(log->Append("more", kIO, nullptr).ok());
  EXPECT_EQ(SizeOf(Path(1)), 5000u);
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, ALogIsClosedByItsDestructor) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  log.reset();
  EXPECT_EQ(std::filesystem::file_size(Path(1)), kStubSize);
  EXPECT_EQ(Read(Path(1)), Bytes(5000, 1));
}

TEST_F(RawWalCallsTest, TruncateGivesTheSizeThatItHas) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  ASSERT_OK(log->Truncate(5000, kIO, nullptr));
  ASSERT_OK(log->Fsync(kIO, nullptr));
  EXPECT_TRUE(log->Truncate(4999, kIO, nullptr).IsNotSupported());
  EXPECT_TRUE(fs_->Truncate(Path(1), 1, kIO, nullptr).IsNotSupported());
  ASSERT_OK(log->Close(kIO, nullptr));
  EXPECT_EQ(Read(Path(1)), Bytes(5000, 1));
}

// DBImpl::GetLogSizeAndMaybeTruncate() when a database is opened.
TEST_F(RawWalCallsTest, AFoundLogIsReopenedToBeTruncated) {
  WriteLog(Path(1), Bytes(5000, 1));
  NewFs();
  const uint64_t size = SizeOf(Path(1));
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->ReopenWritableFile(Path(1), ForWriting(), &log, nullptr));
  EXPECT_EQ(log->GetFileSize(kIO, nullptr), 5000u);
  ASSERT_OK(log->Truncate(size, kIO, nullptr));
  EXPECT_TRUE(log->Append("more", kIO, nullptr).IsNotSupported());
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();
  EXPECT_EQ(Read(Path(1)), Bytes(5000, 1));
}

// DeleteScheduler: a log that waits to be deleted would be cut off piece by piece.
TEST_F(RawWalCallsTest, TrashIsDeletedAtOnce) {
  WriteLog(Path(1), Bytes(200000, 1));
  uint64_t links = 0;
  ASSERT_OK(fs_->NumFileLinks(Path(1), kIO, &links, nullptr));
  EXPECT_EQ(links, 1u);
  const std::string trash = Path(1) + ".trash";
  ASSERT_OK(fs_->RenameFile(Path(1), trash, kIO, nullptr));
  EXPECT_EQ(SizeOf(trash), 200000u);
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReopenWritableFile(trash, FileOptions(), &file, nullptr));
  EXPECT_TRUE(file->Truncate(100000, kIO, nullptr).IsNotSupported());
  ASSERT_OK(file->Fsync(kIO, nullptr));
  file.reset();
  ASSERT_OK(fs_->DeleteFile(trash, kIO, nullptr));
  EXPECT_EQ(Stats().segments_used, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(db_name_));
}

TEST_F(RawWalCallsTest, LogsAreListed) {
  WriteLog(Path(1), "bytes");
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(2), &log);
  ASSERT_OK(log->Append("more bytes", kIO, nullptr));
  std::ofstream(db_name_ + "/CURRENT") << "text";
  std::vector<std::string> names;
  IOOptions options;
  options.do_not_recurse = true;
  ASSERT_OK(fs_->GetChildren(db_name_, options, &names, nullptr));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"000001.log", "000002.log", "CURRENT"}));
  std::vector<FileAttributes> files;
  ASSERT_OK(fs_->GetChildrenFileAttributes(db_name_, options, &files, nullptr));
  std::map<std::string, uint64_t> sizes;
  for (const FileAttributes& file : files) {
    sizes[file.name] = file.size_bytes;
  }
  EXPECT_EQ(sizes, (std::map<std::string, uint64_t>{
                       {"000001.log", 5}, {"000002.log", 10}, {"CURRENT", 4}}));
  EXPECT_OK(fs_->FileExists(Path(1), kIO, nullptr));
  EXPECT_OK(fs_->FileExists(Path(2), kIO, nullptr));
  EXPECT_TRUE(fs_->FileExists(Path(3), kIO, nullptr).IsNotFound());
  EXPECT_TRUE(fs_->FileExists(Path(1) + ".trash", kIO, nullptr).IsNotFound());
  ASSERT_OK(log->Close(kIO, nullptr));
}

// By which WalManager tells how old an archived log is.
TEST_F(RawWalCallsTest, TheModificationTimeIsThatOfTheLastClose) {
  const auto now = [] { return static_cast<uint64_t>(time(nullptr)); };
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  const std::filesystem::file_time_type old =
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(24);
  std::filesystem::last_write_time(Path(1), old);
  const uint64_t before = now() - 1;  // files have the time of the last tick
  ASSERT_OK(log->Append("bytes", kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  uint64_t time = 0;
  ASSERT_OK(fs_->GetFileModificationTime(Path(1), kIO, &time, nullptr));
  EXPECT_GE(time, before);
  EXPECT_LE(time, now());
  // To be archived is no modification.
  std::filesystem::last_write_time(Path(1), old);
  ASSERT_OK(fs_->CreateDirIfMissing(ArchivalDirectory(db_name_), kIO, nullptr));
  const std::string archived = ArchivedLogFileName(db_name_, 1);
  ASSERT_OK(fs_->RenameFile(Path(1), archived, kIO, nullptr));
  ASSERT_OK(fs_->GetFileModificationTime(archived, kIO, &time, nullptr));
  EXPECT_LT(time, before);
}

TEST_F(RawWalCallsTest, ReadingGoesOnBehindTheEnd) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  std::unique_ptr<FSSequentialFile> reader;
  ASSERT_OK(
      fs_->NewSequentialFile(Path(1), fs_->OptimizeForLogRead(ForWriting()), &reader, nullptr));
  EXPECT_EQ(ReadOn(reader.get()), "");
  // In the tail, on the device, and both; to the end of each append.
  for (uint64_t i = 0; i < 60; i++) {
    const std::string bytes = Bytes(1 + (i * 7919) % 70000, i);
    ASSERT_OK(log->Append(bytes, kIO, nullptr));
    if (i % 3 == 0) {
      ASSERT_OK(log->Sync(kIO, nullptr));
    }
    ASSERT_TRUE(ReadOn(reader.get()) == bytes) << i;
    ASSERT_EQ(ReadOn(reader.get()), "");
  }
  ASSERT_OK(log->Append("last", kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();
  EXPECT_EQ(ReadOn(reader.get()), "last");
  // A reader keeps what it reads, as with an open file.
  ASSERT_OK(reader->Skip(1));
  ASSERT_OK(fs_->NewSequentialFile(Path(1), FileOptions(), &reader, nullptr));
  ASSERT_OK(fs_->DeleteFile(Path(1), kIO, nullptr));
  WriteLog(Path(2), Bytes(100000, 99));
  EXPECT_EQ(ReadOn(reader.get()).substr(0, 1), Bytes(1, 0));
}

TEST_F(RawWalCallsTest, ReadsOfAllSizes) {
  const std::string bytes = Bytes(300000, 1);
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  for (size_t at = 0; at < bytes.size(); at += 1000) {
    ASSERT_OK(log->Append(Slice(bytes.data() + at, 1000), kIO, nullptr));
    if (at % 7000 == 0) {
      ASSERT_OK(log->Sync(kIO, nullptr));
    }
  }
  std::mt19937_64 random(1);
  std::string scratch(100000, '\0');
  std::unique_ptr<FSSequentialFile> file;
  std::unique_ptr<FSRandomAccessFile> anywhere;
  ASSERT_OK(fs_->NewSequentialFile(Path(1), FileOptions(), &file, nullptr));
  ASSERT_OK(fs_->NewRandomAccessFile(Path(1), FileOptions(), &anywhere, nullptr));
  uint64_t at = 0;
  while (at < bytes.size()) {
    const size_t n = random() % (random() % 2 == 0 ? 300 : scratch.size());
    Slice got;
    if (random() % 4 == 0) {
      ASSERT_OK(file->Skip(n));
      at += n;
      continue;
    }
    ASSERT_OK(file->Read(n, kIO, &got, scratch.data(), nullptr));
    ASSERT_EQ(got.size(), std::min<uint64_t>(n, bytes.size() - at));
    ASSERT_TRUE(got == Slice(bytes.data() + at, got.size())) << at;
    ASSERT_OK(anywhere->Read(at, n, kIO, &got, scratch.data(), nullptr));
    ASSERT_TRUE(got == Slice(bytes.data() + at, got.size())) << at;
    at += got.size();
  }
  ASSERT_OK(log->Close(kIO, nullptr));
}

// WalManager::ArchiveWALFile(), and the archive's end.
TEST_F(RawWalCallsTest, ALogIsArchived) {
  ASSERT_OK(fs_->CreateDirIfMissing(ArchivalDirectory(db_name_), kIO, nullptr));
  WriteLog(Path(1), Bytes(5000, 1));
  const std::string archived = ArchivedLogFileName(db_name_, 1);
  ASSERT_OK(fs_->RenameFile(Path(1), archived, kIO, nullptr));
  EXPECT_TRUE(fs_->FileExists(Path(1), kIO, nullptr).IsNotFound());
  EXPECT_EQ(SizeOf(archived), 5000u);
  EXPECT_EQ(Read(archived), Bytes(5000, 1));
  NewFs();
  EXPECT_EQ(Read(archived), Bytes(5000, 1));
  // RepairDB moves logs elsewhere.
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_ + "/lost", kIO, nullptr));
  ASSERT_OK(fs_->RenameFile(archived, db_name_ + "/lost/000001.log", kIO, nullptr));
  EXPECT_EQ(Read(db_name_ + "/lost/000001.log"), Bytes(5000, 1));
  ASSERT_OK(fs_->DeleteFile(db_name_ + "/lost/000001.log", kIO, nullptr));
  EXPECT_EQ(Stats().segments_used, 0u);
}

TEST_F(RawWalCallsTest, ALogIsMarkedAsTrash) {
  for (const char* trash : {".trash", "0.trash"}) {  // the second when there is a first
    WriteLog(Path(1), Bytes(5000, 1));
    const std::string name = Path(1) + trash;
    ASSERT_OK(fs_->RenameFile(Path(1), name, kIO, nullptr));
    EXPECT_EQ(SizeOf(name), 5000u);
    EXPECT_EQ(Stats().segments_used, 1u);
    // What a crash left is deleted when the database is opened.
    NewFs();
    ASSERT_OK(fs_->DeleteFile(name, kIO, nullptr));
    EXPECT_EQ(Stats().segments_used, 0u);
  }
  // By a name that tells nothing the log could not be found again.
  WriteLog(Path(1), "bytes");
  EXPECT_TRUE(fs_->RenameFile(Path(1), db_name_ + "/other", kIO, nullptr).IsNotSupported());
  EXPECT_EQ(Read(Path(1)), "bytes");
}

// As tiered_env does, which needs logs longer than RocksDB.
TEST_F(RawWalCallsTest, ALogIsKeptUnderAnotherName) {
  const std::string kept = db_name_ + "/KEPT-3-tag.log";
  WriteLog(Path(1), Bytes(150000, 1));
  const std::string id = OnTheDevice().id;
  ASSERT_OK(fs_->RenameFile(Path(1), kept, kIO, nullptr));
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(SizeOf(kept), 150000u);
    EXPECT_EQ(Read(kept), Bytes(150000, 1));
    EXPECT_EQ(OnTheDevice().id, id);
    EXPECT_EQ(OnTheDevice().file, kept);
    EXPECT_FALSE(OnTheDevice().missing);
    // What is plain under such a name stays plain.
    std::unique_ptr<FSWritableFile> plain;
    ASSERT_OK(fs_->NewWritableFile(db_name_ + "/KEPT-4.log", FileOptions(), &plain, nullptr));
    ASSERT_OK(plain->Append("plain", kIO, nullptr));
    ASSERT_OK(plain->Close(kIO, nullptr));
    EXPECT_EQ(ReadAll(db_name_ + "/KEPT-4.log"), "plain");
    NewFs();
  }
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_ + "/folder.log", kIO, nullptr));
  std::vector<FileAttributes> files;
  ASSERT_OK(fs_->GetChildrenFileAttributes(db_name_, kIO, &files, nullptr));
  EXPECT_FALSE(OnTheDevice().missing);
  FileLock* lock = nullptr;
  ASSERT_OK(fs_->LockFile(LockFileName(db_name_), kIO, &lock, nullptr));
  EXPECT_EQ(Read(kept), Bytes(150000, 1));
  ASSERT_OK(fs_->UnlockFile(lock, kIO, nullptr));
  ASSERT_OK(fs_->DeleteFile(kept, kIO, nullptr));
  EXPECT_EQ(Stats().segments_used, 0u);
  EXPECT_EQ(ReadAll(db_name_ + "/KEPT-4.log"), "plain");
}

// Whoever opens the database next finishes what a crash has left: also under a name that RocksDB
// does not look for. What is no log is nobody's business.
TEST_F(RawWalCallsTest, TheDeletionOfAKeptLogIsFinished) {
  for (const bool is_freed : {false, true}) {
    SCOPED_TRACE(is_freed);
    const std::string kept = db_name_ + "/KEPT-3.log";
    WriteLog(Path(1), Bytes(5000, 1));
    ASSERT_OK(fs_->RenameFile(Path(1), kept, kIO, nullptr));
    std::filesystem::rename(kept, kept + ".trash");
    std::ofstream(db_name_ + "/other.log.trash") << "somebody's";
    if (is_freed) {
      raw_wal_fs::RawWalOptions options;
      options.device = device_;
      options.force = true;
      std::vector<raw_wal_fs::RawWalLogInfo> removed;
      ASSERT_OK(raw_wal_fs::RemoveLogs(options, {OnTheDevice().id}, &removed));
    }
    NewFs();
    FileLock* lock = nullptr;
    ASSERT_OK(fs_->LockFile(LockFileName(db_name_), kIO, &lock, nullptr));
    ASSERT_OK(fs_->UnlockFile(lock, kIO, nullptr));
    EXPECT_EQ(Stats().segments_used, 0u);
    EXPECT_FALSE(std::filesystem::exists(kept + ".trash"));
    EXPECT_EQ(ReadAll(db_name_ + "/other.log.trash"), "somebody's");
  }
}

// What an earlier process has appended without a sync may be in the page cache only, where the stub
// is.
TEST_F(RawWalCallsTest, AFoundLogIsReopenedToBeSynced) {
  struct Counting : FileSystemWrapper {
    Counting() : FileSystemWrapper(FileSystem::Default()) {}
    static const char* kClassName() { return "Counting"; }
    const char* Name() const override { return kClassName(); }
    IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSRandomRWFile>* result,
                             IODebugContext* dbg) override {
      struct File : FSRandomRWFileOwnerWrapper {
        File(std::unique_ptr<FSRandomRWFile>&& target, int* syncs)
            : FSRandomRWFileOwnerWrapper(std::move(target)), syncs_(syncs) {}
        IOStatus Fsync(const IOOptions& io, IODebugContext* context) override {
          ++*syncs_;
          return FSRandomRWFileOwnerWrapper::Fsync(io, context);
        }
        int* const syncs_;
      };
      IOStatus s = FileSystemWrapper::NewRandomRWFile(path, options, result, dbg);
      if (s.ok()) {
        *result = std::make_unique<File>(std::move(*result), &syncs);
      }
      return s;
    }
    int syncs = 0;
  };
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  std::shared_ptr<FileSystem> killed;
  std::string name;
  Kill(&killed, &name);
  raw_wal_fs::RawWalOptions options;
  options.device = killed->GetOptions<raw_wal_fs::RawWalOptions>()->device;
  const auto counting = std::make_shared<Counting>();
  ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(options, counting, &killed));
  std::unique_ptr<FSWritableFile> found;
  ASSERT_OK(killed->ReopenWritableFile(LogFileName(name, 1), FileOptions(), &found, nullptr));
  EXPECT_EQ(counting->syncs, 0);
  ASSERT_OK(found->Sync(kIO, nullptr));
  EXPECT_EQ(counting->syncs, 1);
  ASSERT_OK(found->Close(kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, ALogIsCopiedWhereALinkIsRefused) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  ASSERT_OK(log->Sync(kIO, nullptr));
  ASSERT_OK(log->Append(Bytes(700, 2), kIO, nullptr));
  const std::string checkpoint = folder_ + "/checkpoint.tmp";
  ASSERT_OK(fs_->CreateDirIfMissing(checkpoint, kIO, nullptr));
  const std::string copy = LogFileName(checkpoint, 1);
  EXPECT_TRUE(fs_->LinkFile(Path(1), copy, kIO, nullptr).IsNotSupported());
  EXPECT_FALSE(std::filesystem::exists(copy));
  // CheckpointImpl copies the bytes that it knows, or all.
  ASSERT_OK(CopyFile(fs_.get(), Path(1), Temperature::kUnknown, copy, Temperature::kUnknown, 5200,
                     /*use_fsync=*/false, nullptr));
  EXPECT_EQ(ReadAll(copy), (Bytes(5000, 1) + Bytes(700, 2)).substr(0, 5200));
  ASSERT_OK(CopyFile(fs_.get(), Path(1), Temperature::kUnknown, copy, Temperature::kUnknown, 0,
                     /*use_fsync=*/true, nullptr));
  EXPECT_EQ(ReadAll(copy), Bytes(5000, 1) + Bytes(700, 2));
  ASSERT_OK(log->Close(kIO, nullptr));
}

TEST_F(RawWalCallsTest, ACheckpointIsRenamedAsAWhole) {
  WriteLog(Path(1), Bytes(5000, 1));
  const std::string checkpoint = folder_ + "/checkpoint";
  ASSERT_OK(fs_->CreateDirIfMissing(checkpoint + ".tmp", kIO, nullptr));
  ASSERT_OK(CopyFile(fs_.get(), Path(1), Temperature::kUnknown, LogFileName(checkpoint + ".tmp", 1),
                     Temperature::kUnknown, 0, /*use_fsync=*/true, nullptr));
  ASSERT_OK(fs_->RenameFile(checkpoint + ".tmp", checkpoint, kIO, nullptr));
  EXPECT_EQ(ReadAll(LogFileName(checkpoint, 1)), Bytes(5000, 1));
  // The directory of a database may be renamed, too: the stubs go with it.
  ASSERT_OK(fs_->RenameFile(db_name_, folder_ + "/moved", kIO, nullptr));
  EXPECT_EQ(Read(LogFileName(folder_ + "/moved", 1)), Bytes(5000, 1));
}

TEST_F(RawWalCallsTest, CopiesOfLogsArePlain) {
  FileLock* lock = nullptr;
  ASSERT_OK(fs_->LockFile(LockFileName(db_name_), kIO, &lock, nullptr));
  // Opens files as an Env does that knows no FileOptions: a log in the directory of a locked
  // database, and nowhere else.
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile(Path(1), FileOptions(), &file, nullptr));
  EXPECT_TRUE(IsStub(Path(1)));
  for (const std::string& other :
       {folder_ + "/000001.log", db_name_ + "/000002.log.tmp", db_name_ + "/LOG",
        db_name_ + "/000003.sst", db_name_ + "/x.log"}) {
    ASSERT_OK(fs_->NewWritableFile(other, FileOptions(), &file, nullptr));
    ASSERT_OK(file->Append("bytes", kIO, nullptr));
    ASSERT_OK(file->Close(kIO, nullptr));
    EXPECT_EQ(ReadAll(other), "bytes") << other;
  }
  ASSERT_OK(fs_->UnlockFile(lock, kIO, nullptr));
  ASSERT_OK(fs_->NewWritableFile(Path(9), FileOptions(), &file, nullptr));
  EXPECT_FALSE(IsStub(Path(9)));
}

TEST_F(RawWalCallsTest, ADeletedLogGivesItsSpaceBack) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(300000, 1), kIO, nullptr));
  ASSERT_OK(log->Sync(kIO, nullptr));
  EXPECT_GT(Stats().segments_used, 4u);
  ASSERT_OK(fs_->DeleteFile(Path(1), kIO, nullptr));  // open still
  log.reset();
  EXPECT_EQ(Stats().segments_used, 0u);
  EXPECT_TRUE(std::filesystem::is_empty(db_name_));
  const IOStatus s = fs_->DeleteFile(Path(1), kIO, nullptr);
  EXPECT_EQ(s.code(), FileSystem::Default()->DeleteFile(Path(1), kIO, nullptr).code());
  // One that is renamed while it is open leaves nothing under its old name.
  NewLog(Path(2), &log);
  ASSERT_OK(log->Append("bytes", kIO, nullptr));
  ASSERT_OK(fs_->RenameFile(Path(2), Path(3), kIO, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  EXPECT_FALSE(std::filesystem::exists(Path(2)));
  EXPECT_EQ(Read(Path(3)), "bytes");
  ASSERT_OK(fs_->DeleteFile(Path(3), kIO, nullptr));
  log.reset();
  // For another FileSystem object, too.
  NewFs();
  EXPECT_EQ(Stats().segments_used, 0u);
}

// As with a plain file. RocksDB deletes from the archive what an iterator of updates is reading.
TEST_F(RawWalCallsTest, AReaderOfAnArchivedLogReadsOnWhenThatIsDeleted) {
  device_size_ = (1 << 20) + 4 * (64 << 10);
  std::filesystem::remove(device_);
  NewFs("on_full=fail");
  ASSERT_OK(fs_->CreateDirIfMissing(ArchivalDirectory(db_name_), kIO, nullptr));
  WriteLog(Path(1), Bytes(100000, 1));
  ASSERT_EQ(Stats().segments_used, 2u);
  std::unique_ptr<FSSequentialFile> reader;
  ASSERT_OK(fs_->NewSequentialFile(Path(1), FileOptions(), &reader, nullptr));
  const std::string archived = ArchivedLogFileName(db_name_, 1);
  ASSERT_OK(fs_->RenameFile(Path(1), archived, kIO, nullptr));
  ASSERT_OK(fs_->DeleteFile(archived, kIO, nullptr));
  EXPECT_EQ(Stats().segments_used, 2u) << "there is a reader";
  WriteLog(Path(2), Bytes(100000, 2));  // takes what is free
  EXPECT_EQ(Stats().segments_used, 4u);
  EXPECT_TRUE(ReadOn(reader.get()) == Bytes(100000, 1));
  reader.reset();
  EXPECT_EQ(Stats().segments_used, 2u);
  EXPECT_TRUE(Read(Path(2)) == Bytes(100000, 2));
}

TEST_F(RawWalCallsTest, ADatabaseIsLockedOnce) {
  FileLock* lock = nullptr;
  ASSERT_OK(fs_->LockFile(LockFileName(db_name_), kIO, &lock, nullptr));
  FileLock* second = nullptr;
  EXPECT_FALSE(fs_->LockFile(LockFileName(db_name_), kIO, &second, nullptr).ok());
  ASSERT_OK(fs_->UnlockFile(lock, kIO, nullptr));
  ASSERT_OK(fs_->LockFile(LockFileName(db_name_), kIO, &second, nullptr));
  ASSERT_OK(fs_->UnlockFile(second, kIO, nullptr));
}

// RocksDB gives a pointer to the options. What is written there later changes no log.
TEST_F(RawWalCallsTest, OptionsThatAreSetThroughAPointerAreNotInForce) {
  const std::string standby = folder_ + "/standby";
  std::filesystem::create_directory(standby);
  NewFs("standby=" + standby);
  fs_->GetOptions<raw_wal_fs::RawWalOptions>()->durable = raw_wal_fs::Durable::kBoth;
  Open();  // nothing was open before
  Put("a", "1");
  auto* const options = fs_->GetOptions<raw_wal_fs::RawWalOptions>();
  options->durable = raw_wal_fs::Durable::kOne;
  options->standby = "";
  const Status s = fs_->PrepareOptions(ConfigOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("cannot be changed while the FileSystem is in use"),
            std::string::npos)
      << s.ToString();
  const std::string first = NewestLog();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put("b", "2");
  const std::string second = NewestLog();
  EXPECT_NE(first, second);
  EXPECT_TRUE(WaitFor([&] { return !std::filesystem::exists(first); }));
  raw_wal_fs::Stub stub;
  ASSERT_OK(
      raw_wal_fs::Stub::Decode(ReadAll(second).substr(0, raw_wal_fs::Stub::kSize), second, &stub));
  EXPECT_NE(stub.standby, "");
  EXPECT_TRUE(std::filesystem::exists(standby + "/" + stub.log.ToString() + ".frames"));
  db_.reset();
  NewFs("durable=both;standby=" + standby);
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

// Nor does the target change, which open logs use.
TEST_F(RawWalCallsTest, OptionsStayWhileTheDeviceIsOpen) {
  const ConfigOptions config;
  NewFs("target=TimedFS");
  ASSERT_OK(fs_->ConfigureFromString(config, "failback_after=1"));  // nothing is open yet
  const auto target = [this] { return fs_->GetOptions<std::shared_ptr<FileSystem>>("")->get(); };
  const FileSystem* const first = target();
  const auto expect_refusals = [&](const std::string& when) {
    for (const std::string& text :
         {"device=" + folder_ + "/other", "standby=" + folder_, std::string("failback_after=2"),
          std::string("failback_after=1"), "durable=both;standby=" + folder_,
          std::string("target=CountedFileSystem"), std::string("no_such_option=1")}) {
      EXPECT_FALSE(fs_->ConfigureFromString(config, text).ok()) << text << ", " << when;
      const auto* options = fs_->GetOptions<raw_wal_fs::RawWalOptions>();
      EXPECT_EQ(options->device, device_) << text << ", " << when;
      EXPECT_EQ(options->standby, "") << text << ", " << when;
      EXPECT_EQ(options->failback_after, 1u) << text << ", " << when;
      EXPECT_EQ(options->durable, raw_wal_fs::Durable::kOne) << text << ", " << when;
      EXPECT_EQ(target(), first) << text << ", " << when;
    }
    const Status s = fs_->ConfigureOption(config, "hedge", "true");
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("hedge=true: cannot be changed while the FileSystem is in use"),
              std::string::npos)
        << s.ToString();
    EXPECT_FALSE(fs_->GetOptions<raw_wal_fs::RawWalOptions>()->hedge) << when;
  };
  WriteLog(Path(1), "bytes");
  expect_refusals("a log without a database");
  ASSERT_OK(fs_->DeleteFile(Path(1), kIO, nullptr));
  Open();
  Put("a", "1");
  expect_refusals("an open database");
  // Preparing changes nothing, and what is made of its text is another object.
  ASSERT_OK(fs_->PrepareOptions(config));
  std::shared_ptr<FileSystem> another;
  ASSERT_OK(FileSystem::CreateFromString(config, fs_->ToString(config), &another));
  EXPECT_EQ(another->GetOptions<raw_wal_fs::RawWalOptions>()->failback_after, 1u);
  ASSERT_OK(FileSystem::CreateFromString(config, Uri("failback_after=2"), &another));
  EXPECT_EQ(another->GetOptions<raw_wal_fs::RawWalOptions>()->failback_after, 2u);
  another.reset();
  Put("b", "2");
  EXPECT_EQ(target(), first);
  db_.reset();
  expect_refusals("a closed database");
  NewFs("failback_after=2");
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

#ifdef RAW_WAL_HAS_SYNC_FILE
TEST_F(RawWalCallsTest, SyncFileSyncsALog) {
  std::unique_ptr<FSWritableFile> log;
  NewLog(Path(1), &log);
  ASSERT_OK(log->Append(Bytes(5000, 1), kIO, nullptr));
  ASSERT_OK(fs_->SyncFile(Path(1), FileOptions(), kIO, /*use_fsync=*/false, nullptr));
  EXPECT_EQ(OnTheDevice().bytes, 5000u);
  std::ofstream(db_name_ + "/file") << "bytes";
  ASSERT_OK(fs_->SyncFile(db_name_ + "/file", FileOptions(), kIO, /*use_fsync=*/true, nullptr));
  ASSERT_OK(log->Close(kIO, nullptr));
  log.reset();  // nobody writes it from here on
  ASSERT_OK(fs_->SyncFile(Path(1), FileOptions(), kIO, /*use_fsync=*/false, nullptr));
  const std::string moved = db_name_ + "/archive/000001.log";
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_ + "/archive", kIO, nullptr));
  ASSERT_OK(fs_->RenameFile(Path(1), moved, kIO, nullptr));
  ASSERT_OK(fs_->SyncFile(moved, FileOptions(), kIO, /*use_fsync=*/false, nullptr));
}
#endif

// WritableFileWriter::SyncInternal() leaves the sync out if the file says use_direct_io().
TEST_F(RawWalCallsTest, ASyncOfTheWriterIsNotSkipped) {
  DBOptions db_options;
  db_options.use_direct_io_for_flush_and_compaction = true;
  FileOptions options{EnvOptions(db_options)};
  options.use_direct_writes = true;
  options = fs_->OptimizeForLogWrite(options, db_options);
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->NewWritableFile(Path(1), options, &log, nullptr));
  WritableFileWriter writer(std::move(log), Path(1), options);
  ASSERT_OK(writer.Append(kIO, Bytes(777, 1)));
  ASSERT_OK(writer.Sync(kIO, /*use_fsync=*/false));
  EXPECT_EQ(Stats().syncs, 1u);
  EXPECT_EQ(OnTheDevice().bytes, 777u);
  ASSERT_OK(writer.Close(kIO));
  EXPECT_EQ(SizeOf(Path(1)), 777u) << "no padding";
}

TEST_F(RawWalCallsTest, StaleBytesAreNotPartOfALog) {
  // One segment, used again and again, always for less than before.
  device_size_ = (1 << 20) + (64 << 10);
  std::filesystem::remove(device_);
  NewFs("on_full=fail");
  for (uint64_t i = 0; i < 20; i++) {
    const std::string bytes = Bytes(40000 - 1500 * i, i);
    std::unique_ptr<FSWritableFile> log;
    NewLog(Path(i + 1), &log);
    // Writes at the same offsets and lengths as in the log before.
    for (size_t at = 0; at < bytes.size(); at += 500) {
      ASSERT_OK(log->Append(Slice(bytes.data() + at, std::min<size_t>(500, bytes.size() - at)), kIO,
                            nullptr));
      if (at % 1500 == 0) {
        ASSERT_OK(log->Sync(kIO, nullptr));
      }
    }
    std::shared_ptr<FileSystem> killed;
    std::string name;
    Kill(&killed, &name);
    const std::string path = LogFileName(name, i + 1);
    ASSERT_TRUE(Read(killed.get(), path) == bytes) << i;
    uint64_t size = 0;
    ASSERT_OK(killed->GetFileSize(path, kIO, &size, nullptr));
    ASSERT_EQ(size, bytes.size());
    killed.reset();
    ASSERT_OK(log->Close(kIO, nullptr));
    log.reset();
    ASSERT_OK(fs_->DeleteFile(Path(i + 1), kIO, nullptr));
  }
}

TEST_F(RawWalCallsTest, SpaceIsFreedInAnyOrder) {
  device_size_ = (1 << 20) + 16 * (64 << 10);
  std::filesystem::remove(device_);
  NewFs("on_full=fail");
  std::mt19937_64 random(Seed());
  std::map<uint64_t, std::string> logs;
  uint64_t number = 1;
  for (int i = 0; i < 300; i++) {
    if (logs.size() == 8 || (!logs.empty() && random() % 3 == 0)) {
      const auto it = std::next(logs.begin(), static_cast<std::ptrdiff_t>(random() % logs.size()));
      ASSERT_OK(fs_->DeleteFile(Path(it->first), kIO, nullptr));
      logs.erase(it);
    } else {
      logs[number] = Bytes(random() % 100000, random());  // two segments at most
      WriteLog(Path(number), logs[number]);
      number++;
    }
    if (i % 50 == 0) {
      NewFs("on_full=fail");
    }
    if (i % 20 == 0) {
      for (const auto& [each, bytes] : logs) {
        ASSERT_TRUE(Read(Path(each)) == bytes) << each;
      }
    }
  }
}

// Upstream has lost data here (facebook/rocksdb #12403): with gaps between the sequence numbers of
// batches old records of a recycled log could pass for new ones.
TEST_F(RawWalCallsTest, RecycledLogsWithGapsInTheirSequenceNumbers) {
  NewFs();
  Options options = DbOptions();
  options.recycle_log_file_num = 1;
  std::atomic<int> recycled{0};
  SyncPoint::GetInstance()->SetCallBack("DBImpl::CreateWAL:BeforeReuseWritableFile1",
                                        [&](void*) { recycled++; });
  SyncPoint::GetInstance()->EnableProcessing();
  Open(options);
  const std::string sst = folder_ + "/ingested.sst";
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 200; i++) {
    const std::string key = "key" + std::to_string(i % 30);
    expected[key] = "value" + std::to_string(i);
    Put(key, expected[key], i % 3 == 0);
    if (i % 4 == 0) {
      // Takes a sequence number, as there is such a key, and leaves no record in the log.
      const SequenceNumber before = db_->GetLatestSequenceNumber();
      SstFileWriter writer{EnvOptions(), Options()};
      ASSERT_OK(writer.Open(sst));
      ASSERT_OK(writer.Put("ingested", std::to_string(i)));
      ASSERT_OK(writer.Finish());
      ASSERT_OK(db_->IngestExternalFile({sst}, IngestExternalFileOptions()));
      ASSERT_EQ(db_->GetLatestSequenceNumber(), before + (i > 0 ? 1 : 0));
    }
    if (i % 20 == 10) {
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_GT(recycled, 5);
  for (WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kTolerateCorruptedTailRecords,
        WALRecoveryMode::kAbsoluteConsistency, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    std::shared_ptr<FileSystem> killed;
    std::string name;
    Kill(&killed, &name);
    const std::unique_ptr<Env> env = NewCompositeEnv(killed);
    Options of_copy;
    of_copy.env = env.get();
    of_copy.wal_recovery_mode = mode;
    std::unique_ptr<DB> db;
    raw_wal_fs::RawWalOptions options;
    options.device = std::filesystem::path(name).parent_path() / "device";
    options.force = true;
    raw_wal_fs::RawWalAdoption adoption;
    ASSERT_OK(raw_wal_fs::AdoptLogs(options, name, &adoption));
    ASSERT_OK(OpenDb(of_copy, name, &db));
    for (const auto& [key, value] : expected) {
      std::string found;
      ASSERT_OK(db->Get(ReadOptions(), key, &found));
      ASSERT_EQ(found, value) << key << ", mode " << static_cast<int>(mode);
    }
    db.reset();
  }
}

}  // namespace

}  // namespace rocktier
