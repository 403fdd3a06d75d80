// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs of many segments, found and read. The seed is printed; ROCKTIER_SEED sets it.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/reader.h"
#include "plugin/raw_wal_fs/recovered_log.h"
#include "plugin/raw_wal_fs/superblock.h"
#include "test/raw_wal_fs/power_device.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

constexpr uint64_t kSegment = 64 << 10;
constexpr uint64_t kSegments = 60;

// A device whose reads fail when they are told to.
class FailingDevice : public PowerDevice {
 public:
  FailingDevice(std::shared_ptr<Disk> disk, std::shared_ptr<std::atomic<bool>> fail)
      : PowerDevice(std::move(disk)), fail_(std::move(fail)) {}

  IOStatus Read(uint64_t offset, size_t size, char* to) const override {
    return *fail_ ? IOStatus::IOError("told to fail") : PowerDevice::Read(offset, size, to);
  }

 private:
  const std::shared_ptr<std::atomic<bool>> fail_;
};

// A disk that has room for a few bytes of each file.
class FullFs : public FileSystemWrapper {
 public:
  explicit FullFs(size_t room) : FileSystemWrapper(FileSystem::Default()), room_(room) {}
  const char* Name() const override { return "FullFs"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::NewWritableFile(path, options, result, dbg);
    if (s.ok()) {
      *result = std::make_unique<File>(room_, std::move(*result));
    }
    return s;
  }

 private:
  class File : public FSWritableFileOwnerWrapper {
   public:
    File(size_t room, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), room_(room) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      const Slice part(data.data(), std::min(data.size(), room_));
      IOStatus s = FSWritableFileOwnerWrapper::Append(part, options, dbg);
      return s.ok() && part.size() < data.size() ? IOStatus::NoSpace("the disk", "is full") : s;
    }

   private:
    const size_t room_;
  };

  const size_t room_;
};

class RecoveryTest : public ::testing::Test {
 protected:
  RecoveryTest()
      : folder_(rocktier::NewFolder()), path_(folder_ + "/000001.log"), random_(rocktier::Seed()) {
    Format();
    Write();
  }

  void Format() {
    plan_.block_size = 512;
    plan_.segment_size = kSegment;
    plan_.segments = kSegments;
    plan_.uuid = std::string(kUuidSize, 'u');
    disk_ = PowerDevice::NewDisk(plan_.Size());
    PowerDevice device(disk_);
    EXPECT_TRUE(WriteSuperblock(&device, plan_).ok());
  }

  std::shared_ptr<Volume> Mount(bool write) {
    std::shared_ptr<Volume> volume;
    IOStatus s = Volume::Open(std::make_unique<FailingDevice>(disk_, fail_), write, &volume);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return volume;
  }

  // A log that fills more than half of the device with frames of all sizes.
  void Write() {
    std::shared_ptr<LogWriter> log;
    LogWriter::Settings settings;
    settings.target = FileSystem::Default().get();
    settings.tail_size = 32 << 10;
    ASSERT_TRUE(LogWriter::Create(Mount(/*write=*/true), settings, path_, &log).ok());
    while (appended_.size() < kSegments / 2 * kSegment) {
      std::string bytes(1 + random_() % (random_() % 4 == 0 ? 60000 : 300), '\0');
      for (char& c : bytes) {
        c = static_cast<char>(random_());
      }
      ASSERT_TRUE(log->Append(bytes).ok());
      appended_ += bytes;
      ASSERT_TRUE(random_() % 2 == 0 || log->Sync().ok());
    }
    ASSERT_TRUE(log->Sync().ok());
    ASSERT_TRUE(log->Close().ok());
  }

  std::shared_ptr<RecoveredLog> Find(bool write) {
    StubFile stub;
    EXPECT_TRUE(ReadStub(FileSystem::Default().get(), path_, /*contents=*/true, &stub).ok());
    std::shared_ptr<RecoveredLog> log;
    IOStatus s = RecoveredLog::Recover(Mount(write), FileSystem::Default().get(), path_, nullptr,
                                       std::move(stub),
                                       /*take_damaged=*/false, &log);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return log;
  }

  std::string ReadAll(Reader* reader, size_t at_once) {
    std::string bytes;
    size_t got;
    do {
      std::string part(at_once, '\0');
      IOStatus s = reader->Read(bytes.size(), at_once, part.data(), &got);
      EXPECT_TRUE(s.ok()) << s.ToString();
      bytes.append(part, 0, got);
    } while (got == at_once);
    return bytes;
  }

  // Finds a frame of a segment that is not the last, and which bytes of the log it has.
  Extent AnEarlyFrame(const Log& log, size_t ordinal) {
    Frames frames;
    Window window;
    EXPECT_TRUE(
        ScanSegment(log.volume(), log.id(), log.early_segments()[ordinal], &window, &frames).ok());
    ExtentMap extents;
    extents.Assign(frames.extents);
    // Takes the largest: small ones may be there twice.
    return *std::max_element(extents.all().begin(), extents.all().end(),
                             [](const Extent& a, const Extent& b) { return a.length < b.length; });
  }

