// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/recipe/entry.h"
#include "plugin/tiered_env/recipe/make.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/wal/active_log.h"
#include "plugin/tiered_env/wal/segment.h"
#include "rocksdb/file_system.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The segments of a database: its write-ahead logs, those that RocksDB has and those that are
// retained because recipes refer to them. After "WAL-assisted tiering", section 3: there a log has
// a bitmap of the sequence numbers that are needed; here the bitmap follows from recipes.
// Thread-safe.
class WalSegments {
  struct Log;
  using List = std::vector<std::shared_ptr<Log>>;

 public:
  // `fs` shows the database's files.
  explicit WalSegments(FileSystem* fs) : fs_(fs) {}
  // Sets what the names of retained logs have from now on. To be called before all else.
  void SetTag(std::string tag) { tag_ = std::move(tag); }

  // --- RocksDB's logs. ---

  // Whether RocksDB makes a log while it still writes the one before.
  void SetMakesAhead(bool ahead) { makes_ahead_.store(ahead, std::memory_order_relaxed); }
  // Notes that RocksDB begins a log, so that all others are complete; if it makes them ahead, all
  // but the newest.
  void Created(uint64_t number, const std::string& path, std::shared_ptr<ActiveLog> writer);
  // Notes a log that was begun before; if it is not `complete`, it is RocksDB's newest one.
  void Found(uint64_t number, const std::string& path, bool complete);
  // Keeps a log that RocksDB wants to go. *kept: recipes need it, and it has a name of ours now,
  // with an id that the recipe log durably has. `stays`: under its old name it will be there too,
  // for RocksDB to do with it what it likes.
  IOStatus Keep(RecipeLog* recipe_log, const std::string& path, bool stays, bool* kept);

  // --- References of recipes. ---

  // Reads the logs that are complete, so that recipes can refer to them. What cannot be read is
  // left out.
  void Index(RecipeLog* recipe_log, Logger* info_log);

  // Finds the entries of SSTs. While it exists no log goes, nor is any trimmed.
  class Source : public ReferenceSource {
   public:
    explicit Source(WalSegments* logs);
    void Expect(SequenceNumber sequence) override;
    bool Take(const Entry& entry, Reference* reference) override;
    // Ids of the segments that entries were found in.
    std::set<uint64_t> used() const;

   private:
    struct Candidate {
      SequenceNumber smallest;
      SequenceNumber largest;
      Segment* segment;
      bool used;
      Segment::Batches batches;  // of this SST's entries
    };

    // The end of those that may have it.
    std::vector<Candidate>::iterator After(SequenceNumber sequence);

    const std::shared_lock<std::shared_mutex> lock_;
    List logs_;
    std::vector<Candidate> segments_;  // by their first sequence numbers
  };

  // Lets go of what a recipe refers to.
  void Release(const Slice& recipe);
  // Makes logs durable; all of them.
  IOStatus Sync(const std::set<uint64_t>& ids);
  IOStatus Sync();

  // Takes a segment that was read, from a log of RocksDB's or a file of ours. `shared`: a newer
  // home may need the file, too.
  void Restore(std::unique_ptr<Segment> segment, const LoggedSegment& known,
               const std::string& path, bool shared = false);

  // --- Retained logs. ---

  struct Sizes {
    uint64_t segments = 0;        // that are retained
    uint64_t retained_bytes = 0;  // of them
    uint64_t needed_bytes = 0;    // of logs of RocksDB's that recipes refer to
    uint64_t memory_bytes = 0;    // of what is known of entries
    uint64_t entries = 0;
    uint64_t live_entries = 0;
    uint64_t entry_bytes = 0;  // as Segment has them
    uint64_t live_bytes = 0;
  };
  Sizes GetSizes() const;

