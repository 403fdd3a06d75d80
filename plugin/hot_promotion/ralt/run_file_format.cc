// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/run_file_format.h"

#include <cinttypes>
#include <cstdio>

#include "rocksdb/env.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

Options RunFileOptions(Env* env) {
  BlockBasedTableOptions table;
  table.no_block_cache = true;  // nothing is read twice but by merges, which read everything
  table.block_size = 16 << 10;
  Options options;
  options.env = env;
  options.compression = kNoCompression;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

std::string RunFileName(const std::string& directory, uint64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "/%06" PRIu64 ".sst", number);
  return directory + name;
}

bool ParseRunFileName(const std::string& name, uint64_t* number) {
  char rest;
  return sscanf(name.c_str(), "%" SCNu64 ".ss%c", number, &rest) == 2 && rest == 't' &&
         RunFileName("", *number) == "/" + name;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
