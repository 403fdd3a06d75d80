// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/log_writer.h"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Bytes that may wait for a flush of the device if there is a standby: they are kept in memory.
constexpr size_t kMostPending = 8 << 20;

uint64_t MicrosSince(std::chrono::steady_clock::time_point start) {
  const auto took = std::chrono::steady_clock::now() - start;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

}  // namespace

LogWriter::LogWriter(const std::shared_ptr<Volume>& volume, std::string path, const Stub& stub,
                     const Settings& settings)
    : Log(volume, std::move(path), stub.log),
      stub_(stub),
      settings_(settings),
      keep_(volume->Keep(stub.log)),
      placer_(volume->superblock().block_size, volume->superblock().segment_size) {}

IOStatus LogWriter::Create(const std::shared_ptr<Volume>& volume, const Settings& settings,
                           const std::string& path, std::shared_ptr<LogWriter>* result) {
  Stub stub;
  stub.uuid = volume->superblock().uuid;
  stub.tail_size = settings.tail_size;
  stub.standby = settings.standby != nullptr ? settings.standby->id() : "";
  stub.epoch = volume->superblock().epoch;
  IOStatus s = volume->NewLogId(&stub.log);
  if (!s.ok()) {
    return s;
  }
  std::shared_ptr<LogWriter> log(new LogWriter(volume, path, stub, settings));
  log->frame_ = NewFrame();
  if (log->frame_ == nullptr) {
    return IOStatus::IOError(path, "no memory for a buffer");
  }
  log->header_.log = stub.log;
  log->header_.name = AbsolutePath(path);
  log->header_.directory = IdentityOf(DirectoryOf(path));
  if (settings.standby != nullptr) {
    log->patient_ = PatientWriter::New(volume->device());
    if (log->patient_ == nullptr) {
      return IOStatus::IOError(path, "no thread to write to the device");
    }
  }
  log->ReleaseWhenDestroyed();  // the segment, should anything fail
  // With OnFull::kFail a log begins without a segment: RocksDB needs a new log to let go of old
  // ones. So does one that will begin in the standby, or goes on there if the device is full.
  const bool waits = settings.standby != nullptr && volume->health().stalled();
  s = settings.on_full == OnFull::kSpill && !waits ? log->StartSegment() : IOStatus::OK();
  s = s.IsNoSpace() && log->copies() ? IOStatus::OK() : s;
  std::unique_ptr<Tail> tail;
  if (s.ok()) {
    if (settings.on_create != nullptr) {
      settings.on_create(log);
    }
    s = Tail::Create(settings.target, path, stub, &tail);
  }
  if (s.ok()) {
    {
      std::lock_guard<std::mutex> lock(log->mutex_);
      log->tail_ = std::move(tail);
    }
    s = log->copies() ? log->BeginCopy() : s;
  }
  if (s.ok()) {
    log->KeepWhenDestroyed();
    volume->counters().logs_created++;
    *result = std::move(log);
  }
  return s;
}

LogWriter::~LogWriter() {
  StopWriter();
  NoteDegraded(false);
}

IOStatus LogWriter::Append(const Slice& data) {
  Counters& counters = mutable_volume()->counters();
  counters.appends.fetch_add(1, std::memory_order_relaxed);
  counters.appended_bytes.fetch_add(data.size(), std::memory_order_relaxed);
  Slice left = data;
  std::unique_lock<std::mutex> lock(mutex_);
  IOStatus full = TellFull();
  if (!full.ok()) {
    return full;
  }
  while (!left.empty()) {
    if (!error_.ok()) {
      return error_;
    }
    if (tail_ == nullptr) {
      return IOStatus::IOError(path(), "is closed");
    }
    if (copy_ != nullptr && !copy_->HasRoom()) {
      lock.unlock();
      AwaitRoom();
      lock.lock();
      continue;
    }
    size_t n;
    error_ = tail_->Append(appended_, left, &n);
    if (!error_.ok()) {
      return error_;
    }
    if (copy_ != nullptr) {
      copy_->Append(Slice(left.data(), n));
    }
    appended_ += n;
    left.remove_prefix(n);
    if (left.empty()) {
      break;
    }
    if (tail_->Switch()) {
      half_full_ = true;
      if (!StartWriter()) {
        error_ = IOStatus::IOError(path(), "no thread to write to the device");
      }
      changed_.notify_all();
    } else if (n == 0) {
      changed_.wait(lock);
    }
  }
  return IOStatus::OK();
}

bool LogWriter::StartWriter() {
  if (writer_ == nullptr) {
    writer_ = LooseThread::Start([this] { WriterLoop(); });
  }
  return writer_ != nullptr;
}

