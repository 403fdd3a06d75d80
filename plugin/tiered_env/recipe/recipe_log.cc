// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/recipe_log.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "test_util/sync_point.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

using recipe_log::Kind;

namespace {

constexpr uint64_t kSlack = 4 << 20;  // dead bytes that nobody minds
constexpr int kMostTries = 8;         // of a file that is replaced while it is opened
constexpr char kCompacted[] = "-compacted";

std::string NewId() {
  std::random_device random;
  std::string id;
  while (id.size() < recipe_log::kIdSize) {
    PutFixed32(&id, random());
  }
  return id;
}

}  // namespace

RecipeLog::RecipeLog(FileSystem* fs, std::string directory)
    : fs_(fs), directory_(std::move(directory)) {}

RecipeLog::~RecipeLog() = default;

std::string RecipeLog::PathOf(uint64_t number) const {
  return directory_ + "/" + recipe_log::NameOf(number);
}

// The newest one; 0: there is none. Those before it are left from a crash.
IOStatus RecipeLog::FindFile(uint64_t* number) const {
  *number = 0;
  std::vector<std::string> names;
  IOStatus s = fs_->GetChildren(directory_, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    *number = std::max(*number, recipe_log::NumberOf(name));
  }
  return s;
}

void RecipeLog::DeleteOld() const {
  std::vector<std::string> names;
  fs_->GetChildren(directory_, IOOptions(), &names, nullptr).PermitUncheckedError();
  for (const std::string& name : names) {
    const uint64_t number = recipe_log::NumberOf(name);
    if (number != 0 && number < number_) {
      fs_->DeleteFile(directory_ + "/" + name, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
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
  std::shared_ptr<RecipeLogFile> found;
  s = RecipeLogFile::Open(fs_, path, &found);
  if (!s.ok()) {
    return s;
  }
  s = found->Scan(fs_, path, contents);
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
    if (s.ok() && (number != number_ || number == 0 || file_ == nullptr)) {
      number_ = number;
      live_ = Contents();
      file_.reset();
      s = number == 0 ? s : RecipeLogFile::Open(fs_, PathOf(number), &file_);
    }
    if (s.ok() && number != 0) {
      s = file_->Scan(fs_, PathOf(number), &live_);
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

IOStatus RecipeLog::Append(Kind kind, const Slice& name, const Slice& body, uint64_t* body_at) {
  IOStatus s;
  if (broken_) {
    s = Rewrite(file_.get(), live_);
  }
  if (s.ok()) {
    s = file_->Write(kind, name, body, body_at);
    broken_ = !s.ok();
    written_bytes_ += body.size() + recipe_log::kFrameSize;
  }
  return s;
}

IOStatus RecipeLog::Rewrite(const RecipeLogFile* from, const Contents& live) {
  const std::string temporary = PathOf(number_ + 1) + kTemporary;
  Contents moved = live;
  std::shared_ptr<RecipeLogFile> file;
  IOStatus s = RecipeLogFile::Create(fs_, temporary, live.database, &file);
  if (s.ok()) {
    s = file->CopyFrom(from, RecipeLogFile::Copied(), &moved);
  }
  return Replace(s, temporary, std::move(file), std::move(moved));
}

// A new file that may have its name already, and may not be complete for all we know, is as broken
// as the old one.
IOStatus RecipeLog::Replace(IOStatus s, const std::string& temporary,
                            std::shared_ptr<RecipeLogFile> file, Contents live) {
  const uint64_t number = number_ + 1;
  if (s.ok()) {
    s = fs_->RenameFile(temporary, PathOf(number), IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = SyncDirectory(fs_, directory_);
  }
  if (!s.ok()) {
    fs_->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
    broken_ = broken_ || !IsMissing(fs_->FileExists(PathOf(number), IOOptions(), nullptr));
    return s;
  }
  if (number_ != 0) {
    fs_->DeleteFile(PathOf(number_), IOOptions(), nullptr).PermitUncheckedError();
  }
  file_ = std::move(file);
  broken_ = false;
  number_ = number;
  live_ = std::move(live);
  written_bytes_ += file_->size();
  return s;
}

IOStatus RecipeLog::Start(const Contents& keep) {
  std::lock_guard<std::mutex> lock(mutex_);
  Contents known = keep;
  known.database = keep.database.empty() ? NewId() : keep.database;
  IOStatus s = Rewrite(file_.get(), known);
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
  uint64_t most = recipe_log::kMostRecord;
  TEST_SYNC_POINT_CALLBACK("RecipeLog::AddRecipe:Most", &most);
  if (base.size() + recipe_log::kMostNamePrefix + bytes.size() > most) {
    return IOStatus::NotSupported(
        base, "has a recipe of " + std::to_string(bytes.size()) + " bytes, which is too long");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  LoggedRecipe recipe;
  recipe.size = bytes.size();
  IOStatus s = Append(Kind::kRecipe, base, bytes, &recipe.offset);
  if (s.ok()) {
    LoggedRecipe& known = live_.recipes[base];
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
  return Append(Kind::kDrop, base, Slice(), nullptr);
}

IOStatus RecipeLog::AddDirectory(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.directories.insert(name).second ? Append(Kind::kDirectory, name, Slice())
                                               : IOStatus::OK();
}

IOStatus RecipeLog::Clear() {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::lock_guard<std::mutex> lock(mutex_);
  Contents nothing;
  nothing.database = live_.database;
  nothing.next_segment = live_.next_segment;
  nothing.directories = live_.directories;
  nothing.tiers = live_.tiers;
  for (const auto& [id, known] : live_.segments) {
    if (known.log_number == kNoLog) {  // its log stays that of a newer home
      nothing.segments.emplace(id, known);
    }
  }
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
  return Append(Kind::kSegment, Slice(), recipe_log::EncodeSegment(segment), nullptr);
}

IOStatus RecipeLog::ForgetSegment(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.segments.find(id);
  if (it == live_.segments.end()) {
    return IOStatus::OK();
  }
  const std::string bytes = recipe_log::EncodeSegment(it->second);
  live_.segments.erase(it);
  return Append(Kind::kForget, Slice(), bytes, nullptr);
}

IOStatus RecipeLog::ReadRecipe(const std::string& base, std::string* recipe) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = live_.recipes.find(base);
  if (it == live_.recipes.end()) {
    return IOStatus::NotFound(base, "has no recipe");
  }
  IOStatus s = file_->Read(it->second, recipe);
  return s.ok() && recipe->size() != it->second.size
             ? IOStatus::Corruption(PathOf(number_), "is shorter than it was")
             : s;
}

bool RecipeLog::Has(const std::string& base) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return live_.recipes.count(base) > 0;
}

// Whoever adds to it meanwhile waits for no disk. The file may be replaced while it is synced, by
// one that is durable.
IOStatus RecipeLog::Sync() {
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::shared_ptr<RecipeLogFile> file;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (broken_) {
      return Rewrite(file_.get(), live_);
    }
    file = file_;
  }
  IOStatus s = file->Sync();
  if (!s.ok()) {  // what was written may be lost, and nobody says so again
    std::lock_guard<std::mutex> lock(mutex_);
    broken_ = broken_ || file == file_;
  }
  return s;
}

// Recipes can have many bytes: whoever adds some or makes them durable meanwhile goes on with the
// old file. What comes to that while its recipes are copied is appended to the new one when nobody
// can add more; that is little, and durable before the new file has its name. If the old one was
// replaced meanwhile, after a failure or by Clear(), the copy is of no use.
IOStatus RecipeLog::Compact() {
  std::lock_guard<std::mutex> compact_lock(compact_mutex_);
  uint64_t slack = kSlack;
  TEST_SYNC_POINT_CALLBACK("RecipeLog::Compact:Slack", &slack);
  std::shared_ptr<RecipeLogFile> old;
  RecipeLogFile::Copied copied;
  std::string temporary;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (file_->size() <= 2 * live_bytes_ + slack) {
      return IOStatus::OK();
    }
    old = file_;
    copied.there = live_;
    // Not the name that Rewrite() would take.
    temporary = PathOf(number_ + 1) + kCompacted + kTemporary;
  }
  copied.here = copied.there;
  std::shared_ptr<RecipeLogFile> file;
  IOStatus s = RecipeLogFile::Create(fs_, temporary, copied.there.database, &file);
  if (s.ok()) {
    s = file->CopyFrom(old.get(), RecipeLogFile::Copied(), &copied.here);
  }
  std::lock_guard<std::mutex> sync_lock(sync_mutex_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_ != old) {
    fs_->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
    return s;
  }
  Contents moved = live_;
  if (s.ok()) {
    s = file->CopyFrom(old.get(), copied, &moved);
  }
  return Replace(s, temporary, std::move(file), std::move(moved));
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
  return file_ == nullptr ? 0 : file_->size();
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
