// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "options/offpeak_time_info.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/relocate.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Which of two moves is to be made first.
bool MovesBefore(const Database::Misplaced& a, const Database::Misplaced& b);

// A thread that puts files where they belong. Thread-safe.
class Mover {
 public:
  struct Settings {
    std::shared_ptr<RateLimiter> limiter;  // null: there is no limit
    // The database's own, if it has one, takes its place.
    bool prefers_database_limiter = false;
    OffpeakTimeOption hours;  // empty: always
  };

  // `relocator` must outlive this object.
  Mover(Relocator* relocator, Settings settings);
  ~Mover();

  // Called when something about a database has changed. Where no thread can be had for the moves,
  // the next call tries again.
  void Notify(const std::shared_ptr<Database>& database);
  // Waits until no file of a database is being moved, for good.
  void Forget(const std::shared_ptr<Database>& database);
  // Waits until all that was notified is done and each file is where it can be. Not without a
  // thread.
  void Wait();

 private:
  using Clock = std::chrono::steady_clock;
  using Misplaced = Database::Misplaced;

  void Run();
  // Waits until a database is due, or something has changed. Requires mutex_.
  void AwaitDue(std::unique_lock<std::mutex>* lock);

  // Returns false if something is left to be done later.
  bool Round(const std::shared_ptr<Database>& database);
  // Chooses what to do next, of what has not failed, or, by way of `detours`, has. False: nothing.
  bool Choose(const Database& database, const std::set<std::string>& failed,
              std::set<std::string>* detours, Misplaced* next) const;
  // Whether files may be moved now that leave no tier in memory.
  bool IsHour() const;
  RateLimiter* LimiterOf(const Database& database) const;
  bool ChooseDetour(const Database& database, const std::vector<Misplaced>& files,
                    std::set<std::string>* detours, Misplaced* next) const;

  Relocator* const relocator_;
  Namespace* const names_;
  const Settings settings_;
  // How long what is where it belongs is not looked at; nothing if neither a rule is of an age, nor
  // there are hours.
  const Clock::duration look_again_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::set<std::shared_ptr<Database>> due_;
  // Where something failed, or files become old: when they are due again.
  std::map<std::shared_ptr<Database>, Clock::time_point> later_;
  std::shared_ptr<Database> busy_with_;
  bool stop_ = false;
  std::thread thread_;  // started by the first Notify()
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
