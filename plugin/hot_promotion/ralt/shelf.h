// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/builder.h"
#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/version.h"
#include "rocksdb/env.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The table's directory: the lock, the catalog and the tablets. Not thread-safe; its files are removed
// by the thread that uses it, never by a reader that is the last to need one.
class Shelf {
 public:
  Shelf(Env* env, std::string directory, std::shared_ptr<Logger> logger);
  ~Shelf();
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  // Makes the directory if need be, and locks it.
  Status Open();

  // The catalog as it is on the disk, and whether there is one that is of use. Files that it does not name are removed, and
  // all if there is none. An error: it cannot be read at present; nothing is removed.
  Status ReadCatalog(Catalog* catalog, bool* found);
  // Replaces it, durably.
  Status WriteCatalog(const Catalog& catalog);

  // Null: the file is damaged or not what the catalog says, and is told in the LOG. An error: it cannot be read at present.
  Status OpenTablet(const Catalog::Part& part, std::shared_ptr<const Tablet>* tablet);

  // Begins a file. Its builder goes to Finish() in any case.
  Status Begin(uint64_t number, std::unique_ptr<Builder>* builder);
  // If `s`, what came in between, is OK: makes the file durable and opens it. Else, and if that fails:
  // removes it. `builder` may be null, then so is *tablet.
  Status Finish(uint64_t number, std::unique_ptr<Builder> builder, Status s,
                std::shared_ptr<const Tablet>* tablet);

  std::string NameOf(uint64_t number) const { return TabletName(directory_, number); }

  // Removes the file of a tablet once nobody has it.
  void Discard(std::shared_ptr<const Tablet> tablet);
  // Removes what can be removed by now.
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
