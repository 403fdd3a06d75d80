// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Linked into RocksDB's db_stress with --wrap, adds the plugin's listener to each database that is opened: db_stress drops the
// listeners of its options file.

#include <memory>
#include <string>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/db.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

#if ROCKSDB_MAJOR >= 11
using OpenedDb = std::unique_ptr<DB>;
#define RESULT "PSt10unique_ptrIS0_St14default_deleteIS0_EE"
#else
using OpenedDb = DB*;
#define RESULT "PPS0_"
#endif
#define OPEN                                                                                   \
  "_ZN7rocksdb2DB4OpenERKNS_9DBOptionsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE" \
  "RKSt6vectorINS_22ColumnFamilyDescriptorESaISD_EEPSC_IPNS_18ColumnFamilyHandleESaISJ_EE" RESULT

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of __real_SYMBOL to SYMBOL.
Status RealOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) __asm__("__real_" OPEN);
Status WrapOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) __asm__("__wrap_" OPEN);

Status WrapOpen(const DBOptions& options, const std::string& name,
                const std::vector<ColumnFamilyDescriptor>& families,
                std::vector<ColumnFamilyHandle*>* handles, OpenedDb* db) {
  DBOptions with_listener = options;
  with_listener.listeners.push_back(blob_hybrid::NewBlobHybridListener());
  return RealOpen(with_listener, name, families, handles, db);
}

}  // namespace ROCKSDB_NAMESPACE
