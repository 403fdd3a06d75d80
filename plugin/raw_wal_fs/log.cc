// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/log.h"

#include <algorithm>
#include <chrono>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/scan.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Payload of the largest frame, in bytes: what is lost with one damaged block, against headers.
constexpr uint64_t kMaxPayload = (256 << 10) - FrameHeader::kSize;
constexpr size_t kHeaderRoom = 4096;  // of a segment's header, before the frame

uint64_t MicrosSince(std::chrono::steady_clock::time_point start) {
  const auto took = std::chrono::steady_clock::now() - start;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

// Returns the offset at which the bytes of a segment with these frames begin: all bytes before it
// were durable. If a power loss took the first frame, another frame says where that is.
uint64_t EndOfEarly(const Frames& frames) {
  uint64_t first = frames.claimed;
  for (const Extent& extent : frames.extents) {
    first = std::min(first, extent.offset);
  }
  return first;
}

// Looks for frames of the log in segments whose headers are damaged: any of these may have been the
// log's. Corruption if there are some.
IOStatus CheckDamaged(const Volume& volume, const std::string& path, LogId log) {
  const std::vector<Volume::Segment> segments = volume.segments();
  Window window;
  for (uint64_t i = 0; i < segments.size(); i++) {
    if (segments[i].owner != Volume::Owner::kDamaged) {
      continue;
    }
    Frames frames;
    IOStatus s = ScanSegment(volume, log, i, &window, &frames);
    if (!s.ok() || !frames.extents.empty()) {
      return !s.ok() ? s
                     : IOStatus::Corruption(path, "was partly in segment " + std::to_string(i) +
                                                      " of device=" + volume.path() +
                                                      ", whose header is damaged");
    }
  }
  return IOStatus::OK();
}

IOStatus Lost(const Volume& volume, const std::string& path, const Stub& stub, bool is_nowhere) {
  const std::string device = "device=" + volume.path();
  return IOStatus::Corruption(
      path, is_nowhere
                ? "is not on " + device +
                      ": it was deleted under another name, or a snapshot of the device was "
                      "restored, or it is lost"
                : "says durable=" + std::to_string(stub.durable) + ", " + device +
                      " has less: its last frame is damaged, or a snapshot of the device was "
                      "restored. 'rocktier wal export --force' takes what there is");
}

// Corruption if the stub claims more durable bytes than the device and its spill can hold.
IOStatus CheckDurable(const Volume& volume, FileSystem* target, const std::string& path,
                      const Stub& stub) {
  uint64_t size;
  IOStatus s = target->GetFileSize(path, IOOptions(), &size, nullptr);
  return s.ok() && stub.durable > volume.superblock().Capacity() + size
             ? IOStatus::Corruption(
                   path, "says durable=" + std::to_string(stub.durable) + ", which cannot be")
             : s;
}

}  // namespace

Log::Log(std::shared_ptr<Volume> volume, std::string path, const Stub& stub,
         const Settings& settings)
    : volume_(std::move(volume)),
      path_(std::move(path)),
      stub_(stub),
      id_(stub.log),
      settings_(settings),
      placer_(volume_->superblock().block_size, volume_->superblock().segment_size) {}

IOStatus Log::Create(const std::shared_ptr<Volume>& volume, const Settings& settings,
                     const std::string& path, std::shared_ptr<Log>* result) {
  Stub stub;
  stub.uuid = volume->superblock().uuid;
  stub.tail_size = settings.tail_size;
  stub.epoch = volume->superblock().epoch;
  IOStatus s = volume->NewLogId(&stub.log);
  if (!s.ok()) {
    return s;
  }
  std::shared_ptr<Log> log(new Log(volume, path, stub, settings));
  log->frame_ = NewBuffer(kHeaderRoom + FrameHeader::FrameSize(kMaxPayload, 4096));
  if (log->frame_ == nullptr) {
    return IOStatus::IOError(path, "no memory for a buffer");
  }
  log->header_.log = stub.log;
  log->header_.name = AbsolutePath(path);
  log->header_.directory = IdentityOf(DirectoryOf(path));
  log->release_ = true;  // of the segment, should anything fail
  // With OnFull::kFail a log begins without a segment: RocksDB needs a new log to let go of old
  // ones.
  s = settings.on_full == OnFull::kSpill ? log->StartSegment() : IOStatus::OK();
  std::unique_ptr<Tail> tail;
  if (s.ok()) {
    // The log is added before it has a stub: whoever finds the stub must find the open log.
    volume->AddLog(stub.log, log);
    s = Tail::Create(settings.target, path, stub, &tail);
  }
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(log->mutex_);
    log->tail_ = std::move(tail);
    log->release_ = false;
    volume->counters().logs_created++;
    *result = std::move(log);
  }
  return s;
}

