// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Moves logs from the device into plain files, and back.

#include <algorithm>
#include <utility>

#include "plugin/raw_wal_fs/database.h"
#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/lost_device.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/options.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/wal_home.h"
#include "rocksdb/convenience.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr size_t kChunk = 1 << 20;  // bytes that are copied at once
// The ending of the name of a log that is about to take the place of a plain file. RocksDB deletes
// one that was left.
constexpr char kImported[] = ".imported.trash";
// The ending of the name of a stub that is kept, since its device may not be lost.
constexpr char kKept[] = ".stub";

struct Move {
  std::string path;
  uint64_t size = 0;
};

IOStatus Copy(FSSequentialFile* from, FSWritableFile* to, const std::function<void(size_t)>& done) {
  const std::unique_ptr<char[]> scratch(new char[kChunk]);
  Slice bytes;
  IOStatus s;
  do {
    s = from->Read(kChunk, IOOptions(), &bytes, scratch.get(), nullptr);
    if (s.ok()) {
      s = to->Append(bytes, IOOptions(), nullptr);
    }
    done(bytes.size());
  } while (s.ok() && !bytes.empty());
  if (s.ok()) {
    s = to->Fsync(IOOptions(), nullptr);
  }
  return s.ok() ? to->Close(IOOptions(), nullptr) : s;
}

class Migration {
 public:
  // `is_lost`: the device is not there.
  Migration(std::shared_ptr<RawWalFileSystem> fs, std::string directory, bool is_lost,
            RawWalProgress progress)
      : fs_(std::move(fs)),
        directory_(std::move(directory)),
        is_lost_(is_lost),
        progress_(std::move(progress)) {}

  // Keeps others from opening the database as long as this object lives. Of the device a dry run
  // hears nothing: that would be opened for writing.
  IOStatus Lock() {
    locker_ = fs_->options().dry_run ? fs_->target() : fs_.get();
    return LockDatabase(locker_, directory_, &lock_);
  }
  ~Migration() {
    if (lock_ != nullptr) {
      locker_->UnlockFile(lock_, IOOptions(), nullptr).PermitUncheckedError();
    }
  }

  // Finds the logs that are, or are not, on the device. Those that are not, by RocksDB's names
  // only: another file that ends in .log may be a program's that lies here.
  IOStatus Find(bool on_device) {
    std::vector<std::string> logs;
    IOStatus s = FindLogs(fs_.get(), directory_, &logs);
    for (size_t i = 0; s.ok() && i < logs.size(); i++) {
      const bool may_be = !IsTrashName(logs[i]) && (on_device || IsLogName(logs[i]));
      s = may_be ? Consider(logs[i], on_device) : s;
    }
    return s;
  }

  IOStatus Run(bool to_device) {
    IOStatus s = to_device && !moves_.empty() ? TakeWalDirOfDatabase() : IOStatus::OK();
    for (const Move& move : moves_) {
      s = !s.ok() ? s : to_device ? ImportOne(move.path) : ExportOne(move.path);
    }
    return s;
  }

  size_t count() const { return moves_.size(); }

 private:
  IOStatus Consider(const std::string& path, bool on_device) {
    bool is_stub;
    IOStatus s = fs_->IsStub(path, &is_stub);
    if (!s.ok() || is_stub != on_device) {
      return s;
    }
    Move move;
    move.path = path;
    const bool needs_all = on_device && !fs_->options().force;
    if (!Exists(path + kExported)) {  // else it was exported before a crash, and may be gone
      s = needs_all ? fs_->CheckWhole(path, &move.size)
                    : fs_->GetFileSize(path, IOOptions(), &move.size, nullptr);
    }
    total_ += move.size;
    moves_.push_back(std::move(move));
    return s;
  }

  bool Exists(const std::string& path) { return fs_->FileExists(path, IOOptions(), nullptr).ok(); }

  void Count(size_t bytes) {
    done_ += bytes;
    if (progress_ != nullptr) {
      progress_(done_, total_);
    }
  }

  IOStatus CopyTo(const std::string& from, const std::string& to, const FileOptions& options) {
    std::unique_ptr<FSSequentialFile> source;
    std::unique_ptr<FSWritableFile> target;
    IOStatus s = fs_->NewSequentialFile(from, FileOptions(), &source, nullptr);
    if (s.ok()) {
      s = fs_->NewWritableFile(to, options, &target, nullptr);
    }
    return s.ok() ? Copy(source.get(), target.get(), [this](size_t n) { Count(n); }) : s;
  }

  // Tells whether a log is copied, and not what an earlier run has left taken for its copy. What
  // was taken by force may lack what is at hand now, as the standby; what is being deleted is not
  // whole.
  bool NeedsCopy(const std::string& path, const std::string& copy) {
    uint64_t size = 0;
    uint64_t copied = 0;
    return !Exists(copy) ||
           (fs_->CheckWhole(path, &size).ok() && size > 0 &&
            fs_->GetFileSize(copy, IOOptions(), &copied, nullptr).ok() && size >= copied);
  }