void LogWriter::WriterLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || half_full_ || sync_to_ > synced_; });
    if (!half_full_ && sync_to_ <= synced_) {
      return;
    }
    const bool durable = sync_to_ > synced_;
    synced_ = sync_to_;
    // What shall be durable may have been written before: that leaves a full half where it is.
    const uint64_t end = half_full_ ? appended_ : synced_;
    half_full_ = false;
    lock.unlock();
    {
      std::lock_guard<std::mutex> io_lock(io_mutex_);
      WriteTail(end, durable).PermitUncheckedError();  // the next call gets it
    }
    TEST_SYNC_POINT("LogWriter::WriterLoop:Written");
    lock.lock();
  }
}

void LogWriter::StopWriter() {
  std::shared_ptr<LooseThread> writer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    writer = writer_;
  }
  if (writer != nullptr) {
    writer->Await();
  }
}

IOStatus LogWriter::Write() {
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  return WriteTail(size(), /*durable=*/false);
}

IOStatus LogWriter::Sync() {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t end = size();
  TEST_SYNC_POINT("LogWriter::Sync:End");
  IOStatus s;
  if (!SyncFirst(end)) {
    std::lock_guard<std::mutex> io_lock(io_mutex_);
    if (durable_ >= end && copy_ == nullptr) {
      std::lock_guard<std::mutex> lock(mutex_);
      return error_;
    }
    s = WriteTail(end, /*durable=*/true);
  }
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    s = TellFull();
  }
  Counters& counters = mutable_volume()->counters();
  counters.syncs.fetch_add(1, std::memory_order_relaxed);
  counters.sync_times.Add(MicrosSince(start));
  return s;
}

IOStatus LogWriter::Close() {
  StopWriter();
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  // Makes the log durable, so that the stub can say that the log is on the device. Otherwise a copy
  // of the stub would pass for an empty log once the log is deleted.
  IOStatus s = tail_ != nullptr ? WriteTail(size(), /*durable=*/true) : IOStatus::OK();
  std::unique_ptr<Tail> tail;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (s.ok()) {
      tail = std::move(tail_);
      version_++;
    }
  }
  if (tail == nullptr) {
    return s;
  }
  EndCopy();
  if (spill_ != nullptr) {
    s = spill_->Close();
  }
  patient_.reset();
  IOStatus closed = tail->Close(/*truncate=*/spill_ == nullptr);
  return s.ok() ? closed : s;
}

uint64_t LogWriter::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return appended_;
}

uint64_t LogWriter::version() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return version_;
}

bool LogWriter::Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (offset >= appended_) {
    return false;
  }
  bytes->resize(std::min<uint64_t>(n, appended_ - offset));
  bytes->resize(tail_ != nullptr ? tail_->Read(offset, bytes->size(), bytes->data()) : 0);
  if (bytes->empty()) {
    const Extent* found = extents_.Find(offset);
    assert(found != nullptr && found->offset <= offset);  // what left the tail is in a frame
    *extent = *found;
  }
  return true;
}

// Writes the tail up to `end` at least. Requires io_mutex_.
IOStatus LogWriter::WriteTail(uint64_t end, bool durable) {
  {
    // A write that failed once may be lost, even if a later flush succeeds.
    std::lock_guard<std::mutex> lock(mutex_);
    if (!error_.ok()) {
      return error_;
    }
  }
  if (durable && copy_ != nullptr) {
    copy_->Request(end);  // beside the device
  }
  while (written_ < end) {
    Tail::Half* half;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      half = tail_->Take();
    }
    IOStatus s = WriteHalf(*half, durable && half->end >= end);
    if (!s.ok()) {
      Break(&s);
      return s;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Tail::Give(half);
    changed_.notify_all();
  }
  IOStatus s = durable && durable_ < end ? FlushDevice() : IOStatus::OK();
  return s.ok() && durable ? AwaitCopy(end) : s;
}

IOStatus LogWriter::WriteHalf(const Tail::Half& half, bool durable) {
  IOStatus s = tail_->CheckWhole();
  Gather bytes(half);
  while (s.ok() && written_ < half.end) {
    FramePlacer::Place place;
    s = Place(half, &place);
    if (s.ok()) {
      const bool last = place.offset + place.length == half.end;
      s = WriteFrame(place, &bytes, durable && last);
    }
  }
  return s;
}

// Decides where the next frame goes: in the segment, in a new one, or in the spill.
IOStatus LogWriter::Place(const Tail::Half& half, FramePlacer::Place* place) {
  const uint64_t length = half.end - written_;
  if (has_limit() && volume().health().stalled()) {
    IOStatus s = FailOver(IOStatus::TimedOut("device=" + volume().path(), "has not recovered yet"));
    if (!s.ok()) {
      return s;
    }
  }
  while (spill_ == nullptr) {
    if (placer_.Next(written_, length, kMaxPayload, durable_, place)) {
      return IOStatus::OK();
    }
    // Not taken for a device without a free segment: a flush may fail for want of space, too.
    IOStatus s = unflushed_ ? FlushDevice() : IOStatus::OK();
    if (s.ok() && spill_ == nullptr) {  // else the device did not answer
      s = StartSegment();
      if (s.IsNoSpace()) {
        s = copy_ != nullptr ? FailOver(s) : StartSpill(s);
      }
    }
    if (!s.ok()) {
      return s;
    }
  }
  *place = FramePlacer::Place();
  place->offset = written_;
  place->length = static_cast<uint32_t>(std::min(length, kMaxPayload));
  return IOStatus::OK();
}

