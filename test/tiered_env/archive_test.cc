// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/archive.h"

#include <map>

#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/codec.h"
#include "plugin/tiered_env/wal/segment.h"
#include "rocksdb/rate_limiter.h"
#include "test/tiered_env/entries.h"
#include "test/tiered_env/scratch.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

constexpr uint64_t kId = 0x123456789abcdef0;

std::vector<Kept> RandomEntries(std::mt19937_64* random, size_t count, size_t most) {
  static const ValueType kTypes[] = {kTypeValue, kTypeDeletion,       kTypeMerge,
                                     kTypeValue, kTypeSingleDeletion, kTypeWideColumnEntity,
                                     kTypeValue, kTypeRangeDeletion,  kTypeBlobIndex};
  std::vector<Kept> result(count);
  uint64_t ordinal = 0;
  for (Kept& kept : result) {
    ordinal += (*random)() % 3 == 0 ? (*random)() % 1000 : 0;
    kept.ordinal = static_cast<Ordinal>(ordinal++);
    kept.batch = (*random)() % kMaxSequenceNumber;
    kept.sequence = kept.batch + (*random)() % 5;
    kept.type = kTypes[(*random)() % std::size(kTypes)];
    kept.key = RandomText(random, 40);
    kept.value = RandomText(random, most);
  }
  return result;
}

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest()
      : folder_(rocktier::NewFolder()), path_(folder_ + "/1.seg"), random_(rocktier::NewSeed()) {
    for (const CompressionType codec : {kNoCompression, kLZ4Compression, kZSTD}) {
      if (HasCodec(codec)) {
        codecs_.push_back(codec);
      } else {
        printf("[ SKIPPED ] RocksDB was built without %s\n", NameOf(codec));
      }
    }
  }

  IOStatus Write(const std::vector<Kept>& entries, CompressionType codec, uint64_t id = kId) {
    std::unique_ptr<ArchiveWriter> writer;
    IOStatus s = ArchiveWriter::Open(fs_, path_, id, codec, nullptr, &writer);
    for (const Kept& kept : entries) {
      s = s.ok() ? writer->Add(kept.ordinal, kept.AsEntry()) : s;
    }
    s = s.ok() ? writer->Finish() : s;
    if (s.ok()) {
      EXPECT_EQ(writer->bytes(), std::filesystem::file_size(path_));
    }
    return s;
  }

  // Of path_.
  IOStatus Read(std::vector<Kept>* entries) {
    EntryCollector manager;
    uint64_t id = 0;
    IOStatus s = ReadArchive(fs_, path_, &id, &manager);
    if (s.ok()) {
      EXPECT_EQ(id, kId);
    }
    *entries = manager.kept;
    return s;
  }

  std::vector<Kept> MustRead() {
    std::vector<Kept> result;
    EXPECT_OK(Read(&result));
    return result;
  }

  // It is Corruption, and names the file.
  void ExpectDamaged(const std::string& bytes) {
    WriteBytes(path_, bytes);
    std::vector<Kept> entries;
    const IOStatus s = Read(&entries);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
  }

  // An archive as it could be, with right checksums.
  static std::string Forged(const std::vector<std::pair<ArchiveBlockHeader, std::string>>& parts) {
    ArchiveHeader header;
    header.id = kId;
    std::string result = header.Encode();
    for (const auto& [part, block] : parts) {
      result += part.Encode(kId, result.size(), block) + block;
    }
    return result;
  }
  static ArchiveBlockHeader Header(uint8_t kind, uint64_t stored, uint64_t raw) {
    ArchiveBlockHeader result;
    result.kind = kind;
    result.stored = stored;
    result.raw = raw;
    return result;
  }

  FileSystem* const fs_ = FileSystem::Default().get();
  const std::string folder_;
  const std::string path_;
  std::mt19937_64 random_;
  std::vector<CompressionType> codecs_;
};

