// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <random>
#include <string>

namespace rocktier {

// What may become of the directory of a tier in memory while nobody has it open.
enum class Damage {
  kNone,
  kDeleted,
  kSomeDeleted,
  kSomeCutOff,
  kSomeBitsFlipped,
  kOlder,      // it is as it was at an earlier time
  kOlderOver,  // the files of an earlier time are there as they were then, beside the others
  kExchanged,  // two files
};
constexpr int kDamages = static_cast<int>(Damage::kExchanged) + 1;

const char* NameOf(Damage damage);
Damage AnyDamage(std::mt19937_64* random);
// Whether what it changes has to be rebuilt, unless nobody needs it.
bool LosesFiles(Damage damage);

// `older`: a directory for a copy of it, that some call has taken. Returns whether something has
// changed.
bool DamageTier(Damage damage, const std::string& directory, const std::string& older,
                std::mt19937_64* random);

}  // namespace rocktier
