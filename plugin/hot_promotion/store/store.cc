// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/store.h"

#include <algorithm>
#include <system_error>
#include <thread>

#include "file/filename.h"
#include "logging/logging.h"
#include "plugin/hot_promotion/compat.h"
#include "plugin/hot_promotion/lasting.h"
#include "plugin/hot_promotion/store/file_names.h"
#include "plugin/hot_promotion/store/levels.h"
#include "plugin/hot_promotion/store/log.h"
#include "rocksdb/convenience.h"
#include "rocksdb/sst_file_writer.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kMinBatch = 16 << 10;
constexpr uint64_t kMaxBatch = 32 << 20;
constexpr uint64_t kMaxPiece = 1 << 30;  // most bytes of one eviction

// The file of a run is larger than its keys and values: by less than this part of them, and so many
// bytes.
constexpr uint64_t kOverheadShare = 8;
constexpr uint64_t kOverhead = 4 << 10;

}  // namespace

Store::Store(const Options& options)
    : path_(options.path),
      budget_(options.budget),
      open_files_(options.open_files),
      direct_io_(options.direct_io),
      batch_(BatchOf(options.budget)),
      found_(options.callbacks.found),
      logger_(options.logger),
      filter_(std::make_shared<StoreFilterFactory>(options.policy, options.callbacks)),
      space_(std::make_shared<DiskSpace>(capacity())) {}

uint64_t Store::BatchOf(uint64_t budget) {
  return std::min(kMaxBatch, std::max(kMinBatch, budget / 128));
}

void Store::EndCompactions() {
  space_->Stop();
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
}

Store::~Store() {
  if (db_ != nullptr) {
    EndCompactions();
    const Status s = db_->Close();
    if (!s.ok()) {
      ROCKS_LOG_WARN(logger_.get(), "hot store: close: %s", s.ToString().c_str());
    }
  }
}

Status Store::Open(const Options& options, std::unique_ptr<Store>* result) {
  std::unique_ptr<Store> store(new Store(options));
  Status s = store->OpenOrReplace();
  if (s.ok()) {
    *result = std::move(store);
  }
  return s;
}

// Opens the store. A store that is damaged or of another version is replaced by an empty one: see
// folder.h.
Status Store::OpenOrReplace() {
  Status s = Folder::Open(Folder::Kind::kStore, path_, &folder_);
  if (s.ok()) {
    s = StartThreads();
  }
  if (!s.ok()) {
    return s;
  }
  s = OpenDatabase();
  if (s.ok()) {
    return s;
  }
  if (!IsLasting(s) || env_.unsized()) {
    db_.reset();
    return s;
  }
  ROCKS_LOG_WARN(logger_.get(), "hot store: begins empty: %s", s.ToString().c_str());
  db_.reset();
  s = DestroyDB(path_, DatabaseOptions());
  if (s.ok()) {
    env_.DeleteFile(path_ + "/" + kDamagedName).PermitUncheckedError();  // if it is there
    s = OpenDatabase();
  }
  return s;
}

// Notes damage in a file. The engine soon opens the store again, and it then begins empty. Until
// then its errors are misses.
void Store::NoteDamage(const Status& s) {
  if (s.IsCorruption() && !damaged_.exchange(true)) {
    const Status written = WriteStringToFile(&env_, s.ToString(), path_ + "/" + kDamagedName);
    ROCKS_LOG_WARN(logger_.get(), "hot store: damaged: %s (%s)", s.ToString().c_str(),
                   written.ToString().c_str());
  }
}

// After some errors in its background RocksDB takes no more work, and the store must be opened
// again. After lack of space it need not.
void Store::NoteFailure(const Status& s) {
  NoteDamage(s);
  uint64_t errors = 0;
  if (!s.IsNoSpace() && db_->GetIntProperty(DB::Properties::kBackgroundErrors, &errors) &&
      errors > 0) {
    failed_.store(true);
  }
}

Status Store::OpenDatabase() {
  Status s;
  if (env_.FileExists(path_ + "/" + kDamagedName).ok()) {
    s = Status::Corruption("hot store was found to be damaged", path_);
  }
  if (s.ok()) {
    s = CheckLogs();
  }
  if (s.ok()) {
    s = OpenRocksDb();
  }
  if (s.ok()) {
    s = CheckFormat();
  }
  if (s.ok()) {
    s = ForEachFile(found_);
  }
  if (s.ok()) {
    s = db_->EnableAutoCompaction({db_->DefaultColumnFamily()});
  }
  return s.ok() ? RemoveRuns() : s;
}

// Begins the threads that RocksDB asks for when it opens or destroys a database: where none can be
// had, an exception within that would leave the store locked.
Status Store::StartThreads() {
  try {
    std::thread([] {}).join();  // a pool that finds none loses some bytes
    env_.SetBackgroundThreads(1, Env::LOW);
    env_.SetBackgroundThreads(1, Env::HIGH);
    std::thread([] {}).join();  // for the timer, which the first database of a process begins
    return Status::OK();
  } catch (const std::system_error&) {
    return NoThread();
  }
}

