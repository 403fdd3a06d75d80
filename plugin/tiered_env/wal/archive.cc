// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/archive.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/codec.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kBlockSize = 64 << 10;  // that a block, uncompressed, is closed at

void Wait(RateLimiter* limiter, size_t bytes) {
  while (limiter != nullptr && bytes > 0) {
    const size_t part =
        std::min<size_t>(bytes, static_cast<size_t>(limiter->GetSingleBurstBytes()));
    limiter->Request(static_cast<int64_t>(part), Env::IO_LOW, nullptr, RateLimiter::OpType::kWrite);
    bytes -= part;
  }
}

IOStatus Damaged(const std::string& path, uint64_t offset, const char* what) {
  return IOStatus::Corruption(path, std::string(what) + " at " + std::to_string(offset));
}

IOStatus NoCodec(const std::string& path, CompressionType codec) {
  return IOStatus::NotSupported(path, std::string("RocksDB was built without ") + NameOf(codec));
}

}  // namespace

struct ArchiveWriter::Rep {
  Rep(std::string file_path, uint64_t segment, CompressionType type, RateLimiter* rate_limiter)
      : path(std::move(file_path)),
        id(segment),
        codec(type),
        limiter(rate_limiter),
        compressing(type) {}

  IOStatus Append(const Slice& data) {
    Wait(limiter, data.size());
    status = file->Append(data, IOOptions(), nullptr);
    bytes += data.size();
    return status;
  }

  IOStatus AppendHeader(const ArchiveBlockHeader& header, const Slice& block) {
    return Append(header.Encode(id, bytes, block));
  }

  IOStatus WriteBlock() {
    if (builder.bytes().empty()) {
      return status;
    }
    ArchiveBlockHeader header;
    Slice block = builder.bytes();
    header.raw = block.size();
    if (compressing.Compress(block, &compressed)) {
      header.kind = static_cast<uint8_t>(codec);
      block = compressed;
    }
    header.stored = block.size();
    status = AppendHeader(header, block);
    if (status.ok()) {
      status = Append(block);
    }
    builder.Clear();
    return status;
  }

  IOStatus WriteFooter() {
    ArchiveBlockHeader footer;
    footer.kind = ArchiveBlockHeader::kFooter;
    footer.stored = bytes + ArchiveBlockHeader::kSize;
    footer.raw = entries;
    return AppendHeader(footer, Slice());
  }

