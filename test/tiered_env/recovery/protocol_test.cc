// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Recipes and the logs that they refer to, in any order of what can happen to them: each SST that
// has a recipe can be rebuilt of the files that are there, at any moment, and nothing counts as
// needed that is not.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "db/dbformat.h"
#include "db/log_writer.h"
#include "db/write_batch_internal.h"
#include "file/writable_file_writer.h"
#include "options/cf_options.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recipe/rebuild.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "plugin/tiered_env/wal/segments.h"
#include "plugin/tiered_env/wal/tracked_file.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"
#include "table/table_builder.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

using Place = std::pair<uint64_t, Ordinal>;  // segment, entry

// Newer ones of a key have larger sequence numbers, but for those that are used again.
struct Record {
  std::string key;
  SequenceNumber sequence = 0;
  std::string value;
};

struct Table {
  std::vector<Record> records;
  std::string bytes;
  std::set<Place> needs;
};

// What is found in the files.
class Found : public EntrySource {
 public:
  class Reader : public EntryVisitor {
   public:
    Reader(Found* found, uint64_t segment) : found_(found), segment_(segment) {}
    void OnEntry(Ordinal ordinal, const Entry& entry) override {
      Kept& kept = found_->entries_[{segment_, ordinal}];
      kept.entry = entry;
      kept.key = entry.key.ToString();
      kept.value = entry.value.ToString();
    }

   private:
    Found* const found_;
    const uint64_t segment_;
  };

  bool Get(const Reference& reference, Entry* entry) override {
    const auto it = entries_.find({reference.segment, reference.ordinal});
    if (it == entries_.end()) {
      return false;
    }
    *entry = it->second.entry;
    entry->key = it->second.key;
    entry->value = it->second.value;
    return true;
  }

 private:
  struct Kept {
    Entry entry;
    std::string key;
    std::string value;
  };
  std::map<Place, Kept> entries_;
};

class Indexer : public EntryVisitor {
 public:
  explicit Indexer(Segment* segment) : segment_(segment) {}
  void OnEntry(Ordinal ordinal, const Entry& entry) override { segment_->Add(ordinal, entry); }

 private:
  Segment* const segment_;
};

class ProtocolTest : public TieredTest {
 protected:
  ProtocolTest() {
    std::filesystem::create_directories(db_name_);
    target_ = FileSystem::Default();
    Start({});
  }

  std::string PathOf(uint64_t number) const {
    return db_name_ + "/" + std::to_string(number) + ".log";
  }
  void Start(const RecipeLog::Contents& keep);
  void NewLog();
  std::string BuildTable(const std::vector<Record>& records) const;
  void AddTable(std::vector<Record> records, std::string* base = nullptr);
  void DropTable(const std::string& base);
  void Flush();
  void Compact();
  void DropOne();
  void KeepOne();
  void Trim();
  void Crash();
  void Background();
  void Check();

  std::unique_ptr<RecipeLog> recipe_log_;
  std::unique_ptr<WalSegments> logs_;
  uint64_t number_ = 0;  // of logs and tables
  SequenceNumber sequence_ = 100;
  std::map<uint64_t, std::vector<Record>> written_;  // logs that RocksDB has
  std::map<std::string, Table> tables_;
  std::map<std::string, int> done_;
};

void ProtocolTest::Start(const RecipeLog::Contents& keep) {
  if (recipe_log_ == nullptr) {
    recipe_log_ = std::make_unique<RecipeLog>(target_.get(), db_name_);
    RecipeLog::Contents nothing;
    ASSERT_OK(recipe_log_->Load(&nothing));
  }
  ASSERT_OK(recipe_log_->Start(keep));
  logs_ = std::make_unique<WalSegments>(target_.get());
}

