// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/recovered_log.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/stub.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

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

// Scans what there is of a log whose headers do not fit together: each segment that is its own, or
// may be.
IOStatus ScanAll(const Volume& volume, LogId log, Window* window, Frames* frames) {
  const std::vector<Volume::Segment> segments = volume.segments();
  *frames = Frames();
  IOStatus s;
  for (uint64_t i = 0; s.ok() && i < segments.size(); i++) {
    const bool is_its = segments[i].owner == Volume::Owner::kLog && segments[i].log == log;
    if (is_its || segments[i].owner == Volume::Owner::kDamaged) {
      s = ScanSegment(volume, log, i, window, frames);
    }
  }
  return s;
}

// Says that bytes are gone that the stub knows of.
IOStatus Lost(const Volume& volume, const std::string& path, const Stub& stub, bool is_nowhere) {
  const std::string device = "device=" + volume.path();
  return IOStatus::Corruption(
      path, is_nowhere ? "is not on " + device +
                             ": it was deleted under another name, or a snapshot of the device was "
                             "restored, or it is lost"
                       : "says durable=" + std::to_string(stub.durable) + ", " + device +
                             (stub.in_standby ? " and the standby have" : " has") +
                             " less: its end is damaged, or a snapshot of the device was "
                             "restored. 'rocktier wal export --force' takes what there is");
}

// Checks what the stub says. Corruption if it claims more durable bytes than the device and its
// spill can hold.
IOStatus CheckDurable(const Volume& volume, FileSystem* target, const std::string& path,
                      const Stub& stub, const Spill* spill) {
  uint64_t size = 0;
  IOStatus s = target->GetFileSize(path, IOOptions(), &size, nullptr);
  size += spill != nullptr ? spill->end() : 0;
  return s.ok() && stub.durable > volume.superblock().Capacity() + size
             ? IOStatus::Corruption(
                   path, "says durable=" + std::to_string(stub.durable) + ", which cannot be")
             : s;
}

// Finds the frames in the stub, of a log that found no room on the device. `is_lost`: nobody knows
// the device's block_size: the one with which more is found is right.
IOStatus FindInStub(FileSystem* target, const std::string& path, const Stub& stub,
                    const Superblock& superblock, bool is_lost, Frames* frames,
                    std::unique_ptr<Spill>* result) {
  Frames known;
  IOStatus s = Spill::Find(target, path, stub.SpillOffset(), stub, superblock, &known, result);
  if (s.ok() && is_lost) {
    Superblock other = superblock;
    other.block_size = superblock.block_size == 512 ? 4096 : 512;
    Frames more;
    std::unique_ptr<Spill> spill;
    s = Spill::Find(target, path, stub.SpillOffset(), stub, other, &more, &spill);
    if (s.ok() && more.extents.size() > known.extents.size()) {
      known = std::move(more);
      *result = std::move(spill);
    }
  }
  frames->extents.insert(frames->extents.end(), known.extents.begin(), known.extents.end());
  frames->headers.insert(frames->headers.end(), known.headers.begin(), known.headers.end());
  frames->claimed = std::max(frames->claimed, known.claimed);
  return s;
}

// Finds the frames that are not on the device: of a log that found no room there, or for which the
// device was too slow. There are none of the one kind once there are of the other.
IOStatus FindSpill(const Volume& volume, FileSystem* target, const std::string& path,
                   const Standby* standby, const Stub& stub, bool take_damaged, bool is_nowhere,
                   Frames* frames, std::unique_ptr<Spill>* result) {
  IOStatus s;
  if (standby != nullptr) {
    s = standby->Find(stub, volume.superblock(), frames, result);
  }
  if (s.IsNotFound()) {
    s = stub.in_standby && !take_damaged
            ? IOStatus::Corruption(
                  path, "goes on in standby=" + standby->directory() +
                            ", where nothing of it is: was an older copy of that put back? "
                            "'rocktier wal export --force' takes what there is")
            : IOStatus::OK();
  }
  return s.ok() && *result == nullptr
             ? FindInStub(target, path, stub, volume.superblock(),
                          /*is_lost=*/take_damaged && is_nowhere, frames, result)
             : s;
}

}  // namespace

// Scans the last segment that holds anything, and lists those before it. NotFound: the log has no
// segment.
IOStatus RecoveredLog::ScanEnd(const Volume& volume, const std::string& path, LogId log,
                               Window* window, Frames* frames, Contents* contents) {
  std::vector<uint64_t>& early = contents->early_segments;
  IOStatus listed = volume.SegmentsOf(log, &early);
  IOStatus s = listed.IsNotFound() ? IOStatus::OK() : listed;
  // A power loss may have left the last segment empty, except for its header.
  while (s.ok() && frames->extents.empty() && !early.empty()) {
    s = ScanSegment(volume, log, early.back(), window, frames);
    early.pop_back();
  }
  if (s.ok()) {
    s = CheckDamaged(volume, path, log);
  }
  contents->early_end = early.empty() ? 0 : EndOfEarly(*frames);
  return s.ok() ? listed : s;
}

