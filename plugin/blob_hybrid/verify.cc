// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/verify.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "db/blob/blob_garbage_meter.h"
#include "db/blob/blob_index.h"
#include "db/blob/blob_log_format.h"
#include "db/blob/blob_log_sequential_reader.h"
#include "db/dbformat.h"
#include "file/filename.h"
#include "file/random_access_file_reader.h"
#include "plugin/blob_hybrid/inspect.h"
#include "rocksdb/file_system.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/system_clock.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

constexpr size_t kMostProblems = 100;

uint64_t HashOf(const Slice& key) {
  return std::hash<std::string_view>()(std::string_view(key.data(), key.size()));
}

// A value in a blob file.
struct Value {
  uint64_t offset;
  uint64_t bytes;
  uint64_t key_hash;
};

// Tells whether the record at an offset ends where the file does, at the latest. RocksDB allocates
// what a header says, which has a checksum that anybody can make.
Status CheckSizes(const FSRandomAccessFile& file, uint64_t offset, uint64_t end) {
  char buffer[BlobLogRecord::kHeaderSize];
  Slice bytes;
  Status s = file.Read(offset, sizeof(buffer), IOOptions(), &bytes, buffer, nullptr);
  BlobLogRecord record;
  if (s.ok()) {
    s = record.DecodeHeaderFrom(bytes);
  }
  if (!s.ok()) {
    return s;
  }
  const uint64_t rest = end - std::min<uint64_t>(end, offset + BlobLogRecord::kHeaderSize);
  return record.key_size <= rest && record.value_size <= rest - record.key_size
             ? s
             : Status::Corruption("the header of a record says more than the file has");
}

// A blob file as it was read.
struct Blob {
  CompressionType compression = kNoCompression;
  std::vector<Value> values;  // by offset
  bool complete = false;      // it was read to its end
};

class Verifier {
 public:
  using Progress = std::function<void(uint64_t done, uint64_t total)>;

  Verifier(const Options& options, ColumnFamilyMetaData meta, const Progress& progress,
           BlobCheck* check)
      : options_(options), meta_(std::move(meta)), progress_(progress), check_(check) {}

  void Run();

 private:
  void Problem(const std::string& file, const std::string& what);
  void ReadBlob(const BlobMetaData& meta);
  Status ReadValues(const BlobMetaData& meta, const std::string& path, Blob* blob) const;
  void ReadSst(const SstFileMetaData& meta);
  Status ReadReferences(const SstFileMetaData& meta, SstFileReader* reader, uint64_t* oldest);
  // Empty if the reference is right.
  std::string CheckReference(const Slice& internal_key, const Slice& reference) const;
  void CompareCounts();
  void Count(uint64_t bytes);

  const Options& options_;
  const ColumnFamilyMetaData meta_;
  const Progress& progress_;  // may be null
  uint64_t done_ = 0;         // bytes
  BlobCheck* const check_;
  std::map<uint64_t, Blob> blobs_;  // by number
  BlobGarbageMeter meter_;          // counts references
};

void Verifier::Problem(const std::string& file, const std::string& what) {
  check_->problem_count++;
  if (check_->problems.size() < kMostProblems) {
    check_->problems.push_back(file + ": " + what);
  }
}

Status Verifier::ReadValues(const BlobMetaData& meta, const std::string& path, Blob* blob) const {
  const auto& fs = options_.env->GetFileSystem();
  uint64_t size = 0;
  Status s = fs->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!s.ok()) {
    return s;
  }
  if (size != meta.blob_file_size) {
    return Status::Corruption("has " + std::to_string(size) + " bytes",
                              "the MANIFEST says " + std::to_string(meta.blob_file_size));
  }
  std::unique_ptr<RandomAccessFileReader> file;
  s = RandomAccessFileReader::Create(fs, path, FileOptions(), &file, nullptr);
  std::unique_ptr<FSRandomAccessFile> heads;
  if (s.ok()) {
    s = fs->NewRandomAccessFile(path, FileOptions(), &heads, nullptr);
  }
  if (!s.ok()) {
    return s;
  }
  BlobLogSequentialReader reader(std::move(file), SystemClock::Default().get(), nullptr);
  BlobLogHeader header;
  s = reader.ReadHeader(&header);
  blob->compression = header.compression;
  const uint64_t end = size - std::min<uint64_t>(size, BlobLogFooter::kSize);
  while (s.ok() && reader.GetNextByte() < end) {
    BlobLogRecord record;
    uint64_t offset = 0;
    s = CheckSizes(*heads, reader.GetNextByte(), end);
    if (s.ok()) {
      s = reader.ReadRecord(&record, BlobLogSequentialReader::kReadHeaderKeyBlob, &offset);
    }
    if (s.ok()) {
      blob->values.push_back({offset, record.value_size, HashOf(record.key)});
    } else {
      s = Status::CopyAppendMessage(s, ": after value ", std::to_string(blob->values.size()));
    }
  }
  BlobLogFooter footer;
  if (s.ok()) {
    s = reader.ReadFooter(&footer);
  }
  if (s.ok() && footer.blob_count != blob->values.size()) {
    s = Status::Corruption("has " + std::to_string(blob->values.size()) + " values",
                           "its footer says " + std::to_string(footer.blob_count));
  }
  return s;
}

void Verifier::ReadBlob(const BlobMetaData& meta) {
  const std::string path = BlobFileName(meta.blob_file_path, meta.blob_file_number);
  Blob& blob = blobs_[meta.blob_file_number];
  const Status s = ReadValues(meta, path, &blob);
  if (!s.ok()) {
    Problem(path, s.ToString());
  }
  blob.complete = s.ok();
  check_->blob_files++;
  check_->values += blob.values.size();
  check_->garbage += meta.garbage_blob_count;
}