  const std::string path;
  const uint64_t id;
  const CompressionType codec;
  RateLimiter* const limiter;
  Compressing compressing;
  std::unique_ptr<FSWritableFile> file;
  IOStatus status;  // of the first thing that failed
  ArchiveBlockBuilder builder;
  std::string compressed;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

ArchiveWriter::ArchiveWriter(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}

ArchiveWriter::~ArchiveWriter() { rep_->status.PermitUncheckedError(); }

IOStatus ArchiveWriter::Open(FileSystem* fs, const std::string& path, uint64_t id,
                             CompressionType codec, RateLimiter* limiter,
                             std::unique_ptr<ArchiveWriter>* result) {
  if (!IsCodec(codec)) {
    return IOStatus::InvalidArgument(path, "an archive's codec is none, lz4 or zstd");
  }
  if (!HasCodec(codec)) {
    return NoCodec(path, codec);
  }
  auto rep = std::make_unique<Rep>(path, id, codec, limiter);
  IOStatus s = fs->NewWritableFile(path, FileOptions(), &rep->file, nullptr);
  if (s.ok()) {
    ArchiveHeader header;
    header.id = id;
    s = rep->Append(header.Encode());
  }
  if (s.ok()) {
    result->reset(new ArchiveWriter(std::move(rep)));
  }
  return s;
}

IOStatus ArchiveWriter::Add(Ordinal ordinal, const Entry& entry) {
  if (rep_->status.ok()) {
    rep_->builder.Add(ordinal, entry);
    rep_->entries++;
    if (rep_->builder.bytes().size() >= kBlockSize) {
      return rep_->WriteBlock();
    }
  }
  return rep_->status;
}

IOStatus ArchiveWriter::Finish() {
  IOStatus& s = rep_->status;
  if (s.ok()) {
    s = rep_->WriteBlock();
  }
  if (s.ok()) {
    s = rep_->WriteFooter();
  }
  if (s.ok()) {
    s = rep_->file->Sync(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = rep_->file->Close(IOOptions(), nullptr);
  }
  return s;
}

uint64_t ArchiveWriter::bytes() const { return rep_->bytes; }

namespace {

class Reading {
 public:
  Reading(std::string path, EntryVisitor* visitor) : path_(std::move(path)), visitor_(visitor) {}

  IOStatus Open(FileSystem* fs, uint64_t* id) {
    IOStatus s = fs->GetFileSize(path_, IOOptions(), &size_, nullptr);
    if (s.ok()) {
      s = fs->NewSequentialFile(path_, FileOptions(), &file_, nullptr);
    }
    Slice bytes;
    if (s.ok()) {
      s = Get(ArchiveHeader::kSize, &header_, &bytes);
    }
    ArchiveHeader header;
    if (s.ok()) {
      s = ArchiveHeader::Decode(bytes.data(), path_, &header);
    }
    if (s.ok()) {
      *id = id_ = header.id;
    }
    return s;
  }

  IOStatus Visit() {
    IOStatus s;
    for (bool footer = false; s.ok() && !footer;) {
      const uint64_t offset = offset_;
      Slice bytes;
      s = Get(ArchiveBlockHeader::kSize, &header_, &bytes);
      if (!s.ok()) {
        break;
      }
      const ArchiveBlockHeader header = ArchiveBlockHeader::Decode(bytes.data());
      footer = header.kind == ArchiveBlockHeader::kFooter;
      s = footer ? CheckFooter(header, bytes.data(), offset)
                 : VisitBlock(header, bytes.data(), offset);
    }
    return s;
  }

 private:
  // The next `size` bytes, which are there: a length that was damaged takes no memory.
  IOStatus Get(uint64_t size, std::string* buffer, Slice* bytes) {
    if (size > size_ - offset_) {
      return Damaged(path_, offset_, "ends too early: no footer behind what is");
    }
    buffer->resize(static_cast<size_t>(size));
    for (size_t got = 0; got < buffer->size();) {
      Slice part;
      char* const to = buffer->data() + got;
      IOStatus s = file_->Read(buffer->size() - got, IOOptions(), &part, to, nullptr);
      if (!s.ok()) {
        return s;
      }
      if (part.empty()) {
        return Damaged(path_, offset_ + got, "became shorter while it was read, ends");
      }
      if (part.data() != to) {
        memcpy(to, part.data(), part.size());
      }
      got += part.size();
    }
    offset_ += size;
    *bytes = *buffer;
    return IOStatus::OK();
  }

  IOStatus VisitBlock(const ArchiveBlockHeader& header, const char* encoded, uint64_t offset) {
    Slice block;
    IOStatus s = Get(header.stored, &block_, &block);
    if (!s.ok()) {
      return s;
    }
    if (!ArchiveBlockHeader::IsSound(encoded, id_, offset, block)) {
      return Damaged(path_, offset, "damaged block");
    }
    const auto codec = static_cast<CompressionType>(header.kind);
    if (!IsCodec(codec)) {
      return IOStatus::NotSupported(path_, "codec " + std::to_string(header.kind) + " of a block");
    }
    if (!HasCodec(codec)) {
      return NoCodec(path_, codec);
    }
    if (codec != kNoCompression) {
      if (!Uncompress(codec, block, static_cast<size_t>(header.raw), &raw_)) {
        return Damaged(path_, offset, "block that does not uncompress");
      }
      block = raw_;
    }
    return block.size() == header.raw && ReadArchiveBlock(block, &next_, &entries_, visitor_)
               ? IOStatus::OK()
               : Damaged(path_, offset, "block with wrong entries");
  }

  IOStatus CheckFooter(const ArchiveBlockHeader& header, const char* encoded,
                       uint64_t offset) const {
    if (!ArchiveBlockHeader::IsSound(encoded, id_, offset, Slice())) {
      return Damaged(path_, offset, "damaged footer");
    }
    if (header.stored != offset_ || header.raw != entries_ || offset_ != size_) {
      return Damaged(path_, offset, "footer of other contents");
    }
    return IOStatus::OK();
  }

  const std::string path_;
  EntryVisitor* const visitor_;
  std::unique_ptr<FSSequentialFile> file_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
  uint64_t id_ = 0;
  uint64_t next_ = 0;
  uint64_t entries_ = 0;
  std::string header_;
  std::string block_;
  std::string raw_;
};

}  // namespace

IOStatus ReadArchive(FileSystem* fs, const std::string& path, uint64_t* id, EntryVisitor* visitor) {
  Reading reading(path, visitor);
  IOStatus s = reading.Open(fs, id);
  return s.ok() ? reading.Visit() : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
