// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/check/options_text.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "rocksdb/convenience.h"
#include "tools/units.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

constexpr char kPrefix[] = "OPTIONS-";

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos
             ? ""
             : text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

// Without a comment, which "\#" begins none.
std::string WithoutComment(const std::string& line) {
  for (size_t i = 0; i < line.size(); i++) {
    if (line[i] == '#' && (i == 0 || line[i - 1] != '\\')) {
      return Trim(line.substr(0, i));
    }
  }
  return Trim(line);
}

FamilyText* FamilyOf(const std::string& name, OptionsText* options) {
  const auto found = std::find_if(options->families.begin(), options->families.end(),
                                  [&](const FamilyText& family) { return family.name == name; });
  if (found != options->families.end()) {
    return &*found;
  }
  options->families.push_back({name, {}, "", {}});
  return &options->families.back();
}

// The options that a section has; null: of no interest. `title`: CFOptions "default".
OptionMap* SectionOf(const std::string& title, OptionsText* options) {
  static const std::string kTable = "TableOptions/";
  const size_t quote = title.find('"');
  const std::string kind = Trim(title.substr(0, quote));
  if (kind == "Version") {
    return &options->version;
  }
  if (kind == "DBOptions") {
    return &options->database;
  }
  if (quote == std::string::npos || (kind != "CFOptions" && kind.rfind(kTable, 0) != 0)) {
    return nullptr;
  }
  FamilyText* const family =
      FamilyOf(title.substr(quote + 1, title.find_last_of('"') - quote - 1), options);
  if (kind == "CFOptions") {
    return &family->options;
  }
  family->table_factory = kind.substr(kTable.size());
  return &family->table;
}

// Takes the table factory from its line in the family's section.
void TakeTable(FamilyText* family) {
  const std::string value = ValueOf(family->options, "table_factory");
  family->table = MapOf(value);
  const std::string id = ValueOf(family->table, "id");
  family->table_factory = id.empty() ? value : id;
}

}  // namespace

Status NewestOptionsFile(const std::string& database, std::string* path) {
  DIR* const directory = opendir(database.c_str());
  if (directory == nullptr) {
    return Status::IOError(database, strerror(errno));
  }
  std::string newest;
  while (const dirent* const entry = readdir(directory)) {
    const std::string name = entry->d_name;
    const std::string number = name.substr(std::min(name.size(), strlen(kPrefix)));
    // As numbers: one with more digits is larger.
    if (name.rfind(kPrefix, 0) == 0 && !number.empty() &&
        number.find_first_not_of("0123456789") == std::string::npos &&
        (name.size() > newest.size() || (name.size() == newest.size() && name > newest))) {
      newest = name;
    }
  }
  closedir(directory);
  *path = database + "/" + newest;
  return newest.empty() ? Status::NotFound(database, "has no OPTIONS file") : Status::OK();
}

Status ReadOptionsText(const std::string& path, OptionsText* options) {
  std::ifstream file(path);
  if (!file) {
    return Status::IOError(path, strerror(errno));
  }
  OptionMap* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    line = WithoutComment(line);
    const size_t equals = line.find('=');
    if (!line.empty() && line[0] == '[') {
      section = SectionOf(line.substr(1, line.find_last_of(']') - 1), options);
    } else if (section != nullptr && equals != std::string::npos) {
      (*section)[Trim(line.substr(0, equals))] = Trim(line.substr(equals + 1));
    }
  }
  for (FamilyText& family : options->families) {
    if (family.table_factory.empty()) {  // it has no section
      TakeTable(&family);
    }
  }
  return options->families.empty() ? Status::InvalidArgument(path, "is no OPTIONS file")
                                   : Status::OK();
}

std::string ValueOf(const OptionMap& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

uint64_t BytesIn(const std::string& text, uint64_t otherwise) {
  std::string capital = text;
  if (!capital.empty() && std::strchr("kmgt", capital.back()) != nullptr) {
    capital.back() = static_cast<char>(capital.back() - 'a' + 'A');
  }
  uint64_t bytes = 0;
  return ParseBytes(capital, &bytes) ? bytes : otherwise;
}

uint64_t BytesOf(const OptionMap& options, const std::string& name, uint64_t otherwise) {
  return BytesIn(ValueOf(options, name), otherwise);
}

OptionMap MapOf(const std::string& value) {
  OptionMap map;
  return StringToMap(value, &map).ok() ? map : OptionMap();
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