IOStatus Log::Recover(const std::shared_ptr<Volume>& volume, FileSystem* target,
                      const std::string& path, StubFile stub, bool take_damaged,
                      std::shared_ptr<Log>* result) {
  std::shared_ptr<Log> log(new Log(volume, path, stub.stub, Settings()));
  std::vector<uint64_t>& early = log->early_segments_;
  Frames found;
  IOStatus s = volume->SegmentsOf(stub.stub.log, &early);
  const bool is_nowhere = s.IsNotFound();  // it never got so far, or is lost
  s = is_nowhere ? IOStatus::OK() : s;
  // A power loss may have left the last segment empty, except for its header.
  auto window = std::make_unique<Window>();
  while (s.ok() && found.extents.empty() && !early.empty()) {
    s = ScanSegment(*volume, stub.stub.log, early.back(), window.get(), &found);
    early.pop_back();
  }
  if (s.ok()) {
    s = CheckDamaged(*volume, path, stub.stub.log);
  }
  if (s.ok()) {
    log->early_end_ = early.empty() ? 0 : EndOfEarly(found);
    s = Spill::Find(target, path, stub.stub, volume->superblock(), &found, &log->spill_);
  }
  if (!s.ok()) {
    return s;
  }
  uint64_t claimed = found.claimed;
  log->extents_.Assign(std::move(found.extents));
  if (stub.stub.durable > std::max({claimed, log->early_end_, log->extents_.end()})) {
    // No frame tells of the bytes that are missing.
    s = take_damaged ? CheckDurable(*volume, target, path, stub.stub)
                     : Lost(*volume, path, stub.stub, is_nowhere);
    if (!s.ok()) {
      return s;
    }
    claimed = stub.stub.durable;
  }
  uint64_t end = log->extents_.ContiguousEnd(log->early_end_);
  for (Run& run : stub.runs) {
    if (run.begin <= end && run.end() > end) {
      end = run.end();
      log->runs_.push_back(std::move(run));
    }
  }
  if (claimed > end) {  // damaged: RocksDB shall see the hole
    end = std::max(claimed, log->extents_.end());
    log->damaged_ = true;
  }
  log->extents_.Truncate(end);
  log->appended_ = end;
  if (volume->superblock().segment_size <= Window::kMax) {
    log->verified_ = std::move(window);
    volume->SetKeeper(log);
  }
  *result = std::move(log);
  return IOStatus::OK();
}

std::unique_ptr<Window> Log::TakeVerified() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::move(verified_);
}

Log::~Log() {
  StopWriter();
  if (release_) {
    volume_->Release(id_);
  }
}

IOStatus Log::Append(const Slice& data) {
  Counters& counters = volume_->counters();
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
      return IOStatus::IOError(path_, "is closed");
    }
    size_t n;
    error_ = tail_->Append(appended_, left, &n);
    if (!error_.ok()) {
      return error_;
    }
    appended_ += n;
    left.remove_prefix(n);
    if (left.empty()) {
      break;
    }
    if (tail_->Switch()) {
      half_full_ = true;
      if (!writer_.joinable()) {
        writer_ = std::thread(&Log::WriterLoop, this);
      }
      changed_.notify_all();
    } else if (n == 0) {
      changed_.wait(lock);
    }
  }
  return IOStatus::OK();
}

void Log::WriterLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || half_full_; });
    if (!half_full_) {
      return;
    }
    half_full_ = false;
    lock.unlock();
    Write().PermitUncheckedError();  // the next call gets it
    lock.lock();
  }
}

void Log::StopWriter() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (writer_.joinable()) {
    writer_.join();
  }
}

IOStatus Log::Write() {
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  return WriteTail(size(), /*durable=*/false);
}