TEST_F(ArchiveTest, WhatIsAddedIsRead) {
  for (const CompressionType codec : codecs_) {
    SCOPED_TRACE(NameOf(codec));
    for (const size_t most : {0, 100, 2000, 200000}) {
      const std::vector<Kept> entries = RandomEntries(&random_, 200000 / (most + 200) + 20, most);
      ASSERT_OK(Write(entries, codec));
      EXPECT_EQ(MustRead(), entries);
    }
  }
}

TEST_F(ArchiveTest, ExtremesAreRead) {
  std::vector<Kept> entries(4);
  entries[1].ordinal = 1;
  entries[1].sequence = entries[1].batch = kMaxSequenceNumber;
  entries[2].ordinal = 2;
  entries[2].value = std::string(5 << 20, 'v');
  entries[3].ordinal = std::numeric_limits<Ordinal>::max();
  entries[3].key = std::string("\0\xff", 2);
  for (const CompressionType codec : codecs_) {
    SCOPED_TRACE(NameOf(codec));
    ASSERT_OK(Write(entries, codec));
    EXPECT_EQ(MustRead(), entries);
    ASSERT_OK(Write({}, codec));
    EXPECT_TRUE(MustRead().empty());
  }
}

TEST_F(ArchiveTest, CodecsMakeItSmaller) {
  std::vector<Kept> entries = RandomEntries(&random_, 2000, 20);
  for (Kept& kept : entries) {
    kept.value += kept.value + kept.value + kept.value + kept.value;
  }
  ASSERT_OK(Write(entries, kNoCompression));
  const auto plain = std::filesystem::file_size(path_);
  for (const CompressionType codec : codecs_) {
    if (codec != kNoCompression) {
      ASSERT_OK(Write(entries, codec));
      EXPECT_LT(std::filesystem::file_size(path_), plain * 9 / 10) << NameOf(codec);
    }
  }
}

TEST_F(ArchiveTest, WhatDoesNotCompressIsLeftAsItIs) {
  std::vector<Kept> entries = RandomEntries(&random_, 200, 0);
  for (Kept& kept : entries) {
    kept.value.resize(5000);
    for (char& c : kept.value) {
      c = static_cast<char>(random_());
    }
  }
  ASSERT_OK(Write(entries, kNoCompression));
  const std::string plain = ReadBytes(path_);
  for (const CompressionType codec : codecs_) {
    ASSERT_OK(Write(entries, codec));
    EXPECT_LE(std::filesystem::file_size(path_), plain.size()) << NameOf(codec);
    EXPECT_EQ(MustRead(), entries);
  }
}

TEST_F(ArchiveTest, TheFormatIsAsFormatMdSays) {
  Kept put;
  put.ordinal = 5;
  put.sequence = 12;
  put.batch = 10;
  put.key = "key";
  put.value = "value";
  Kept deletion;
  deletion.ordinal = 7;
  deletion.sequence = deletion.batch = 14;
  deletion.type = kTypeDeletion;
  deletion.key = "k";
  ASSERT_OK(Write({put, deletion}, kNoCompression, 3));
  const std::string bytes = ReadBytes(path_);
  std::string hex;
  for (const char c : bytes) {
    char text[4];
    snprintf(text, sizeof(text), "%02x", static_cast<uint8_t>(c));
    hex += text;
  }
  EXPECT_EQ(hex,
            // header
            "524b544152434856"
            "01000000"
            "0300000000000000"
            "0000000000000000"
            "97f44182"
            // header of the block
            "2b307894"
            "00000000"
            "1500000000000000"
            "1500000000000000"
            // entries
            "050c02010305"
            "6b657976616c7565"
            "01020000"
            "01006b"
            // footer
            "54885edb"
            "ff000000"
            "6500000000000000"
            "0200000000000000");
}

