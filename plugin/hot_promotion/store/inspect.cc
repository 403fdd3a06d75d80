// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Looking at a store from outside; see HotStoreInfo.

#include <cstdarg>
#include <memory>
#include <set>
#include <sstream>

#include "plugin/hot_promotion/compat.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/metrics_reporter.h"
#include "plugin/hot_promotion/store/folder.h"
#include "plugin/hot_promotion/store/format.h"
#include "plugin/hot_promotion/store/identity.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/sst_file_reader.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr char kNoStore[] = "has no hot store; give the directory that path= names";

// Nothing is written, no LOG either.
class NoLogger : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

Status OpenStore(const std::string& path, std::unique_ptr<DB>* db) {
  Options options;
  options.env = Env::Default();
  Status s = options.env->FileExists(path + "/store/CURRENT");
  if (!s.ok()) {
    return s.IsNotFound() ? Status::NotFound(path, kNoStore) : s;
  }
  options.info_log = std::make_shared<NoLogger>();
  s = OpenInto(db,
               [&](auto* result) { return DB::OpenForReadOnly(options, path + "/store", result); });
  std::string format;
  if (s.ok()) {
    s = (*db)->Get(ReadOptions(), kFormatKey, &format);
  }
  if (s.IsNotFound()) {
    return Status::Corruption(path + "/store", "is a database, and no hot store");
  }
  if (s.ok() && format != kFormat && format != kFormerFormat) {
    return OtherFormat(path + "/store", format);
  }
  return s;
}

// Entry: a record, or with Tag::kFile what is known of an SST.
struct Entry {
  StoreKey key;
  Slice value;
};

// Calls visit(entry) for each entry until it returns false, and counts those that are none.
template <typename Visit>
Status ForEach(DB* db, uint64_t* unknown, const Visit& visit) {
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    Entry entry;
    if (DecodeKey(it->key(), &entry.key)) {
      entry.value = it->value();
      if (!visit(entry)) {
        break;
      }
    } else if (it->key() != kFormatKey) {
      ++*unknown;
    }
  }
  return it->status();
}

// The comparator of an SST by its name; null if this process has none of that name.
const Comparator* ComparatorOf(const std::string& name) {
  const Comparator* comparator = nullptr;
  const Status s = Comparator::CreateFromString(ConfigOptions(), name, &comparator);
  return s.ok() ? comparator : nullptr;
}

// The SST of the records that come next, for comparison.
class Original {
 public:
  // None if it cannot be opened, or another SST is in its place.
  void Open(const FileId& file, const std::vector<Place>& places) {
    iterator_.reset();
    for (const Place& place : places) {
      if (iterator_ == nullptr && Open(BytewiseComparator(), place.path)) {
        const auto properties = reader_->GetTableProperties();
        const Comparator* comparator = ComparatorOf(properties->comparator_name);
        if (FileIdOf(*properties) == file && comparator != nullptr &&
            (comparator == BytewiseComparator() || Open(comparator, place.path))) {
          ReadOptions options;
          options.total_order_seek = true;
          iterator_.reset(reader_->NewIterator(options));
          comparator_ = comparator;
        }
      }
    }
  }

  void Compare(const Entry& record, HotStoreInfo* info) {
    if (iterator_ == nullptr) {
      info->unchecked++;
      return;
    }
    // A copy has the key of the read that it was made of, whose bytes may be others than the SST's.
    iterator_->Seek(record.key.user_key);
    const bool equal = iterator_->Valid() &&
                       comparator_->Equal(iterator_->key(), record.key.user_key) &&
                       iterator_->value() == record.value;
    if (equal) {
      info->equal++;
    } else if (iterator_->status().ok()) {
      info->different++;
    } else {
      info->unchecked++;
    }
  }

 private:
  bool Open(const Comparator* comparator, const std::string& path) {
    Options options;
    options.env = Env::Default();
    options.comparator = comparator;
    reader_ = std::make_unique<SstFileReader>(options);
    return reader_->Open(path).ok();
  }

  std::unique_ptr<SstFileReader> reader_;
  std::unique_ptr<Iterator> iterator_;
  const Comparator* comparator_ = nullptr;  // of iterator_
};

using Progress = std::function<void(uint64_t done, uint64_t total)>;