// What was begun before is complete then.
void ProtocolTest::NewLog() {
  const uint64_t number = ++number_;
  logs_->Created(number, PathOf(number),
                 std::make_shared<ActiveLog>(target_.get(), PathOf(number)));
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(target_->NewWritableFile(PathOf(number), FileOptions(), &file, nullptr));
  log::Writer writer(
      std::make_unique<WritableFileWriter>(std::move(file), PathOf(number), FileOptions()), number,
      /*recycle_log_files=*/false);
  if (random_() % 5 == 0) {  // after a recovery to a point in time
    sequence_ -= std::min<SequenceNumber>(sequence_ - 1, random_() % 100);
  }
  std::vector<Record>& records = written_[number];
  for (uint64_t batches = 5 + random_() % 20; batches > 0; batches--) {
    WriteBatch batch;
    WriteBatchInternal::SetSequence(&batch, sequence_);
    for (uint64_t left = 1 + random_() % 5; left > 0; left--) {
      Record record;
      record.key = "key" + std::to_string(100 + random_() % 60);
      record.sequence = sequence_++;
      record.value = std::string(random_() % 40, 'v') + std::to_string(random_() % 4);
      ASSERT_OK(batch.Put(record.key, record.value));
      records.push_back(record);
    }
    ASSERT_OK(writer.AddRecord(WriteOptions(), WriteBatchInternal::Contents(&batch)));
  }
}

std::string ProtocolTest::BuildTable(const std::vector<Record>& records) const {
  const std::string path = folder_ + "/table";
  std::unique_ptr<FSWritableFile> file;
  EXPECT_OK(target_->NewWritableFile(path, FileOptions(), &file, nullptr));
  WritableFileWriter writer(std::move(file), path, FileOptions());
  const Options options;
  const ImmutableOptions immutable(options);
  const MutableCFOptions changeable(options);
  const InternalKeyComparator comparator(BytewiseComparator());
  const InternalTblPropCollFactories factories;
  const ReadOptions read;
  const WriteOptions write;
  const std::string family = kDefaultColumnFamilyName;
  const std::unique_ptr<TableBuilder> builder(options.table_factory->NewTableBuilder(
      TableBuilderOptions(immutable, changeable, read, write, comparator, &factories,
                          kNoCompression, CompressionOptions(), 0, family, 0, 0),
      &writer));
  for (const Record& record : records) {
    const InternalKey key(record.key, record.sequence, kTypeValue);
    builder->Add(key.Encode(), record.value);
  }
  EXPECT_OK(builder->Finish());
  EXPECT_OK(writer.Close(IOOptions()));
  std::string bytes;
  EXPECT_OK(ReadFileToString(target_.get(), path, &bytes));
  return bytes;
}

// As RecoveryManager::AddTable().
void ProtocolTest::AddTable(std::vector<Record> records, std::string* base) {
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return a.key != b.key ? a.key < b.key : a.sequence > b.sequence;
  });
  records.erase(std::unique(records.begin(), records.end(),
                            [](const Record& a, const Record& b) {
                              return a.key == b.key && a.sequence == b.sequence;
                            }),
                records.end());
  const std::string name = std::to_string(++number_) + ".sst";
  Table& table = tables_[name];
  table.bytes = BuildTable(records);
  table.records = std::move(records);
  logs_->Index(recipe_log_.get(), nullptr);
  std::string recipe;
  RecipeSummary summary;
  {
    WalSegments::Source source(logs_.get());
    MakeRecipe(table.bytes, &source, &recipe, &summary);
  }
  done_["references"] += static_cast<int>(summary.references);
  ASSERT_OK(ForEachReference(recipe, [&](const Reference& reference) {
    table.needs.insert({reference.segment, reference.ordinal});
  }));
  ASSERT_OK(recipe_log_->AddRecipe(name, recipe));
  if (base != nullptr) {
    *base = name;
  }
}

void ProtocolTest::DropTable(const std::string& base) {
  std::string recipe;
  ASSERT_OK(recipe_log_->ReadRecipe(base, &recipe));
  logs_->Release(recipe);
  ASSERT_OK(recipe_log_->Drop(base));
  tables_.erase(base);
}

void ProtocolTest::Flush() {
  NewLog();
  const auto last = std::prev(written_.end());
  if (last != written_.begin()) {
    AddTable(std::prev(last)->second);
  }
}

