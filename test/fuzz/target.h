// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the fuzzers of the formats that are read back have in common. A program has the targets of
// one plugin; libfuzzer.cc or replay.cc runs them.
//
// A target makes the object to be read from the input: any bytes, or an object of the format in
// which bytes were changed, with checksums that are right all the same, so that what is behind them
// is reached (BytesFrom()). It asserts with Require() that what is accepted is in the bounds of the
// format and is the same once it was written and read again. Crashes, hangs and, within Bound,
// allocations out of proportion are found by the program.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/slice.h"

namespace rocktier {

namespace rocksdb = ROCKSDB_NAMESPACE;

// The input, taken byte by byte. Behind its end there are zeros.
class Input {
 public:
  explicit Input(const rocksdb::Slice& bytes) : rest_(bytes) {}

  uint8_t Byte();
  // A number of any size; those near powers of two are likely.
  uint64_t Number();
  uint64_t Below(uint64_t limit) { return limit == 0 ? 0 : Number() % limit; }
  // Up to `most` bytes of any kind, fewer if it ends.
  std::string Bytes(size_t most);
  // Letters, digits, and now and then one of what paths and texts have: . / \n and others.
  std::string Name(size_t most);
  std::string Rest();
  bool empty() const { return rest_.empty(); }

 private:
  rocksdb::Slice rest_;
};

// Fails, and says so.
void Require(bool good, const char* what);

// While one exists in this thread, all CRC-32C of RocksDB's are alike: whatever bytes an object
// has, its checksums are right.
class ForgedChecksums {
 public:
  ForgedChecksums();
  ~ForgedChecksums();
};

// While it exists, fails when this thread allocates more than so many bytes in all.
class Bound {
 public:
  explicit Bound(size_t bytes);
  ~Bound();
};
// What reading so many bytes may take: some copies of them, and what is made for any.
constexpr size_t FitFor(size_t size) { return 64 * size + (256 << 10); }

struct Bytes {
  std::string bytes;
  bool untouched = false;                   // as `make` made them
  std::unique_ptr<ForgedChecksums> forged;  // as long as this lives
};
// By the input: its rest, or what `make` makes, perhaps with changes; with right checksums or as
// they are.
Bytes BytesFrom(Input* input, const std::function<std::string(Input*)>& make);

struct Target {
  const char* name;
  void (*run)(const rocksdb::Slice& input);
};
std::vector<Target>& Targets();

// FUZZ_TARGET(name) { ... input ... }
#define FUZZ_TARGET(target)                                              \
  static void Run_##target(const ::rocktier::rocksdb::Slice& bytes);     \
  static const bool added_##target =                                     \
      (::rocktier::Targets().push_back({#target, &Run_##target}), true); \
  static void Run_##target(const ::rocktier::rocksdb::Slice& bytes)

}  // namespace rocktier
