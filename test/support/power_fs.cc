// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/support/power_fs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "db/log_format.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kPage = 4096;  // bytes

// The same for all that a file or directory is called: RocksDB doubles slashes, and ends with one.
std::string Normalized(const std::string& path) {
  std::string result = fs::path(path).lexically_normal();
  if (result.size() > 1 && result.back() == '/') {
    result.pop_back();
  }
  return result;
}

std::string DirectoryOf(const std::string& path) { return fs::path(path).parent_path(); }

bool IsRecyclable(uint8_t type) {
  return (type >= log::kRecyclableFullType && type <= log::kRecyclableLastType) ||
         type == log::kRecyclableUserDefinedTimestampSizeType;
}

// Whether a path has the name of a log that RocksDB replays, in a tier as well, where more follows
// it: 000012.log.0123456789abcdef. Not of one that tiered_env retains: it knows how much it needs.
bool IsNameOfLog(const std::string& path) {
  const std::string base = fs::path(path).filename();
  const std::string end = ".log";
  const size_t digits = std::min(base.find_first_not_of("0123456789"), base.size());
  const size_t after = digits + end.size();
  return digits > 0 && base.compare(digits, end.size(), end) == 0 &&
         (base.size() == after || base[after] == '.');
}

// Whether a file of such a name is the stub that tiered_env or raw_wal_fs have in the log's place:
// a record whose write batch has a tag that RocksDB does not know.
bool IsStub(const std::string& path) {
  constexpr size_t kType = 6;
  constexpr size_t kTag = log::kHeaderSize + 8 + 4;  // sequence number, count
  uint8_t begin[kTag + 1] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(begin), sizeof(begin));
  return begin[kType] == log::kFullType && begin[kTag] == 0xEE;
}

// Whether a log of RocksDB that is cut at `size` ends with a whole record.
bool EndsARecord(const std::string& path, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  uint64_t at = 0;
  while (at < size) {
    const uint64_t left = log::kBlockSize - at % log::kBlockSize;
    if (left < log::kHeaderSize) {
      at += left;
      continue;
    }
    uint8_t header[log::kHeaderSize] = {};  // checksum, length, type
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(header), sizeof(header));
    at += IsRecyclable(header[6]) ? log::kRecyclableHeaderSize : log::kHeaderSize;
    at += header[4] + (header[5] << 8U);
  }
  return at == size;
}

}  // namespace

PowerFs::Node::~Node() { unlink(anchor.c_str()); }

template <typename DoSync>
IOStatus PowerFs::SyncNode(const NodePointer& node, const DoSync& sync) {
  if (!Ask()) {
    return Off();
  }
  std::error_code error;
  const uint64_t size = fs::file_size(node->anchor, error);
  IOStatus s = sync();
  std::lock_guard<std::mutex> lock(mutex_);
  if (left_ == 0) {
    return Off();
  }
  node->synced = std::max(node->synced, size);
  return s;
}

class PowerFs::File : public FSWritableFileOwnerWrapper {
 public:
  File(PowerFs* power, NodePointer node, std::unique_ptr<FSWritableFile>&& target)
      : FSWritableFileOwnerWrapper(std::move(target)), power_(power), node_(std::move(node)) {}

  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Ask() ? target()->Append(data, options, dbg) : Off();
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification, IODebugContext* dbg) override {
    return Ask() ? target()->Append(data, options, verification, dbg) : Off();
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return Ask() ? target()->PositionedAppend(data, offset, options, dbg) : Off();
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification,
                            IODebugContext* dbg) override {
    return Ask() ? target()->PositionedAppend(data, offset, options, verification, dbg) : Off();
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return Ask() ? target()->Truncate(size, options, dbg) : Off();
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return power_->SyncNode(node_, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return power_->SyncNode(node_, [&] { return target()->Fsync(options, dbg); });
  }

 private:
  bool Ask() { return power_->Ask(); }

  PowerFs* const power_;
  const NodePointer node_;
};