  const std::string folder_;
  const std::string path_;
  std::mt19937_64 random_;
  Superblock plan_;
  std::shared_ptr<PowerDevice::Disk> disk_;
  std::shared_ptr<std::atomic<bool>> fail_ = std::make_shared<std::atomic<bool>>(false);
  std::string appended_;
};

TEST_F(RecoveryTest, ALogIsReadFromTheFirstByteToTheLast) {
  for (const bool ahead : {false, true}) {
    for (const size_t at_once : {size_t{1000}, size_t{32768}, size_t{1} << 20}) {
      const std::shared_ptr<RecoveredLog> log = Find(/*write=*/at_once == 1000);
      ASSERT_GT(log->early_segments().size(), kSegments / 2 - 2);
      ASSERT_EQ(log->size(), appended_.size());
      Reader reader(log, ahead);
      ASSERT_TRUE(ReadAll(&reader, at_once) == appended_);
      Reader again(log, ahead);
      ASSERT_TRUE(ReadAll(&again, at_once) == appended_);
    }
  }
}

TEST_F(RecoveryTest, ALogIsReadInAnyOrder) {
  const std::shared_ptr<RecoveredLog> log = Find(/*write=*/true);
  Reader reader(log);
  Reader ahead(log, /*ahead=*/true);
  for (int i = 0; i < 500; i++) {
    const uint64_t offset = random_() % (appended_.size() + 10);
    std::string bytes(1 + random_() % 100000, '\0');
    size_t got;
    ASSERT_TRUE((i % 2 == 0 ? reader : ahead).Read(offset, bytes.size(), bytes.data(), &got).ok());
    const std::string wanted =
        offset < appended_.size() ? appended_.substr(offset, bytes.size()) : "";
    ASSERT_TRUE(bytes.substr(0, got) == wanted) << offset;
  }
}

TEST_F(RecoveryTest, DamageInAnEarlySegmentIsSeenByWhoReadsIt) {
  const std::shared_ptr<RecoveredLog> sound = Find(/*write=*/true);
  const size_t ordinal = 1 + random_() % (sound->early_segments().size() - 1);
  const Extent frame = AnEarlyFrame(*sound, ordinal);
  char& byte = disk_->bytes[frame.position + FrameHeader::kSize + frame.length / 2];
  byte = static_cast<char>(byte ^ 1);
  for (const bool write : {true, false}) {
    const std::shared_ptr<RecoveredLog> log = Find(write);
    ASSERT_EQ(log->size(), appended_.size());
    Reader reader(log, /*ahead=*/true);
    const std::string bytes = ReadAll(&reader, 32768);
    ASSERT_EQ(bytes.size(), appended_.size());
    EXPECT_TRUE(bytes.compare(0, frame.offset, appended_, 0, frame.offset) == 0);
    EXPECT_TRUE(bytes.compare(frame.end(), std::string::npos, appended_, frame.end()) == 0);
    uint64_t fillers = 0;
    for (uint64_t at = frame.offset; at < frame.end(); at++) {
      const bool filler = bytes[at] == kFiller;
      fillers += filler;
      ASSERT_TRUE(filler || bytes[at] == appended_[at]) << at;
    }
    EXPECT_GT(fillers, frame.length / 2) << "most of it was in this frame alone";
  }
}

TEST_F(RecoveryTest, AnEarlySegmentThatLostAllIsSeenByWhoReadsIt) {
  const std::shared_ptr<RecoveredLog> sound = Find(/*write=*/true);
  const size_t ordinal = sound->early_segments().size() - 1;
  const uint64_t at = plan_.SegmentOffset(sound->early_segments()[ordinal]);
  disk_->bytes.replace(at + 512, kSegment - 512, kSegment - 512, '\0');
  const std::shared_ptr<RecoveredLog> log = Find(/*write=*/true);
  ASSERT_EQ(log->size(), appended_.size());
  Reader reader(log);
  const std::string bytes = ReadAll(&reader, 32768);
  ASSERT_EQ(bytes.size(), appended_.size());
  const size_t first = bytes.find(std::string(1000, kFiller));
  ASSERT_NE(first, std::string::npos);
  EXPECT_TRUE(bytes.compare(0, first, appended_, 0, first) == 0);
  EXPECT_TRUE(bytes.compare(log->early_end(), std::string::npos, appended_, log->early_end()) == 0);
}

