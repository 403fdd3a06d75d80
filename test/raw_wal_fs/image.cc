// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/raw_wal_fs/image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/reader.h"
#include "plugin/raw_wal_fs/recovered_log.h"
#include "plugin/raw_wal_fs/superblock.h"
#include "test/raw_wal_fs/power_device.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr uint64_t kBlock = 512;
constexpr uint64_t kSegment = 4096;
constexpr uint64_t kSegments = 16;
constexpr uint64_t kTail = 2048;

void Require(bool good, const std::string& what) {
  if (!good) {
    fprintf(stderr, "the image cannot be made: %s\n", what.c_str());
    abort();
  }
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Writes logs, step by step, so that no thread has anything to do.
class Maker {
 public:
  explicit Maker(std::string folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    Superblock& superblock = image_.superblock;
    superblock.block_size = kBlock;
    superblock.segment_size = kSegment;
    superblock.segments = kSegments;
    superblock.uuid = std::string(kUuidSize, 'u');
    disk_ = PowerDevice::NewDisk(superblock.Size());
    PowerDevice device(disk_);
    Require(WriteSuperblock(&device, superblock).ok(), "superblock");
    Require(Volume::Open(std::make_unique<PowerDevice>(disk_), true, &volume_).ok(), "volume");
  }

  Image Make() {
    LogImage deleted = Create(OnFull::kFail);
    Write(&deleted, 9000);
    Require(log_->Close().ok() && volume_->Delete(deleted.id).ok(), "delete");
    volume_->Release(deleted.id);

    LogImage closed = Create(OnFull::kFail);
    Write(&closed, 12000);
    for (int i = 0; i < 4; i++) {  // frames that the last flush has made durable, all of them
      Append(&closed);
      Require(log_->Write().ok(), "write");
    }
    Require(log_->Close().ok(), "close");
    Take(closed);

    LogImage open = Create(OnFull::kFail);
    Write(&open, 9000);
    for (int i = 0; i < 3; i++) {
      Append(&open);
    }
    const std::shared_ptr<LogWriter> still_open = log_;
    Take(open);

    LogImage full = Create(OnFull::kSpill);
    while (std::filesystem::file_size(full.path) < Stub::kSize + kTail + 3000) {
      Write(&full, full.appended.size() + 1);
    }
    Require(log_->Close().ok(), "close");
    Take(full);
    image_.device = disk_->bytes;
    return std::move(image_);
  }

 private:
  LogImage Create(OnFull on_full) {
    LogImage log;
    log.path = folder_ + "/" + std::to_string(100000 + number_++) + ".log";
    LogWriter::Settings settings;
    settings.target = FileSystem::Default().get();
    settings.tail_size = kTail;
    settings.on_full = on_full;
    IOStatus s = LogWriter::Create(volume_, settings, log.path, &log_);
    Require(s.ok(), s.ToString());
    log.id = log_->id();
    return log;
  }

  void Append(LogImage* log) {
    std::string bytes(1 + random_() % 280, '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random_() | 2);  // never the filler
    }
    Require(log_->Append(bytes).ok(), "append");
    log->appended += bytes;
  }

  // Less than half of the tail between writes.
  void Write(LogImage* log, size_t size) {
    while (log->appended.size() < size) {
      for (uint64_t n = 1 + random_() % 3; n > 0; n--) {
        Append(log);
      }
      if (random_() % 3 == 0) {
        Require(log_->Write().ok(), "write");
      } else {
        Require(log_->Sync().ok(), "sync");
        log->synced = log->appended.size();
      }
    }
  }

  void Take(LogImage log) {
    log.stub = ReadFile(log.path);
    image_.logs.push_back(std::move(log));
  }

  const std::string folder_;
  std::mt19937_64 random_{42};
  Image image_;
  std::shared_ptr<PowerDevice::Disk> disk_;
  std::shared_ptr<Volume> volume_;
  std::shared_ptr<LogWriter> log_;
  int number_ = 0;
};

// Cannot be written to.
class BytesDevice : public Device {
 public:
  explicit BytesDevice(const std::string& bytes) : bytes_(bytes) {
    info_.exists = true;
    info_.size = bytes.size();
  }
  IOStatus Read(uint64_t offset, size_t size, char* to) const override {
    if (offset > bytes_.size() || size > bytes_.size() - offset) {
      return IOStatus::Corruption(path_, "read behind the end");
    }
    memcpy(to, bytes_.data() + offset, size);
    return IOStatus::OK();
  }
  IOStatus Write(uint64_t, size_t, const char*, bool) override { return IOStatus::NotSupported(); }
  IOStatus Flush() override { return IOStatus::NotSupported(); }
  const std::string& path() const override { return path_; }
  const DeviceInfo& info() const override { return info_; }

 private:
  const std::string path_ = "image";
  const std::string& bytes_;
  DeviceInfo info_;
};

class BytesFile : public FSRandomAccessFile {
 public:
  explicit BytesFile(const std::string& bytes) : bytes_(bytes) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    const size_t from = std::min<uint64_t>(offset, bytes_.size());
    const size_t size = std::min(n, bytes_.size() - from);
    memcpy(scratch, bytes_.data() + from, size);
    *result = Slice(scratch, size);
    return IOStatus::OK();
  }

 private:
  const std::string& bytes_;
};

