// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// An OPTIONS file as text. Nothing that it names is made: that may open devices and directories.

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
  OptionMap table;
};

struct OptionsText {
  OptionMap database;
  std::vector<FamilyText> families;
};

// The OPTIONS file of a database that RocksDB has written last. NotFound if there is none.
Status NewestOptionsFile(const std::string& database, std::string* path);

Status ReadOptionsText(const std::string& path, OptionsText* options);

// The value of an option; empty if it is not there.
std::string ValueOf(const OptionMap& options, const std::string& name);
// The same, of bytes; `otherwise` if it is not there, or no number of bytes.
uint64_t BytesOf(const OptionMap& options, const std::string& name, uint64_t otherwise);

// What is in braces, as "{id=X;path=/y}", by name; empty if it is not of that form.
OptionMap MapOf(const std::string& value);

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
