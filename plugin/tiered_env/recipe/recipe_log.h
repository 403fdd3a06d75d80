// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/tiered_env/recipe/recipe_log_file.h"
#include "plugin/tiered_env/recipe/recipe_log_format.h"
#include "rocksdb/file_system.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The recipe log of a database: of which of its SSTs are there recipes, and which segments do they
// refer to. What is added is durable after the next Sync(). FORMAT.md has the format. Thread-safe.
class RecipeLog {
 public:
  // `directory` exists; `fs` shows all that is in it.
  RecipeLog(FileSystem* fs, std::string directory);
  ~RecipeLog();

  using Contents = RecipeLogContents;

  // Reads what is there, without records that are damaged: Contents::damage. Then recipes can be
  // read, after Corruption, too: RecipeLogFile::Scan().
  IOStatus Load(Contents* contents);
  // Reads what another process has written since the last call: instead of Load(), for whoever has
  // not locked the database. After an error what was known may be gone; the next call begins anew.
  IOStatus Follow();
  // Goes on, in a new file, with what is to be kept of that; the database gets an id if it has
  // none. The new file is durable before the old one is deleted.
  IOStatus Start(const Contents& keep);

  // Gives an SST a recipe, or another one, or none. NotSupported: the recipe is too long.
  IOStatus AddRecipe(const std::string& base, const Slice& recipe);
  IOStatus Drop(const std::string& base);
  // Returns an id that was never used.
  uint64_t NewSegment();
  IOStatus AddSegment(const LoggedSegment& segment);
  IOStatus ForgetSegment(uint64_t id);
  IOStatus AddDirectory(const std::string& name);
  // Drops all recipes and forgets all segments, durably, but for the ids of a newer home.
  IOStatus Clear();

  // NotFound: there is none.
  IOStatus ReadRecipe(const std::string& base, std::string* recipe) const;
  bool Has(const std::string& base) const;

  IOStatus Sync();
  // Writes what is live into a new file, if most is dead. Others do not wait for the copy.
  IOStatus Compact();

  // Part of the database's id, in hexadecimal digits; empty: there is none.
  static constexpr size_t kTagSize = 16;
  static std::string TagOf(const Contents& contents);
  std::string tag() const;

  uint64_t bytes() const;          // of the file
  uint64_t live_bytes() const;     // of recipes in it
  uint64_t recipes() const;        // how many
  uint64_t written_bytes() const;  // since this object was made

 private:
  IOStatus FindFile(uint64_t* number) const;
  // Deletes those before the newest one. Requires mutex_.
  void DeleteOld() const;
  // Goes on in a new file, with what is live, of which recipes are read from `from`. Requires
  // mutex_.
  IOStatus Rewrite(const RecipeLogFile* from, const Contents& live);
  // Goes on with `file`, which is at `temporary` and durably has what is live, if `s` is OK; else
  // deletes it. Requires mutex_.
  IOStatus Replace(IOStatus s, const std::string& temporary, std::shared_ptr<RecipeLogFile> file,
                   Contents live);
  // After a failure, in a new file. Requires mutex_.
  IOStatus Append(recipe_log::Kind kind, const Slice& name, const Slice& body,
                  uint64_t* body_at = nullptr);

  std::string PathOf(uint64_t number) const;

  FileSystem* const fs_;
  const std::string directory_;

  std::mutex compact_mutex_;  // one Compact() at a time; before the others
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::shared_ptr<RecipeLogFile> file_;
  bool broken_ = false;  // a record may be there in part: what is behind it would not be found
  uint64_t number_ = 0;  // of the newest file; 0: there is none
  Contents live_;
  uint64_t live_bytes_ = 0;
  uint64_t written_bytes_ = 0;

  // One Sync() at a time: what another one makes durable is not yet so. Before mutex_.
  std::mutex sync_mutex_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