// Has one file.
class BytesFileSystem : public FileSystemWrapper {
 public:
  explicit BytesFileSystem(const std::string& bytes)
      : FileSystemWrapper(FileSystem::Default()), bytes_(bytes) {}
  const char* Name() const override { return "BytesFileSystem"; }
  IOStatus NewRandomAccessFile(const std::string&, const FileOptions&,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext*) override {
    *result = std::make_unique<BytesFile>(bytes_);
    return IOStatus::OK();
  }
  IOStatus GetFileSize(const std::string&, const IOOptions&, uint64_t* size,
                       IODebugContext*) override {
    *size = bytes_.size();
    return IOStatus::OK();
  }

 private:
  const std::string& bytes_;
};

// Finds what FORMAT.md says is there, in the simplest way.
struct Held {
  std::vector<bool> bytes;
  uint64_t claimed = 0;

  uint64_t End() const {
    return static_cast<uint64_t>(std::find(bytes.begin(), bytes.end(), false) - bytes.begin());
  }
};

// Returns the size of the frame at the beginning of `bytes`, 0 if there is none.
uint64_t Hold(const Slice& bytes, const Superblock& superblock, LogId log, Held* held) {
  FrameHeader header;
  if (bytes.size() < kBlock ||
      !FrameHeader::Parse(bytes.data(), log, bytes.size(), kBlock, &header) ||
      !header.Verify(superblock.uuid, kBlock, bytes.data())) {
    return 0;
  }
  for (uint64_t i = header.offset; i < header.offset + header.length; i++) {
    held->bytes.at(i) = true;
  }
  held->claimed = std::max(held->claimed, header.durable);
  return header.FrameSize(kBlock);
}

Held HeldOf(const Image& image, const LogImage& log) {
  Held held;
  held.bytes.resize(log.appended.size() + 1);
  const Superblock& superblock = image.superblock;
  for (uint64_t i = 0; i < superblock.segments; i++) {
    const char* begin = image.device.data() + superblock.SegmentOffset(i);
    SegmentHeader header;
    const bool good = SegmentHeader::Decode(begin, superblock.uuid, &header) && header.segment == i;
    const bool live = good && header.log == log.id && header.state == SegmentHeader::State::kLive;
    const bool damaged = !good && !IsZero(begin, SegmentHeader::kSize);
    if (!live && !damaged) {
      continue;
    }
    for (uint64_t at = kBlock; at < kSegment; at += kBlock) {
      Hold(Slice(begin + at, kSegment - at), superblock, log.id, &held);
    }
  }
  uint64_t size = 1;
  for (uint64_t at = Stub::kSize + kTail; size > 0 && at < log.stub.size(); at += size) {
    size = Hold(Slice(log.stub.data() + at, log.stub.size() - at), superblock, log.id, &held);
  }
  return held;
}

// `durable`: the stub's word.
std::string CheckBytes(const LogImage& original, const Held& held, uint64_t durable,
                       const std::string& bytes, Fault fault, bool sound) {
  const std::string what = original.path + ": ";
  if (bytes.size() > original.appended.size()) {
    return what + "is longer than what was appended";
  }
  const bool in_place = fault == Fault::kDamaged;
  if (in_place && bytes.size() < std::max({held.End(), held.claimed, durable})) {
    return what + "ends at " + std::to_string(bytes.size()) + ", whole frames at " +
           std::to_string(held.End()) + "; " + std::to_string(std::max(held.claimed, durable)) +
           " were durable";
  }
  for (size_t i = 0; i < bytes.size(); i++) {
    if (bytes[i] != original.appended[i] && ((in_place && held.bytes[i]) || bytes[i] != kFiller)) {
      return what + "wrong byte at " + std::to_string(i);
    }
  }
  if (sound &&
      (bytes.size() < original.synced || original.appended.compare(0, bytes.size(), bytes) != 0)) {
    return what + "has lost something although nothing was damaged";
  }
  return "";
}

