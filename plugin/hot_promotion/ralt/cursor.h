// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/hot_promotion/ralt/record.h"
#include "plugin/hot_promotion/ralt/version.h"
#include "rocksdb/iterator.h"
#include "rocksdb/status.h"
#include "util/heap.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Goes through the records of a run, and lets go of each run file that it is through with. Not
// thread-safe.
class Cursor {
 public:
  // `age`: 0 for the newest of the runs that are merged.
  Cursor(std::vector<Part> parts, size_t age);

  // Whether the cursor is at a record. False: at the end, or status() is not OK.
  bool Valid() const { return valid_; }
  Slice key() const { return key_; }  // until the next Next()
  const Record& record() const { return record_; }
  size_t age() const { return age_; }
  void Next();

  Status status() const { return status_; }
  // The file that status() is about.
  const RunFile* file() const { return parts_[part_].file.get(); }

 private:
  void OpenPart();
  // Goes on to the next part until there is a record.
  void Settle();
  void Decode();

  std::vector<Part> parts_;
  const size_t age_;
  size_t part_ = 0;
  std::unique_ptr<Iterator> iterator_;
  bool valid_ = false;
  Slice key_;
  Record record_;
  Status status_;
};

// Goes through the records of several runs, each key once. Not thread-safe.
class Merger {
 public:
  Merger(const Runs& runs, const Scoring* scoring);

  bool Valid() const { return valid_; }
  Slice key() const { return key_; }  // until the next Next()
  const Record& record() const { return record_; }
  void Next();

  Status status() const;
  // The file that status() is about; only if that is not OK.
  const RunFile* damaged() const { return failed_->file(); }

 private:
  // Orders the heap: the smallest key on top, of equal ones the newest.
  struct Later {
    bool operator()(const Cursor* a, const Cursor* b) const {
      const int order = a->key().compare(b->key());
      return order != 0 ? order > 0 : a->age() > b->age();
    }
  };

  void Advance();

  const Scoring* const scoring_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  BinaryHeap<Cursor*, Later> heap_;
  const Cursor* failed_ = nullptr;
  bool valid_ = false;
  std::string key_;
  Record record_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
