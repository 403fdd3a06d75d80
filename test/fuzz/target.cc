// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/fuzz/target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "util/coding.h"

namespace rocktier {

namespace {

constexpr size_t kMostMade = 1 << 16;  // bytes of an object that was changed

// One change, by the input.
void Change(Input* input, std::string* bytes) {
  const uint8_t kind = input->Byte() % 8;
  const size_t at = input->Below(bytes->size() + 1);
  const size_t left = bytes->size() - at;
  const size_t length = std::min<size_t>(input->Byte(), left);
  char number[8];
  rocksdb::EncodeFixed64(number, kind == 4 || kind == 5 ? input->Number() : 0);
  switch (kind) {
    case 0:
      bytes->resize(at);
      break;
    case 1:
      bytes->erase(at, length);
      break;
    case 2:
      bytes->insert(at, input->Bytes(length + 1));
      break;
    case 3:
      bytes->insert(at, bytes->substr(input->Below(bytes->size() + 1), length));
      break;
    case 4:
    case 5: {
      const size_t width = size_t{1} << (length % 4);
      bytes->replace(at, std::min(width, left), number, width);
      break;
    }
    default: {
      const std::string with = input->Bytes(1 + length % 8);
      bytes->replace(at, std::min(with.size(), left), with);
    }
  }
  bytes->resize(std::min(bytes->size(), kMostMade));
}

}  // namespace

uint8_t Input::Byte() {
  if (rest_.empty()) {
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  return byte;
}

uint64_t Input::Number() {
  const uint8_t kind = Byte();
  if (kind < 160) {
    return kind;
  }
  if (kind < 224) {
    return (uint64_t{1} << (kind - 160)) + Byte() - 128;
  }
  uint64_t number = 0;
  for (int i = 0; i < 1 + (kind & 7); i++) {
    number = number << 8 | Byte();
  }
  return number;
}

std::string Input::Bytes(size_t most) {
  const size_t size = std::min({most, rest_.size(), static_cast<size_t>(Byte())});
  std::string bytes(rest_.data(), std::min(size, rest_.size()));
  rest_.remove_prefix(bytes.size());
  return bytes;
}

std::string Input::Name(size_t most) {
  static const char kCharacters[] =
      "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDEFGHIJKLMNOPQR./\n: \\%\x1b";
  std::string name = Bytes(most);
  for (char& c : name) {
    c = kCharacters[static_cast<uint8_t>(c) % (sizeof(kCharacters) - 1)];
  }
  return name;
}

std::string Input::Rest() {
  const std::string rest = rest_.ToString();
  rest_.clear();
  return rest;
}

void Require(bool good, const char* what) {
  if (!good) {
    fprintf(stderr, "wrong: %s\n", what);
    abort();
  }
}

Bytes BytesFrom(Input* input, const std::function<std::string(Input*)>& make) {
  const uint8_t mode = input->Byte();
  Bytes result;
  if (mode % 2 == 1) {
    result.forged = std::make_unique<ForgedChecksums>();
  }
  if (mode % 8 < 2) {
    result.bytes = input->Rest();
    return result;
  }
  result.bytes = make(input);
  result.untouched = true;
  for (int i = input->Byte() % 8; i > 0; i--) {
    Change(input, &result.bytes);
    result.untouched = false;
  }
  return result;
}

std::vector<Target>& Targets() {
  static std::vector<Target> targets;
  return targets;
}

}  // namespace rocktier
