// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/stub.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kRecordHeader = 7;  // of RocksDB's log format: checksum, length, type
constexpr char kFullType = 1;
constexpr size_t kBatchHeader = 13;  // sequence number, count and tag
constexpr char kUnknownTag = '\xEE';
constexpr char kMagic[] = "RKTTIERS";
constexpr char kIdentityMagic[] = "rocktier tiered_env ";
constexpr size_t kOpeningSize = 32;  // hexadecimal digits

void PutText(std::string* to, const std::string& text) {
  PutFixed16(to, static_cast<uint16_t>(text.size()));
  to->append(text);
}

bool GetText(Slice* from, std::string* text) {
  uint16_t length;
  if (!GetFixed16(from, &length) || length > from->size()) {
    return false;
  }
  text->assign(from->data(), length);
  from->remove_prefix(length);
  return true;
}

bool GetLine(Slice* from, std::string* line) {
  const auto* end = static_cast<const char*>(memchr(from->data(), '\n', from->size()));
  if (end == nullptr) {
    return false;
  }
  line->assign(from->data(), static_cast<size_t>(end - from->data()));
  from->remove_prefix(line->size() + 1);
  return true;
}

bool IsOpening(const std::string& text) {
  return text.size() == kOpeningSize &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Replaces line ends.
std::string Escape(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c == '%' ? "%25" : c == '\n' ? "%0a" : std::string(1, c);
  }
  return result;
}

bool Unescape(const std::string& text, std::string* result) {
  result->clear();
  for (size_t i = 0; i < text.size(); i++) {
    const std::string code = text[i] == '%' ? text.substr(i, 3) : "";
    if (!code.empty() && code != "%25" && code != "%0a") {
      return false;
    }
    *result += code.empty() ? text[i] : code == "%25" ? '%' : '\n';
    i += code.empty() ? 0 : 2;
  }
  return true;
}

std::string ChecksumOf(const Slice& bytes) {
  char text[16];
  snprintf(text, sizeof(text), "%08x\n", crc32c::Mask(crc32c::Value(bytes.data(), bytes.size())));
  return text;
}

}  // namespace

bool IsName(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find('/') == std::string::npos &&
         text.find('\0') == std::string::npos;
}

std::string Stub::Encode() const {
  std::string body(kBatchHeader, '\0');
  EncodeFixed32(body.data() + 8, 1);
  body[12] = kUnknownTag;
  body.append(kMagic, 8);
  PutFixed32(&body, kVersion);
  PutText(&body, tier);
  PutText(&body, path);
  const size_t room = kSize - kRecordHeader - body.size() - 2;
  PutText(&body, directory.substr(0, room));
  std::string result(kRecordHeader, '\0');
  EncodeFixed16(result.data() + 4, static_cast<uint16_t>(body.size()));
  result[6] = kFullType;
  result += body;
  EncodeFixed32(result.data(), crc32c::Mask(crc32c::Value(result.data() + 6, result.size() - 6)));
  result.resize(kSize, '\0');
  return result;
}

Status Stub::Decode(const Slice& bytes, const std::string& name, Stub* result) {
  constexpr size_t kMagicAt = kRecordHeader + kBatchHeader;
  if (bytes.size() > kSize || bytes.size() < kMagicAt + 8 ||
      memcmp(bytes.data() + kMagicAt, kMagic, 8) != 0) {
    return Status::NotFound(name, "is not the stub of a file in a tier");
  }
  const size_t length = DecodeFixed16(bytes.data() + 4);
  if (bytes.size() < kSize && kRecordHeader + length > bytes.size()) {
    return Status::NotFound(name, "is the beginning of a stub");
  }
  if (kRecordHeader + length > bytes.size() ||
      DecodeFixed32(bytes.data()) != crc32c::Mask(crc32c::Value(bytes.data() + 6, length + 1))) {
    return Status::Corruption(name, "is the damaged stub of a file in a tier");
  }
  Slice rest(bytes.data() + kMagicAt + 8, kRecordHeader + length - kMagicAt - 8);
  uint32_t version;
  if (GetFixed32(&rest, &version) && version != kVersion) {
    return Status::NotSupported(name, "is a stub of version " + std::to_string(version));
  }
  if (!GetText(&rest, &result->tier) || !GetText(&rest, &result->path) ||
      !GetText(&rest, &result->directory)) {
    return Status::Corruption(name, "is an impossible stub of a file in a tier");
  }
  const size_t slash = result->path.find('/');
  if (slash == std::string::npos || !IsName(result->path.substr(0, slash)) ||
      !IsName(result->path.substr(slash + 1))) {
    return Status::Corruption(
        name, "is a stub whose path is no file in a folder of the tier: \"" + result->path + "\"");
  }
  return Status::OK();
}

std::string Identity::Encode() const {
  std::string text = kIdentityMagic + std::to_string(version) + "\n";
  if (version == 1) {
    text += folder + "\n" + directory + "\n";
    return text + ChecksumOf(text);
  }
  text += "folder " + folder + "\ndirectory " + Escape(directory) + "\nopening " + opening + "\n";
  for (const auto& [name, ids] : tiers) {
    for (const std::string& id : ids) {
      text += "tier " + name + " " + id + "\n";
    }
  }
  return text + ChecksumOf(text);
}

namespace {

// One line of version 2.
bool ParseLine(const std::string& line, Identity* result) {
  const size_t blank = line.find(' ');
  const std::string key = line.substr(0, blank);
  const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
  if (key == "folder") {
    result->folder = value;
  } else if (key == "directory") {
    return Unescape(value, &result->directory);
  } else if (key == "opening") {
    result->opening = value;
    return IsOpening(value);
  } else if (key == "tier") {
    const size_t end = value.find(' ');
    const std::string id = end == std::string::npos ? "" : value.substr(end + 1);
    return end > 0 && IsOpening(id) && result->tiers[value.substr(0, end)].insert(id).second;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Status Identity::Decode(const Slice& bytes, const std::string& name, Identity* result) {
  const std::string magic = kIdentityMagic;
  *result = Identity();
  Slice rest = bytes;
  std::string line;
  if (!GetLine(&rest, &line) || line.compare(0, magic.size(), magic) != 0) {
    return Status::Corruption(name, "is not of tiered_env");
  }
  const std::string version = line.substr(magic.size());
  if (version != "1" && version != "2") {
    return Status::NotSupported(name, "is of version " + version);
  }
  const size_t checksum = ChecksumOf("").size();
  if (rest.size() < checksum || Slice(rest.data() + rest.size() - checksum, checksum) !=
                                    ChecksumOf(Slice(bytes.data(), bytes.size() - checksum))) {
    return Status::Corruption(name, "is damaged");
  }
  rest.remove_suffix(checksum);
  result->version = version == "1" ? 1 : 2;
  bool sound = result->version == 2 || (GetLine(&rest, &result->folder) &&
                                        GetLine(&rest, &result->directory) && rest.empty());
  while (sound && !rest.empty()) {
    sound = GetLine(&rest, &line) && ParseLine(line, result);
  }
  if (!sound || (result->version == 2 && result->opening.empty())) {
    return Status::Corruption(name, "has an impossible line: \"" + line + "\"");
  }
  if (!IsName(result->folder)) {
    return Status::Corruption(name,
                              "has a name of folders that is no name: \"" + result->folder + "\"");
  }
  return Status::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
