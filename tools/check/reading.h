// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What RocksDB itself makes of an OPTIONS file.

#pragma once

#include <string>

#include "tools/check/report.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

// Has RocksDB read the file, of which `text` is what is known already. Nothing that the file names
// is opened or made: stand-ins take the place of an Env of rocktier_env, and of block caches with a
// file. Adds to the report why RocksDB would refuse the file, and what it would pass over without a
// word. `is_own`: RocksDB has written it, and no name in it is misspelt. Returns the text of the
// FileSystem that `env` names; empty if it names none.
std::string ReadAsRocksDB(const std::string& path, const OptionsText& text, bool is_own,
                          Report* report);

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
