// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recovery/table_writer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/options/tier_options.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

IOStatus CloseFile(const IOStatus& s, FSWritableFile* file) {
  IOStatus closed = file != nullptr ? file->Close(IOOptions(), nullptr) : IOStatus::OK();
  return s.ok() ? closed : s;
}

}  // namespace

TableWriter::~TableWriter() {
  for (const auto& [tier, bytes] : held_) {
    tier->Release(bytes);
  }
}

void TableWriter::Count(const VolatileTable& table) {
  usage_.Take(table.place.tier, table.family, table.size);
  Hold(table.place.tier, table.size);
}

void TableWriter::Count(const TableFinder::Durable& file) {
  usage_.Learn(*file.tier, file.family, file.size);
}

void TableWriter::Hold(Tier* tier, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  held_.emplace_back(tier, bytes);
}

IOStatus TableWriter::Write(VolatileTable* table, const Slice& sst, bool in_use) {
  Tier* const wanted = table->place.tier;
  if (in_use) {  // counts as it was
    return WriteTo(wanted, table, sst, in_use);
  }
  std::vector<Tier*> sound;
  std::vector<Tier*> failed;
  for (Tier* tier : SpillOrder(names_->policy(), wanted)) {
    (tier->failed_lately() ? failed : sound).push_back(tier);
  }
  IOStatus s = WriteToOneOf(std::move(sound), wanted, table, sst, &failed);
  if (!s.ok() && !failed.empty()) {
    std::vector<Tier*> again;
    IOStatus last = WriteToOneOf(std::move(failed), wanted, table, sst, &again);
    s = last.ok() || s.IsNoSpace() ? last : s;
  }
  return s;
}

IOStatus TableWriter::WriteToOneOf(std::vector<Tier*> tiers, Tier* wanted, VolatileTable* table,
                                   const Slice& sst, std::vector<Tier*>* failed) {
  IOStatus s = WriteToFirstOf(&tiers, wanted, /*beyond=*/false, table, sst, failed);
  if (s.ok() || std::none_of(tiers.begin(), tiers.end(), [table](const Tier* tier) {
        return FamilyBudgetOf(tier->options(), table->family) != 0;
      })) {
    return s;
  }
  std::sort(tiers.begin(), tiers.end(),
            [](const Tier* a, const Tier* b) { return a->index() > b->index(); });
  IOStatus slowest = WriteToFirstOf(&tiers, wanted, /*beyond=*/true, table, sst, failed);
  return slowest.ok() || s.IsNoSpace() ? slowest : s;
}

IOStatus TableWriter::WriteToFirstOf(std::vector<Tier*>* tiers, Tier* wanted, bool beyond,
                                     VolatileTable* table, const Slice& sst,
                                     std::vector<Tier*>* failed) {
  const std::string path = directory_ + "/" + table->base;
  const bool of_family = !usage_.FamilyHasRoom(*wanted, table->family, sst.size());
  IOStatus s = IOStatus::NoSpace(path, "finds no room in any tier");
  for (auto it = tiers->begin(); it != tiers->end();) {
    Tier* const tier = *it++;
    if (tier->read_only() || (tier->is_volatile() && tier != wanted) ||
        !(beyond ? usage_.ReserveOfTier(tier, table->family, sst.size())
                 : usage_.Reserve(tier, table->family, sst.size()))) {
      continue;
    }
    IOStatus written = WriteTo(tier, table, sst, /*in_use=*/false);
    if (written.ok()) {
      Hold(tier, sst.size());
      if (tier != wanted) {
        names_->ReportSpill(path, *wanted, *tier, of_family ? table->family : "");
      }
      return written;
    }
    usage_.Release(tier, table->family, sst.size());
    if (!written.IsNoSpace()) {
      names_->ReportFailure(path, tier, written);
      failed->push_back(tier);
      it = tiers->erase(std::prev(it));
    }
    s = s.IsNoSpace() ? written : s;
  }
  return s;
}

// Writes a file in a durable tier as a whole before it has its name, in the tier too, and a stub:
// what has these is taken for durable.
IOStatus TableWriter::WriteTo(Tier* tier, VolatileTable* table, const Slice& sst, bool in_use) {
  const std::string path = directory_ + "/" + table->base;
  const bool has_stub = table->has_stub && table->place.tier == tier;
  Place place;
  IOStatus s = names_->NewPlace(path, tier, &place);  // also makes the folder
  if (s.ok() && has_stub) {
    place.path = table->place.path;
  }
  const std::string written = tier->is_volatile() && !in_use ? place.path : place.path + kTemporary;
  std::unique_ptr<FSWritableFile> file;
  if (s.ok()) {
    s = tier->fs()->NewWritableFile(written, FileOptions(), &file, nullptr);
  }
  if (s.ok()) {
    s = file->Append(sst, IOOptions(), nullptr);
  }
  TEST_SYNC_POINT("TableWriter::WriteTo:BeforeSync");
  const bool made = file != nullptr;
  s = tier->is_volatile() ? CloseFile(s, file.get()) : SyncAndClose(std::move(s), file.get());
  if (!s.ok()) {
    if (made) {
      tier->fs()->DeleteFile(written, IOOptions(), nullptr).PermitUncheckedError();
    }
    return s;
  }
  TEST_SYNC_POINT("TableWriter::WriteTo:BeforeName");
  if (in_use) {
    s = NameInUse(path, place, written);
  } else if (!tier->is_volatile()) {
    s = NameDurably(path, place, written);
  } else if (!has_stub) {
    s = names_->WriteStub(path, place);
  }
  if (s.ok()) {
    table->place = place;
  }
  return s;
}

// Who deletes the SST deletes its stub first, and then what that stood for.
IOStatus TableWriter::NameInUse(const std::string& path, const Place& place,
                                const std::string& written) {
  IOStatus s = place.fs()->RenameFile(written, place.path, IOOptions(), nullptr);
  Place now;
  if (s.ok() && (!names_->Resolve(path, &now).ok() || now.path != place.path)) {
    place.fs()->DeleteFile(place.path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

// Gives the SST a durable name, for its recipe will be forgotten.
IOStatus TableWriter::NameDurably(const std::string& path, const Place& place,
                                  const std::string& written) {
  IOStatus s;
  std::string renamed = written;
  if (place.stub) {
    s = place.fs()->RenameFile(written, place.path, IOOptions(), nullptr);
    s = s.ok() ? SyncDirectory(place.fs(), DirectoryOf(place.path)) : s;
    renamed = path + kTemporary;
    s = s.ok() ? names_->WriteStub(renamed, place) : s;
  }
  if (s.ok()) {
    s = names_->target()->RenameFile(renamed, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(names_->target(), directory_) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
