// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Recipe logs, archives of logs, and logs.

#include <map>
#include <string>
#include <utility>

#include "db/log_writer.h"
#include "db/write_batch_internal.h"
#include "file/writable_file_writer.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/codec.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "rocksdb/write_batch.h"
#include "test/fuzz/memory.h"

using namespace rocktier;
namespace tiered = rocksdb::tiered_env;

namespace {

// What files in memory and their buffers may take themselves.
constexpr size_t kMemoryFile = 4 << 20;

struct Seen {
  rocksdb::SequenceNumber sequence;
  rocksdb::SequenceNumber batch;
  rocksdb::ValueType type;
  std::string key;
  std::string value;
  bool operator==(const Seen& other) const {
    return sequence == other.sequence && batch == other.batch && type == other.type &&
           key == other.key && value == other.value;
  }
};
using SeenByOrdinal = std::map<tiered::Ordinal, Seen>;

class Collector : public tiered::EntryVisitor {
 public:
  void OnEntry(tiered::Ordinal ordinal, const tiered::Entry& entry) override {
    Require(seen.empty() || ordinal > seen.rbegin()->first, "ordinals do not ascend");
    Require(entry.batch <= entry.sequence, "an entry is before its batch");
    Require(rocksdb::IsExtendedValueType(entry.type), "an entry is of no type that SSTs have");
    seen[ordinal] = {entry.sequence, entry.batch, entry.type, entry.key.ToString(),
                     entry.value.ToString()};
  }
  SeenByOrdinal seen;
};

SeenByOrdinal EntriesFrom(Input* input) {
  SeenByOrdinal entries;
  uint64_t ordinal = 0;
  for (int i = input->Byte() % 20; i > 0; i--) {
    Seen entry;
    entry.batch = input->Number() & rocksdb::kMaxSequenceNumber;
    entry.sequence = entry.batch + input->Byte();
    entry.type = input->Byte() % 4 == 0 ? rocksdb::kTypeDeletion : rocksdb::kTypeValue;
    entry.key = input->Bytes(40);
    entry.value = input->Bytes(200);
    entries[static_cast<tiered::Ordinal>(ordinal)] = entry;
    ordinal += 1 + input->Byte() % 5;
  }
  return entries;
}

std::string MakeArchive(const SeenByOrdinal& entries, rocksdb::CompressionType codec) {
  const MemoryFiles files;
  std::unique_ptr<tiered::ArchiveWriter> writer;
  const auto s =
      tiered::ArchiveWriter::Open(files.fs(), files.PathOf("archive"), 7, codec, nullptr, &writer);
  Require(s.ok(), "an archive is made");
  for (const auto& [ordinal, seen] : entries) {
    tiered::Entry entry;
    entry.sequence = seen.sequence;
    entry.batch = seen.batch;
    entry.type = seen.type;
    entry.key = seen.key;
    entry.value = seen.value;
    Require(writer->Add(ordinal, entry).ok(), "an entry is added");
  }
  Require(writer->Finish().ok(), "an archive is finished");
  return files.Read("archive");
}

}  // namespace

FUZZ_TARGET(tiered_archive) {
  Input input(bytes);
  SeenByOrdinal made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    const auto codec = from->Byte() % 2 == 0 ? rocksdb::kNoCompression : rocksdb::kLZ4Compression;
    made = EntriesFrom(from);
    return MakeArchive(made, codec);
  });
  const MemoryFiles files;
  files.Write("archive", object.bytes);
  Collector collector;
  uint64_t id = 0;
  rocksdb::IOStatus s;
  {
    const Bound bound(FitFor(object.bytes.size()) + kMemoryFile);
    s = tiered::ReadArchive(files.fs(), files.PathOf("archive"), &id, &collector);
  }
  if (object.untouched) {
    Require(s.ok() && id == 7 && collector.seen == made, "an archive changes");
  }
  if (s.ok()) {
    files.Write("archive", MakeArchive(collector.seen, rocksdb::kNoCompression));
    Collector again;
    Require(tiered::ReadArchive(files.fs(), files.PathOf("archive"), &id, &again).ok() &&
                again.seen == collector.seen,
            "an archive is not read again");
  }
}

