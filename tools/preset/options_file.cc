// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/preset/options_file.h"

#include "tools/output.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

constexpr Section kSections[] = {Section::kDatabase, Section::kFamily, Section::kTable};

}  // namespace

void OptionsFile::Option(Section section, const std::string& name, const std::string& value,
                         const std::string& why) {
  entries_.push_back({section, name, value, why});
}

void OptionsFile::TableFactory(const std::string& name, const std::string& why) {
  table_ = name;
  Option(Section::kFamily, "table_factory", name, why);
}

std::string OptionsFile::Title(Section section) const {
  switch (section) {
    case Section::kDatabase:
      return "DBOptions";
    case Section::kFamily:
      return "CFOptions";
    case Section::kTable:
      return "TableOptions/" + table_;
  }
  return "";
}

std::string OptionsFile::ToString(const std::vector<std::string>& head) const {
  std::string text;
  for (const std::string& line : head) {
    text += (line.empty() ? "#" : "# " + line) + "\n";
  }
  // What RocksDB 9.10 wrote all later versions read.
  text += "\n[Version]\n  rocksdb_version=9.10.0\n  options_file_version=1.1\n";
  for (const Section section : kSections) {
    text += "\n[" + Title(section) + (section == Section::kDatabase ? "]\n" : " \"default\"]\n");
    for (const Entry& entry : entries_) {
      if (entry.section == section) {
        text += Wrap(entry.why, "  # ", "  # ", /*width=*/100);
        text += "  " + entry.name + "=" + entry.value + "\n";
      }
    }
  }
  return text;
}

Json OptionsFile::ToJson() const {
  Json json = Json::object();
  for (const Section section : kSections) {
    Json options = Json::object();
    for (const Entry& entry : entries_) {
      if (entry.section == section) {
        options[entry.name] = entry.value;
      }
    }
    json[Title(section)] = options;
  }
  return json;
}

bool IsPlain(const std::string& text) {
  static const std::string kGrammar = ";{}#\\,\"'\x7f";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || kGrammar.find(c) != std::string::npos) {
      return false;
    }
  }
  return true;
}

bool IsPlainPath(const std::string& path) {
  return IsPlain(path) && path.size() > 1 && path[0] == '/' && path.back() != ' ' &&
         path.back() != '/' && (path + "/").find("/../") == std::string::npos;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