TEST_F(ArchiveTest, CutAnywhereItIsDamaged) {
  for (const CompressionType codec : codecs_) {
    SCOPED_TRACE(NameOf(codec));
    ASSERT_OK(Write(RandomEntries(&random_, 10, 30), codec));
    const std::string bytes = ReadBytes(path_);
    for (size_t length = 0; length < bytes.size(); length++) {
      SCOPED_TRACE(length);
      ExpectDamaged(bytes.substr(0, length));
    }
    ExpectDamaged(bytes + '\0');
    ExpectDamaged(bytes + bytes);
  }
}

TEST_F(ArchiveTest, EachBytesDamageIsFound) {
  for (const CompressionType codec : codecs_) {
    SCOPED_TRACE(NameOf(codec));
    ASSERT_OK(Write(RandomEntries(&random_, 30, 50), codec));
    std::string bytes = ReadBytes(path_);
    for (size_t at = 0; at < bytes.size(); at++) {
      const auto flip = static_cast<char>(1 + random_() % 255);
      SCOPED_TRACE(std::to_string(at) + " ^ " + std::to_string(static_cast<int>(flip)));
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      ExpectDamaged(bytes);
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
    }
  }
}

TEST_F(ArchiveTest, DamageOfLargerArchivesIsFound) {
  for (const CompressionType codec : codecs_) {
    SCOPED_TRACE(NameOf(codec));
    ASSERT_OK(Write(RandomEntries(&random_, 1000, 1000), codec));
    const std::string sound = ReadBytes(path_);
    for (int i = 0; i < 100; i++) {
      std::string bytes = sound;
      const size_t at = random_() % bytes.size();
      const size_t length = std::min<size_t>(bytes.size() - at, 1 + random_() % 5000);
      bytes.replace(at, length, length, static_cast<char>(random_()));
      if (bytes == sound) {
        continue;
      }
      SCOPED_TRACE(std::to_string(at) + " + " + std::to_string(length));
      ExpectDamaged(bytes);
    }
  }
}

TEST_F(ArchiveTest, BlocksInTheWrongPlaceAreFound) {
  const std::string value(70000, 'x');  // a block each
  std::vector<Kept> entries(3);
  for (Ordinal i = 0; i < 3; i++) {
    entries[i].ordinal = i;
    entries[i].value = value + std::to_string(i);
  }
  ASSERT_OK(Write(entries, kNoCompression));
  const std::string bytes = ReadBytes(path_);
  ASSERT_OK(Write(entries, kNoCompression, kId + 1));
  const std::string other = ReadBytes(path_);
  const size_t block = (bytes.size() - ArchiveHeader::kSize - ArchiveBlockHeader::kSize) / 3;
  const auto part = [&](size_t i) { return bytes.substr(ArchiveHeader::kSize + i * block, block); };
  const std::string header = bytes.substr(0, ArchiveHeader::kSize);
  const std::string footer = bytes.substr(ArchiveHeader::kSize + 3 * block);
  ASSERT_EQ(header + part(0) + part(1) + part(2) + footer, bytes);
  ExpectDamaged(header + part(1) + part(0) + part(2) + footer);
  ExpectDamaged(header + part(0) + part(2) + footer);
  ExpectDamaged(header + part(0) + part(1) + footer);
  ExpectDamaged(header + part(0) + part(1) + part(2) + part(2) + footer);
  ExpectDamaged(header + footer);
  ExpectDamaged(header + other.substr(ArchiveHeader::kSize));
}