  // Deletes what is retained and not needed any more, and not shared. Has the recipe log forget
  // segments that are gone.
  void Sweep(RecipeLog* recipe_log);
  // Rewrites the retained segment of which the smallest share of bytes would be left, if that share
  // is at most `most`, with the live entries only; with `rewrite_logs`, if there is none, a log
  // that was not rewritten yet, to be compressed. *before == 0: there was none. Aborted: `stop`
  // says so, or it was referred to meanwhile. Corruption: it is damaged, or could not be read three
  // times, and is left alone from now on. Another error: it is tried again, not at once if it could
  // not be read.
  struct Trimmed {
    uint64_t before = 0;  // bytes
    uint64_t after = 0;
  };
  IOStatus Trim(double most, bool rewrite_logs, CompressionType compression, RateLimiter* limiter,
                const std::atomic<bool>& stop, Trimmed* trimmed);
  // Ids of those that are damaged and needed.
  std::set<uint64_t> Damaged() const;

  // What a segment is called when it is retained, in the directory where the log was: as it was, or
  // rewritten. So the one name takes the other's place at once, whatever of the directory is
  // durable. `tag`: RecipeLog::tag(); what the first version retained has none.
  static std::string LogName(uint64_t id, const std::string& tag);
  static std::string ArchiveName(uint64_t id, const std::string& tag);
  // The tag of a name. False: it is of no retained log.
  static bool ParseName(const std::string& name, uint64_t* id, std::string* tag);
  // Ids and paths of the segments of these names in a directory, rewritten ones first; of all, or
  // those with this tag and those with none.
  static void FindRetained(const std::string& directory, const std::vector<std::string>& names,
                           std::multimap<uint64_t, std::string>* files,
                           const std::string* tag = nullptr);

 private:
  struct Log {
    uint64_t number = 0;  // RocksDB's
    std::string path;
    uint64_t bytes = 0;             // once it is complete
    uint64_t indexed = UINT64_MAX;  // bytes that `segment` was made of, of a log
    bool complete = false;
    bool unreadable = false;
    bool retained = false;
    bool shared = false;      // is neither deleted nor rewritten
    bool compressed = false;  // rewritten
    bool busy = false;        // is being rewritten or renamed
    bool damaged = false;     // could not be rewritten: has not what it had
    int read_errors = 0;      // one after the other, of a disk that may be back soon
    std::chrono::steady_clock::time_point read_from;  // not before
    std::unique_ptr<Segment> segment;                 // null: was not read
    std::shared_ptr<ActiveLog> writer;                // null: is durable

    bool failed() const { return writer != nullptr && writer->failed(); }
  };

  static IOStatus Sync(const List& logs);
  // Makes a log another file, durably.
  IOStatus CopyLog(const std::string& from, const std::string& to, uint64_t bytes);
  // What part of a log's bytes would be left if it was rewritten now; 1 or more if nothing would be
  // gained.
  static double ShareLeft(const Log& log, bool compressing);
  // The newest of RocksDB's logs, of those before `number`; null: there is none. Requires mutex_.
  const Log* NewestBefore(uint64_t number) const;
  // Requires mutex_.
  List::iterator FindByPath(const std::string& path);
  std::shared_ptr<Log> Find(const std::string& path);
  void Forget(const std::string& path);
  // The log, which is busy from now on, if recipes refer to it; else it is not known any more.
  std::shared_ptr<Log> TakeIfNeeded(const std::string& path);
  // Requires mutex_.
  std::shared_ptr<Log> ChooseForTrim(double most, bool rewrite_logs, bool compressing);
  // What is kept, to a new archive. *is_read: no error is one of reading the log.
  IOStatus Rewrite(const Log& log, const std::string& path, const std::vector<bool>& kept,
                   CompressionType compression, RateLimiter* limiter, const std::atomic<bool>& stop,
                   uint64_t* bytes, bool* is_read);
  // A log could not be read. Corruption: it is damaged, or it was the third time. Requires mutex_.
  static IOStatus NoteUnread(Log* log, const IOStatus& s);

  FileSystem* const fs_;
  std::string tag_;
  std::atomic<bool> makes_ahead_{false};

  std::mutex index_mutex_;  // one Index() at a time

  // Held by whoever takes references, so that nobody who holds it alone lets go of what they are
  // to. Before mutex_, which is never held for long, nor during I/O: RocksDB's writers wait for it.
  std::shared_mutex references_mutex_;
  mutable std::shared_mutex mutex_;
  // All below: guarded by mutex_; entries' counts change under a shared lock, too.
  List logs_;
  std::vector<uint64_t> erased_;  // segments that were dropped with their logs, to be forgotten
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