Status Store::OpenRocksDb() {
  try {
    return OpenInto(&db_, [&](auto* result) { return DB::Open(DatabaseOptions(), path_, result); });
  } catch (const std::system_error&) {
    return NoThread();
  }
}

Status Store::NoThread() const { return Status::IOError(path_, "no thread can be had for it"); }

// Removes files of the plugin that are left from before; nothing refers to them.
Status Store::RemoveRuns() {
  std::vector<std::string> names;
  Status s = env_.GetChildren(path_, &names);
  for (const std::string& name : names) {
    if (s.ok() && IsOwnName(name)) {
      s = env_.DeleteFile(path_ + "/" + name);
    }
  }
  return s;
}

Status Store::CheckLogs() {
  std::vector<std::string> names;
  Status s = env_.GetChildren(path_, &names);
  for (const std::string& name : names) {
    uint64_t number;
    FileType type;
    if (s.ok() && ParseFileName(name, &number, &type) &&
        (type == kDescriptorFile || type == kWalFile)) {
      std::string contents;
      s = ReadFileToString(&env_, path_ + "/" + name, &contents);
      if (s.ok()) {
        s = CheckLog(contents);
        s = s.ok() ? s : Status::Corruption(path_ + "/" + name, s.getState());
      }
    }
  }
  return s;
}

Status Store::CheckFormat() {
  std::string format;
  Status s = db_->Get(ReadOptions(), kFormatKey, &format);
  if (s.ok() && format == kFormat) {
    return s;
  }
  if (s.ok() && format != kFormerFormat) {
    return OtherFormat(path_, format);
  }
  if (s.IsNotFound()) {
    const auto it = space_->NewIterator(db_.get());
    it->SeekToFirst();
    if (it->Valid()) {
      return Status::InvalidArgument("HotPromotionTable: path=" + path_,
                                     "has another database, which is no hot store");
    }
    s = it->status();
  }
  if (s.ok()) {
    WriteOptions options;
    options.disableWAL = true;  // nothing ever is in the log
    s = db_->Put(options, kFormatKey, kFormat);
  }
  return s.ok() ? db_->Flush(FlushOptions()) : s;
}

ROCKSDB_NAMESPACE::Options Store::DatabaseOptions() {
  RocksDbSettings settings;
  settings.env = &env_;
  settings.batch = batch_;
  settings.open_files = open_files_;
  settings.direct_io = direct_io_;
  settings.filter = filter_;
  settings.space = space_;
  return RocksDbOptions(settings);
}

Status Store::Get(const Slice& key, PinnableSlice* value) {
  std::string copy = key.ToString();
  copy[0] = static_cast<char>(Way::kRetained);
  const Status s = GetCopy(copy, value);
  if (!s.IsNotFound()) {
    return s;
  }
  copy[0] = static_cast<char>(Way::kPromoted);
  return GetCopy(copy, value);
}

Status Store::GetCopy(const std::string& key, PinnableSlice* value) {
  ReadOptions options;
  options.fill_cache = false;
  options.ignore_range_deletions = true;  // there are none
  const Status s = db_->Get(options, db_->DefaultColumnFamily(), key, value);
  NoteDamage(s);
  return s;
}

Status Store::Add(const std::vector<Record>& records) {
  if (records.empty()) {
    return Status::OK();
  }
  std::lock_guard<std::mutex> lock(add_mutex_);
  const Levels levels(db_.get(), batch_);
  const std::vector<size_t> ends = levels.Cut(records);
  uint64_t bytes = kOverhead * ends.size();
  for (const Record& record : records) {
    bytes += record.key.size() + record.value.size();
  }
  bytes += bytes / kOverheadShare;
  if (levels.FillsLevel0(bytes, reserve()) || Bytes() + bytes > capacity()) {
    return Status::Busy("hot store: no room");
  }
  std::vector<std::string> paths;
  Status s = WriteRuns(records, ends, &paths);
  if (s.ok()) {
    s = Ingest(paths);
  }
  if (!s.ok()) {
    for (const std::string& path : paths) {
      env_.DeleteFile(path).PermitUncheckedError();  // it may not be there
    }
    NoteFailure(s);
  }
  return s;
}

Status Store::WriteRuns(const std::vector<Record>& records, const std::vector<size_t>& ends,
                        std::vector<std::string>* paths) {
  Status s;
  const Record* begin = records.data();
  for (const size_t last : ends) {
    const Record* const end = records.data() + last;
    paths->push_back(path_ + "/" + kRunPrefix + std::to_string(next_run_++));
    if (s.ok()) {
      s = WriteRun(begin, end, paths->back());
    }
    begin = end;
  }
  return s;
}