FUZZ_TARGET(tiered_log) {
  Input input(bytes);
  constexpr uint64_t kNumber = 12;
  const Bytes object = BytesFrom(&input, [](Input* from) {
    const MemoryFiles files;
    std::unique_ptr<rocksdb::FSWritableFile> file;
    Require(files.fs()
                ->NewWritableFile(files.PathOf("log"), rocksdb::FileOptions(), &file, nullptr)
                .ok(),
            "a log is made");
    rocksdb::log::Writer writer(std::make_unique<rocksdb::WritableFileWriter>(
                                    std::move(file), "log", rocksdb::FileOptions()),
                                kNumber, /*recycle_log_files=*/from->Byte() % 2 == 0);
    uint64_t sequence = 1;
    for (int i = from->Byte() % 8; i > 0; i--) {
      rocksdb::WriteBatch batch;
      for (int entry = from->Byte() % 6; entry > 0; entry--) {
        const std::string key = from->Bytes(20);
        const bool good =
            (from->Byte() % 4 == 0 ? batch.Delete(key) : batch.Put(key, from->Bytes(90))).ok();
        Require(good, "a batch takes an entry");
      }
      rocksdb::WriteBatchInternal::SetSequence(&batch, sequence);
      sequence += batch.Count();
      Require(
          writer.AddRecord(rocksdb::WriteOptions(), rocksdb::WriteBatchInternal::Contents(&batch))
              .ok(),
          "a record is added");
    }
    Require(writer.Close(rocksdb::WriteOptions()).ok(), "a log is closed");
    return files.Read("log");
  });
  const MemoryFiles files;
  files.Write("log", object.bytes);
  Collector once;
  Collector again;
  {
    const Bound bound(2 * FitFor(object.bytes.size()) + kMemoryFile);
    const auto s = tiered::ReadLog(files.fs(), files.PathOf("log"), kNumber, &once);
    const auto t = tiered::ReadLog(files.fs(), files.PathOf("log"), kNumber, &again);
    Require(s.ok() && t.ok(), "damage is an error, not an end");
  }
  Require(once.seen == again.seen, "a log gives other entries the second time");
}

FUZZ_TARGET(tiered_recipe_log) {
  Input input(bytes);
  const std::string name = "TIERS-RECIPES-000001";
  std::map<std::string, std::string> made;
  const Bytes object = BytesFrom(&input, [&](Input* from) {
    const MemoryFiles files;
    tiered::RecipeLog recipe_log(files.fs(), files.folder());
    bool good = recipe_log.Start(tiered::RecipeLog::Contents()).ok();
    for (int i = from->Byte() % 8; i > 0; i--) {
      const std::string base = std::to_string(from->Byte() % 4) + ".sst";
      const std::string body = from->Bytes(100);
      tiered::LoggedSegment segment;
      switch (from->Byte() % 5) {
        case 0:
          segment.id = recipe_log.NewSegment();
          segment.log_number = from->Number();
          good = good && recipe_log.AddSegment(segment).ok();
          break;
        case 1:
          good = good && recipe_log.Drop(base).ok();
          made.erase(base);
          break;
        case 2:
          good = good && recipe_log.AddDirectory("/" + from->Name(20)).ok();
          break;
        default:
          good = good && recipe_log.AddRecipe(base, body).ok();
          made[base] = body;
      }
    }
    Require(good && recipe_log.Sync().ok(), "a recipe log is made");
    return files.Read(name);
  });
  const MemoryFiles files;
  files.Write(name, object.bytes);
  const Bound bound(FitFor(object.bytes.size()) + kMemoryFile);
  tiered::RecipeLog recipe_log(files.fs(), files.folder());
  tiered::RecipeLog::Contents contents;
  const bool good = recipe_log.Load(&contents).ok();
  if (!good) {
    Require(!object.untouched, "a recipe log is not read again");
    return;
  }
  if (object.untouched) {
    Require(contents.recipes.size() == made.size(), "a recipe log changes");
  }
  for (const auto& [base, place] : contents.recipes) {
    Require(place.offset <= object.bytes.size() && place.size <= object.bytes.size() - place.offset,
            "a recipe is beyond the end of its log");
    std::string recipe;
    Require(recipe_log.ReadRecipe(base, &recipe).ok() && recipe.size() == place.size,
            "a recipe is not read");
    if (object.untouched) {
      Require(made[base] == recipe, "a recipe changes");
    }
  }
  for (const auto& [id, segment] : contents.segments) {
    Require(id == segment.id && id < contents.next_segment, "an id of a segment is given anew");
  }
}