// Requires that all that was written is durable.
IOStatus LogWriter::StartSegment() {
  uint64_t segment;
  header_.ordinal = static_cast<uint32_t>(segments_.size());
  IOStatus s = mutable_volume()->Allocate(header_, &segment);
  if (s.ok()) {
    segments_.push_back(segment);
    placer_.StartSegment();
    new_segment_ = true;
  }
  return s;
}

// Returns once that the device was full. Requires mutex_.
IOStatus LogWriter::TellFull() {
  IOStatus s = full_;
  full_ = IOStatus::OK();
  return s;
}

IOStatus LogWriter::WriteFrame(const FramePlacer::Place& place, Gather* bytes, bool durable) {
  IOStatus s = tail_->MakeDurable();
  if (s.ok() && frame_ == nullptr) {
    s = IOStatus::IOError(path(), "no memory for a buffer");
  }
  if (!s.ok()) {
    return s;
  }
  const uint32_t block_size =
      spill_ != nullptr ? spill_->block_size() : volume().superblock().block_size;
  char* const frame = frame_.get() + kHeaderRoom;
  char* const payload = frame + FrameHeader::kSize;
  memcpy(payload, last_payload_.data(), place.repeated);
  bytes->Copy(place.length - place.repeated, payload + place.repeated);
  FrameHeader header;
  header.log = id();
  header.offset = place.offset;
  header.durable = durable_;
  header.length = place.length;
  header.Seal(stub_.uuid, block_size, frame);
  const uint64_t frame_size = header.FrameSize(block_size);

  if (MayFailOver() && copy_ == nullptr) {
    pending_.append(payload + place.repeated, place.length - place.repeated);
  }
  const bool one_call = durable && !unflushed_;
  uint64_t position;
  s = spill_ == nullptr ? WriteToDevice(place, frame_size, one_call, &position)
                        : WriteToSpill(frame_size, one_call, &position);
  TEST_SYNC_POINT_CALLBACK("LogWriter::WriteFrame", &s);
  if (!s.ok() && !MayFailOver()) {
    mutable_volume()->counters().io_errors++;
    return s;
  }
  written_ = place.offset + place.length;
  if (!s.ok()) {
    return FailOver(s);
  }
  if (frame_size == block_size) {
    last_payload_.assign(payload, place.length);
  }
  if (one_call) {
    s = SetDurable();
  } else {
    unflushed_ = true;
  }
  Counters& counters = mutable_volume()->counters();
  counters.frames.fetch_add(1, std::memory_order_relaxed);
  counters.written_bytes.fetch_add(frame_size, std::memory_order_relaxed);
  counters.padding_bytes.fetch_add(frame_size - FrameHeader::kSize - place.length,
                                   std::memory_order_relaxed);
  counters.repeated_bytes.fetch_add(place.repeated, std::memory_order_relaxed);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    extents_.Append({place.offset, position, FrameHeader::kSize, place.length});
    version_++;
  }
  const bool too_many = pending_.size() >= kMostPending;
  return s.ok() && ((durable && !one_call) || too_many) ? FlushDevice() : s;
}

// Writes a frame, together with the header of a new segment, which is in the block before.
IOStatus LogWriter::WriteToDevice(const FramePlacer::Place& place, uint64_t frame_size,
                                  bool durable, uint64_t* position) {
  const Superblock& superblock = volume().superblock();
  const uint32_t block_size = superblock.block_size;
  char* const frame = frame_.get() + kHeaderRoom;
  *position = superblock.SegmentOffset(segments_.back()) + place.block * block_size;
  uint64_t before = 0;
  if (new_segment_) {
    header_.segment = segments_.back();
    before = block_size;
    memset(frame - before, 0, before);
    header_.Encode(superblock, frame - before);
    mutable_volume()->counters().written_bytes.fetch_add(before, std::memory_order_relaxed);
  }
  IOStatus s = OnDevice({*position - before, frame_size + before, frame - before, durable});
  new_segment_ = new_segment_ && !s.ok();
  return s;
}

IOStatus LogWriter::WriteToSpill(uint64_t frame_size, bool durable, uint64_t* position) {
  IOStatus s = spill_->Append(Slice(frame_.get() + kHeaderRoom, frame_size), position);
  return s.ok() && durable ? spill_->Sync() : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
