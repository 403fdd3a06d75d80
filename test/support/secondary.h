// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <filesystem>
#include <string>

#include "rocksdb/status.h"
#include "rocksdb/version.h"

namespace rocktier {

// Whether a secondary misses an SST that the primary, whose directory is `home`, has deleted: home
// has none of that name, and never will have again.
inline bool MissesADeletedTable(const ROCKSDB_NAMESPACE::Status& s, const std::string& home) {
  const std::string text = s.ToString();
  const size_t end = text.find(".sst");
  if (!s.IsPathNotFound() || end == std::string::npos) {
    return false;
  }
  const size_t begin = text.find_last_not_of("0123456789", end - 1) + 1;
  return begin < end &&
         !std::filesystem::exists(home + "/" + text.substr(begin, end - begin) + ".sst");
}

// Stock RocksDB 11 lets go of an SST that was moved to another level, and opens it again: a
// secondary fails if the primary has deleted it in between (StockSecondary). It says so, and is to
// try again.
inline bool MustTryAgain(const ROCKSDB_NAMESPACE::Status& s, const std::string& home) {
  return ROCKSDB_MAJOR >= 11 && MissesADeletedTable(s, home);
}

// Calls read(), by which a secondary reads what the primary has, again if it must, though not for
// ever: the primary has deleted what it deletes before the next call, as a rule.
template <typename Read>
ROCKSDB_NAMESPACE::Status ReadAsSecondary(const std::string& home, const Read& read) {
  constexpr int kMostTries = 100;  // in a row
  ROCKSDB_NAMESPACE::Status s = read();
  for (int i = 1; i < kMostTries && MustTryAgain(s, home); i++) {
    s = read();
  }
  return s;
}

}  // namespace rocktier