IOStatus Log::Sync() {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t end = size();
  std::lock_guard<std::mutex> io_lock(io_mutex_);
  if (durable_ >= end) {
    std::lock_guard<std::mutex> lock(mutex_);
    return error_;
  }
  IOStatus s = WriteTail(end, /*durable=*/true);
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    s = TellFull();
  }
  Counters& counters = volume_->counters();
  counters.syncs.fetch_add(1, std::memory_order_relaxed);
  counters.sync_micros.Add(MicrosSince(start));
  return s;
}

IOStatus Log::Close() {
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
  if (spill_ != nullptr) {
    s = spill_->Close();
  }
  IOStatus closed = tail->Close(/*truncate=*/spill_ == nullptr);
  return s.ok() ? closed : s;
}

uint64_t Log::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return appended_;
}

uint64_t Log::version() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return version_;
}

bool Log::Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (offset >= appended_) {
    return false;
  }
  n = std::min<uint64_t>(n, appended_ - offset);
  bytes->resize(n);
  if (tail_ != nullptr) {
    const size_t got = tail_->Read(offset, n, bytes->data());
    bytes->resize(got);
    if (got > 0) {
      return true;
    }
  }
  bytes->clear();
  const Extent* found = extents_.Find(offset);
  if (found != nullptr && found->offset <= offset) {
    *extent = *found;
    return true;
  }
  for (const Run& run : runs_) {
    if (offset >= run.begin && offset < run.end()) {
      bytes->assign(run.bytes, offset - run.begin, n);
      return true;
    }
  }
  bytes->assign(found == nullptr ? n : std::min<uint64_t>(n, found->offset - offset), kFiller);
  return true;
}

IOStatus Log::ReadFrames(uint64_t position, size_t n, char* to) const {
  return Spill::Holds(position) ? spill_->Read(position, n, to)
                                : volume_->device()->Read(position, n, to);
}

uint64_t Log::EndOf(const Extent& extent) const {
  const Superblock& superblock = volume_->superblock();
  if (Spill::Holds(extent.position)) {
    return extent.position +
           FrameHeader::FrameSize(extent.skip + extent.length - FrameHeader::kSize,
                                  superblock.block_size);
  }
  const uint64_t in_segments = extent.position - Superblock::kDataOffset;
  return extent.position + superblock.segment_size - in_segments % superblock.segment_size;
}

// Writes the tail up to `end` at least. Requires io_mutex_.
IOStatus Log::WriteTail(uint64_t end, bool durable) {
  {
    // A write that failed once may be lost, even if a later flush succeeds.
    std::lock_guard<std::mutex> lock(mutex_);
    if (!error_.ok()) {
      return error_;
    }
  }
  while (written_io_ < end) {
    Tail::Half* half;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      half = tail_->Take();
    }
    IOStatus s = WriteHalf(*half, durable && half->end >= end);
    std::lock_guard<std::mutex> lock(mutex_);
    if (s.ok()) {
      Tail::Give(half);
    } else {
      error_ = s;
    }
    changed_.notify_all();
    if (!s.ok()) {
      return s;
    }
  }
  return durable && durable_ < end ? FlushDevice() : IOStatus::OK();
}

