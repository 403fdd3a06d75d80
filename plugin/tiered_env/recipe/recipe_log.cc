// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/recipe_log.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/names.h"
#include "test_util/sync_point.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr char kPrefix[] = "TIERS-RECIPES-";
constexpr char kMagic[] = "rktrecip";
constexpr uint32_t kVersion = 2;
constexpr size_t kHeader = 32;
constexpr size_t kIdAt = 12;
constexpr size_t kIdSize = 16;             // random bytes
constexpr size_t kFrame = 9;               // checksum, length, kind
constexpr uint64_t kSlack = 4 << 20;       // dead bytes that nobody minds
constexpr uint64_t kMostRecord = 1 << 30;  // bytes: the log ends before a longer one
constexpr size_t kMostPrefix = 5;          // bytes of a name's length
constexpr int kMostTries = 8;              // of a file that is replaced while it is opened

std::string NewId() {
  std::random_device random;
  std::string id;
  while (id.size() < kIdSize) {
    PutFixed32(&id, random());
  }
  return id;
}

std::string HeaderBytes(const std::string& id) {
  std::string header(kMagic, 8);
  PutFixed32(&header, kVersion);
  header += id;
  PutFixed32(&header, crc32c::Mask(crc32c::Value(header.data(), header.size())));
  return header;
}

// The first version has no id.
IOStatus DecodeHeader(const Slice& header, const std::string& path, std::string* id) {
  if (header.size() < kHeader || memcmp(header.data(), kMagic, 8) != 0 ||
      DecodeFixed32(header.data() + kHeader - 4) !=
          crc32c::Mask(crc32c::Value(header.data(), kHeader - 4))) {
    return IOStatus::Corruption(path, "is no recipe log, or its header is damaged");
  }
  const uint32_t version = DecodeFixed32(header.data() + 8);
  *id = version == kVersion ? std::string(header.data() + kIdAt, kIdSize) : "";
  return version == kVersion || version == 1
             ? IOStatus::OK()
             : IOStatus::NotSupported(path, "is of version " + std::to_string(version));
}

// Of a recipe log, 0 of what is none.
uint64_t NumberOf(const std::string& name) {
  uint64_t number = 0;
  Slice digits(name);
  if (!digits.starts_with(kPrefix)) {
    return 0;
  }
  digits.remove_prefix(sizeof(kPrefix) - 1);
  return ConsumeDecimalNumber(&digits, &number) && digits.empty() ? number : 0;
}

std::string SegmentBytes(const LoggedSegment& segment) {
  std::string bytes;
  for (const uint64_t value :
       {segment.id, segment.log_number, segment.entries, segment.digest, segment.bytes}) {
    PutFixed64(&bytes, value);
  }
  return bytes;
}

bool ParseSegment(Slice bytes, LoggedSegment* segment) {
  return GetFixed64(&bytes, &segment->id) && GetFixed64(&bytes, &segment->log_number) &&
         GetFixed64(&bytes, &segment->entries) && GetFixed64(&bytes, &segment->digest) &&
         GetFixed64(&bytes, &segment->bytes);
}

// Reads a file from its beginning. False at its end.
class Scanner {
 public:
  Scanner(std::unique_ptr<FSSequentialFile> file, uint64_t offset)
      : file_(std::move(file)), offset_(offset) {}

  bool Next(size_t n, std::string* bytes) {
    bytes->resize(n);
    size_t got = 0;
    while (status_.ok() && got < n) {
      Slice part;
      status_ = file_->Read(n - got, IOOptions(), &part, &(*bytes)[got], nullptr);
      if (!status_.ok() || part.empty()) {
        break;
      }
      if (part.data() != bytes->data() + got) {
        memcpy(&(*bytes)[got], part.data(), part.size());
      }
      got += part.size();
    }
    offset_ += got;
    return status_.ok() && got == n;
  }
  uint64_t offset() const { return offset_; }
  const IOStatus& status() const { return status_; }

 private:
  const std::unique_ptr<FSSequentialFile> file_;
  IOStatus status_;
  uint64_t offset_;
};

}  // namespace

