// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/recipe/rebuild.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/wal/entry_arena.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "plugin/tiered_env/wal/segment.h"
#include "plugin/tiered_env/wal/segments.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Finds the logs that recipes refer to, and reads them. Recovery makes one for each run: it adds
// the recipes, then Find(), then Load() of each id; all else is of what was loaded. "WAL-assisted
// tiering", section 3.3, scans all logs; here those that recipes refer to. Not thread-safe but for
// Load().
class SegmentLoader {
 public:
  // `fs` shows the database's files, `target` those at home as they are.
  SegmentLoader(FileSystem* fs, FileSystem* target, std::string directory,
                std::shared_ptr<Logger> info_log)
      : fs_(fs),
        target_(target),
        directory_(std::move(directory)),
        info_log_(std::move(info_log)) {}

  // Takes note of all that a recipe refers to. `contents`: of the recipe log that has it. `wanted`:
  // its SST is to be rebuilt, so Load() keeps these entries. Corruption: nothing was noted.
  IOStatus Add(const RecipeLogContents& contents, const std::string& recipe, bool wanted);
  // Lists the logs that there are. An error is that of a directory.
  IOStatus Find(const RecipeLogContents& contents);

  // The segments that recipes refer to.
  std::vector<uint64_t> ids() const;
  // Reads a segment. What is missing or damaged is no error: what refers to it may be there, or has
  // ProblemsOf(). IOError: entries are wanted of a log that may be sound, and cannot be read now,
  // or by this version. Thread-safe for different ids.
  IOStatus Load(uint64_t id);
  // IOError: logs that are wanted were not found, and may be in directories whose disk is not
  // mounted: those but home that are not there, or have none of the database's logs. Not in `gone`.
  // Requires Load() of all.
  IOStatus CheckMounted(const std::vector<std::string>& gone) const;

  // The entries that were kept, until DropEntries(). Not thread-safe: one for each thread.
  std::unique_ptr<EntrySource> Entries() const;
  void DropEntries();
  // Null: it was not loaded, or nothing tells how many entries it had.
  Segment* segment(uint64_t id) const;
  // What there is to say of the logs that a recipe refers to and that are lost.
  std::string ProblemsOf(const std::string& recipe) const;

  // What was searched.
  const std::vector<std::string>& directories() const { return searched_; }
  // What recipes refer to, of what the recipe log knows.
  std::map<uint64_t, LoggedSegment> known() const;

  // What a newer state of the database has retained elsewhere, by ids that this one has not given:
  // another home, whose logs these are. They stay. Paths by id.
  std::multimap<uint64_t, std::string> alien() const;
  // The least id that neither this home has given nor a log that was found has.
  uint64_t next_segment() const { return unused_segment_; }

  // Gives the segments that are needed to `logs`.
  void Restore(WalSegments* logs, LogDirectories* directories);
  // Deletes what is retained and was not given.
  void DeleteUnused();

 private:
  struct Loaded {
    LoggedSegment known;
    bool is_known = false;                // to the recipe log
    std::string path;                     // empty: it is lost
    std::string problem;                  // why
    std::unique_ptr<Segment> segment;     // null, if not has_count()
    std::unique_ptr<EntryArena> entries;  // those that are wanted
    // By ordinal. Of a segment of which nothing tells how large that may be, all entries of its
    // archive are kept.
    std::vector<bool> wanted;
    bool wants_all = false;

    // Whether the recipe log says how many entries the log had. Else SSTs are rebuilt of it, and
    // need other recipes then.
    bool has_count() const { return is_known && known.log_number != kNoLog; }
    bool is_wanted() const { return wants_all || !wanted.empty(); }
  };
  using Segments = std::map<uint64_t, Loaded>;
  class Visitor;
  class Source;

  IOStatus LoadFrom(const std::string& path, Loaded* loaded) const;
  // Notes the logs in a directory, or in its archive; true if any is the database's: retained, or
  // one that recipes refer to.
  bool AddLogs(const std::string& directory, const std::vector<std::string>& names);
  // Whether recipes refer to a log that RocksDB has or had.
  bool IsReferredTo(uint64_t log_number) const;
  // Whether RocksDB has logs in a directory, which is more than its archive has.
  bool IsSearched(const std::string& directory) const;
  // Whether it is a relative wal_dir, of a process that had another working directory: the recipe
  // log has its real path.
  bool IsElsewhere(const std::string& directory) const;
  bool IsAlien(const std::string& path) const;
  // Whether a file that is retained is this database's, and none that is in use by another name.
  bool MayDelete(const std::string& path, const std::set<FileId>& used) const;

  FileSystem* const fs_;
  FileSystem* const target_;
  const std::string directory_;
  const std::shared_ptr<Logger> info_log_;

  std::string tag_;               // RecipeLog::TagOf()
  bool knows_tag_ = true;         // RecipeLogContents::knows_database
  std::set<uint64_t> alien_ids_;  // those that an earlier opening has found
  uint64_t next_segment_ = 1;     // the least id that this one has not given
  uint64_t unused_segment_ = 1;   // and that nobody else has
  Segments segments_;
  std::multimap<uint64_t, std::string> retained_;  // by id
  std::multimap<uint64_t, std::string> logs_;      // by RocksDB's number
  std::vector<std::string> temporary_;             // what interrupted trimming has left
  std::vector<std::string> searched_;              // directories
  std::set<std::string> mounted_;                  // those with logs of the database
  std::set<std::string> used_;                     // paths of logs that were given away
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