// Inputs and outputs refer to the same entries for a while.
void ProtocolTest::Compact() {
  std::vector<std::string> inputs;
  std::map<std::string, Record> newest;
  for (const auto& [base, table] : tables_) {
    if (random_() % 3 == 0) {
      inputs.push_back(base);
      for (const Record& record : table.records) {
        Record& known = newest[record.key];
        known = known.sequence < record.sequence ? record : known;
      }
    }
  }
  std::vector<Record> outputs[2];
  for (const auto& [key, record] : newest) {
    outputs[key > "key130" ? 1 : 0].push_back(record);
    if (random_() % 10 == 0) {  // the bottommost level
      outputs[key > "key130" ? 1 : 0].back().sequence = 0;
    }
  }
  std::vector<std::string> made;
  for (std::vector<Record>& output : outputs) {
    if (!output.empty()) {
      made.emplace_back();
      AddTable(std::move(output), &made.back());
      Background();
    }
  }
  const bool fails = random_() % 4 == 0;
  for (const std::string& base : fails ? made : inputs) {
    DropTable(base);
    Background();
  }
}

void ProtocolTest::DropOne() {
  if (!tables_.empty()) {
    DropTable(std::next(tables_.begin(), static_cast<int>(random_() % tables_.size()))->first);
  }
}

// RocksDB does not want a log any more: it is deleted, or archived and deleted then.
void ProtocolTest::KeepOne() {
  if (written_.size() < 2) {
    return;
  }
  const uint64_t number =
      std::next(written_.begin(), static_cast<int>(random_() % (written_.size() - 1)))->first;
  const bool stays = random_() % 3 == 0;
  bool kept = false;
  ASSERT_OK(logs_->Keep(recipe_log_.get(), PathOf(number), stays, &kept));
  if (!kept || stays) {
    ASSERT_OK(target_->DeleteFile(PathOf(number), IOOptions(), nullptr));
  }
  EXPECT_FALSE(fs::exists(PathOf(number)));
  written_.erase(number);
  done_[kept ? "kept" : "deleted"]++;
}

void ProtocolTest::Trim() {
  const CompressionType codecs[] = {kNoCompression, kLZ4Compression, kZSTD};
  const std::atomic<bool> stop{random_() % 10 == 0};
  WalSegments::Trimmed trimmed;
  const IOStatus s = logs_->Trim(static_cast<double>(random_() % 100) / 100, random_() % 4 == 0,
                                 codecs[random_() % 3], nullptr, stop, &trimmed);
  EXPECT_TRUE(s.ok() || (s.IsAborted() && stop)) << s.ToString();
  done_["trimmed"] += s.ok() && trimmed.before > 0 ? 1 : 0;
}

void ProtocolTest::Background() {
  const uint64_t what = random_() % 6;
  if (what == 0) {
    Trim();
  } else if (what == 1) {
    KeepOne();
  } else if (what == 2) {
    logs_->Sweep(recipe_log_.get());
  }
}

