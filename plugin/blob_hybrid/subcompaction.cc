// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/subcompaction.h"

#include <string>

#include "db/dbformat.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

struct Output {
  uint32_t family = 0;
  int level = -1;
};

struct Entry {
  std::string user_key;
  SequenceNumber sequence = kMaxSequenceNumber;  // no entry has it
};

thread_local Output output;
thread_local Entry large;

}  // namespace

void ForgetCompaction() {
  output = Output();
  large = Entry();
}

void SetOutputLevel(uint32_t family, int level) {
  output.family = family;
  output.level = level;
}

int OutputLevel(uint32_t family) { return output.family == family ? output.level : -1; }

void NoteLarge(const Slice& user_key, SequenceNumber sequence) {
  large.user_key.assign(user_key.data(), user_key.size());
  large.sequence = sequence;
}

bool IsNotedLarge(const Slice& user_key, SequenceNumber sequence) {
  return large.sequence != kMaxSequenceNumber && (sequence == large.sequence || sequence == 0) &&
         user_key == large.user_key;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
