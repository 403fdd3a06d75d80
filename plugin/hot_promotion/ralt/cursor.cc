// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/cursor.h"

#include <utility>

#include "db/dbformat.h"
#include "plugin/hot_promotion/ralt/key.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

Cursor::Cursor(std::vector<Part> parts, size_t age) : parts_(std::move(parts)), age_(age) {
  OpenPart();
  Settle();
}

void Cursor::OpenPart() {
  if (part_ == parts_.size()) {
    return;
  }
  const Part& part = parts_[part_];
  iterator_ = part.file->NewIterator();
  if (part.begin == part.file->first()) {
    iterator_->SeekToFirst();
  } else {
    iterator_->Seek(InternalKey(part.begin, kMaxSequenceNumber, kValueTypeForSeek).Encode());
  }
}

void Cursor::Settle() {
  while (part_ < parts_.size() && !iterator_->Valid() && iterator_->status().ok()) {
    iterator_.reset();
    parts_[part_].file.reset();
    ++part_;
    OpenPart();
  }
  valid_ = part_ < parts_.size() && iterator_->Valid();
  if (valid_) {
    Decode();
  } else if (part_ < parts_.size()) {
    status_ = iterator_->status();
  }
}

void Cursor::Decode() {
  const Slice key = iterator_->key();
  if (key.size() < kNumInternalBytes + kSpaceSize ||
      !Record::Decode(iterator_->value(), &record_)) {
    valid_ = false;
    status_ = Status::Corruption("bad access record in file", std::to_string(file()->number()));
    return;
  }
  key_ = ExtractUserKey(key);
}

void Cursor::Next() {
  iterator_->Next();
  Settle();
}

Merger::Merger(const Runs& runs, const Scoring* scoring) : scoring_(scoring) {
  for (const RunPtr& run : runs) {
    cursors_.push_back(std::make_unique<Cursor>(run->parts(), cursors_.size()));
    Cursor* const cursor = cursors_.back().get();
    if (cursor->Valid()) {
      heap_.push(cursor);
    } else if (!cursor->status().ok()) {
      failed_ = cursor;
    }
  }
  Next();
}

void Merger::Advance() {
  Cursor* const cursor = heap_.top();
  cursor->Next();
  if (cursor->Valid()) {
    heap_.replace_top(cursor);
    return;
  }
  heap_.pop();
  if (!cursor->status().ok()) {
    failed_ = cursor;
  }
}

void Merger::Next() {
  valid_ = failed_ == nullptr && !heap_.empty();
  if (!valid_) {
    return;
  }
  key_.assign(heap_.top()->key().data(), heap_.top()->key().size());
  record_ = heap_.top()->record();
  Advance();
  while (!heap_.empty() && heap_.top()->key() == Slice(key_)) {
    record_ = scoring_->Merge(heap_.top()->record(), record_);
    Advance();
  }
  valid_ = failed_ == nullptr;
}

Status Merger::status() const { return failed_ == nullptr ? Status::OK() : failed_->status(); }

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