  // Moves a log off the device. The copy is durable before the log is deleted, and the stub stands
  // in the way of RocksDB until the copy has its name.
  IOStatus ExportOne(const std::string& path) {
    std::string copy = path + kExported;
    const std::string partial = copy + ".tmp";
    IOStatus s;
    if (NeedsCopy(path, copy)) {
      s = CopyTo(path, partial, FileOptions());
      if (is_lost_) {
        copy = partial;  // a later run may have the device, and then deletes what is there
      } else if (s.ok()) {
        s = fs_->RenameFile(partial, copy, IOOptions(), nullptr);
      }
    }
    if (s.ok()) {
      s = SyncDirectory(fs_.get(), DirectoryOf(path));
    }
    if (s.ok()) {
      s = is_lost_ ? PutBeside(copy, path) : Replace(copy, path);
    }
    return s.ok() ? SyncDirectory(fs_.get(), DirectoryOf(path)) : s;
  }

  // The copy has its name before the log is deleted. What was taken by force may lack what another
  // disk has: then the stub stays until the log is deleted, and an opening in between is refused.
  IOStatus Replace(const std::string& copy, const std::string& path) {
    return fs_->options().force ? fs_->RenameFile(copy, path, IOOptions(), nullptr)
                                : fs_->ReplaceLog(path, copy);
  }

  // Puts a copy in the place of a stub, and keeps the stub, and what the standby has: a device that
  // was only named wrongly may have more of the log.
  IOStatus PutBeside(const std::string& copy, const std::string& path) {
    FileSystem* const target = fs_->target();
    IOStatus s = target->FileExists(path + kKept, IOOptions(), nullptr);
    if (s.IsNotFound()) {  // else the export was interrupted
      s = target->LinkFile(path, path + kKept, IOOptions(), nullptr);
      s = s.ok() ? SyncDirectory(target, DirectoryOf(path)) : s;
    }
    return s.ok() ? target->RenameFile(copy, path, IOOptions(), nullptr) : s;
  }

  // The logs that are imported get their names by being renamed. Nobody would know whose they are.
  IOStatus TakeWalDirOfDatabase() {
    std::string wal_dir;
    const std::string& device = fs_->options().device;
    IOStatus s = FindWalDir(fs_.get(), directory_, &wal_dir);
    if (s.ok()) {  // plain logs, too, may be another database's
      s = CheckWalHome(fs_->target(), wal_dir, directory_, device);
    }
    return s.ok() ? TakeWalDir(fs_->target(), wal_dir, directory_, device) : s;
  }

  IOStatus ImportOne(const std::string& path) {
    FileOptions options;
    options.io_options.type = IOType::kWAL;
    const std::string log = path + kImported;
    IOStatus s = CopyTo(path, log, options);
    bool is_stub = false;
    if (s.ok()) {
      s = fs_->IsStub(log, &is_stub);
    }
    if (s.ok() && !is_stub) {
      s = IOStatus::NoSpace("device=" + fs_->options().device, "has no room for " + path);
    }
    if (s.ok()) {
      s = fs_->RenameFile(log, path, IOOptions(), nullptr);
    } else {
      fs_->DeleteFile(log, IOOptions(), nullptr).PermitUncheckedError();
    }
    return s.ok() ? SyncDirectory(fs_.get(), DirectoryOf(path)) : s;
  }

  const std::shared_ptr<RawWalFileSystem> fs_;
  const std::string directory_;
  const bool is_lost_;
  const RawWalProgress progress_;
  FileSystem* locker_ = nullptr;
  FileLock* lock_ = nullptr;
  std::vector<Move> moves_;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

// Returns whether logs are to be taken from the standby, as the device is not there any more.
bool IsLost(const RawWalOptions& options) {
  DeviceInfo info;
  return options.force && !options.standby.empty() && InspectDevice(options.device, &info).ok() &&
         !info.exists;
}

Status UseWithoutDevice(const RawWalOptions& options, RawWalFileSystem* fs) {
  std::shared_ptr<Volume> volume;
  Status s = Validate(options);
  if (s.ok()) {
    s = OpenLostDevice(options.device, options.standby, &volume);
  }
  if (s.ok()) {
    fs->SetVolume(std::move(volume));
  }
  return s;
}

Status Migrate(const RawWalOptions& options, const std::string& directory, bool to_device,
               uint64_t* logs, const RawWalProgress& progress) {
  auto fs = std::make_shared<RawWalFileSystem>(FileSystem::Default());
  *fs->GetOptions<RawWalOptions>() = options;
  if (!to_device) {
    fs->SetExports();
  }
  const bool is_lost = !to_device && IsLost(options);
  Status s = is_lost ? UseWithoutDevice(options, fs.get()) : fs->PrepareOptions(ConfigOptions());
  if (!s.ok()) {
    return s;
  }
  Migration migration(fs, directory, is_lost, progress);
  s = migration.Lock();
  if (s.ok()) {
    s = migration.Find(/*on_device=*/!to_device);
  }
  if (s.ok() && !options.dry_run) {
    s = migration.Run(to_device);
  }
  *logs = migration.count();
  return s;
}

}  // namespace

Status ExportLogs(const RawWalOptions& options, const std::string& directory, uint64_t* logs,
                  const RawWalProgress& progress) {
  return Migrate(options, directory, /*to_device=*/false, logs, progress);
}

Status ImportLogs(const RawWalOptions& options, const std::string& directory, uint64_t* logs,
                  const RawWalProgress& progress) {
  return Migrate(options, directory, /*to_device=*/true, logs, progress);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