struct RecipeLog::File {
  ~File() {
    if (writer != nullptr) {
      writer->Close(IOOptions(), nullptr).PermitUncheckedError();
    }
  }

  std::unique_ptr<FSWritableFile> writer;
  std::unique_ptr<FSRandomAccessFile> reader;
  uint64_t size = 0;
};

RecipeLog::RecipeLog(FileSystem* fs, std::string directory)
    : fs_(fs), directory_(std::move(directory)) {}

RecipeLog::~RecipeLog() = default;

std::string RecipeLog::PathOf(uint64_t number) const {
  char name[32];
  snprintf(name, sizeof(name), "%s%06llu", kPrefix, static_cast<unsigned long long>(number));
  return directory_ + "/" + name;
}

// The newest one; 0: there is none. Those before it are left from a crash.
IOStatus RecipeLog::FindFile(uint64_t* number) const {
  *number = 0;
  std::vector<std::string> names;
  IOStatus s = fs_->GetChildren(directory_, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    *number = std::max(*number, NumberOf(name));
  }
  return s;
}

void RecipeLog::DeleteOld() const {
  std::vector<std::string> names;
  fs_->GetChildren(directory_, IOOptions(), &names, nullptr).PermitUncheckedError();
  for (const std::string& name : names) {
    const uint64_t number = NumberOf(name);
    if (number != 0 && number < number_) {
      fs_->DeleteFile(directory_ + "/" + name, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
}

IOStatus RecipeLog::Apply(char kind, const Slice& name, const Slice& body, uint64_t body_at,
                          Contents* contents) {
  LoggedSegment segment;
  switch (kind) {
    case kRecipe: {
      Recipe& recipe = contents->recipes[name.ToString()];
      recipe.offset = body_at;
      recipe.size = body.size();
      break;
    }
    case kDrop:
      contents->recipes.erase(name.ToString());
      break;
    case kSegment:
      if (ParseSegment(body, &segment)) {
        contents->segments[segment.id] = segment;
        contents->next_segment = std::max(contents->next_segment, segment.id + 1);
      }
      break;
    case kForget:
      if (ParseSegment(body, &segment)) {
        contents->segments.erase(segment.id);
      }
      break;
    case kNext:
      if (ParseSegment(body, &segment)) {
        contents->next_segment = std::max(contents->next_segment, segment.id);
      }
      break;
    case kDirectory:
      contents->directories.insert(name.ToString());
      break;
    case kTier:
      contents->tiers.insert(name.ToString());
      break;
    default:
      return IOStatus::Corruption("has a record of an unknown kind");
  }
  return IOStatus::OK();
}

IOStatus RecipeLog::Scan(const std::string& path, uint64_t* offset, Contents* contents) const {
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs_->NewSequentialFile(path, FileOptions(), &file, nullptr);
  uint64_t size = 0;
  if (s.ok()) {
    s = fs_->GetFileSize(path, IOOptions(), &size, nullptr);
  }
  if (s.ok() && *offset > 0) {
    s = file->Skip(*offset);
  }
  if (!s.ok()) {
    return s;
  }
  Scanner scanner(std::move(file), *offset);
  std::string bytes;
  if (*offset == 0) {
    s = scanner.Next(kHeader, &bytes) ? DecodeHeader(bytes, path, &contents->database)
                                      : IOStatus::Corruption(path, "has no header");
    *offset = scanner.offset();
  }
  while (s.ok() && scanner.Next(kFrame, &bytes)) {
    const uint32_t checksum = DecodeFixed32(bytes.data());
    const uint32_t length = DecodeFixed32(bytes.data() + 4);
    const std::string frame = bytes.substr(4);
    const uint64_t at = scanner.offset();
    // A length that was damaged takes no memory.
    if (length > kMostRecord || at > size || length > size - at || !scanner.Next(length, &bytes) ||
        crc32c::Mask(crc32c::Extend(crc32c::Value(frame.data(), frame.size()), bytes.data(),
                                    bytes.size())) != checksum) {
      break;  // it was never synced: nothing depends on it
    }
    Slice body(bytes);
    Slice name;
    if (!GetLengthPrefixedSlice(&body, &name)) {
      break;
    }
    if (!Apply(frame[4], name, body, at + (length - body.size()), contents).ok()) {
      s = IOStatus::Corruption(path, "has a record of an unknown kind at " + std::to_string(at));
    }
    *offset = scanner.offset();
  }
  return s.ok() ? scanner.status() : s;
}

IOStatus RecipeLog::Load(Contents* contents) {
  *contents = Contents();
  uint64_t number;
  IOStatus s = FindFile(&number);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    number_ = number;
  }
  if (!s.ok() || number == 0) {
    return s;
  }
  const std::string path = PathOf(number);
  auto found = std::make_shared<File>();
  uint64_t end = 0;
  s = fs_->NewRandomAccessFile(path, FileOptions(), &found->reader, nullptr);
  if (s.ok()) {
    s = Scan(path, &end, contents);
  }
  if (found->reader == nullptr) {
    return s;
  }
  found->size = end;
  std::lock_guard<std::mutex> lock(mutex_);
  file_ = std::move(found);
  live_ = *contents;
  return s;
}

// Whoever writes it may replace the file meanwhile.
IOStatus RecipeLog::Follow() {
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus s;
  for (int i = 0; i < kMostTries; i++) {
    uint64_t number;
    s = FindFile(&number);
    if (s.ok() && number != 0 && number == number_ && file_ != nullptr) {
      s = Scan(PathOf(number), &followed_, &live_);
    } else if (s.ok()) {
      number_ = number;
      followed_ = 0;
      live_ = Contents();
      file_ = number == 0 ? nullptr : std::make_shared<File>();
      s = number == 0
              ? s
              : fs_->NewRandomAccessFile(PathOf(number), FileOptions(), &file_->reader, nullptr);
      if (s.ok() && number != 0) {
        s = Scan(PathOf(number), &followed_, &live_);
      }
    }
    if (s.ok()) {
      break;
    }
    file_.reset();
    live_ = Contents();
    if (!IsMissing(s)) {
      break;
    }
  }
  return s;
}

IOStatus RecipeLog::Create(uint64_t number, const std::string& database,
                           std::shared_ptr<File>* file) const {
  auto result = std::make_shared<File>();
  const std::string path = PathOf(number) + kTemporary;
  IOStatus s = fs_->NewWritableFile(path, FileOptions(), &result->writer, nullptr);
  if (s.ok()) {
    const std::string header = HeaderBytes(database);
    s = result->writer->Append(header, IOOptions(), nullptr);
    result->size = header.size();
  }
  if (s.ok()) {
    s = fs_->NewRandomAccessFile(path, FileOptions(), &result->reader, nullptr);
  }
  *file = std::move(result);
  return s;
}

IOStatus RecipeLog::Write(File* file, Kind kind, const Slice& name, const Slice& body,
                          uint64_t* body_at) {
  std::string prefix;
  PutLengthPrefixedSlice(&prefix, name);
  std::string record(4, '\0');
  PutFixed32(&record, static_cast<uint32_t>(prefix.size() + body.size()));
  record += kind;
  record += prefix;
  record.append(body.data(), body.size());
  EncodeFixed32(record.data(), crc32c::Mask(crc32c::Value(record.data() + 4, record.size() - 4)));
  IOStatus s = file->writer->Append(record, IOOptions(), nullptr);
  if (s.ok()) {
    s = file->writer->Flush(IOOptions(), nullptr);
  }
  if (s.ok()) {
    if (body_at != nullptr) {
      *body_at = file->size + kFrame + prefix.size();
    }
    file->size += record.size();
  }
  return s;
}

IOStatus RecipeLog::Append(Kind kind, const Slice& name, const Slice& body, uint64_t* body_at) {
  IOStatus s;
  if (broken_) {
    s = Rewrite(file_->reader.get(), live_);
  }
  if (s.ok()) {
    s = Write(file_.get(), kind, name, body, body_at);
    broken_ = !s.ok();
    written_bytes_ += body.size() + kFrame;
  }
  return s;
}

IOStatus RecipeLog::CopyTo(File* to, const FSRandomAccessFile* from, Contents* live) {
  LoggedSegment next;
  next.id = live->next_segment;
  IOStatus s = Write(to, kNext, Slice(), SegmentBytes(next));
  for (auto it = live->segments.begin(); s.ok() && it != live->segments.end(); ++it) {
    s = Write(to, kSegment, Slice(), SegmentBytes(it->second));
  }
  for (auto it = live->directories.begin(); s.ok() && it != live->directories.end(); ++it) {
    s = Write(to, kDirectory, *it, Slice());
  }
  for (auto it = live->tiers.begin(); s.ok() && it != live->tiers.end(); ++it) {
    s = Write(to, kTier, *it, Slice());
  }
  std::string buffer;
  for (auto it = live->recipes.begin(); s.ok() && it != live->recipes.end(); ++it) {
    buffer.resize(it->second.size);
    Slice bytes;
    s = from->Read(it->second.offset, buffer.size(), IOOptions(), &bytes, buffer.data(), nullptr);
    if (s.ok() && bytes.size() != buffer.size()) {
      s = IOStatus::Corruption(it->first, "has a recipe that is cut off");
    }
    if (s.ok()) {
      s = Write(to, kRecipe, it->first, bytes, &it->second.offset);
    }
  }
  return s.ok() ? to->writer->Sync(IOOptions(), nullptr) : s;
}

// A new file that may have its name already, and may not be complete for all we know, is as broken
// as the old one.
IOStatus RecipeLog::Rewrite(const FSRandomAccessFile* from, const Contents& live) {
  const uint64_t number = number_ + 1;
  Contents moved = live;
  std::shared_ptr<File> file;
  IOStatus s = Create(number, live.database, &file);
  if (s.ok()) {
    s = CopyTo(file.get(), from, &moved);
  }
  if (s.ok()) {
    s = fs_->RenameFile(PathOf(number) + kTemporary, PathOf(number), IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(fs_, directory_);
  }
  if (!s.ok()) {
    fs_->DeleteFile(PathOf(number) + kTemporary, IOOptions(), nullptr).PermitUncheckedError();
    broken_ = broken_ || fs_->FileExists(PathOf(number), IOOptions(), nullptr).ok();
    return s;
  }
  if (number_ != 0) {
    fs_->DeleteFile(PathOf(number_), IOOptions(), nullptr).PermitUncheckedError();
  }
  file_ = std::move(file);
  broken_ = false;
  number_ = number;
  live_ = std::move(moved);
  written_bytes_ += file_->size;
  return s;
}

IOStatus RecipeLog::Start(const Contents& keep) {
  std::lock_guard<std::mutex> lock(mutex_);
  Contents known = keep;
  known.database = keep.database.empty() ? NewId() : keep.database;
  IOStatus s = Rewrite(file_ == nullptr ? nullptr : file_->reader.get(), known);
  live_bytes_ = 0;
  for (const auto& [base, recipe] : live_.recipes) {
    live_bytes_ += recipe.size;
  }
  if (s.ok()) {
    DeleteOld();
  }
  return s;
}

IOStatus RecipeLog::AddRecipe(const std::string& base, const Slice& bytes) {
  uint64_t most = kMostRecord;
  TEST_SYNC_POINT_CALLBACK("RecipeLog::AddRecipe:Most", &most);
  if (base.size() + kMostPrefix + bytes.size() > most) {
    return IOStatus::NotSupported(
        base, "has a recipe of " + std::to_string(bytes.size()) + " bytes, which is too long");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  Recipe recipe;
  recipe.size = bytes.size();
  IOStatus s = Append(kRecipe, base, bytes, &recipe.offset);
  if (s.ok()) {
    Recipe& known = live_.recipes[base];
    live_bytes_ += recipe.size - known.size;
    known = recipe;
  }
  return s;
}

IOStatus RecipeLog::Drop(const std::string& base) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.recipes.find(base);
  if (it == live_.recipes.end()) {
    return IOStatus::OK();
  }
  live_bytes_ -= it->second.size;
  live_.recipes.erase(it);
  return Append(kDrop, base, Slice(), nullptr);
}

IOStatus RecipeLog::AddDirectory(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.directories.insert(name).second ? Append(kDirectory, name, Slice()) : IOStatus::OK();
}

IOStatus RecipeLog::Clear() {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::lock_guard<std::mutex> lock(mutex_);
  Contents nothing;
  nothing.database = live_.database;
  nothing.next_segment = live_.next_segment;
  nothing.directories = live_.directories;
  nothing.tiers = live_.tiers;
  IOStatus s = Rewrite(nullptr, nothing);
  live_bytes_ = s.ok() ? 0 : live_bytes_;
  return s;
}

uint64_t RecipeLog::NewSegment() {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.next_segment++;
}

IOStatus RecipeLog::AddSegment(const LoggedSegment& segment) {
  std::lock_guard<std::mutex> lock(mutex_);
  live_.segments[segment.id] = segment;
  live_.next_segment = std::max(live_.next_segment, segment.id + 1);
  return Append(kSegment, Slice(), SegmentBytes(segment), nullptr);
}

IOStatus RecipeLog::ForgetSegment(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.segments.find(id);
  if (it == live_.segments.end()) {
    return IOStatus::OK();
  }
  const std::string bytes = SegmentBytes(it->second);
  live_.segments.erase(it);
  return Append(kForget, Slice(), bytes, nullptr);
}

IOStatus RecipeLog::ReadRecipe(const std::string& base, std::string* recipe) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.recipes.find(base);
  if (it == live_.recipes.end()) {
    return IOStatus::NotFound(base, "has no recipe");
  }
  recipe->resize(it->second.size);
  Slice bytes;
  IOStatus s = file_->reader->Read(it->second.offset, recipe->size(), IOOptions(), &bytes,
                                   recipe->data(), nullptr);
  if (s.ok() && bytes.size() != recipe->size()) {
    s = IOStatus::Corruption(PathOf(number_), "is shorter than it was");
  }
  if (s.ok() && bytes.data() != recipe->data()) {
    memcpy(recipe->data(), bytes.data(), bytes.size());
  }
  return s;
}

bool RecipeLog::Has(const std::string& base) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.recipes.count(base) > 0;
}

// Whoever adds to it meanwhile waits for no disk. The file may be replaced while it is synced, by
// one that is durable.
IOStatus RecipeLog::Sync() {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::shared_ptr<File> file;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_) {
      return Rewrite(file_->reader.get(), live_);
    }
    file = file_;
  }
  IOStatus s = file->writer->Sync(IOOptions(), nullptr);
  if (!s.ok()) {  // what was written may be lost, and nobody says so again
    std::lock_guard<std::mutex> lock(mutex_);
    broken_ = broken_ || file == file_;
  }
  return s;
}

IOStatus RecipeLog::Compact() {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  uint64_t slack = kSlack;
  TEST_SYNC_POINT_CALLBACK("RecipeLog::Compact:Slack", &slack);
  std::lock_guard<std::mutex> lock(mutex_);
  return file_->size <= 2 * live_bytes_ + slack ? IOStatus::OK()
                                                : Rewrite(file_->reader.get(), live_);
}

std::string RecipeLog::TagOf(const Contents& contents) {
  return Slice(contents.database.data(), std::min(contents.database.size(), kTagSize / 2))
      .ToString(/*hex=*/true);
}

std::string RecipeLog::tag() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return TagOf(live_);
}

uint64_t RecipeLog::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return file_ == nullptr ? 0 : file_->size;
}

uint64_t RecipeLog::live_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_bytes_;
}

uint64_t RecipeLog::recipes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.recipes.size();
}

uint64_t RecipeLog::written_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return written_bytes_;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
