// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/segments.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/copy.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr char kLogEnd[] = ".log";
constexpr char kArchiveEnd[] = ".seg";
constexpr int kNeighbours = 8;  // segments whose ranges of sequence numbers may overlap

// Puts a log's entries into an index.
class Indexer : public EntryVisitor {
 public:
  explicit Indexer(Segment* segment) : segment_(segment) {}
  void OnEntry(Ordinal ordinal, const Entry& entry) override { segment_->Add(ordinal, entry); }

 private:
  Segment* const segment_;
};

}  // namespace

std::string WalSegments::LogName(uint64_t id, const std::string& tag) {
  return kKeptPrefix + std::to_string(id) + (tag.empty() ? "" : "-" + tag) + kLogEnd;
}

std::string WalSegments::ArchiveName(uint64_t id, const std::string& tag) {
  return kKeptPrefix + std::to_string(id) + (tag.empty() ? "" : "-" + tag) + kArchiveEnd;
}

bool WalSegments::ParseName(const std::string& name, uint64_t* id, std::string* tag) {
  Slice rest(name);
  if (!IsKept(name)) {
    return false;
  }
  rest.remove_prefix(sizeof(kKeptPrefix) - 1);
  const size_t end = name.rfind('.');
  const bool has_end =
      end != std::string::npos && (name.substr(end) == kLogEnd || name.substr(end) == kArchiveEnd);
  if (!has_end || !ConsumeDecimalNumber(&rest, id)) {
    return false;
  }
  rest.remove_suffix(name.size() - end);
  const bool has_tag = rest.starts_with("-");
  if (has_tag) {
    rest.remove_prefix(1);
  }
  *tag = rest.ToString();
  return tag->size() == (has_tag ? RecipeLog::kTagSize : 0);
}

void WalSegments::FindRetained(const std::string& directory, const std::vector<std::string>& names,
                               std::multimap<uint64_t, std::string>* files,
                               const std::string* wanted) {
  for (const char* end : {kArchiveEnd, kLogEnd}) {
    for (const std::string& name : names) {
      uint64_t id;
      std::string tag;
      if (EndsWith(name, end) && ParseName(name, &id, &tag) &&
          (wanted == nullptr || tag.empty() || tag == *wanted)) {
        files->emplace(id, directory + "/" + name);
      }
    }
  }
}

WalSegments::List::iterator WalSegments::FindByPath(const std::string& path) {
  return std::find_if(logs_.begin(), logs_.end(),
                      [&](const std::shared_ptr<Log>& log) { return log->path == path; });
}

const WalSegments::Log* WalSegments::NewestBefore(uint64_t number) const {
  const Log* newest = nullptr;
  for (const auto& log : logs_) {
    if (!log->retained && log->number < number &&
        (newest == nullptr || log->number > newest->number)) {
      newest = log.get();
    }
  }
  return newest;
}

// RocksDB has at most one log that is made ahead: it makes that when it has begun to write the one
// before, with an empty memtable, so what is flushed is in none of the two.
void WalSegments::Created(uint64_t number, const std::string& path,
                          std::shared_ptr<ActiveLog> writer) {
  Forget(path);  // it is written anew, so nobody needs what it was
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const Log* const written =
      makes_ahead_.load(std::memory_order_relaxed) ? NewestBefore(number) : nullptr;
  for (const auto& log : logs_) {
    log->complete = log->complete || log.get() != written;
  }
  auto log = std::make_shared<Log>();
  log->number = number;
  log->path = path;
  log->writer = std::move(writer);
  logs_.push_back(std::move(log));
}

std::shared_ptr<WalSegments::Log> WalSegments::Find(const std::string& path) {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto it = FindByPath(path);
  return it == logs_.end() ? nullptr : *it;
}

void WalSegments::Forget(const std::string& path) {
  if (Find(path) != nullptr) {
    std::unique_lock<std::shared_mutex> references_lock(references_mutex_);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto it = FindByPath(path);
    if (it != logs_.end()) {
      logs_.erase(it);
    }
  }
}

void WalSegments::Found(uint64_t number, const std::string& found, bool complete) {
  const std::string path = Normalized(found);
  std::unique_lock<std::shared_mutex> lock(mutex_);
  if (FindByPath(path) == logs_.end()) {
    auto log = std::make_shared<Log>();
    log->number = number;
    log->path = path;
    log->complete = complete;
    log->writer = std::make_shared<ActiveLog>(fs_, path);
    // Was written by a process that may have died before it was synced, or by who knows.
    log->writer->Begin();
    log->writer->End();
    logs_.push_back(std::move(log));
  }
}

