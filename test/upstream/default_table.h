// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The table factories that RocksDB's tests can have in the place of BlockBasedTable.

#pragma once

#include <functional>
#include <map>
#include <string>

#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {

struct DefaultTable {
  std::function<TableFactory*(const BlockBasedTableOptions&)> make;
  // Sets what goes with it in default options.
  void (*set_family)(ColumnFamilyOptions* options);
  void (*set_db)(DBOptions* options);
  // What the tests have shown, once they are over; "" if they have shown nothing.
  std::function<std::string()> shown;
};

// By the value of ROCKTIER_TABLE_FACTORY.
std::map<std::string, DefaultTable>& DefaultTables();

}  // namespace ROCKSDB_NAMESPACE