Status Store::WriteRun(const Record* begin, const Record* end, const std::string& path) {
  const ROCKSDB_NAMESPACE::Options options = DatabaseOptions();
  EnvOptions file;
  file.use_direct_writes = direct_io_;
  SstFileWriter writer(file, options);
  Status s = writer.Open(path);
  for (; s.ok() && begin != end; ++begin) {
    s = writer.Put(begin->key, begin->value);
  }
  ExternalSstFileInfo info;
  if (s.ok()) {
    s = writer.Finish(&info);
  }
  written_.fetch_add(info.file_size, std::memory_order_relaxed);
  return s;
}

// One by one: RocksDB takes the files of one call that go to one level for one compaction, from the
// first key to the last. With assertions it ends the process if a compaction is at work in a gap.
Status Store::Ingest(const std::vector<std::string>& paths) {
  IngestExternalFileOptions options;
  options.move_files = true;
  options.snapshot_consistency = false;
  Status s;
  for (size_t i = 0; s.ok() && i < paths.size(); i++) {
    s = db_->IngestExternalFile({paths[i]}, options);
  }
  return s;
}

Status Store::ForEachFile(const std::function<void(const FileId&, const FileEntry&)>& visit) {
  const auto it = space_->NewIterator(db_.get());
  for (it->SeekToFirst(); it->Valid();) {
    StoreKey key;
    if (!DecodeKey(it->key(), &key)) {
      it->Next();
      continue;
    }
    FileEntry entry;
    if (key.tag == Tag::kFile && DecodeFileEntry(it->value(), &entry)) {
      visit(key.file, entry);
    }
    it->Seek(LastKeyOf(key.way, key.file));
  }
  return it->status();
}

Status Store::ForEachRecord(uint64_t bytes, const std::function<void(const Slice& key)>& visit,
                            std::string* next) {
  const auto it = space_->NewIterator(db_.get());
  uint64_t seen = 0;
  for (it->Seek(*next); it->Valid() && seen < bytes; it->Next()) {
    seen += it->key().size() + it->value().size();
    StoreKey key;
    if (DecodeKey(it->key(), &key) && key.tag == Tag::kRecord) {
      visit(it->key());
    }
  }
  next->clear();
  if (it->Valid()) {
    *next = it->key().ToString();
  }
  NoteDamage(it->status());
  return it->status();
}

Status Store::Drop(const std::vector<FileId>& files) {
  std::vector<std::string> bounds;
  bounds.reserve(4 * files.size());
  std::vector<Slice> slices;
  slices.reserve(4 * files.size());
  std::vector<RangePtr> ranges;
  for (const FileId& file : files) {
    for (const Way way : {Way::kPromoted, Way::kRetained}) {
      bounds.push_back(FirstKeyOf(way, file));
      slices.emplace_back(bounds.back());
      bounds.push_back(LastKeyOf(way, file));
      slices.emplace_back(bounds.back());
      ranges.emplace_back(&slices[slices.size() - 2], &slices.back());
    }
  }
  return ranges.empty() ? Status::OK() : space_->DeleteFiles(db_.get(), ranges);
}

Status Store::Evict(bool forced) {
  std::lock_guard<std::mutex> lock(evict_mutex_);
  std::string first;
  const std::string last = NextPiece(&first);
  if (last.empty()) {
    return Status::OK();
  }
  filter_->Set(forced ? Pressure::kForced : Pressure::kCold);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  options.exclusive_manual_compaction = true;  // one compaction at a time
  options.canceled = &stopped_;
  const Slice begin(first);
  const Slice end(last);
  const Status s = db_->CompactRange(options, &begin, &end);
  filter_->Set(Pressure::kNone);
  if (!s.ok() && !s.IsManualCompactionPaused() && !s.IsIncomplete()) {
    NoteFailure(s);
  }
  return s;
}

// The key range of the next few files after the cursor, a 32nd of the store at most; empty if there
// are none.
std::string Store::NextPiece(std::string* begin) {
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  // Files of level 0 have records of all SSTs; they come along.
  const auto deep = std::stable_partition(
      files.begin(), files.end(), [](const LiveFileMetaData& file) { return file.level > 0; });
  if (deep != files.begin()) {
    files.erase(deep, files.end());
  }
  std::sort(files.begin(), files.end(), [](const LiveFileMetaData& a, const LiveFileMetaData& b) {
    return a.largestkey < b.largestkey;
  });
  auto it = std::find_if(files.begin(), files.end(),
                         [&](const LiveFileMetaData& file) { return file.largestkey > cursor_; });
  if (it == files.end()) {
    it = files.begin();
  }
  std::string end;
  uint64_t bytes = 0;
  for (; it != files.end() && bytes < std::min(kMaxPiece, budget_ / 32); ++it) {
    bytes += it->size;
    *begin = begin->empty() ? it->smallestkey : std::min(*begin, it->smallestkey);
    end = it->largestkey;
  }
  cursor_ = end;
  return end;
}

uint64_t Store::Bytes() const { return space_->Bytes(db_.get()); }

uint64_t Store::MemoryBytes() const {
  return IntProperty(db_.get(), DB::Properties::kEstimateTableReadersMem);
}

uint64_t Store::Records() const { return IntProperty(db_.get(), DB::Properties::kEstimateNumKeys); }

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