// What recovery does: of tables that are there, and of some that nobody installed.
void ProtocolTest::Crash() {
  for (auto it = tables_.begin(); it != tables_.end();) {
    it = random_() % 8 == 0 ? tables_.erase(it) : std::next(it);
  }
  logs_.reset();
  recipe_log_ = std::make_unique<RecipeLog>(target_.get(), db_name_);
  RecipeLog::Contents contents;
  ASSERT_OK(recipe_log_->Load(&contents));
  std::multimap<uint64_t, std::string> retained;
  std::vector<std::string> names;
  ASSERT_OK(target_->GetChildren(db_name_, IOOptions(), &names, nullptr));
  WalSegments::FindRetained(db_name_, names, &retained);

  RecipeLog::Contents keep;
  keep.next_segment = contents.next_segment;
  std::set<Place> needed;
  for (const auto& [base, table] : tables_) {
    ASSERT_EQ(contents.recipes.count(base), 1u);
    keep.recipes[base] = contents.recipes[base];
    needed.insert(table.needs.begin(), table.needs.end());
  }
  std::map<uint64_t, std::unique_ptr<Segment>> segments;
  std::map<uint64_t, std::string> paths;
  for (const Place& place : needed) {
    const uint64_t id = place.first;
    if (segments.count(id) > 0) {
      continue;
    }
    segments[id] = std::make_unique<Segment>(id);
    Indexer indexer(segments[id].get());
    keep.segments[id] = contents.segments[id];
    const uint64_t number = contents.segments[id].log_number;
    const auto file = retained.find(id);
    paths[id] = file == retained.end() ? PathOf(number) : file->second;
    uint64_t found;
    ASSERT_OK(tiered_env::EndsWith(paths[id], ".seg")
                  ? ReadArchive(target_.get(), paths[id], &found, &indexer)
                  : ReadLog(target_.get(), paths[id], number, &indexer, keep.segments[id].bytes));
  }
  for (const auto& [id, segment] : segments) {
    if (!tiered_env::EndsWith(paths[id], ".seg")) {
      ASSERT_EQ(segment->digest(), keep.segments[id].digest) << paths[id];
    }
  }
  for (const auto& [base, table] : tables_) {
    for (const Place& place : table.needs) {
      ASSERT_TRUE(segments[place.first]->Take(place.second));
    }
  }
  Start(keep);
  std::set<std::string> used;
  for (auto& [id, segment] : segments) {
    used.insert(paths[id]);
    logs_->Restore(std::move(segment), keep.segments[id], paths[id]);
  }
  for (const auto& [id, path] : retained) {
    if (used.count(path) == 0) {
      fs::remove(path);
    }
  }
  for (const auto& [number, records] : written_) {
    if (used.count(PathOf(number)) == 0) {
      logs_->Found(number, PathOf(number), /*complete=*/true);
    }
  }
  done_["crashes"]++;
}

void ProtocolTest::Check() {
  RecipeLog reader(target_.get(), db_name_);
  RecipeLog::Contents contents;
  ASSERT_OK(reader.Load(&contents));
  ASSERT_EQ(contents.recipes.size(), tables_.size());
  std::set<Place> needed;
  std::set<uint64_t> ids;
  for (const auto& [base, table] : tables_) {
    needed.insert(table.needs.begin(), table.needs.end());
    for (const Place& place : table.needs) {
      ids.insert(place.first);
    }
  }
  std::vector<std::string> names;
  ASSERT_OK(target_->GetChildren(db_name_, IOOptions(), &names, nullptr));
  std::multimap<uint64_t, std::string> retained;
  WalSegments::FindRetained(db_name_, names, &retained);
  Found found;
  for (const uint64_t id : ids) {
    Found::Reader visitor(&found, id);
    const auto file = retained.find(id);
    const uint64_t number = contents.segments[id].log_number;
    const std::string path = file == retained.end() ? PathOf(number) : file->second;
    uint64_t got = id;
    ASSERT_OK(tiered_env::EndsWith(path, ".seg")
                  ? ReadArchive(target_.get(), path, &got, &visitor)
                  : ReadLog(target_.get(), path, number, &visitor, contents.segments[id].bytes));
    ASSERT_EQ(got, id);
  }
  for (const auto& [base, table] : tables_) {
    std::string recipe;
    ASSERT_OK(reader.ReadRecipe(base, &recipe));
    std::string rebuilt(table.bytes.size(), '\0');
    ASSERT_OK(Rebuild(recipe, &found, &rebuilt[0]));
    ASSERT_EQ(rebuilt, table.bytes) << base;
  }
  EXPECT_EQ(logs_->GetSizes().live_entries, needed.size());
}

// A disk that fails for a moment: whether a file is there cannot be asked then.
class BlindFs : public HookedFs {
 public:
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    return blind ? IOStatus::IOError(path, "injected") : HookedFs::FileExists(path, options, dbg);
  }

  bool blind = false;
};

