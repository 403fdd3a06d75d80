// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <algorithm>
#include <map>
#include <utility>

#include "plugin/raw_wal_fs/format_device.h"
#include "plugin/raw_wal_fs/options.h"
#include "plugin/raw_wal_fs/scan.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/stub_finder.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

RawWalDeviceInfo InfoOf(const Superblock& superblock) {
  RawWalDeviceInfo info;
  info.uuid = Slice(superblock.uuid).ToString(/*hex=*/true);
  info.block_size = superblock.block_size;
  info.segment_size = superblock.segment_size;
  info.segments = superblock.segments;
  info.epoch = superblock.epoch;
  return info;
}

struct Known {
  RawWalLogInfo info;
  Volume::Segment header;  // one of its segments'
};

// Returns the logs that the headers name.
std::map<LogId, Known> LogsOf(const Volume& volume, RawWalDeviceInfo* info) {
  std::map<LogId, Known> logs;
  const std::vector<Volume::Segment> segments = volume.segments();
  for (uint64_t i = 0; i < segments.size(); i++) {
    const Volume::Segment& segment = segments[i];
    if (segment.owner == Volume::Owner::kFree) {
      info->segments_free++;
    } else if (segment.owner == Volume::Owner::kDamaged) {
      info->segments_damaged.push_back(i);
    } else {
      info->segments_used++;
      Known& log = logs[segment.log];
      log.header = segment;
      log.info.id = segment.log.ToString();
      log.info.name = segment.name;
      log.info.segments++;
    }
  }
  return logs;
}

// Returns how many bytes of a log are durable on the device, at least, as its stub says; 0 if that
// does not tell, since the log goes on elsewhere.
uint64_t DurableOf(const std::string& path) {
  FileSystem* const fs = FileSystem::Default().get();
  StubFile file;
  uint64_t size = 0;
  return !path.empty() && ReadStub(fs, path, /*contents=*/false, &file).ok() &&
                 !file.stub.in_standby && fs->GetFileSize(path, IOOptions(), &size, nullptr).ok() &&
                 size <= file.stub.SpillOffset()
             ? file.stub.durable
             : 0;
}

// Scans a log and says what is wrong with it. NotFound: it has no segments any more. `durable`: how
// much its stub had said to be so.
IOStatus Scan(const Volume& volume, LogId id, uint64_t durable, RawWalLogInfo* log) {
  log->frames.clear();
  log->problem.clear();
  std::vector<uint64_t> segments;
  IOStatus s = volume.SegmentsOf(id, &segments);
  if (s.IsCorruption()) {
    log->problem = s.ToString();
    return IOStatus::OK();
  }
  Frames found;
  Window window;
  for (size_t i = 0; s.ok() && i < segments.size(); i++) {
    s = ScanSegment(volume, id, segments[i], &window, &found);
  }
  if (s.IsCorruption()) {
    log->problem = s.ToString();
    return IOStatus::OK();
  }
  if (!s.ok()) {
    return s;
  }
  for (size_t i = 0; i < found.extents.size(); i++) {
    const FrameHeader& header = found.headers[i];
    log->frames.push_back(
        {found.extents[i].position, header.offset, header.length, header.durable});
  }
  std::sort(log->frames.begin(), log->frames.end(), [](const RawWalFrame& a, const RawWalFrame& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.length < b.length;
  });
  ExtentMap all;
  all.Assign(std::move(found.extents));
  log->bytes = all.ContiguousEnd();
  log->durable = found.claimed;
  durable = std::max(durable, found.claimed);
  if (durable > log->bytes) {
    log->problem = "bytes from " + std::to_string(log->bytes) + " on are damaged; " +
                   std::to_string(durable) + " were durable";
  }
  return s;
}

// How many times a log is looked at before it is believed to be damaged: the device may be in use,
// and what was written while it was read does not fit together.
constexpr int kLooks = 5;

IOStatus ScanUntilSound(Volume* volume, LogId id, RawWalLogInfo* log) {
  const uint64_t durable = DurableOf(log->file);
  IOStatus s = Scan(*volume, id, durable, log);
  for (int i = 1; i < kLooks && s.ok() && !log->problem.empty(); i++) {
    s = volume->Refresh();
    if (s.ok()) {
      s = Scan(*volume, id, durable, log);
    }
  }
  return s;
}

// Looks for the stub of a log.
void LookForStub(LogId id, const Volume::Segment& header, StubFinder* finder, RawWalLogInfo* log) {
  const StubFinder::Answer answer = finder->Find(id, header, &log->file);
  log->missing = answer == StubFinder::Answer::kMissing;
  if (answer == StubFinder::Answer::kUnknown) {
    log->unknown.swap(log->file);
  }
}

