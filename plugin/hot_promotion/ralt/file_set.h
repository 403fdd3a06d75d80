// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/run_file_builder.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "plugin/hot_promotion/ralt/version.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The table's directory: the lock, the catalog and the run files. Not thread-safe; its files are
// removed by the thread that uses it, never by a reader that is the last to need one.
class FileSet {
 public:
  FileSet(Env* env, std::string directory, std::shared_ptr<Logger> logger);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;

  // Makes the directory if need be, and locks it.
  Status Open();

  // Reads the catalog. *found: whether there is one that is of use. Removes run files that it does
  // not name, all if there is no such catalog. An error: it cannot be read at present; nothing is
  // removed.
  Status ReadCatalog(Catalog* catalog, bool* found);
  // Replaces the catalog, durably.
  Status WriteCatalog(const Catalog& catalog);

  // Opens a file that the catalog names. *file is null: the file is damaged or not what the
  // catalog says; the LOG tells it. An error: it cannot be read at present.
  Status OpenFile(const Catalog::Part& part, std::shared_ptr<const RunFile>* file);

  // Begins a file. Its builder goes to Finish() in any case.
  Status Begin(uint64_t number, std::unique_ptr<RunFileBuilder>* builder);
  // Makes the file durable and opens it, if `s`, the status of writing it, is OK. Otherwise, and if
  // that fails, removes it. If `builder` is null, *file is null too.
  Status Finish(uint64_t number, std::unique_ptr<RunFileBuilder> builder, Status s,
                std::shared_ptr<const RunFile>* file);

  std::string NameOf(uint64_t number) const { return RunFileName(directory_, number); }

  // Removes a run file once nobody has it.
  void Discard(std::shared_ptr<const RunFile> file);
  // Removes the discarded files that nobody has by now. None goes while it is not known which
  // catalog the next opening finds, for the last one could not be made durable.
  void Sweep();

  // May be null.
  Logger* logger() const { return logger_.get(); }

 private:
  Status OpenFile(uint64_t number, std::shared_ptr<const RunFile>* file);
  void RemoveFile(uint64_t number);
  void RemoveUnknown(const Catalog& catalog);
  Status SyncDirectory();

  Env* const env_;
  const std::string directory_;
  const std::shared_ptr<Logger> logger_;
  FileLock* lock_ = nullptr;
  bool catalog_is_known_ = true;
  std::vector<std::shared_ptr<const RunFile>> discarded_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