// Puts together what was found: `on_device` extents there, then those of the spill. Of what both
// have, the device's part counts, so that a reader does not go to and fro; but what was in early
// segments is taken from the spill, if that has all of it: nobody has looked into these yet.
void RecoveredLog::Merge(const std::vector<Extent>& found, size_t on_device, Contents* contents) {
  const auto middle = found.begin() + static_cast<std::ptrdiff_t>(on_device);
  ExtentMap map;
  map.Assign(std::vector<Extent>(found.begin(), middle));
  const uint64_t end = map.ContiguousEnd(contents->early_end);
  contents->on_device = end;
  std::vector<Extent> all = map.all();
  const auto add = [&all](const ExtentMap& more) {
    all.insert(all.end(), more.all().begin(), more.all().end());
  };
  ExtentMap spill;
  spill.Assign(std::vector<Extent>(middle, found.end()));
  contents->in_spill = spill.ContiguousEnd();
  if (contents->in_spill >= contents->early_end) {
    ExtentMap early = spill;
    early.Truncate(contents->early_end);
    add(early);
    contents->unread_segments.swap(contents->early_segments);
    contents->unread_end = contents->early_end;
    contents->early_end = 0;
  }
  spill.Skip(end);
  add(spill);
  contents->extents.Assign(std::move(all));
}

// Returns whether the standby has all of the log that was durable, as far as frames and the stub
// know: segments that are not whole are not needed then.
bool RecoveredLog::IsWholeInSpill(uint64_t claimed, const Stub& stub, const Contents& contents) {
  return contents.in_spill > 0 && contents.in_spill >= std::max(claimed, stub.durable);
}

// Finds where the log ends, in frames and then in the stub's runs.
void RecoveredLog::FindEnd(std::vector<Run> runs, Contents* contents) {
  uint64_t end = contents->extents.ContiguousEnd(contents->early_end);
  uint64_t here = contents->on_device;
  for (const Run& run : runs) {
    here = run.begin <= here ? std::max(here, run.end()) : here;
  }
  for (Run& run : runs) {
    if (run.begin <= end && run.end() > end) {
      end = run.end();
      contents->runs.push_back(std::move(run));
    }
  }
  contents->size = end;
  contents->is_whole_here = contents->on_device > 0 && here >= end;
}

// Makes the log as long as it was said to be: RocksDB shall see the hole.
void RecoveredLog::Lengthen(uint64_t claimed, Contents* contents) {
  if (claimed > contents->size) {
    contents->size = std::max(claimed, contents->extents.end());
    contents->damaged = true;
    contents->is_whole_here = false;
  }
}

IOStatus RecoveredLog::Recover(const std::shared_ptr<Volume>& volume, FileSystem* target,
                               const std::string& path, const Standby* standby, StubFile file,
                               bool take_damaged, std::shared_ptr<RecoveredLog>* result) {
  const Stub& stub = file.stub;
  Contents contents;
  Frames found;
  auto window = std::make_unique<Window>();
  IOStatus s = ScanEnd(*volume, path, stub.log, window.get(), &found, &contents);
  const bool is_nowhere = s.IsNotFound();  // the log never got so far, or is lost
  if (stub.on_device && !(is_nowhere && take_damaged)) {
    standby = nullptr;  // what is there may end before the log does
  }
  IOStatus broken;  // why the segments are not taken for the log
  if (s.IsCorruption() && (standby != nullptr || take_damaged)) {
    broken = s;
    contents = Contents();
    s = ScanAll(*volume, stub.log, window.get(), &found);
  }
  const size_t on_device = found.extents.size();
  if (s.ok() || is_nowhere) {
    s = FindSpill(*volume, target, path, standby, stub, take_damaged, is_nowhere, &found,
                  &contents.spill);
  }
  if (!s.ok()) {
    return s;
  }
  Merge(found.extents, on_device, &contents);
  if (!broken.ok() && !take_damaged && !IsWholeInSpill(found.claimed, stub, contents)) {
    return broken;
  }
  FindEnd(std::move(file.runs), &contents);
  Lengthen(found.claimed, &contents);
  // The word in the stub is stored when a flush has returned, for a mirror when both have all of
  // it, and a frame is written over only when its bytes are durable in another one. So without
  // damage nothing is missing before it: not after a kill, and not after a loss of power, which
  // leaves this word or an older one, and tears only what is behind. Nor where another process
  // writes the log: the stub was read first. No frame need tell of what is missing: of those that
  // one sync has written, each tells what was durable before.
  if (stub.durable > contents.size) {
    s = take_damaged ? CheckDurable(*volume, target, path, stub, contents.spill.get())
                     : Lost(*volume, path, stub, is_nowhere);
    if (!s.ok()) {
      return s;
    }
    Lengthen(stub.durable, &contents);
  }
  contents.extents.Truncate(contents.size);
  contents.broken = !broken.ok();
  contents.is_whole_here =
      contents.is_whole_here && !contents.broken && contents.on_device >= stub.durable;
  if (volume->superblock().segment_size <= Window::kMax) {
    contents.kept_window = volume->KeepWindow(std::move(window));
  }
  result->reset(new RecoveredLog(volume, target, path, stub.log, std::move(contents)));
  return s;
}