class PowerFs::RandomFile : public FSRandomRWFileOwnerWrapper {
 public:
  RandomFile(PowerFs* power, NodePointer node, std::unique_ptr<FSRandomRWFile>&& target)
      : FSRandomRWFileOwnerWrapper(std::move(target)), power_(power), node_(std::move(node)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return power_->Ask() ? FSRandomRWFileOwnerWrapper::Write(offset, data, options, dbg) : Off();
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return power_->SyncNode(node_, [&] { return FSRandomRWFileOwnerWrapper::Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return power_->SyncNode(node_, [&] { return FSRandomRWFileOwnerWrapper::Fsync(options, dbg); });
  }

 private:
  PowerFs* const power_;
  const NodePointer node_;
};

class PowerFs::Directory : public FSDirectoryWrapper {
 public:
  Directory(PowerFs* power, std::string path, std::unique_ptr<FSDirectory>&& target)
      : FSDirectoryWrapper(std::move(target)), power_(power), path_(std::move(path)) {}
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return SyncAll([&] { return FSDirectoryWrapper::Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& reason) override {
    return SyncAll([&] { return FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, reason); });
  }

 private:
  template <typename DoSync>
  IOStatus SyncAll(const DoSync& sync) {
    uint64_t end;
    {
      std::lock_guard<std::mutex> lock(power_->mutex_);
      if (!power_->Change1()) {
        return Off();
      }
      const Journal& journal = power_->unsynced_[path_];
      end = journal.durable + journal.changes.size();
    }
    usleep(100);  // others may come to believe that it has ended
    IOStatus s = sync();
    std::lock_guard<std::mutex> lock(power_->mutex_);
    if (power_->left_ == 0) {
      return Off();
    }
    Journal& journal = power_->unsynced_[path_];
    for (; journal.durable < end; journal.durable++) {  // another sync may have done some of it
      journal.changes.pop_front();
    }
    return s;
  }

  PowerFs* const power_;
  const std::string path_;
};

PowerFs::PowerFs(std::string attic)
    : FileSystemWrapper(FileSystem::Default()), attic_(std::move(attic)) {
  fs::create_directories(attic_);
}

IOStatus PowerFs::Off() { return IOStatus::IOError("the power has failed"); }

void PowerFs::FailAfter(uint64_t changes) {
  std::lock_guard<std::mutex> lock(mutex_);
  left_ = changes;
}

bool PowerFs::failed() {
  std::lock_guard<std::mutex> lock(mutex_);
  return left_ == 0;
}

bool PowerFs::IsDurable(const std::string& raw_path) {
  const std::string path = Normalized(raw_path);
  std::lock_guard<std::mutex> lock(mutex_);
  const std::deque<Change>& changes = unsynced_[DirectoryOf(path)].changes;
  return std::none_of(changes.begin(), changes.end(), [&](const Change& change) {
    return std::any_of(change.begin(), change.end(),
                       [&](const auto& name) { return name.first == path; });
  });
}

bool PowerFs::IsSynced(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  const NodePointer node = NodeOf(Normalized(path));
  std::error_code error;
  return node != nullptr && node->synced >= fs::file_size(node->anchor, error);
}

bool PowerFs::Ask() {
  std::lock_guard<std::mutex> lock(mutex_);
  return Change1();
}

bool PowerFs::Change1() {
  left_ -= left_ > 0 && left_ != UINT64_MAX ? 1 : 0;
  return left_ > 0;
}

PowerFs::NodePointer PowerFs::Anchor(const std::string& path, uint64_t synced) {
  auto node = std::make_shared<Node>();
  node->anchor = attic_ + "/" + std::to_string(anchors_++);
  node->synced = synced;
  fs::create_hard_link(path, node->anchor);
  return node;
}

// Files that are older than this object are durable.
PowerFs::NodePointer PowerFs::NodeOf(const std::string& path) {
  const auto it = nodes_.find(path);
  if (it != nodes_.end()) {
    return it->second;
  }
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return nullptr;
  }
  return nodes_[path] = Anchor(path, fs::file_size(path, error));
}

void PowerFs::Note(Change change) {
  unsynced_[DirectoryOf(change[0].first)].changes.push_back(std::move(change));
}

IOStatus PowerFs::Wrap(const std::string& path, std::unique_ptr<FSWritableFile>* result) {
  *result = std::make_unique<File>(this, NodeOf(path), std::move(*result));
  return IOStatus::OK();
}

IOStatus PowerFs::NewWritableFile(const std::string& raw_path, const FileOptions& options,
                                  std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) {
  const std::string path = Normalized(raw_path);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  const NodePointer old = NodeOf(path);
  IOStatus s = target_->NewWritableFile(path, options, result, dbg);
  if (s.ok() && old != nullptr) {
    old->synced = 0;
  } else if (s.ok()) {
    nodes_[path] = Anchor(path, 0);
    Note({{path, nullptr}});
  }
  return s.ok() ? Wrap(path, result) : s;
}

IOStatus PowerFs::ReopenWritableFile(const std::string& raw_path, const FileOptions& options,
                                     std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) {
  const std::string path = Normalized(raw_path);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  const NodePointer old = NodeOf(path);
  IOStatus s = target_->ReopenWritableFile(path, options, result, dbg);
  if (s.ok() && old == nullptr) {
    nodes_[path] = Anchor(path, 0);
    Note({{path, nullptr}});
  }
  return s.ok() ? Wrap(path, result) : s;
}

IOStatus PowerFs::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                    const FileOptions& options,
                                    std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) {
  IOStatus s = RenameFile(old_path, path, options.io_options, dbg);
  return s.ok() ? NewWritableFile(path, options, result, dbg) : s;
}