Status Look(const std::string& path, bool verify, HotStoreInfo* info, const Progress& progress) {
  std::unique_ptr<DB> db;
  Status s = OpenStore(path, &db);
  if (!s.ok()) {
    return s;
  }
  *info = HotStoreInfo();
  info->verified = verify;
  db->GetIntProperty(DB::Properties::kTotalSstFilesSize, &info->file_bytes);
  Original original;
  std::set<FileId> files;
  FileId last{};
  uint64_t done = 0;
  uint64_t total = 0;
  db->GetIntProperty(DB::Properties::kEstimateNumKeys, &total);
  s = ForEach(db.get(), &info->unknown, [&](const Entry& entry) {
    if (progress != nullptr) {
      progress(++done, total);
    }
    FileEntry file;
    if (entry.key.tag == Tag::kFile && !DecodeFileEntry(entry.value, &file)) {
      info->unknown++;
    }
    if (entry.key.file != last) {
      last = entry.key.file;
      files.insert(last);
      if (verify) {
        original.Open(entry.key.file, file.places);
      }
    }
    if (entry.key.tag == Tag::kRecord) {
      info->records++;
      info->key_bytes += entry.key.user_key.size();
      info->value_bytes += entry.value.size();
      if (verify) {
        original.Compare(entry, info);
      }
    }
    return true;
  });
  info->files = files.size();
  return s;
}

using Lines = std::vector<std::pair<const char*, uint64_t>>;

Lines LinesOf(const HotStoreInfo& info) {
  Lines lines = {{"records", info.records},         {"key_bytes", info.key_bytes},
                 {"value_bytes", info.value_bytes}, {"files", info.files},
                 {"file_bytes", info.file_bytes},   {"unknown", info.unknown}};
  if (info.verified) {
    lines.insert(
        lines.end(),
        {{"equal", info.equal}, {"different", info.different}, {"unchecked", info.unchecked}});
  }
  return lines;
}

}  // namespace

std::string HotStoreInfo::ToString() const {
  std::ostringstream out;
  for (const auto& [name, value] : LinesOf(*this)) {
    out << name << ": " << value << "\n";
  }
  return out.str();
}

std::string HotStoreInfo::ToJson() const {
  std::ostringstream out;
  for (const auto& [name, value] : LinesOf(*this)) {
    out << (out.tellp() == 0 ? "{" : ",") << "\"" << name << "\":" << value;
  }
  out << "}";
  return out.str();
}

Status InspectHotStore(const std::string& path, HotStoreInfo* info) {
  return Look(path, /*verify=*/false, info, nullptr);
}

Status VerifyHotStore(const std::string& path, HotStoreInfo* info, const Progress& progress) {
  return Look(path, /*verify=*/true, info, progress);
}

Status DumpHotStore(const std::string& path, const HotRecordVisitor& visit) {
  std::unique_ptr<DB> db;
  Status s = OpenStore(path, &db);
  if (!s.ok()) {
    return s;
  }
  uint64_t unknown = 0;
  FileId last{};
  std::string file;
  return ForEach(db.get(), &unknown, [&](const Entry& entry) {
    if (entry.key.file != last) {
      last = entry.key.file;
      file.clear();
    }
    if (entry.key.tag == Tag::kRecord) {
      return visit(file, entry.key.user_key, entry.value);
    }
    FileEntry known;
    if (DecodeFileEntry(entry.value, &known)) {
      file = known.places.front().path;
    }
    return true;
  });
}

Status ClearHotStore(const std::string& path, bool dry_run) {
  Env* const env = Env::Default();
  const std::string store = path + "/store";
  const std::string table = path + "/ralt";
  Status s = Folder::Check(Folder::Kind::kTop, path);
  if (s.ok() && !env->FileExists(store).ok() && !env->FileExists(table).ok()) {
    s = Status::NotFound(path, kNoStore);
  }
  std::unique_ptr<Folder> folder;
  if (s.ok()) {
    s = dry_run ? Folder::CheckFree(path) : Folder::Open(Folder::Kind::kTop, path, &folder);
  }
  for (const auto& [kind, name] :
       {std::make_pair(Folder::Kind::kStore, store), std::make_pair(Folder::Kind::kTable, table)}) {
    if (s.ok()) {
      s = dry_run ? Folder::CheckRemovable(kind, name) : Folder::Remove(kind, name);
      s = s.IsNotFound() ? Status::OK() : s;
    }
  }
  if (s.ok() && !dry_run) {  // of a process that was killed
    MetricsReporter::Delete(FileSystem::Default().get(), path + "/" + kMetricsName);
  }
  return s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