IOStatus WalSegments::Keep(RecipeLog* recipe_log, const std::string& path, bool stays, bool* kept) {
  *kept = false;
  const std::shared_ptr<Log> log = TakeIfNeeded(path);
  if (log == nullptr) {
    return IOStatus::OK();
  }
  // Whoever would sync it later does not find it. If it fails, whoever needs what was not durable
  // hears of it.
  if (log->writer != nullptr) {
    log->writer->Sync().PermitUncheckedError();
  }
  const std::string name = DirectoryOf(path) + "/" + LogName(log->segment->id(), tag_);
  uint64_t bytes = 0;
  // The recipe that refers to it may not be durable, and then neither is its id: after a loss of
  // power the log would be taken for that of a newer home (SegmentLoader::IsAlien()).
  IOStatus s = recipe_log->Sync();
  if (s.ok()) {
    s = fs_->GetFileSize(path, IOOptions(), &bytes, nullptr);
  }
  if (s.ok()) {
    s = stays ? fs_->LinkFile(path, name, IOOptions(), nullptr)
              : fs_->RenameFile(path, name, IOOptions(), nullptr);
  }
  if (stays && s.IsNotSupported()) {  // a log on a log device has one name
    s = CopyLog(path, name, bytes);
  }
  std::unique_lock<std::shared_mutex> lock(mutex_);
  log->busy = false;
  if (s.ok()) {
    log->path = name;
    log->bytes = bytes;
    log->retained = true;
    *kept = true;
  }
  return s;
}

// Durably: where it stays it may be deleted for good at any time.
IOStatus WalSegments::CopyLog(const std::string& from, const std::string& to, uint64_t bytes) {
  const std::string temporary = to + kTemporary;
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs_->NewWritableFile(temporary, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = Copy(fs_, from, bytes, file.get());
  }
  s = SyncAndClose(s, file.get());
  if (s.ok()) {
    s = fs_->RenameFile(temporary, to, IOOptions(), nullptr);
  }
  if (s.ok()) {
    return SyncDirectory(fs_, DirectoryOf(to));
  }
  fs_->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

std::shared_ptr<WalSegments::Log> WalSegments::TakeIfNeeded(const std::string& path) {
  std::unique_lock<std::shared_mutex> references_lock(references_mutex_);
  std::unique_lock<std::shared_mutex> lock(mutex_);
  const auto it = FindByPath(path);
  if (it == logs_.end()) {
    return nullptr;
  }
  std::shared_ptr<Log> log = *it;
  if (log->segment == nullptr || log->segment->live() == 0) {
    if (log->segment != nullptr) {
      erased_.push_back(log->segment->id());
    }
    logs_.erase(it);
    return nullptr;
  }
  log->busy = true;
  return log;
}

void WalSegments::Index(RecipeLog* recipe_log, Logger* info_log) {
  std::lock_guard<std::mutex> index_lock(index_mutex_);
  List unread;
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    std::copy_if(logs_.begin(), logs_.end(), std::back_inserter(unread), [](const auto& log) {
      return log->complete && !log->unreadable && !log->failed() && log->segment == nullptr;
    });
  }
  for (const auto& log : unread) {
    auto segment = std::make_unique<Segment>(recipe_log->NewSegment());
    Indexer indexer(segment.get());
    uint64_t bytes = 0;
    IOStatus s = fs_->GetFileSize(log->path, IOOptions(), &bytes, nullptr);
    if (s.ok()) {  // RocksDB may still append to it what it had in its buffer, or a commit
      s = ReadLog(fs_, log->path, log->number, &indexer, bytes);
    }
    if (s.ok() && segment->entries() > 0) {
      LoggedSegment known;
      known.id = segment->id();
      known.log_number = log->number;
      known.entries = segment->entries();
      known.digest = segment->digest();
      known.bytes = bytes;
      s = recipe_log->AddSegment(known);
    }
    if (!s.ok()) {
      ROCKS_LOG_WARN(info_log, "tiered_env: cannot index %s, recipes will be larger: %s",
                     log->path.c_str(), s.ToString().c_str());
    }
    std::unique_lock<std::shared_mutex> lock(mutex_);
    log->bytes = log->indexed = bytes;
    log->unreadable = !s.ok() || segment->entries() == 0;
    if (!log->unreadable) {
      log->segment = std::move(segment);
    }
  }
}

WalSegments::Source::Source(WalSegments* logs) : lock_(logs->references_mutex_) {
  {
    std::shared_lock<std::shared_mutex> lock(logs->mutex_);
    for (const auto& log : logs->logs_) {
      if (log->segment != nullptr && log->segment->entries() > 0 && !log->failed() &&
          !log->damaged) {
        logs_.push_back(log);
        segments_.push_back(
            {log->segment->smallest(), log->segment->largest(), log->segment.get(), false, {}});
      }
    }
  }
  std::sort(segments_.begin(), segments_.end(),
            [](const Candidate& a, const Candidate& b) { return a.smallest < b.smallest; });
}

std::set<uint64_t> WalSegments::Source::used() const {
  std::set<uint64_t> result;
  for (const Candidate& candidate : segments_) {
    if (candidate.used) {
      result.insert(candidate.segment->id());
    }
  }
  return result;
}

