// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/hot_promotion/history.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

std::string History::Name(int key) const {
  char name[16];
  snprintf(name, sizeof(name), "k%06d", key);
  return name;
}

void History::Begin(int key, const std::string& state) {
  std::lock_guard<std::mutex> lock(keys_[key].mutex);
  keys_[key].states.push_back(state);
}

void History::End(int key) {
  std::lock_guard<std::mutex> lock(keys_[key].mutex);
  keys_[key].ended = keys_[key].states.size() - 1;
}

std::string History::Latest(int key) const {
  std::lock_guard<std::mutex> lock(keys_[key].mutex);
  return keys_[key].states.back();
}

size_t History::Mark(int key) const {
  std::lock_guard<std::mutex> lock(keys_[key].mutex);
  return keys_[key].ended;
}

bool History::Check(int key, size_t mark, const std::string& result) const {
  std::lock_guard<std::mutex> lock(keys_[key].mutex);
  const auto& states = keys_[key].states;
  return std::find(states.begin() + mark, states.end(), result) != states.end();
}

bool History::Had(const std::string& name, const std::string& state) const {
  for (int key = 0; key < size(); key++) {
    if (Name(key) == name) {
      return Check(key, 0, state);
    }
  }
  return false;
}

Status RandomWriter::WriteOne() {
  const int choice = random_.Uniform(100);
  if (choice == 0 && ranges_) {
    return DeleteSomeRange();
  }
  const int key = AnyKey();
  const std::string name = history_->Name(key);
  const std::string value = name + ":" + random_.RandomString(20 + random_.Uniform(180));
  Status s;
  if (choice < 65) {
    history_->Begin(key, value);
    s = db_->Put(WriteOptions(), name, value);
  } else if (choice < 80) {
    history_->Begin(key, kAbsent);
    s = db_->Delete(WriteOptions(), name);
  } else if (choice < 92) {
    const std::string operand = random_.RandomString(8);
    history_->Begin(key, Appended(history_->Latest(key), operand));
    s = db_->Merge(WriteOptions(), name, operand);
  } else {
    history_->Begin(key, value);
    s = db_->PutEntity(WriteOptions(), db_->DefaultColumnFamily(), name,
                       {{kDefaultWideColumnName, value}, {"column", name}});
  }
  history_->End(key);
  return s;
}

Status RandomWriter::DeleteSomeRange() {
  const int begin = AnyKey();
  const int end = std::min(to_, begin + 1 + static_cast<int>(random_.Uniform(20)));
  for (int key = begin; key < end; key++) {
    history_->Begin(key, kAbsent);
  }
  const Status s = db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(),
                                    history_->Name(begin), history_->Name(end));
  for (int key = begin; key < end; key++) {
    history_->End(key);
  }
  return s;
}

std::string Appended(const std::string& state, const std::string& operand) {
  return state == kAbsent ? operand : state + "," + operand;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
