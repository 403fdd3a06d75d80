// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Where a database's statistics files may be, and which process has it open. Nothing is opened for
// writing, and nothing is locked.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

// A file that may be there, and may be a statistics file of the database.
struct Candidate {
  enum Place {
    kGiven,   // by the user: it is shown, whatever it is
    kOwn,     // in the directory of the database, by a name that plugins give there: as well
    kNamed,   // by the OPTIONS file
    kInside,  // in the directory of the database, by another name: a cache file is there
    kBeside,  // beside it: belongs to the database if it is of the process that has that open
  };
  std::string path;  // without symbolic links, if it is there
  Place place;
};

// Each file once.
std::vector<Candidate> FindCandidates(const std::string& db, const std::vector<std::string>& given);

// The process that has the database open for writing; 0: none, or it cannot be known.
int64_t ProcessOf(const std::string& db);

// Why a process cannot be the one that wrote at that time, in seconds since 1970; empty if it can.
std::string WhyNotWriter(int64_t process, double time);

// The path without symbolic links; as it is, if there is no such file.
std::string Canonical(const std::string& path);

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
