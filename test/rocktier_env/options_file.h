// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// OPTIONS files with a line `env=`.

#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/convenience.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_util.h"

#define ASSERT_OK(expression)                               \
  do {                                                      \
    const ROCKSDB_NAMESPACE::Status status_ = (expression); \
    ASSERT_TRUE(status_.ok()) << status_.ToString();        \
  } while (false)

namespace rocktier {

// Returns the path.
inline std::string WriteOptionsFile(const std::string& path, const std::string& env,
                                    const std::string& version = "9.10.0") {
  std::ofstream(path) << "[Version]\n  rocksdb_version=" << version
                      << "\n  options_file_version=1.1\n[DBOptions]\n  create_if_missing=true\n"
                      << "  avoid_flush_during_shutdown=true\n  env=" << env
                      << "\n[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"default\"]\n";
  return path;
}

inline ROCKSDB_NAMESPACE::Status LoadFrom(
    const std::string& path, ROCKSDB_NAMESPACE::Options* result,
    const ROCKSDB_NAMESPACE::ConfigOptions& config = ROCKSDB_NAMESPACE::ConfigOptions()) {
  ROCKSDB_NAMESPACE::DBOptions options;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyDescriptor> families;
  ROCKSDB_NAMESPACE::Status s =
      ROCKSDB_NAMESPACE::LoadOptionsFromFile(config, path, &options, &families);
  if (s.ok()) {
    *result = ROCKSDB_NAMESPACE::Options(options, families[0].options);
  }
  return s;
}

}  // namespace rocktier
