// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/recipe_log_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

using recipe_log::Kind;

namespace {

constexpr uint64_t kMostSearched = 64 << 20;  // bytes, for records behind what is not sound

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

// Reads records of a file of `size` bytes. *end: behind the last one that is sound. *bad: of the
// first one before it that is not; 0: there is none. Its length tells where the next one begins.
IOStatus ScanRecords(Scanner* scanner, const std::string& path, uint64_t size, uint64_t* end,
                     uint64_t* bad, RecipeLogContents* contents) {
  IOStatus s;
  std::string bytes;
  uint64_t first = 0;
  while (s.ok() && scanner->Next(recipe_log::kFrameSize, &bytes)) {
    const recipe_log::Frame frame(bytes);
    const uint64_t at = scanner->offset();
    // A length that was damaged takes no memory.
    if (frame.length > recipe_log::kMostRecord || at > size || frame.length > size - at ||
        !scanner->Next(frame.length, &bytes)) {
      break;
    }
    Slice body(bytes);
    Slice name;
    if (!frame.IsSound(bytes) || !GetLengthPrefixedSlice(&body, &name)) {
      first = first == 0 ? at : first;
      continue;
    }
    const uint64_t body_at = at + (frame.length - body.size());
    if (!recipe_log::Apply(frame.kind, name, body, body_at, contents).ok()) {
      s = IOStatus::Corruption(path, "has a record of an unknown kind at " + std::to_string(at));
    }
    *end = scanner->offset();
    *bad = first;
  }
  return s.ok() ? scanner->status() : s;
}

}  // namespace

RecipeLogFile::~RecipeLogFile() {
  if (writer_ != nullptr) {
    writer_->Close(IOOptions(), nullptr).PermitUncheckedError();
  }
}

IOStatus RecipeLogFile::Scan(FileSystem* fs, const std::string& path, RecipeLogContents* contents) {
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(path, FileOptions(), &file, nullptr);
  uint64_t size = 0;
  if (s.ok()) {
    s = fs->GetFileSize(path, IOOptions(), &size, nullptr);
  }
  if (s.ok() && size_ > 0) {
    s = file->Skip(size_);
  }
  if (!s.ok()) {
    return s;
  }
  Scanner scanner(std::move(file), size_);
  std::string bytes;
  IOStatus header;
  if (size_ == 0) {
    const bool has_header = scanner.Next(recipe_log::kHeaderSize, &bytes);
    if (scanner.status().ok()) {
      header = has_header ? recipe_log::DecodeHeader(bytes, path, &contents->database)
                          : IOStatus::Corruption(path, "has no header");
      contents->knows_database = header.ok();
    }
    size_ = scanner.offset();
  }
  if (!header.ok() && !header.IsCorruption()) {
    return header;
  }
  // Who salvages what there is needs the records behind a header that is damaged.
  uint64_t bad = 0;
  s = ScanRecords(&scanner, path, size, &size_, &bad, contents);
  if (s.ok() && bad == 0 && size_ < size) {
    std::string rest;
    s = Read({size_, std::min(size - size_, kMostSearched)}, &rest);
    bad = s.ok() && recipe_log::HasRecord(rest) ? size_ : 0;
  }
  if (bad != 0) {
    contents->damage = path + " is damaged at " + std::to_string(bad);
  }
  return s.ok() ? header : s;
}

