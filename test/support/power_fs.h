// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A FileSystem whose power can fail. What raw_wal_fs writes to its device goes past it, and stays:
// tests of that have a device that loses power, test/raw_wal_fs/power_device.h.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"

namespace rocktier {

// A FileSystem whose power can fail: then bytes of files that were not synced are lost, and names
// that were made, changed or removed since their directory was synced are as they were. What
// FaultInjectionTestFS does, with deletions, and with what renames have replaced. Thread-safe.
class PowerFs : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  using IOStatus = ROCKSDB_NAMESPACE::IOStatus;
  using IOOptions = ROCKSDB_NAMESPACE::IOOptions;
  using IODebugContext = ROCKSDB_NAMESPACE::IODebugContext;
  using FileOptions = ROCKSDB_NAMESPACE::FileOptions;
  using FSWritableFile = ROCKSDB_NAMESPACE::FSWritableFile;

  // `attic`: an empty directory on the same device, for what may have to come back.
  explicit PowerFs(std::string attic);
  static const char* kClassName() { return "PowerFs"; }
  const char* Name() const override { return kClassName(); }

  // From the n-th change on everything fails.
  void FailAfter(uint64_t changes);
  bool failed();
  // Whether a failure would leave a name as it is now.
  bool IsDurable(const std::string& path);
  // Whether a failure would leave all bytes of a file.
  bool IsSynced(const std::string& path);
  // The process alone has died: all is as it was, what is not synced is not so still. Nothing may
  // be open.
  void Restart();
  // Makes of the files what a failure leaves; at random, or as little as can be. Nothing may be
  // open. A log of RocksDB is not cut between two records at random, nor left without any: stock
  // RocksDB does not see that its end is missing, if a later log goes on (StockLogs). All else is.
  void Fail(std::mt19937_64* random, bool least);

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  // What is written over durable bytes stays: of such a file only its length is lost, by pages.
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomRWFile>* result,
                           IODebugContext* dbg) override;
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory>* result,
                        IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override;

 private:
  // A file, whatever its names are.
  struct Node {
    ~Node();
    std::string anchor;  // its name in the attic
    uint64_t synced = 0;
    bool in_pages = false;  // is lost by pages
  };
  using NodePointer = std::shared_ptr<Node>;
  // What names stood for before they were changed; null: nothing.
  using Change = std::vector<std::pair<std::string, NodePointer>>;
  struct Journal {
    std::deque<Change> changes;
    uint64_t durable = 0;  // how many there were before them
  };
  class File;
  class RandomFile;
  class Directory;

  // Syncs a file by sync(): what was there when it began is durable when it has ended.
  template <typename DoSync>
  IOStatus SyncNode(const NodePointer& node, const DoSync& sync);
  bool Ask();

  // All below require mutex_.
  bool Change1();
  NodePointer NodeOf(const std::string& path);
  NodePointer Anchor(const std::string& path, uint64_t synced);
  void Note(Change change);
  static IOStatus Off();
  IOStatus Wrap(const std::string& path, std::unique_ptr<FSWritableFile>* result);

  const std::string attic_;
  std::mutex mutex_;
  // All below: guarded by mutex_.
  uint64_t left_ = UINT64_MAX;
  uint64_t anchors_ = 0;
  std::map<std::string, NodePointer> nodes_;  // by path
  std::map<std::string, Journal> unsynced_;   // by directory
};

}  // namespace rocktier