// The new file has its name, and nobody has been told: what is added from then on must not go to
// the old one, which the next opening does not look at.
TEST_F(ProtocolTest, ARecipeLogThatIsReplacedAndFails) {
  const std::string directory = folder_ + "/recipes";
  fs::create_directory(directory);
  const auto disk = std::make_shared<BlindFs>();
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::Compact:Slack",
                                        [](void* slack) { *static_cast<uint64_t*>(slack) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  RecipeLog log(disk.get(), directory);
  RecipeLog::Contents contents;
  ASSERT_OK(log.Load(&contents));
  ASSERT_OK(log.Start(contents));
  ASSERT_OK(log.AddRecipe("000001.sst", std::string(10000, 'r')));
  ASSERT_OK(log.AddRecipe("000002.sst", "the second"));
  ASSERT_OK(log.Drop("000001.sst"));
  ASSERT_OK(log.Sync());
  disk->before_sync_directory = [&](const std::string& path) {
    disk->blind = true;
    return IOStatus::IOError(path, "injected");
  };
  EXPECT_TRUE(log.Compact().IsIOError());
  EXPECT_TRUE(disk->blind);
  disk->before_sync_directory = nullptr;
  disk->blind = false;
  ASSERT_OK(log.AddRecipe("000003.sst", "the third"));
  ASSERT_OK(log.Sync());
  RecipeLog reader(disk.get(), directory);
  ASSERT_OK(reader.Load(&contents));
  for (const auto& [base, expected] : std::map<std::string, std::string>{
           {"000002.sst", "the second"}, {"000003.sst", "the third"}}) {
    std::string recipe;
    EXPECT_OK(reader.ReadRecipe(base, &recipe));
    EXPECT_EQ(recipe, expected) << base;
  }
}

// It can be large, and flushes wait for a recipe that is added.
TEST_F(ProtocolTest, NobodyWaitsForARecipeLogThatIsWrittenAnew) {
  const std::string directory = folder_ + "/recipes";
  fs::create_directory(directory);
  const auto disk = std::make_shared<HookedFs>();
  std::mutex mutex;
  std::condition_variable changed;
  bool is_due = false;
  bool copying = false;
  bool added = false;
  bool in_time = false;
  disk->before_sync = [&](const std::string& path) {
    std::unique_lock<std::mutex> lock(mutex);
    if (is_due && tiered_env::EndsWith(path, kTemporary)) {
      is_due = false;
      copying = true;
      changed.notify_all();
      in_time = changed.wait_for(lock, std::chrono::seconds(30), [&] { return added; });
    }
    return IOStatus::OK();
  };
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::Compact:Slack",
                                        [](void* slack) { *static_cast<uint64_t*>(slack) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  RecipeLog log(disk.get(), directory);
  RecipeLog::Contents contents;
  ASSERT_OK(log.Load(&contents));
  ASSERT_OK(log.Start(contents));
  ASSERT_OK(log.AddRecipe("000001.sst", std::string(10000, 'r')));
  ASSERT_OK(log.AddRecipe("000002.sst", "the second"));
  ASSERT_OK(log.AddRecipe("000003.sst", "the third"));
  ASSERT_OK(log.AddRecipe("000004.sst", "the fourth"));
  LoggedSegment segment;
  segment.id = log.NewSegment();
  ASSERT_OK(log.AddSegment(segment));
  ASSERT_OK(log.Drop("000001.sst"));
  ASSERT_OK(log.Sync());
  is_due = true;
  std::thread compact([&] { EXPECT_OK(log.Compact()); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(30), [&] { return copying; }));
  }
  EXPECT_OK(log.AddRecipe("000002.sst", "the second anew"));
  EXPECT_OK(log.Drop("000003.sst"));
  EXPECT_OK(log.AddRecipe("000005.sst", "the fifth"));
  EXPECT_OK(log.ForgetSegment(segment.id));
  segment.id = log.NewSegment();
  EXPECT_OK(log.AddSegment(segment));
  EXPECT_OK(log.AddDirectory("/logs"));
  EXPECT_OK(log.Sync());
  const auto check = [&] {
    RecipeLog reader(disk.get(), directory);
    RecipeLog::Contents found;
    EXPECT_OK(reader.Load(&found));
    EXPECT_EQ(found.recipes.size(), 3u);
    for (const auto& [base, expected] :
         std::map<std::string, std::string>{{"000002.sst", "the second anew"},
                                            {"000004.sst", "the fourth"},
                                            {"000005.sst", "the fifth"}}) {
      std::string recipe;
      EXPECT_OK(reader.ReadRecipe(base, &recipe));
      EXPECT_EQ(recipe, expected) << base;
    }
    EXPECT_EQ(found.segments.size(), 1u);
    EXPECT_EQ(found.segments.count(segment.id), 1u);
    EXPECT_EQ(found.next_segment, segment.id + 1);
    EXPECT_EQ(found.directories.count("/logs"), 1u);
  };
  check();  // if the power fails now
  const uint64_t before = log.bytes();
  {
    std::lock_guard<std::mutex> lock(mutex);
    added = true;
    changed.notify_all();
  }
  compact.join();
  EXPECT_TRUE(in_time) << "somebody has waited for it";
  EXPECT_LT(log.bytes(), before);
  check();
  std::string recipe;
  EXPECT_OK(log.ReadRecipe("000004.sst", &recipe));
  EXPECT_EQ(recipe, "the fourth");
  EXPECT_OK(log.AddRecipe("000004.sst", "the fourth anew"));
  EXPECT_OK(log.ReadRecipe("000004.sst", &recipe));
  EXPECT_EQ(recipe, "the fourth anew");
}

// What came of the failure has all that is live: the copy is thrown away.
TEST_F(ProtocolTest, ARecipeLogThatIsReplacedWhileItIsWrittenAnew) {
  const std::string directory = folder_ + "/recipes";
  fs::create_directory(directory);
  const auto disk = std::make_shared<HookedFs>();
  bool is_due = false;
  std::unique_ptr<RecipeLog> log;
  disk->before_sync = [&](const std::string& path) {
    if (is_due && tiered_env::EndsWith(path, kTemporary)) {
      is_due = false;
      EXPECT_OK(log->AddRecipe("000003.sst", "the third"));
      EXPECT_OK(log->Clear());
      EXPECT_OK(log->AddRecipe("000004.sst", "the fourth"));
    }
    return IOStatus::OK();
  };
  SyncPoint::GetInstance()->SetCallBack("RecipeLog::Compact:Slack",
                                        [](void* slack) { *static_cast<uint64_t*>(slack) = 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  log = std::make_unique<RecipeLog>(disk.get(), directory);
  RecipeLog::Contents contents;
  ASSERT_OK(log->Load(&contents));
  ASSERT_OK(log->Start(contents));
  ASSERT_OK(log->AddRecipe("000001.sst", std::string(10000, 'r')));
  ASSERT_OK(log->AddRecipe("000002.sst", "the second"));
  ASSERT_OK(log->Drop("000001.sst"));
  is_due = true;
  ASSERT_OK(log->Compact());
  EXPECT_FALSE(is_due);
  ASSERT_OK(log->Sync());
  RecipeLog reader(disk.get(), directory);
  ASSERT_OK(reader.Load(&contents));
  EXPECT_EQ(contents.recipes.size(), 1u);
  EXPECT_EQ(contents.recipes.count("000004.sst"), 1u);
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u);
}

// RocksDB makes the next log before it has written the last bytes of this one. A commit among them
// gives entries that were prepared their sequence numbers.
TEST_F(ProtocolTest, WhatIsAppendedAfterTheNextLogChangesNothing) {
  const uint64_t number = ++number_;
  logs_->Created(number, PathOf(number),
                 std::make_shared<ActiveLog>(target_.get(), PathOf(number)));
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(target_->NewWritableFile(PathOf(number), FileOptions(), &file, nullptr));
  log::Writer writer(
      std::make_unique<WritableFileWriter>(std::move(file), PathOf(number), FileOptions()), number,
      /*recycle_log_files=*/false);
  const auto append = [&](WriteBatch* batch, SequenceNumber sequence) {
    WriteBatchInternal::SetSequence(batch, sequence);
    ASSERT_OK(writer.AddRecord(WriteOptions(), WriteBatchInternal::Contents(batch)));
  };
  WriteBatch prepared;
  ASSERT_OK(WriteBatchInternal::InsertNoop(&prepared));
  ASSERT_OK(prepared.Put("prepared", "value"));
  ASSERT_OK(WriteBatchInternal::MarkEndPrepare(&prepared, "xid"));
  append(&prepared, 10);
  std::vector<Record>& records = written_[number];
  WriteBatch batch;
  for (SequenceNumber i = 0; i < 5; i++) {
    records.push_back({"key" + std::to_string(i), 10 + i, "value" + std::to_string(i)});
    ASSERT_OK(batch.Put(records.back().key, records.back().value));
  }
  append(&batch, 10);
  NewLog();
  AddTable(written_[number]);
  ASSERT_EQ(tables_.begin()->second.needs.size(), 5u);
  Check();

  WriteBatch commit;
  ASSERT_OK(WriteBatchInternal::MarkCommit(&commit, "xid"));
  append(&commit, 15);
  Check();
  bool kept = false;
  ASSERT_OK(logs_->Keep(recipe_log_.get(), PathOf(number), /*stays=*/false, &kept));
  EXPECT_TRUE(kept);
  written_.erase(number);
  Check();
  Crash();
  ASSERT_FALSE(HasFailure());
  if (tables_.empty()) {
    return;
  }
  const std::atomic<bool> stop{false};
  WalSegments::Trimmed trimmed;
  ASSERT_OK(logs_->Trim(1, true, kNoCompression, nullptr, stop, &trimmed));
  EXPECT_GT(trimmed.before, 0u);
  Check();
}

// RocksDB's async_wal_precreate makes a log when it has begun to write the one before.
TEST_F(ProtocolTest, ALogIsReadWhenItIsCompleteThoughTheNextIsMadeAhead) {
  logs_->SetMakesAhead(true);
  const auto create = [&](uint64_t number) {
    logs_->Created(number, PathOf(number),
                   std::make_shared<ActiveLog>(target_.get(), PathOf(number)));
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(target_->NewWritableFile(PathOf(number), FileOptions(), &file, nullptr));
    return std::make_unique<log::Writer>(
        std::make_unique<WritableFileWriter>(std::move(file), PathOf(number), FileOptions()),
        number, /*recycle_log_files=*/false);
  };
  const auto put = [&](uint64_t number, log::Writer* writer, const std::string& key) {
    WriteBatch batch;
    WriteBatchInternal::SetSequence(&batch, sequence_);
    ASSERT_OK(batch.Put(key, "value"));
    written_[number].push_back({key, sequence_++, "value"});
    ASSERT_OK(writer->AddRecord(WriteOptions(), WriteBatchInternal::Contents(&batch)));
  };
  auto writer = create(1);
  auto next = create(2);
  for (uint64_t number = 1; number <= 3; number++) {
    put(number, writer.get(), "key1");
    logs_->Index(recipe_log_.get(), nullptr);  // of a flush of what is older
    put(number, writer.get(), "key2");
    writer = std::move(next);
    next = create(number + 2);
    number_ = 100 + number;
    AddTable(written_[number]);
    EXPECT_EQ(tables_.rbegin()->second.needs.size(), 2u) << number;
    Check();
  }
}

// A log whose writer is held up when the bytes are in the file, before it has said so.
class HeldUp : public FSWritableFileOwnerWrapper {
 public:
  HeldUp(std::unique_ptr<FSWritableFile>&& target, std::function<void()> when_written, int* syncs)
      : FSWritableFileOwnerWrapper(std::move(target)),
        when_written_(std::move(when_written)),
        syncs_(syncs) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = FSWritableFileOwnerWrapper::Append(data, options, dbg);
    when_written_();
    return s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    ++*syncs_;
    return FSWritableFileOwnerWrapper::Sync(options, dbg);
  }

 private:
  const std::function<void()> when_written_;
  int* const syncs_;
};

// What a flush has read is not durable, whatever its writer has counted.
TEST_F(ProtocolTest, WhatIsReadBeforeItsWriterGoesOnIsSynced) {
  const uint64_t number = ++number_;
  const auto active = std::make_shared<ActiveLog>(target_.get(), PathOf(number));
  logs_->Created(number, PathOf(number), active);
  int syncs = 0;
  int writes = 0;
  const auto sync = [&] {
    std::set<uint64_t> ids;
    for (const auto& [base, table] : tables_) {
      for (const Place& place : table.needs) {
        ids.insert(place.first);
      }
    }
    EXPECT_EQ(ids.size(), 1u);
    EXPECT_OK(logs_->Sync(ids));
  };
  const auto flush = [&] {
    writes++;
    NewLog();
    AddTable(written_[number]);
    sync();
    EXPECT_EQ(syncs, 1);
  };
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(target_->NewWritableFile(PathOf(number), FileOptions(), &file, nullptr));
  file = std::make_unique<HeldUp>(std::move(file), flush, &syncs);
  file = std::make_unique<TrackedFile>(std::move(file), active);
  log::Writer writer(
      std::make_unique<WritableFileWriter>(std::move(file), PathOf(number), FileOptions()), number,
      /*recycle_log_files=*/false);
  WriteBatch batch;
  WriteBatchInternal::SetSequence(&batch, 10);
  for (SequenceNumber i = 0; i < 5; i++) {
    written_[number].push_back({"key" + std::to_string(i), 10 + i, "value" + std::to_string(i)});
    ASSERT_OK(batch.Put(written_[number].back().key, written_[number].back().value));
  }
  ASSERT_OK(writer.AddRecord(WriteOptions(), WriteBatchInternal::Contents(&batch)));
  EXPECT_EQ(writes, 1);
  sync();  // that write had not ended when the first one began
  EXPECT_EQ(syncs, 2);
  sync();
  EXPECT_EQ(syncs, 2) << "there is nothing to do";
}

// Its recipe need not be: else a loss of power leaves a log with an id that nobody has given.
TEST_F(ProtocolTest, AnIdIsDurableBeforeALogHasIt) {
  const auto hooks = std::make_shared<HookedFs>();
  bool synced = false;
  bool renamed = false;
  hooks->before_sync = [&](const std::string& path) {
    synced = synced || path.find("RECIPES") != std::string::npos;
    return IOStatus::OK();
  };
  hooks->before_rename = [&](const std::string& from, const std::string& /*to*/) {
    renamed = renamed || from == PathOf(1);
    EXPECT_TRUE(synced || from != PathOf(1));
    return IOStatus::OK();
  };
  target_ = hooks;
  recipe_log_.reset();
  Start({});
  NewLog();
  NewLog();
  AddTable(written_.at(1));
  ASSERT_FALSE(HasFailure());
  ASSERT_FALSE(tables_.begin()->second.needs.empty());
  synced = false;
  bool kept = false;
  ASSERT_OK(logs_->Keep(recipe_log_.get(), PathOf(1), /*stays=*/false, &kept));
  EXPECT_TRUE(kept);
  EXPECT_TRUE(renamed);
  logs_.reset();
  recipe_log_.reset();
}

TEST_F(ProtocolTest, WhateverHappensRecipesCanBeUsed) {
  random_.seed(Seed());
  for (int step = Rounds(1500); step > 0; step--) {
    SCOPED_TRACE(step);
    const uint64_t what = random_() % 100;
    if (what < 20) {
      Flush();
    } else if (what < 40) {
      Compact();
    } else if (what < 50) {
      DropOne();
    } else if (what < 53) {
      Crash();
    } else {
      Background();
    }
    ASSERT_FALSE(HasFailure());
    Check();
    ASSERT_FALSE(HasFailure());
  }
  while (!tables_.empty()) {
    DropOne();
  }
  logs_->Sweep(recipe_log_.get());
  EXPECT_EQ(logs_->GetSizes().segments, 0u);
  EXPECT_EQ(logs_->GetSizes().live_entries, 0u);
  EXPECT_EQ(logs_->GetSizes().live_bytes, 0u);
  while (written_.size() > 1) {
    KeepOne();
  }
  logs_->Sweep(recipe_log_.get());
  RecipeLog::Contents left;
  ASSERT_OK(RecipeLog(target_.get(), db_name_).Load(&left));
  for (const auto& [id, segment] : left.segments) {
    EXPECT_EQ(written_.count(segment.log_number), 1u) << segment.log_number;
  }
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    const std::string base = entry.path().filename().string();
    EXPECT_TRUE(!IsKept(base) || base.find("RECIPES") != std::string::npos) << base;
  }
  for (const auto& [what, count] : done_) {
    printf("%s %d\n", what.c_str(), count);
    EXPECT_GT(count, 0) << what;
  }
}

}  // namespace

}  // namespace rocktier