IOStatus Log::WriteHalf(const Tail::Half& half, bool durable) {
  IOStatus s = tail_->CheckWhole();
  Gather bytes(half);
  while (s.ok() && written_io_ < half.end) {
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
IOStatus Log::Place(const Tail::Half& half, FramePlacer::Place* place) {
  const uint64_t length = half.end - written_io_;
  while (spill_ == nullptr) {
    if (placer_.Next(written_io_, length, kMaxPayload, durable_, place)) {
      return IOStatus::OK();
    }
    IOStatus s = StartSegment();
    if (s.IsNoSpace()) {
      s = StartSpill(s);
    }
    if (!s.ok()) {
      return s;
    }
  }
  *place = FramePlacer::Place();
  place->offset = written_io_;
  place->length = static_cast<uint32_t>(std::min(length, kMaxPayload));
  return IOStatus::OK();
}

IOStatus Log::StartSegment() {
  IOStatus s = unflushed_ ? FlushDevice() : IOStatus::OK();
  uint64_t segment;
  if (s.ok()) {
    header_.ordinal = static_cast<uint32_t>(segments_.size());
    s = volume_->Allocate(header_, &segment);
  }
  if (s.ok()) {
    segments_.push_back(segment);
    placer_.StartSegment();
    new_segment_ = true;
  }
  return s;
}

// Called when no segment is free. All that is on the device is durable: StartSegment() saw to it.
IOStatus Log::StartSpill(const IOStatus& reason) {
  if (settings_.on_spill != nullptr) {
    settings_.on_spill(path_, reason);
  }
  std::unique_ptr<Spill> spill;
  IOStatus s = Spill::Create(settings_.target, path_, stub_, &spill);
  if (s.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    spill_ = std::move(spill);
    full_ = settings_.on_full == OnFull::kFail ? reason : IOStatus::OK();
  }
  return s;
}

// Requires mutex_.
IOStatus Log::TellFull() {
  IOStatus s = full_;
  full_ = IOStatus::OK();
  return s;
}

IOStatus Log::WriteFrame(const FramePlacer::Place& place, Gather* bytes, bool durable) {
  IOStatus s = tail_->MakeDurable();
  if (!s.ok()) {
    return s;
  }
  const Superblock& superblock = volume_->superblock();
  char* const frame = frame_.get() + kHeaderRoom;
  char* const payload = frame + FrameHeader::kSize;
  memcpy(payload, last_payload_.data(), place.repeated);
  bytes->Copy(place.length - place.repeated, payload + place.repeated);
  FrameHeader header;
  header.log = id_;
  header.offset = place.offset;
  header.durable = durable_;
  header.length = place.length;
  header.Seal(superblock.uuid, superblock.block_size, frame);
  const uint64_t frame_size = header.FrameSize(superblock.block_size);

  const bool one_call = durable && !unflushed_;
  uint64_t position;
  s = spill_ == nullptr ? WriteToDevice(place, frame_size, one_call, &position)
                        : WriteToSpill(frame_size, one_call, &position);
  TEST_SYNC_POINT_CALLBACK("RawWalLog::WriteFrame", &s);
  if (!s.ok()) {
    volume_->counters().io_errors++;
    return s;
  }
  written_io_ = place.offset + place.length;
  if (frame_size == superblock.block_size) {
    last_payload_.assign(payload, place.length);
  }
  if (one_call) {
    s = SetDurable();
  } else {
    unflushed_ = true;
  }
  Counters& counters = volume_->counters();
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
  return s.ok() && durable && !one_call ? FlushDevice() : s;
}

// Writes a frame, together with the header of a new segment, which is in the block before.
IOStatus Log::WriteToDevice(const FramePlacer::Place& place, uint64_t frame_size, bool durable,
                            uint64_t* position) {
  const Superblock& superblock = volume_->superblock();
  const uint32_t block_size = superblock.block_size;
  char* const frame = frame_.get() + kHeaderRoom;
  *position = superblock.SegmentOffset(segments_.back()) + place.block * block_size;
  uint64_t before = 0;
  if (new_segment_) {
    header_.segment = segments_.back();
    before = block_size;
    memset(frame - before, 0, before);
    header_.Encode(superblock, frame - before);
    volume_->counters().written_bytes.fetch_add(before, std::memory_order_relaxed);
  }
  IOStatus s =
      volume_->device()->Write(*position - before, frame_size + before, frame - before, durable);
  new_segment_ = new_segment_ && !s.ok();
  return s;
}

IOStatus Log::WriteToSpill(uint64_t frame_size, bool durable, uint64_t* position) {
  IOStatus s = spill_->Append(Slice(frame_.get() + kHeaderRoom, frame_size), position);
  return s.ok() && durable ? spill_->Sync() : s;
}

IOStatus Log::SetDurable() {
  durable_ = written_io_;
  return tail_ != nullptr ? tail_->SetDurable(durable_) : IOStatus::OK();
}

IOStatus Log::FlushDevice() {
  IOStatus s = spill_ != nullptr ? spill_->Sync() : volume_->device()->Flush();
  if (s.ok()) {
    unflushed_ = false;
    s = SetDurable();
  }
  if (!s.ok()) {
    volume_->counters().io_errors++;
    std::lock_guard<std::mutex> lock(mutex_);
    error_ = s;
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