TEST_F(ArchiveTest, WithRightChecksumsItIsStillChecked) {
  ArchiveBlockBuilder builder;
  Entry entry;
  entry.key = "k";
  entry.sequence = entry.batch = 9;
  builder.Add(4, entry);
  const std::string block = builder.bytes();
  const uint64_t size = block.size();
  const uint64_t whole = ArchiveHeader::kSize + 2 * ArchiveBlockHeader::kSize + size;
  const ArchiveBlockHeader footer = Header(ArchiveBlockHeader::kFooter, whole, 1);

  WriteBytes(path_, Forged({{Header(0, size, size), block}, {footer, ""}}));
  ASSERT_EQ(MustRead().size(), 1u);

  ExpectDamaged(Forged({{Header(0, size, size + 1), block}, {footer, ""}}));
  ExpectDamaged(Forged({{Header(0, size, size), block}, {Header(255, whole, 2), ""}}));
  ExpectDamaged(Forged({{Header(0, size, size), block}, {Header(255, whole + 1, 1), ""}}));
  ExpectDamaged(Forged({{Header(0, uint64_t{1} << 62, uint64_t{1} << 62), block}, {footer, ""}}));
  // The same ordinal again.
  ExpectDamaged(Forged({{Header(0, size, size), block},
                        {Header(0, size, size), block},
                        {Header(255, whole + size + ArchiveBlockHeader::kSize, 2), ""}}));
  for (size_t cut = 1; cut < size; cut++) {
    ExpectDamaged(Forged({{Header(0, size - cut, size - cut), block.substr(0, size - cut)},
                          {Header(255, whole - cut, 1), ""}}));
  }
  for (const CompressionType codec : codecs_) {
    if (codec != kNoCompression) {
      ExpectDamaged(
          Forged({{Header(static_cast<uint8_t>(codec), size, size), block}, {footer, ""}}));
    }
  }
  // What a sequence number is less than the index in its batch.
  std::string wrong = block;
  wrong[1] = 1;
  wrong[2] = 2;
  ExpectDamaged(Forged({{Header(0, size, size), wrong}, {footer, ""}}));
}

TEST_F(ArchiveTest, WhatIsNotSupportedIsNamed) {
  std::unique_ptr<ArchiveWriter> writer;
  IOStatus s = ArchiveWriter::Open(fs_, path_, 1, kSnappyCompression, nullptr, &writer);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(writer, nullptr);

  std::vector<Kept> entries;
  WriteBytes(path_, Forged({{Header(kSnappyCompression, 1, 1), "x"}}));
  s = Read(&entries);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();

  std::string later = ArchiveHeader().Encode();
  EncodeFixed32(later.data() + 8, 2);
  EncodeFixed32(later.data() + 28, crc32c::Mask(crc32c::Value(later.data(), 28)));
  WriteBytes(path_, later);
  s = Read(&entries);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("version 2"), std::string::npos) << s.ToString();

  s = ReadArchive(fs_, folder_ + "/none.seg", nullptr, nullptr);
  EXPECT_TRUE(s.IsPathNotFound()) << s.ToString();
}

TEST_F(ArchiveTest, WithoutFinishItIsNotWhole) {
  std::unique_ptr<ArchiveWriter> writer;
  ASSERT_OK(ArchiveWriter::Open(fs_, path_, kId, kNoCompression, nullptr, &writer));
  for (const Kept& kept : RandomEntries(&random_, 1000, 1000)) {
    ASSERT_OK(writer->Add(kept.ordinal, kept.AsEntry()));
  }
  writer.reset();
  ASSERT_GT(std::filesystem::file_size(path_), 100000u);
  std::vector<Kept> entries;
  const IOStatus s = Read(&entries);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

// Fails from the given number of writes on, or at the sync.
class FullFile : public FSWritableFileOwnerWrapper {
 public:
  FullFile(std::unique_ptr<FSWritableFile>&& file, int writes)
      : FSWritableFileOwnerWrapper(std::move(file)), writes_(writes) {}

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return writes_-- == 0 ? IOStatus::NoSpace("full")
                          : FSWritableFileOwnerWrapper::Append(data, options, dbg);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return writes_-- == 0 ? IOStatus::NoSpace("full")
                          : FSWritableFileOwnerWrapper::Sync(options, dbg);
  }

 private:
  int writes_;
};

class FullFs : public FileSystemWrapper {
 public:
  explicit FullFs(int writes) : FileSystemWrapper(FileSystem::Default()), writes_(writes) {}
  const char* Name() const override { return "FullFs"; }
  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = target()->NewWritableFile(name, options, result, dbg);
    if (s.ok()) {
      *result = std::make_unique<FullFile>(std::move(*result), writes_);
    }
    return s;
  }

 private:
  const int writes_;
};

