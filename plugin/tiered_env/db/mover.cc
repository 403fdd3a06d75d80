// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/db/mover.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/thread.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr auto kRetryAfter = std::chrono::seconds(10);

// Sixteen times until the youngest file that a rule calls old has come to that, and each minute.
std::chrono::seconds LookAgain(const Placement& placement, const OffpeakTimeOption& hours) {
  constexpr uint64_t kMinute = 60;
  const uint64_t least = placement.LeastAge();
  std::chrono::seconds pause(least == 0 ? 0 : std::min(std::max<uint64_t>(least / 16, 1), kMinute));
  if (least == 0 && !hours.daily_offpeak_time_utc.empty()) {
    pause = std::chrono::seconds(kMinute);
    TEST_SYNC_POINT_CALLBACK("Mover::LookAgain", &pause);
  }
  return pause;
}

}  // namespace

// Room is made first, then used by what has the best claim.
bool MovesBefore(const Database::Misplaced& a, const Database::Misplaced& b) {
  const bool a_leaves = a.to->index() > a.from->index();
  const bool b_leaves = b.to->index() > b.from->index();
  if (a_leaves != b_leaves) {
    return a_leaves;
  }
  return a_leaves ? a.level > b.level : a.level < b.level;
}

Mover::Mover(Relocator* relocator, Settings settings)
    : relocator_(relocator),
      names_(relocator->names()),
      settings_(std::move(settings)),
      look_again_(LookAgain(names_->policy().placement, settings_.hours)) {}

Mover::~Mover() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Mover::Notify(const std::shared_ptr<Database>& database) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (database->closing.load()) {
    return;
  }
  const bool is_new = due_.insert(database).second;
  if (!thread_.joinable() && !StartThread([this] { Run(); }, &thread_)) {
    return;
  }
  if (is_new) {
    changed_.notify_all();
  }
}

void Mover::Forget(const std::shared_ptr<Database>& database) {
  database->closing.store(true);
  std::unique_lock<std::mutex> lock(mutex_);
  due_.erase(database);
  later_.erase(database);
  changed_.wait(lock, [&] { return busy_with_ != database; });
  later_.erase(database);
}

void Mover::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock,
                [this] { return !thread_.joinable() || (due_.empty() && busy_with_ == nullptr); });
}

void Mover::AwaitDue(std::unique_lock<std::mutex>* lock) {
  if (later_.empty()) {
    changed_.wait(*lock);
    return;
  }
  const auto sooner = [](const auto& a, const auto& b) { return a.second < b.second; };
  const Clock::time_point next = std::min_element(later_.begin(), later_.end(), sooner)->second;
  changed_.wait_until(*lock, next);
  for (auto it = later_.begin(); it != later_.end();) {
    if (it->second <= Clock::now()) {
      due_.insert(it->first);
      it = later_.erase(it);
    } else {
      ++it;
    }
  }
}

void Mover::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    if (due_.empty()) {
      AwaitDue(&lock);
      continue;
    }
    busy_with_ = *due_.begin();
    due_.erase(due_.begin());
    lock.unlock();
    const bool done = Round(busy_with_);
    lock.lock();
    if ((!done || look_again_ > Clock::duration::zero()) && !busy_with_->closing.load()) {
      later_[busy_with_] = Clock::now() + (done ? look_again_ : kRetryAfter);
    }
    busy_with_.reset();
    changed_.notify_all();
  }
}

bool Mover::IsHour() const {
  return settings_.hours.daily_offpeak_time_utc.empty() ||
         settings_.hours.GetOffpeakTimeInfo(static_cast<int64_t>(SecondsSince1970()))
             .is_now_offpeak;
}

RateLimiter* Mover::LimiterOf(const Database& database) const {
  RateLimiter* const of_database = database.limiter.load();
  return settings_.prefers_database_limiter && of_database != nullptr ? of_database
                                                                      : settings_.limiter.get();
}

bool Mover::Choose(const Database& database, const std::set<std::string>& failed,
                   std::set<std::string>* detours, Misplaced* next) const {
  std::vector<Misplaced> files = database.FindMisplaced(names_->policy());
  const bool is_hour = IsHour();
  const auto none = std::remove_if(files.begin(), files.end(), [&](const Misplaced& file) {
    return file.from == file.to || (!is_hour && !file.from->is_volatile());
  });
  files.erase(none, files.end());
  const auto tried = std::partition(files.begin(), files.end(), [&](const Misplaced& file) {
    return failed.count(file.base) == 0;
  });
  if (tried != files.begin()) {
    *next = *std::min_element(files.begin(), tried, MovesBefore);
    return true;
  }
  return ChooseDetour(database, files, detours, next);
}

// What changes places with each other in tiers that are full goes by home.
bool Mover::ChooseDetour(const Database& database, const std::vector<Misplaced>& files,
                         std::set<std::string>* detours, Misplaced* next) const {
  Tier* const home = names_->policy().home_tier();
  const auto is_blocked = [&](const Misplaced& file) {
    return !database.usage().HasRoom(*file.to, file.family, file.size);
  };
  for (const Misplaced& file : files) {
    const bool in_the_way = std::any_of(files.begin(), files.end(), [&](const Misplaced& other) {
      return other.to == file.from && is_blocked(other);
    });
    if (in_the_way && is_blocked(file) && file.to != home && file.from != home &&
        detours->insert(file.base).second) {
      *next = file;
      next->to = home;
      return true;
    }
  }
  return false;
}

bool Mover::Round(const std::shared_ptr<Database>& database) {
  std::set<std::string> failed;
  std::set<std::string> detours;
  names_->LookForReadOnly(database->directory());
  while (!database->closing.load()) {
    IOStatus s = database->Refresh();
    if (!s.ok()) {
      return s.IsNotFound();
    }
    Misplaced next;
    if (!Choose(*database, failed, &detours, &next)) {
      const Tiers& tiers = names_->policy().tiers;
      return failed.empty() &&
             std::all_of(tiers.begin(), tiers.end(), [](const auto& t) { return t->usable(); });
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stop_) {
        return true;
      }
    }
    const bool detour = failed.count(next.base) > 0;
    s = relocator_->Move(database.get(), next, LimiterOf(*database));
    relocator_->Report(database->directory() + "/" + next.base, next, s);
    if (!s.ok()) {
      failed.insert(next.base);
    } else if (detour) {
      failed.clear();  // there is room where there was none
    }
  }
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
