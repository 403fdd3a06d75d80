// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/tiered_env/recipe/recipe_log_format.h"
#include "rocksdb/file_system.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// One file of a recipe log. RecipeLog appends to the newest one, and replaces it when most of it is
// dead. Read() may be called by several threads; whatever writes, and size(), by one at a time.
// Sync() may be called by another one meanwhile.
class RecipeLogFile {
 public:
  RecipeLogFile() = default;
  ~RecipeLogFile();
  RecipeLogFile(const RecipeLogFile&) = delete;
  RecipeLogFile& operator=(const RecipeLogFile&) = delete;

  // Opens a file that is there, to read recipes.
  static IOStatus Open(FileSystem* fs, const std::string& path,
                       std::shared_ptr<RecipeLogFile>* result);
  // Makes a file with a header, also to read recipes. *result is set whatever comes of it.
  static IOStatus Create(FileSystem* fs, const std::string& path, const std::string& database,
                         std::shared_ptr<RecipeLogFile>* result);

  // Reads what is behind size(), the header first. size() is behind the last record that is sound
  // then; those before it that are not are left out. Corruption: the header is damaged, or there is
  // a record of another version; *contents has what was read nevertheless. For a file that was
  // opened, at `path`.
  IOStatus Scan(FileSystem* fs, const std::string& path, RecipeLogContents* contents);
  // Reads a recipe. Fewer bytes than it has, where the file is shorter.
  IOStatus Read(const LoggedRecipe& recipe, std::string* bytes) const;

  // Appends a record. `body_at`, if not null: where its body is in the file.
  IOStatus Write(recipe_log::Kind kind, const Slice& name, const Slice& body,
                 uint64_t* body_at = nullptr);
  // What this file has already of another one: what that had, and the same with its places here.
  struct Copied {
    RecipeLogContents there;
    RecipeLogContents here;
  };
  // Appends all that `live` has, of which recipes are read from `from`, but for those that are
  // copied, drops what is copied and not live, and makes it durable. Recipes have their new offsets
  // in *live then. `from` may be null if there are none.
  IOStatus CopyFrom(const RecipeLogFile* from, const Copied& copied, RecipeLogContents* live);
  IOStatus Sync() { return writer_->Sync(IOOptions(), nullptr); }

  // Bytes that were scanned or written.
  uint64_t size() const { return size_; }

 private:
  // *recipe: its place in `from`, and then here.
  IOStatus CopyRecipe(const RecipeLogFile& from, const std::string& base, LoggedRecipe* recipe);
  IOStatus WriteSegment(recipe_log::Kind kind, const LoggedSegment& segment);

  std::unique_ptr<FSWritableFile> writer_;
  std::unique_ptr<FSRandomAccessFile> reader_;
  uint64_t size_ = 0;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