std::vector<WalSegments::Source::Candidate>::iterator WalSegments::Source::After(
    SequenceNumber sequence) {
  return std::upper_bound(segments_.begin(), segments_.end(), sequence,
                          [](SequenceNumber number, const Candidate& candidate) {
                            return number < candidate.smallest;
                          });
}

void WalSegments::Source::Expect(SequenceNumber sequence) {
  const auto after = After(sequence);
  if (after != segments_.begin()) {
    std::prev(after)->segment->Expect(sequence);
  }
}

bool WalSegments::Source::Take(const Entry& entry, Reference* reference) {
  const auto after = After(entry.sequence);
  uint64_t fingerprint = 0;
  int looked = 0;
  for (auto it = after; it != segments_.begin() && looked < kNeighbours; looked++) {
    Candidate& candidate = *--it;
    if (candidate.largest < entry.sequence) {
      continue;
    }
    if (fingerprint == 0) {
      fingerprint = FingerprintOf(entry.type, entry.key, entry.value);
    }
    if (candidate.segment->Take(entry.sequence, fingerprint, reference, &candidate.batches)) {
      candidate.used = true;
      return true;
    }
  }
  return false;
}

void WalSegments::Release(const Slice& recipe) {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  std::unordered_map<uint64_t, Segment*> segments;
  for (const auto& log : logs_) {
    if (log->segment != nullptr) {
      segments[log->segment->id()] = log->segment.get();
    }
  }
  Segment* last = nullptr;
  ForEachReference(recipe, [&](const Reference& reference) {
    if (last == nullptr || last->id() != reference.segment) {
      const auto it = segments.find(reference.segment);
      if (it == segments.end()) {
        return;
      }
      last = it->second;
    }
    last->Release(reference.ordinal);
  }).PermitUncheckedError();  // damaged: what it needs is kept until the database is opened again
}

IOStatus WalSegments::Sync() {
  List all;
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    all = logs_;
  }
  return Sync(all);
}

IOStatus WalSegments::Sync(const List& logs) {
  IOStatus s;
  for (auto it = logs.begin(); s.ok() && it != logs.end(); ++it) {
    if ((*it)->writer != nullptr) {
      s = (*it)->writer->Sync();
      s = s.ok() ? (*it)->writer->SyncName() : s;
    }
  }
  return s;
}

IOStatus WalSegments::Sync(const std::set<uint64_t>& ids) {
  List used;
  {
    std::shared_lock<std::shared_mutex> lock(mutex_);
    std::copy_if(logs_.begin(), logs_.end(), std::back_inserter(used), [&](const auto& log) {
      return log->writer != nullptr && log->segment != nullptr && log->segment->live() > 0 &&
             ids.count(log->segment->id()) > 0;
    });
  }
  return Sync(used);
}

void WalSegments::Restore(std::unique_ptr<Segment> segment, const LoggedSegment& known,
                          const std::string& path, bool shared) {
  auto log = std::make_shared<Log>();
  log->number = known.log_number;
  log->indexed = known.bytes;
  log->path = Normalized(path);
  log->complete = true;
  log->retained = IsKept(BaseOf(path));
  log->shared = shared;
  log->compressed = EndsWith(path, kArchiveEnd);
  log->segment = std::move(segment);
  fs_->GetFileSize(path, IOOptions(), &log->bytes, nullptr).PermitUncheckedError();
  std::unique_lock<std::shared_mutex> lock(mutex_);
  logs_.push_back(std::move(log));
}

WalSegments::Sizes WalSegments::GetSizes() const {
  Sizes sizes;
  std::shared_lock<std::shared_mutex> lock(mutex_);
  for (const auto& log : logs_) {
    if (log->segment == nullptr) {
      continue;
    }
    const uint64_t live = log->segment->live();
    if (log->retained) {
      sizes.segments++;
      sizes.retained_bytes += log->bytes;
    } else if (live > 0) {
      sizes.needed_bytes += log->bytes;
    }
    sizes.memory_bytes += log->segment->memory_bytes();
    sizes.entries += log->segment->entries();
    sizes.live_entries += live;
    sizes.entry_bytes += log->segment->bytes();
    sizes.live_bytes += log->segment->live_bytes();
  }
  return sizes;
}

void WalSegments::Sweep(RecipeLog* recipe_log) {
  List dead;
  std::vector<uint64_t> erased;
  {
    std::unique_lock<std::shared_mutex> references_lock(references_mutex_);
    std::unique_lock<std::shared_mutex> lock(mutex_);
    erased.swap(erased_);
    const auto it = std::stable_partition(logs_.begin(), logs_.end(), [](const auto& log) {
      return !log->retained || log->busy || log->segment->live() > 0;
    });
    std::move(it, logs_.end(), std::back_inserter(dead));
    logs_.erase(it, logs_.end());
  }
  for (const uint64_t id : erased) {
    recipe_log->ForgetSegment(id).PermitUncheckedError();
  }
  for (const auto& log : dead) {
    recipe_log->ForgetSegment(log->segment->id()).PermitUncheckedError();
    if (!log->shared) {
      fs_->DeleteFile(log->path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
