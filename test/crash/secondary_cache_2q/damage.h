// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace rocktier {

// Ways to damage a cache file. After a power loss each page of the file is the old or the new one,
// as the kernel came to write it (kOldPages), or zero (kZeroPages); the others stand for a failing
// disk, and for people.
enum class Damage {
  kFlipIndexBytes,
  kFlipDataBytes,
  kZeroPages,
  kOldPages,
  kOldIndex,    // the whole index from the older copy, the data from the newer
  kSwapBlocks,  // the bytes of two blocks of the same size change places
  kSwapSlots,   // two index entries change places
  kCopySlot,    // an index entry is there twice
  kAppendGarbage,
  kTruncate,
  kEmpty,
  kFlipSuperblock,
  kZeroSuperblock,
};

// The file must be refused after this, with a Status that names it.
bool MustBeRefused(Damage damage);
// Some block's bytes are no longer what the index says.
bool SpoilsBlocks(Damage damage);
const char* NameOf(Damage damage);

// Damages a cache file. `older`: a copy of the same file from an earlier moment.
void Apply(Damage damage, const std::string& file, const std::string& older,
           std::mt19937_64* random);

}  // namespace rocktier
