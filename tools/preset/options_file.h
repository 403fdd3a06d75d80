// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// An OPTIONS file of RocksDB, with a comment above each option.

#pragma once

#include <string>
#include <vector>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

enum class Section { kDatabase, kFamily, kTable };

class OptionsFile {
 public:
  // Adds an option. `why`: a comment.
  void Option(Section section, const std::string& name, const std::string& value,
              const std::string& why);
  // Sets the table factory, "BlockBasedTable" by default, and with `why` the option of that name.
  void TableFactory(const std::string& name, const std::string& why);

  // `head`: lines of comment before all.
  std::string ToString(const std::vector<std::string>& head) const;
  // By sections' titles, without "default".
  Json ToJson() const;

 private:
  struct Entry {
    Section section;
    std::string name;
    std::string value;
    std::string why;
  };

  std::string Title(Section section) const;

  std::string table_ = "BlockBasedTable";
  std::vector<Entry> entries_;
};

// Whether a text is without what is grammar in an OPTIONS file or in a URI, and so may stand there.
bool IsPlain(const std::string& text);
// The same of an absolute path, which is also without "..".
bool IsPlainPath(const std::string& path);

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