// Describes a log that has a file in the standby, and no segment.
void DescribeAlone(const Standby& standby, LogId id, StubFinder* finder, RawWalLogInfo* log) {
  Volume::Segment header;
  if (DescribeInStandby(&standby, id, &header)) {
    log->name = header.name;
    LookForStub(id, header, finder, log);
    return;
  }
  log->unknown = kSaysNothing;
  SegmentHeader damaged;
  const IOStatus s = standby.Describe(id, &damaged);
  log->problem = s.ok() || s.IsNotFound() ? "" : s.ToString();
}

// Adds what is in the standby: to logs of the device, and logs that are there alone.
IOStatus AddStandby(const Standby& standby, const std::string& uuid, RawWalDeviceInfo* info) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < info->logs.size(); i++) {
    places[info->logs[i].id] = i;
  }
  std::vector<Standby::File> files;
  IOStatus s = standby.List(&files);
  if (!s.ok()) {
    return s;
  }
  // A log's stub is older than its file here. So a finder that has seen nothing before sees it.
  StubFinder finder(uuid);
  for (const Standby::File& file : files) {
    const auto known = places.find(file.log.ToString());
    RawWalLogInfo alone;
    RawWalLogInfo& log = known != places.end() ? info->logs[known->second] : alone;
    log.id = file.log.ToString();
    log.in_standby = true;
    log.standby_bytes = file.bytes;
    log.standby_time = file.time;
    if (known != places.end()) {
      continue;
    }
    DescribeAlone(standby, file.log, &finder, &alone);
    Standby::File now;
    // Who deletes a log deletes its file here first, and then the stub.
    if (!alone.file.empty() || !standby.Measure(file.log, &now).IsNotFound()) {
      info->logs.push_back(std::move(alone));
    }
  }
  return s;
}

// Forgets headers that were only being written.
IOStatus LookAgainAtDamaged(Volume* volume, std::vector<uint64_t>* damaged) {
  IOStatus s;
  for (int i = 1; i < kLooks && s.ok() && !damaged->empty(); i++) {
    s = volume->Refresh();
    const std::vector<Volume::Segment> segments = volume->segments();
    damaged->erase(std::remove_if(damaged->begin(), damaged->end(),
                                  [&segments](uint64_t number) {
                                    return segments[number].owner != Volume::Owner::kDamaged;
                                  }),
                   damaged->end());
  }
  return s;
}

}  // namespace

Status FormatLogDevice(const RawWalOptions& options, const RawWalProgress& progress,
                       RawWalDeviceInfo* made) {
  Superblock superblock;
  Status s = Validate(options);
  if (s.ok()) {
    s = FormatDevice(options, progress, &superblock);
  }
  if (s.ok() && made != nullptr) {
    *made = InfoOf(superblock);
    made->segments_free = made->segments;
    if (options.dry_run) {
      made->uuid.clear();
    }
  }
  return s;
}

Status InspectLogDevice(const std::string& device, bool scan, RawWalDeviceInfo* info,
                        const RawWalProgress& progress, const std::string& standby) {
  // Opens a volume of its own, which can be read again, even if this process writes to the device.
  std::unique_ptr<Device> opened;
  std::shared_ptr<Volume> volume;
  IOStatus s = OpenDevice(device, /*write=*/false, &opened);
  if (s.ok()) {
    s = Volume::Open(std::move(opened), /*write=*/false, &volume);
  }
  if (s.IsNotFound()) {  // say what it is
    RawWalOptions options;
    options.device = device;
    s = CheckDevice(options);
  }
  std::shared_ptr<Standby> beside;
  if (s.ok() && !standby.empty()) {
    s = Standby::OpenForReading(FileSystem::Default(), standby, volume->superblock().uuid, &beside);
  }
  if (!s.ok()) {
    return s;
  }
  *info = InfoOf(volume->superblock());
  uint64_t done = 0;
  StubFinder finder(volume->superblock().uuid);
  for (auto& [id, known] : LogsOf(*volume, info)) {
    RawWalLogInfo& log = known.info;
    if (scan) {
      LookForStub(id, known.header, &finder, &log);
      s = ScanUntilSound(volume.get(), id, &log);
      if (s.IsNotFound()) {  // deleted meanwhile
        s = IOStatus::OK();
        continue;
      }
      if (!s.ok()) {
        return s;
      }
      done += log.segments;
      if (progress != nullptr) {
        progress(done, info->segments_used);
      }
    }
    info->logs.push_back(std::move(log));
  }
  if (beside != nullptr) {
    s = AddStandby(*beside, volume->superblock().uuid, info);
    if (!s.ok()) {
      return s;
    }
  }
  return scan ? LookAgainAtDamaged(volume.get(), &info->segments_damaged) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
