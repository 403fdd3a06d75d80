// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// An OPTIONS file as text. Nothing that it names is made.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

using OptionMap = std::unordered_map<std::string, std::string>;

struct FamilyText {
  std::string name;
  OptionMap options;
  std::string table_factory;
  OptionMap table;  // its options, of a section or of the line table_factory={...}
};

struct OptionsText {
  OptionMap version;
  OptionMap database;
  std::vector<FamilyText> families;
};

// The OPTIONS file of a database that RocksDB has written last. NotFound if there is none.
Status NewestOptionsFile(const std::string& database, std::string* path);

Status ReadOptionsText(const std::string& path, OptionsText* options);

// The value of an option; empty if it is not there.
std::string ValueOf(const OptionMap& options, const std::string& name);
// A number of bytes as RocksDB takes it, as 64m or 64M; `otherwise` if it is none.
uint64_t BytesIn(const std::string& text, uint64_t otherwise);
// The same, of an option.
uint64_t BytesOf(const OptionMap& options, const std::string& name, uint64_t otherwise);

// What is in braces, as "{id=X;path=/y}", by name; empty if it is not of that form.
OptionMap MapOf(const std::string& value);

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
