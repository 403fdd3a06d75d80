// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/builder.h"
#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "plugin/hot_promotion/ralt/version.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The table's directory: the lock, the catalog and the tablets. Not thread-safe; its files are
// removed by the thread that uses it, never by a reader that is the last to need one.
class Shelf {
 public:
  Shelf(Env* env, std::string directory, std::shared_ptr<Logger> logger);
  ~Shelf();
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  // Makes the directory if need be, and locks it.
  Status Open();

  // Reads the catalog. *found: whether there is one that is of use. Removes tablets that it does
  // not name, all if there is no such catalog. An error: it cannot be read at present; nothing is
  // removed.
  Status ReadCatalog(Catalog* catalog, bool* found);
  // Replaces the catalog, durably.
  Status WriteCatalog(const Catalog& catalog);

  // Opens a file that the catalog names. *tablet is null: the file is damaged or not what the
  // catalog says; the LOG tells it. An error: it cannot be read at present.
  Status OpenTablet(const Catalog::Part& part, std::shared_ptr<const Tablet>* tablet);

  // Begins a file. Its builder goes to Finish() in any case.
  Status Begin(uint64_t number, std::unique_ptr<Builder>* builder);
  // Makes the file durable and opens it, if `s`, the status of writing it, is OK. Otherwise, and if
  // that fails, removes it. If `builder` is null, *tablet is null too.
  Status Finish(uint64_t number, std::unique_ptr<Builder> builder, Status s,
                std::shared_ptr<const Tablet>* tablet);

  std::string NameOf(uint64_t number) const { return RunFileName(directory_, number); }

  // Removes the file of a tablet once nobody has it.
  void Discard(std::shared_ptr<const Tablet> tablet);
  // Removes the discarded files that nobody has by now.
  void Sweep();

  // May be null.
  Logger* logger() const { return logger_.get(); }

 private:
  Status OpenTablet(uint64_t number, std::shared_ptr<const Tablet>* tablet);
  void RemoveFile(uint64_t number);
  void RemoveUnknown(const Catalog& catalog);
  Status SyncDirectory();

  Env* const env_;
  const std::string directory_;
  const std::shared_ptr<Logger> logger_;
  FileLock* lock_ = nullptr;
  std::vector<std::shared_ptr<const Tablet>> discarded_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