TEST_F(ArchiveTest, AnErrorStays) {
  const std::vector<Kept> entries = RandomEntries(&random_, 500, 1000);
  bool ok = false;
  int fails = 0;
  for (int writes = 0; !ok; writes++) {
    ASSERT_LT(writes, 100);
    FullFs fs(writes);
    std::unique_ptr<ArchiveWriter> writer;
    IOStatus s = ArchiveWriter::Open(&fs, path_, kId, kNoCompression, nullptr, &writer);
    bool failed = !s.ok();
    for (size_t i = 0; writer != nullptr && i < entries.size(); i++) {
      s = writer->Add(entries[i].ordinal, entries[i].AsEntry());
      EXPECT_TRUE(!failed || !s.ok()) << "after an error";
      failed = !s.ok();
    }
    if (writer != nullptr) {
      s = writer->Finish();
      EXPECT_TRUE(!failed || !s.ok()) << "after an error";
    }
    ok = s.ok();
    EXPECT_TRUE(ok || s.IsNoSpace()) << s.ToString();
    fails += ok ? 0 : 1;
  }
  EXPECT_GT(fails, 5);
  EXPECT_EQ(MustRead(), entries);
}

TEST_F(ArchiveTest, AllThatIsWrittenIsLimited) {
  const std::unique_ptr<RateLimiter> limiter(NewGenericRateLimiter(int64_t{1} << 30));
  std::unique_ptr<ArchiveWriter> writer;
  ASSERT_OK(ArchiveWriter::Open(fs_, path_, kId, kNoCompression, limiter.get(), &writer));
  for (const Kept& kept : RandomEntries(&random_, 1000, 1000)) {
    ASSERT_OK(writer->Add(kept.ordinal, kept.AsEntry()));
  }
  ASSERT_OK(writer->Finish());
  EXPECT_EQ(static_cast<uint64_t>(limiter->GetTotalBytesThrough(Env::IO_LOW)), writer->bytes());
}

// The index of an archive is that of the log without what was left out.
TEST_F(ArchiveTest, ItsIndexIsTheTrimmedOneOfTheLog) {
  std::vector<Kept> entries(5000);
  std::vector<bool> kept(entries.size());
  SequenceNumber next = 77;
  for (size_t i = 0; i < entries.size();) {
    const size_t batch = std::min<size_t>(1 + random_() % 10, entries.size() - i);
    for (size_t j = 0; j < batch; j++, i++) {
      entries[i].ordinal = static_cast<Ordinal>(i);
      entries[i].batch = next;
      entries[i].sequence = next + j;
      entries[i].key = "key" + std::to_string(random_() % 100);
      kept[i] = random_() % 3 == 0;
    }
    next += random_() % 2 == 0 ? batch : 2;
  }
  Segment segment(kId);
  for (const Kept& entry : entries) {
    segment.Add(entry.ordinal, entry.AsEntry());
  }
  ASSERT_TRUE(segment.Trim(kept));
  std::vector<Kept> left;
  for (const Kept& entry : entries) {
    if (kept[entry.ordinal]) {
      left.push_back(entry);
    }
  }
  ASSERT_OK(Write(left, codecs_.back()));
  Segment archived(kId);
  for (const Kept& entry : MustRead()) {
    archived.Add(entry.ordinal, entry.AsEntry());
  }
  EXPECT_EQ(archived.digest(), segment.digest());
  for (const Kept& entry : left) {
    for (const SequenceNumber number : {entry.sequence, entry.batch}) {
      Reference a;
      Reference b;
      ASSERT_TRUE(archived.Take(number, entry.fingerprint(), &a));
      ASSERT_TRUE(segment.Take(number, entry.fingerprint(), &b));
      EXPECT_EQ(a.ordinal, b.ordinal);
      EXPECT_EQ(a.of_batch, b.of_batch);
    }
  }
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