std::string Verifier::CheckReference(const Slice& internal_key, const Slice& reference) const {
  BlobIndex index;
  const Status s = index.DecodeFrom(reference);
  if (!s.ok() || index.IsInlined()) {
    return "a reference that cannot be decoded: " + s.ToString();
  }
  const std::string where = "value at " + std::to_string(index.offset()) + " of blob file " +
                            std::to_string(index.file_number());
  const auto file = blobs_.find(index.file_number());
  if (file == blobs_.end()) {
    return where + ", a file that the MANIFEST does not have";
  }
  const Blob& blob = file->second;
  const auto value =
      std::lower_bound(blob.values.begin(), blob.values.end(), index.offset(),
                       [](const Value& a, uint64_t offset) { return a.offset < offset; });
  if (value == blob.values.end() || value->offset != index.offset()) {
    // What could not be read is told once, for the file.
    return blob.complete ? where + ", where none begins" : "";
  }
  if (value->bytes != index.size() || blob.compression != index.compression()) {
    return where + ", which has another size or compression";
  }
  return value->key_hash == HashOf(ExtractUserKey(internal_key)) ? "" : where + " of another key";
}

Status Verifier::ReadReferences(const SstFileMetaData& meta, SstFileReader* reader,
                                uint64_t* oldest) {
  const std::unique_ptr<Iterator> it = reader->NewTableIterator();
  Status s;
  for (it->SeekToFirst(); s.ok() && it->Valid(); it->Next()) {
    s = meter_.ProcessInFlow(it->key(), it->value());
    if (!s.ok() || ExtractValueType(it->key()) != kTypeBlobIndex) {
      continue;
    }
    const std::string wrong = CheckReference(it->key(), it->value());
    BlobIndex index;
    if (wrong.empty() && index.DecodeFrom(it->value()).ok()) {
      *oldest = std::min(*oldest, index.file_number());
    } else {
      Problem(meta.directory + "/" + meta.relative_filename,
              ExtractUserKey(it->key()).ToString(/*hex=*/true) + " refers to " + wrong);
    }
  }
  return s.ok() ? it->status() : s;
}

void Verifier::ReadSst(const SstFileMetaData& meta) {
  const std::string path = meta.directory + "/" + meta.relative_filename;
  SstFileReader reader(options_);
  Status s = reader.Open(path);
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  if (s.ok()) {
    s = ReadReferences(meta, &reader, &oldest);
  }
  if (!s.ok()) {
    Problem(path, s.ToString());
  } else if (oldest < meta.oldest_blob_file_number ||
             (meta.oldest_blob_file_number == kInvalidBlobFileNumber &&
              oldest != std::numeric_limits<uint64_t>::max())) {
    Problem(path, "refers to blob file " + std::to_string(oldest) +
                      "; the oldest that the MANIFEST knows of is " +
                      std::to_string(meta.oldest_blob_file_number));
  }
  check_->ssts++;
}

void Verifier::CompareCounts() {
  for (const BlobMetaData& meta : meta_.blob_files) {
    const std::string path = BlobFileName(meta.blob_file_path, meta.blob_file_number);
    const Blob& blob = blobs_[meta.blob_file_number];
    if (blob.complete && blob.values.size() != meta.total_blob_count) {
      Problem(path, "has " + std::to_string(blob.values.size()) + " values; the MANIFEST says " +
                        std::to_string(meta.total_blob_count));
    }
    uint64_t bytes = meta.blob_file_size;
    bytes -= std::min<uint64_t>(bytes, BlobLogHeader::kSize + BlobLogFooter::kSize);
    if (bytes != meta.total_blob_bytes) {
      Problem(path, "has " + std::to_string(bytes) + " bytes of values; the MANIFEST says " +
                        std::to_string(meta.total_blob_bytes));
    }
    const auto flow = meter_.flows().find(meta.blob_file_number);
    const bool any = flow != meter_.flows().end();
    const uint64_t count = any ? flow->second.GetInFlow().GetCount() : 0;
    const uint64_t counted =
        meta.total_blob_count - std::min(meta.total_blob_count, meta.garbage_blob_count);
    check_->references += count;
    if (count > counted) {
      Problem(path, "has " + std::to_string(count) + " references; the MANIFEST says " +
                        std::to_string(counted));
    } else {
      check_->uncounted += counted - count;
    }
  }
}

void Verifier::Count(uint64_t bytes) {
  done_ += bytes;
  if (progress_ != nullptr) {
    progress_(done_, meta_.size + meta_.blob_file_size);
  }
}

void Verifier::Run() {
  for (const BlobMetaData& blob : meta_.blob_files) {
    ReadBlob(blob);
    Count(blob.blob_file_size);
  }
  for (const LevelMetaData& level : meta_.levels) {
    for (const SstFileMetaData& sst : level.files) {
      ReadSst(sst);
      Count(sst.size);
    }
  }
  CompareCounts();
}

}  // namespace

Status VerifyBlobs(const std::string& path, std::map<std::string, BlobCheck>* families,
                   const std::function<void(uint64_t done, uint64_t total)>& progress) {
  families->clear();
  return LookAtFamilies(path, [&](const Options& options, DB* db, ColumnFamilyHandle* family) {
    ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(family, &meta);
    Verifier(options, std::move(meta), progress, &(*families)[family->GetName()]).Run();
    return Status::OK();
  });
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
