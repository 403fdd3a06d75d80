// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

struct Item {
  std::string name;
  std::string value;
};

// Splits "name=value;name={...};..." in its order, by RocksDB's rules for option strings. Braces
// around the whole text are dropped: RocksDB 11 leaves them on the value of an option, earlier ones
// do not. `where`: what the text is of, for the InvalidArgument.
Status ParseItems(const std::string& where, const std::string& text, std::vector<Item>* items);

// InvalidArgument for an item of `where`.
Status Invalid(const std::string& where, const Item& item, const std::string& rule);

// Decimal digits only. ParseSize(): perhaps with K, M, G or T (powers of 1024). False if it is no
// such number, or too large.
bool ParseNumber(const std::string& text, uint64_t* value);
bool ParseSize(const std::string& text, uint64_t* value);
// A number and s, m, h or d, as seconds. False if it is none, or too large.
bool ParseDuration(const std::string& text, uint64_t* seconds);

// What the pattern of a column family's name follows.
constexpr char kFamily[] = "cf:";
// Returns whether a pattern of fnmatch(3) fits the name of a column family. An empty name is not
// known: nothing fits it.
bool FitsFamily(const std::string& pattern, const std::string& family);

// Lists the first `most` items for a message, and tells how many more there are.
std::string Join(const std::vector<std::string>& items, size_t most = SIZE_MAX);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