IOStatus PowerFs::NewRandomRWFile(const std::string& raw_path, const FileOptions& options,
                                  std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) {
  const std::string path = Normalized(raw_path);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  IOStatus s = target_->NewRandomRWFile(path, options, result, dbg);
  if (s.ok()) {
    const NodePointer node = NodeOf(path);
    node->in_pages = true;
    *result = std::make_unique<RandomFile>(this, node, std::move(*result));
  }
  return s;
}

IOStatus PowerFs::NewDirectory(const std::string& path, const IOOptions& options,
                               std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) {
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = target_->NewDirectory(path, options, &directory, dbg);
  if (s.ok()) {
    *result = std::make_unique<Directory>(this, Normalized(path), std::move(directory));
  }
  return s;
}

IOStatus PowerFs::DeleteFile(const std::string& raw_path, const IOOptions& options,
                             IODebugContext* dbg) {
  const std::string path = Normalized(raw_path);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  const NodePointer old = NodeOf(path);
  IOStatus s = target_->DeleteFile(path, options, dbg);
  if (s.ok()) {
    nodes_.erase(path);
    Note({{path, old}});
  }
  return s;
}

IOStatus PowerFs::RenameFile(const std::string& raw_from, const std::string& raw_to,
                             const IOOptions& options, IODebugContext* dbg) {
  const std::string from = Normalized(raw_from);
  const std::string to = Normalized(raw_to);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  const NodePointer moved = NodeOf(from);
  const NodePointer replaced = NodeOf(to);
  IOStatus s = target_->RenameFile(from, to, options, dbg);
  if (!s.ok() || moved == nullptr) {  // directories: durable at once
    return s;
  }
  nodes_.erase(from);
  nodes_[to] = moved;
  if (DirectoryOf(from) == DirectoryOf(to)) {
    Note({{from, moved}, {to, replaced}});
  } else {
    Note({{from, moved}});
    Note({{to, replaced}});
  }
  return s;
}

IOStatus PowerFs::LinkFile(const std::string& raw_from, const std::string& raw_to,
                           const IOOptions& options, IODebugContext* dbg) {
  const std::string from = Normalized(raw_from);
  const std::string to = Normalized(raw_to);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!Change1()) {
    return Off();
  }
  IOStatus s = target_->LinkFile(from, to, options, dbg);
  if (s.ok()) {
    nodes_[to] = NodeOf(from);
    Note({{to, nullptr}});
  }
  return s;
}

void PowerFs::Restart() {
  std::lock_guard<std::mutex> lock(mutex_);
  left_ = UINT64_MAX;
}

void PowerFs::Fail(std::mt19937_64* random, bool least) {
  std::lock_guard<std::mutex> lock(mutex_);
  // The last changes of each directory are undone, in the order of a journal.
  for (auto& [directory, journal] : unsynced_) {
    std::deque<Change>& changes = journal.changes;
    size_t undone = least ? changes.size() : (*random)() % (changes.size() + 1);
    for (; undone > 0; undone--) {
      for (const auto& [path, node] : changes.back()) {
        std::error_code error;
        fs::remove(path, error);
        nodes_.erase(path);
        if (node != nullptr) {
          fs::create_hard_link(node->anchor, path, error);
          nodes_[path] = node;
        }
      }
      changes.pop_back();
    }
  }
  std::set<NodePointer> logs;  // under any of their names
  for (const auto& [path, node] : nodes_) {
    if (IsNameOfLog(path) && !IsStub(path)) {
      logs.insert(node);
    }
  }
  for (const auto& [path, node] : nodes_) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    if (!error && size > node->synced) {
      uint64_t left = least ? node->synced : node->synced + (*random)() % (size - node->synced + 1);
      if (node->in_pages) {
        left = std::max(node->synced, left / kPage * kPage);
      } else if (!least && left < size && logs.count(node) > 0 && EndsARecord(path, left)) {
        left += left > node->synced ? -1 : 1;
      }
      fs::resize_file(path, left);
    }
  }
  unsynced_.clear();
  nodes_.clear();
  left_ = UINT64_MAX;
}

}  // namespace rocktier