TEST_F(RecoveryTest, ALogThatAnotherProcessDeletesIsNotTakenForDamaged) {
  const std::shared_ptr<RecoveredLog> log = Find(/*write=*/false);
  Reader reader(log);
  std::string bytes(1000, '\0');
  size_t got;
  ASSERT_TRUE(reader.Read(0, bytes.size(), bytes.data(), &got).ok());
  const std::shared_ptr<Volume> other = Mount(/*write=*/true);
  ASSERT_TRUE(other->Delete(log->id()).ok());
  for (const uint64_t segment : log->early_segments()) {
    const uint64_t at = plan_.SegmentOffset(segment);
    disk_->bytes.replace(at + 512, kSegment - 512, kSegment - 512, 'x');
  }
  IOStatus s = reader.Read(2 * kSegment, bytes.size(), bytes.data(), &got);
  EXPECT_TRUE(s.IsPathNotFound()) << s.ToString();
}

TEST_F(RecoveryTest, TwoDoNotDeleteALogAtOnce) {
  const std::shared_ptr<RecoveredLog> log = Find(/*write=*/false);
  const std::shared_ptr<Volume> volume = Mount(/*write=*/true);
  const LogId id = log->id();
  ASSERT_TRUE(volume->HasSegments(id));
  ASSERT_TRUE(volume->Delete(id).ok());
  // The first one may let another log have the segments while the second one writes headers.
  EXPECT_TRUE(volume->Delete(id).IsAborted());
  volume->Release(id);
  EXPECT_FALSE(volume->HasSegments(id));
  EXPECT_TRUE(volume->Delete(id).ok());

  const std::shared_ptr<Volume> again = Mount(/*write=*/true);
  std::shared_ptr<void> hold = again->Hold(id);
  EXPECT_TRUE(again->Delete(id).IsAborted()) << "a write may still come";
  EXPECT_TRUE(again->Adopt(id, DirectoryId(), "name").IsBusy());
  hold.reset();
  EXPECT_TRUE(again->Delete(id).ok());
}

TEST_F(RecoveryTest, AReadThatFailedCanBeDoneAgain) {
  for (const bool ahead : {false, true}) {
    const std::shared_ptr<RecoveredLog> log = Find(/*write=*/true);
    Reader reader(log, ahead);
    std::string bytes(appended_.size(), '\0');
    size_t got;
    ASSERT_TRUE(reader.Read(0, 1000, bytes.data(), &got).ok());
    *fail_ = true;
    EXPECT_FALSE(reader.Read(0, bytes.size(), bytes.data(), &got).ok());
    *fail_ = false;
    IOStatus s = reader.Read(0, bytes.size(), bytes.data(), &got);
    for (int i = 0; i < 10 && !s.ok(); i++) {  // some were read ahead, and failed
      s = reader.Read(0, bytes.size(), bytes.data(), &got);
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_TRUE(bytes == appended_);
  }
}

TEST_F(RecoveryTest, ALogThatNobodyWritesCanBeSynced) {
  const std::shared_ptr<RecoveredLog> log = Find(/*write=*/false);
  IOStatus s = log->Sync();
  EXPECT_TRUE(s.ok()) << s.ToString();
  std::filesystem::remove(path_);
  EXPECT_FALSE(log->Sync().ok());
  EXPECT_FALSE(std::filesystem::exists(path_)) << "made anew";
}

// The beginning of a stub would be taken for one that somebody has cut off.
TEST_F(RecoveryTest, ALogThatFindsNoRoomForItsStubLeavesNothing) {
  const std::string path = folder_ + "/000002.log";
  const std::shared_ptr<Volume> volume = Mount(/*write=*/true);
  for (const size_t room : {0, 200, 5000}) {
    FullFs fs(room);
    LogWriter::Settings settings;
    settings.target = &fs;
    settings.tail_size = 32 << 10;
    std::shared_ptr<LogWriter> log;
    IOStatus s = LogWriter::Create(volume, settings, path, &log);
    EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
    EXPECT_FALSE(std::filesystem::exists(path)) << room;
  }
}

TEST_F(RecoveryTest, OneLogKeepsWhatWasVerified) {
  const std::shared_ptr<Volume> volume = Mount(/*write=*/true);
  std::shared_ptr<RecoveredLog> logs[2];
  for (std::shared_ptr<RecoveredLog>& log : logs) {
    StubFile stub;
    ASSERT_TRUE(ReadStub(FileSystem::Default().get(), path_, /*contents=*/true, &stub).ok());
    ASSERT_TRUE(RecoveredLog::Recover(volume, FileSystem::Default().get(), path_, nullptr,
                                      std::move(stub),
                                      /*take_damaged=*/false, &log)
                    .ok());
  }
  EXPECT_TRUE(logs[0]->TakeVerified() == nullptr);
  EXPECT_TRUE(logs[1]->TakeVerified() != nullptr);
  EXPECT_TRUE(logs[1]->TakeVerified() == nullptr);
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