// "" if the log is reported to be damaged.
std::string CheckLog(const Image& original, const Image& damaged, size_t number, Fault fault,
                     const std::shared_ptr<Volume>& volume) {
  const LogImage& log = damaged.logs[number];
  BytesFileSystem fs(log.stub);
  StubFile stub;
  if (!ReadStub(&fs, log.path, /*contents=*/true, &stub).ok()) {
    return "";
  }
  const uint64_t durable = stub.stub.durable;
  std::shared_ptr<RecoveredLog> found;
  if (!RecoveredLog::Recover(volume, &fs, log.path, nullptr, std::move(stub),
                             /*take_damaged=*/false, &found)
           .ok()) {
    return "";
  }
  // A forged frame may lie anywhere; the bytes before it take forever.
  const uint64_t limit = fault == Fault::kForged ? 100000 : UINT64_MAX;
  Reader reader(found);
  std::string bytes;
  size_t got = 1;
  while (got > 0 && bytes.size() < limit) {
    char part[1000];
    if (!reader.Read(bytes.size(), sizeof(part), part, &got).ok()) {
      return "";
    }
    bytes.append(part, got);
  }
  if (fault == Fault::kForged) {
    return "";
  }
  if (bytes.size() != found->size()) {
    return log.path + ": its size is not what can be read";
  }
  const bool sound = original.device == damaged.device && original.logs[number].stub == log.stub;
  return CheckBytes(original.logs[number], HeldOf(damaged, log), durable, bytes, fault, sound);
}

// A step of the input: what to do, and where.
struct Step {
  static constexpr size_t kSize = 8;
  uint8_t kind;
  uint8_t target;
  uint32_t position;
  uint16_t value;
};

// Makes the checksum of a frame or of a segment's header right.
void Reseal(const Image& image, char* block, uint64_t limit) {
  SegmentHeader segment;
  FrameHeader frame;
  const LogId log{DecodeFixed64(block + 4), DecodeFixed64(block + 12)};
  const bool is_header = memcmp(block + 4, "RSG2", 4) == 0;
  if (!is_header && FrameHeader::Parse(block, log, limit, kBlock, &frame)) {
    frame.Seal(image.superblock.uuid, kBlock, block);
  } else {
    segment.log = LogId{DecodeFixed64(block + 16), DecodeFixed64(block + 24)};
    segment.ordinal = DecodeFixed32(block + 12);
    segment.segment = DecodeFixed64(block + 32);
    segment.state = static_cast<SegmentHeader::State>(DecodeFixed32(block + 8));
    segment.Encode(image.superblock, block);
  }
}

void Apply(const Step& step, Fault fault, Image* image) {
  // Most steps go to the segments, some to the superblocks and to the stubs.
  std::string* bytes = &image->device;
  uint64_t begin = Superblock::kDataOffset;
  if (step.target >= 192) {
    bytes = &image->logs[step.target % image->logs.size()].stub;
    begin = 0;
  } else if (step.target == 191) {
    begin = step.value % 2 == 0 ? 0 : Superblock::kCopyOffset;
  }
  if (bytes->size() <= begin + kBlock) {
    return;
  }
  const uint64_t size = bytes->size() - begin;
  const uint64_t at = begin + step.position % size;
  const uint64_t block = begin + step.position % (size / kBlock) * kBlock;
  static constexpr int kKinds[] = {3, 4, 6};
  switch (step.kind % kKinds[static_cast<int>(fault)]) {
    case 0:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (step.value % 255 + 1));
      break;
    case 1:
      bytes->replace(block, kBlock, kBlock, '\0');
      break;
    case 3:
      memmove(&(*bytes)[block], &(*bytes)[begin + step.value % (size / kBlock) * kBlock], kBlock);
      break;
    case 2:
      if (bytes != &image->device) {
        bytes->resize(at);
      }
      break;
    case 4:
      memcpy(&(*bytes)[block + step.value % (kBlock - 8)], &step.position, sizeof(step.position));
      [[fallthrough]];
    default:
      Reseal(*image, &(*bytes)[block],
             std::min(kSegment - block % kSegment, bytes->size() - block));
  }
}

}  // namespace

Image MakeImage(const std::string& folder) { return Maker(folder).Make(); }

std::string CheckImage(const Image& original, const Image& damaged, Fault fault, int only) {
  std::shared_ptr<Volume> volume;
  if (!Volume::Open(std::make_unique<BytesDevice>(damaged.device), /*write=*/false, &volume).ok()) {
    return "";
  }
  std::string wrong;
  for (size_t i = 0; wrong.empty() && i < damaged.logs.size(); i++) {
    if (only < 0 || static_cast<size_t>(only) == i) {
      wrong = CheckLog(original, damaged, i, fault, volume);
    }
  }
  return wrong;
}

std::string CheckInput(const Image& original, const uint8_t* data, size_t size) {
  if (size == 0) {
    return "";
  }
  const auto fault = static_cast<Fault>(data[0] % 3);
  Image damaged = original;
  for (size_t at = 1; at + Step::kSize <= size; at += Step::kSize) {
    const char* from = reinterpret_cast<const char*>(data) + at;
    Apply({data[at], data[at + 1], DecodeFixed32(from + 2), DecodeFixed16(from + 6)}, fault,
          &damaged);
  }
  return CheckImage(original, damaged, fault);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