IOStatus RecipeLogFile::Open(FileSystem* fs, const std::string& path,
                             std::shared_ptr<RecipeLogFile>* result) {
  auto file = std::make_shared<RecipeLogFile>();
  IOStatus s = fs->NewRandomAccessFile(path, FileOptions(), &file->reader_, nullptr);
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

IOStatus RecipeLogFile::Create(FileSystem* fs, const std::string& path, const std::string& database,
                               std::shared_ptr<RecipeLogFile>* result) {
  auto file = std::make_shared<RecipeLogFile>();
  IOStatus s = fs->NewWritableFile(path, FileOptions(), &file->writer_, nullptr);
  if (s.ok()) {
    const std::string header = recipe_log::EncodeHeader(database);
    s = file->writer_->Append(header, IOOptions(), nullptr);
    file->size_ = header.size();
  }
  if (s.ok()) {
    s = fs->NewRandomAccessFile(path, FileOptions(), &file->reader_, nullptr);
  }
  *result = std::move(file);
  return s;
}

IOStatus RecipeLogFile::Read(const LoggedRecipe& recipe, std::string* bytes) const {
  bytes->resize(recipe.size);
  Slice found;
  IOStatus s =
      reader_->Read(recipe.offset, bytes->size(), IOOptions(), &found, bytes->data(), nullptr);
  if (s.ok() && found.data() != bytes->data()) {
    memcpy(bytes->data(), found.data(), found.size());
  }
  bytes->resize(s.ok() ? found.size() : 0);
  return s;
}

IOStatus RecipeLogFile::Write(Kind kind, const Slice& name, const Slice& body, uint64_t* body_at) {
  uint64_t at;
  const std::string record = recipe_log::EncodeRecord(kind, name, body, &at);
  IOStatus s = writer_->Append(record, IOOptions(), nullptr);
  if (s.ok()) {
    s = writer_->Flush(IOOptions(), nullptr);
  }
  if (s.ok()) {
    if (body_at != nullptr) {
      *body_at = size_ + at;
    }
    size_ += record.size();
  }
  return s;
}

IOStatus RecipeLogFile::CopyRecipe(const RecipeLogFile& from, const std::string& base,
                                   LoggedRecipe* recipe) {
  std::string bytes;
  IOStatus s = from.Read(*recipe, &bytes);
  if (s.ok() && bytes.size() != recipe->size) {
    s = IOStatus::Corruption(base, "has a recipe that is cut off");
  }
  return s.ok() ? Write(Kind::kRecipe, base, bytes, &recipe->offset) : s;
}

IOStatus RecipeLogFile::WriteSegment(Kind kind, const LoggedSegment& segment) {
  return Write(kind, Slice(), recipe_log::EncodeSegment(segment));
}

// A recipe that stands elsewhere is another one.
IOStatus RecipeLogFile::CopyFrom(const RecipeLogFile* from, const Copied& copied,
                                 RecipeLogContents* live) {
  const RecipeLogContents& known = copied.there;
  LoggedSegment next;
  next.id = live->next_segment;
  IOStatus s = WriteSegment(Kind::kNext, next);
  for (auto it = live->segments.begin(); s.ok() && it != live->segments.end(); ++it) {
    s = WriteSegment(Kind::kSegment, it->second);
  }
  for (auto it = known.segments.begin(); s.ok() && it != known.segments.end(); ++it) {
    s = live->segments.count(it->first) > 0 ? s : WriteSegment(Kind::kForget, it->second);
  }
  for (auto it = live->directories.begin(); s.ok() && it != live->directories.end(); ++it) {
    s = Write(Kind::kDirectory, *it, Slice());
  }
  for (auto it = live->tiers.begin(); s.ok() && it != live->tiers.end(); ++it) {
    s = Write(Kind::kTier, *it, Slice());
  }
  for (auto it = known.recipes.begin(); s.ok() && it != known.recipes.end(); ++it) {
    s = live->recipes.count(it->first) > 0 ? s : Write(Kind::kDrop, it->first, Slice());
  }
  for (auto it = live->recipes.begin(); s.ok() && it != live->recipes.end(); ++it) {
    const auto there = known.recipes.find(it->first);
    if (there != known.recipes.end() && there->second.offset == it->second.offset) {
      it->second = copied.here.recipes.find(it->first)->second;
    } else {
      s = CopyRecipe(*from, it->first, &it->second);
    }
  }
  return s.ok() ? Sync() : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