RecoveredLog::~RecoveredLog() { mutable_volume()->TakeWindow(contents_.kept_window); }

std::unique_ptr<Window> RecoveredLog::TakeVerified() {
  return mutable_volume()->TakeWindow(contents_.kept_window);
}

bool RecoveredLog::Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const {
  if (offset >= contents_.size) {
    return false;
  }
  n = std::min<uint64_t>(n, contents_.size - offset);
  bytes->clear();
  const Extent* found = contents_.extents.Find(offset);
  if (found != nullptr && found->offset <= offset) {
    *extent = *found;
    return true;
  }
  for (const Run& run : contents_.runs) {
    if (offset >= run.begin && offset < run.end()) {
      bytes->assign(run.bytes, offset - run.begin, n);
      return true;
    }
  }
  bytes->assign(found == nullptr ? n : std::min<uint64_t>(n, found->offset - offset), kFiller);
  return true;
}

// Makes durable what an earlier process had appended without a sync: it may be in the device's
// cache, or in the page cache, where the stub is.
IOStatus RecoveredLog::SyncHere() {
  std::unique_ptr<FSRandomRWFile> stub;
  IOStatus s = volume().device()->Flush();
  if (s.ok()) {
    s = target_->NewRandomRWFile(path(), FileOptions(), &stub, nullptr);
  }
  if (s.ok()) {
    s = stub->Fsync(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = stub->Close(IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(target_, DirectoryOf(path())) : s;
}

IOStatus RecoveredLog::Sync() {
  IOStatus s = SyncHere();
  return s.ok() && contents_.spill != nullptr && !gave_up_ ? contents_.spill->SyncFound(target_)
                                                           : s;
}

IOStatus RecoveredLog::SyncFound(const std::shared_ptr<const Standby>& standby,
                                 std::chrono::milliseconds limit, std::string* given_up) {
  const bool is_there = contents_.spill != nullptr && contents_.spill->path() != path();
  if (standby == nullptr || !is_there || !contents_.is_whole_here) {
    return Sync();
  }
  IOStatus s = SyncHere();
  IOStatus synced = s.ok() ? Standby::SyncInTime(standby, id(), limit) : IOStatus::OK();
  if (synced.ok()) {
    return s;
  }
  if (!HasUnread()) {  // the standby is needed
    return synced.IsTimedOut() ? Sync() : synced;
  }
  *given_up = synced.ToString();
  return GoOnHere();
}

// Reads segments that nobody has looked into, which should have the bytes of the log up to `end`.
// Corruption: they have less.
IOStatus RecoveredLog::CheckSegments(const std::vector<uint64_t>& segments, uint64_t end) const {
  const auto window = std::make_unique<Window>();
  Frames frames;
  IOStatus s;
  for (const uint64_t segment : segments) {
    s = s.ok() ? ScanSegment(volume(), id(), segment, window.get(), &frames) : s;
  }
  ExtentMap map;
  map.Assign(std::move(frames.extents));
  return s.ok() && map.ContiguousEnd() < end ? HasHole() : s;
}

IOStatus RecoveredLog::CheckWhole() const {
  return damaged() ? HasHole() : CheckSegments(early_segments(), early_end());
}

IOStatus RecoveredLog::HasHole() const {
  return IOStatus::Corruption(path(),
                              "lacks bytes that were durable; 'rocktier wal check' tells which. "
                              "'rocktier wal export --force' takes what there is");
}

// Reads what Merge() took from the standby alone: nobody would ask that again.
bool RecoveredLog::HasUnread() const {
  return CheckSegments(contents_.unread_segments, contents_.unread_end).ok();
}

// As LogWriter does it. What is here is durable, and the stub knows of no more.
IOStatus RecoveredLog::GoOnHere() {
  std::unique_ptr<FSRandomRWFile> stub;
  IOStatus s = target_->NewRandomRWFile(path(), FileOptions(), &stub, nullptr);
  if (s.ok()) {
    s = WritePlace(stub.get(), Stub::kGoesOnOnDevice, contents_.on_device);
  }
  if (s.ok()) {
    s = stub->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    gave_up_ = true;
    mutable_volume()->counters().copies_lost++;
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
