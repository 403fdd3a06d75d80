// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "plugin/tiered_env/recipe/entry.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The index of a segment, that is of a log or an archive: which entry is where, and how many
// references recipes have to it. 10 bytes an entry: a fingerprint, a count that sticks at 255, and
// what it takes in an archive, at most 1/16 off; 24 more for each run of entries whose sequence
// numbers ascend by one.
class Segment {
 public:
  explicit Segment(uint64_t id);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  uint64_t id() const { return id_; }

  // Building: not thread-safe, ordinals ascend.
  void Add(Ordinal ordinal, const Entry& entry);

  // A digest of all entries that are kept, in order, and of their number: tells a log from another
  // one of the same name. As if the segment had been built of what is kept.
  uint64_t digest() const;

  // What follows, up to Bitmap(), is thread-safe, but not against Add() and Trim(): the caller
  // holds a shared lock.

  // Fingerprints and ordinals of the entries of large batches, sorted, by the ordinals that these
  // begin at. As long as the segment is not trimmed; not thread-safe.
  using Batches = std::map<uint64_t, std::vector<std::pair<uint64_t, Ordinal>>>;

  // Has the processor fetch what Take() will look at.
  void Expect(SequenceNumber sequence) const;
  // Finds the entry with this sequence number, its own or its batch's, and this fingerprint, and
  // takes a reference to it. False if there is none. Whoever takes many has them share `batches`,
  // empty at first: of a batch that was prepared all entries have the batch's number in an SST, and
  // it would be looked through for each.
  bool Take(SequenceNumber sequence, uint64_t fingerprint, Reference* reference,
            Batches* batches = nullptr);
  // A reference that was found in a recipe. False if there is no such entry.
  bool Take(Ordinal ordinal);
  // One that was taken.
  void Release(Ordinal ordinal);

  uint64_t entries() const;  // that are kept
  uint64_t live() const;     // with references
  // What these take in an archive that is not compressed, but for its headers: each entry counts as
  // what is known of it, so that live_bytes() is bytes() if and only if all are live.
  uint64_t bytes() const;
  uint64_t live_bytes() const;

  // The range of sequence numbers, of entries and of batches; if there are no entries, smallest()
  // is the larger one.
  SequenceNumber smallest() const;
  SequenceNumber largest() const;

  // The sequence-number bitmap, as the paper calls it: a bit for each ordinal, 1 if the entry is
  // live.
  std::vector<bool> Bitmap() const;

  // Forgets, with an exclusive lock, all entries that are not in `kept`, which has a bit for each
  // ordinal; what is behind its end is not in it. False, and nothing changes, if one of these is
  // live.
  bool Trim(const std::vector<bool>& kept);

  size_t memory_bytes() const;

 private:
  struct Index;

  const uint64_t id_;
  std::unique_ptr<Index> index_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
