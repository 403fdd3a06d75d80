// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the tests of changed placements share: they kill a child that changes it, and expect of the
// database what must be true of it, whatever the child came to.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/crash/tiered_env/placement_disk.h"
#include "test/crash/tiered_env/placement_rules.h"
#include "test/crash/tiered_env/placement_site.h"

namespace rocktier {

#define ASSERT_OK(expression)                               \
  do {                                                      \
    const ROCKSDB_NAMESPACE::Status status_ = (expression); \
    ASSERT_TRUE(status_.ok()) << status_.ToString();        \
  } while (false)

using Files = std::map<std::string, KnownFile>;

constexpr uint64_t kKept = 7 * 24 * 60 * 60;  // seconds, an orphan_retention
constexpr uint64_t kPatience = 60000000;      // microseconds, for a child that must come somewhere

// A line for each.
std::string Listed(const std::vector<std::string>& lines);
// Names of what was put aside, and of what the next opening that keeps it puts aside.
std::vector<std::string> NamesOfLost(const Disk& disk, bool and_to_be_lost);
// Whether it was neither moved nor written anew; one of them must be kept open since then.
bool IsSameFile(const DiskFile& a, const DiskFile& b);

// A database in tiers, children that work on it, and what they have acknowledged.
class PlacementKillTest : public ::testing::Test {
 protected:
  // `number`: of the case; children and the parent draw otherwise in each.
  explicit PlacementKillTest(int number);
  ~PlacementKillTest() override;

  // For what a database has from its beginning.
  void NewSite();
  uint64_t Some(uint64_t n) { return random_() % n; }
  // Whether another round is due: of kills, of time, or for what was not seen yet. `kills`: as long
  // as nobody wants another number of them.
  bool GoesOn(uint64_t kills) const;
  // Lists what a run must have seen, and has not.
  virtual std::string Unseen() const = 0;

  // Runs a child and kills it at the point, to which it must come, or before so many microseconds.
  void RunAndKill(const char* how, const std::string& from, const std::string& to,
                  const std::string& point, int hits, uint64_t most);
  // Expects the first writes, at least those that were acknowledged, and nothing else.
  void CheckWrites();
  // Expects that nothing is left of moves that were interrupted, but for what was put aside: files
  // of these names.
  void CheckLeftovers(const Files& files, const std::vector<std::string>& lost);
  // Adds their ages to what RocksDB tells of files. Each must be on the disk.
  Files WithAges(Files files, const Disk& disk) const;

  const std::chrono::steady_clock::time_point end_;
  std::mt19937_64 random_;
  std::string folder_;
  PlacementShared* shared_;
  std::unique_ptr<PlacementSite> site_;
  std::unique_ptr<PlacementModel> model_;
  uint64_t kills_ = 0;
};

// Of a database in which nothing compacts: it is known of each file what becomes of it.
class PlacementRestTest : public PlacementKillTest {
 protected:
  explicit PlacementRestTest(int number) : PlacementKillTest(number) {}

  // Fills a database that is new and open, several levels deep.
  void Fill();
  // Opens it, by current_ from then on, and expects that this moves what must move, and nothing
  // else, to the byte; and closes it. `kept`: what was put aside is not deleted.
  void OpenAndCheck(const std::string& placement, bool kept);
  // Expects that `rocktier tier plan` would say what a placement moves.
  void CheckPlan(const std::string& placement);
  // Expects of a killed child that each file is where it was, untouched, or where `target` wants
  // it. *moved: those.
  void CheckHalfway(const std::string& target, uint64_t* moved);
  // Files for which two placements, of which the database has one, differ.
  uint64_t Differing(const std::string& a, const std::string& b) const;

  std::string current_;
  Files files_;  // as they are after OpenAndCheck()
  Disk disk_;    // the same
};

}  // namespace rocktier
