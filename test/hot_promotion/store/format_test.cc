// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the store has on the disk: keys and values, and checks of its logs.

#include "plugin/hot_promotion/store/format.h"

#include "db/log_format.h"
#include "plugin/hot_promotion/store/log.h"
#include "test_util/testharness.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

const FileId kFile = {0x0807060504030201, 0x100f0e0d0c0b0a09};

TEST(FormatTest, GoldenBytes) {
  const std::string id = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10";
  EXPECT_EQ("\x01" + id + "\x01key", EncodeRecordKey(Way::kPromoted, kFile, "key"));
  EXPECT_EQ("\x02" + id + std::string(1, '\0'), EncodeFileKey(Way::kRetained, kFile));
  FileEntry entry;
  entry.space = 0x0807060504030201;
  entry.places = {{"fs", "/a"}};
  const std::string one =
      "\x01\x02\x03\x04\x05\x06\x07\x08\x02"
      "fs\x02/a";
  EXPECT_EQ(one, EncodeFileEntry(entry));
  entry.places.push_back({"f2", "/b"});
  EXPECT_EQ(one +
                "\x02"
                "f2\x02/b",
            EncodeFileEntry(entry));
}

TEST(FormatTest, KeysRoundTripInOrder) {
  StoreKey decoded;
  for (const Way way : {Way::kPromoted, Way::kRetained}) {
    for (const std::string& key : {std::string(), std::string("k"), std::string("\0\xff", 2)}) {
      const std::string encoded = EncodeRecordKey(way, kFile, key);
      ASSERT_TRUE(DecodeKey(encoded, &decoded));
      EXPECT_EQ(way, decoded.way);
      EXPECT_EQ(kFile, decoded.file);
      EXPECT_EQ(Tag::kRecord, decoded.tag);
      EXPECT_EQ(key, decoded.user_key.ToString());
      EXPECT_LT(FirstKeyOf(way, kFile), encoded);
      EXPECT_GT(LastKeyOf(way, kFile), encoded);
      EXPECT_EQ(HashOfKey(EncodeRecordKey(Way::kPromoted, kFile, key)), HashOfKey(encoded));
    }
    ASSERT_TRUE(DecodeKey(EncodeFileKey(way, kFile), &decoded));
    EXPECT_EQ(Tag::kFile, decoded.tag);
  }
}

TEST(FormatTest, OtherKeysAreRefused) {
  StoreKey decoded;
  const std::string key = EncodeFileKey(Way::kRetained, kFile);
  for (size_t size = 0; size < key.size(); size++) {
    EXPECT_FALSE(DecodeKey(Slice(key.data(), size), &decoded));
  }
  EXPECT_FALSE(DecodeKey(key + "x", &decoded));
  EXPECT_FALSE(DecodeKey(LastKeyOf(Way::kRetained, kFile), &decoded));
  EXPECT_FALSE(DecodeKey(EncodeRecordKey(Way::kRetained, FileId{}, "k"), &decoded));
  EXPECT_FALSE(DecodeKey("\x03" + key.substr(1), &decoded));
  EXPECT_FALSE(DecodeKey(kFormatKey, &decoded));
}

TEST(FormatTest, FileEntriesRoundTripAndCutOnesAreRefused) {
  FileEntry entry;
  entry.space = 17;
  entry.places = {{"PosixFileSystem", "/slow/000012.sst"}};
  const std::string encoded = EncodeFileEntry(entry);
  FileEntry decoded;
  ASSERT_TRUE(DecodeFileEntry(encoded, &decoded));
  EXPECT_EQ(17u, decoded.space);
  EXPECT_EQ(entry.places, decoded.places);
  for (size_t size = 0; size < encoded.size(); size++) {
    EXPECT_FALSE(DecodeFileEntry(Slice(encoded.data(), size), &decoded));
  }
  EXPECT_FALSE(DecodeFileEntry(encoded + "x", &decoded));
  for (int i = 0; i < 20; i++) {
    entry.places.push_back({"PosixFileSystem", "/" + std::to_string(i)});
  }
  ASSERT_TRUE(DecodeFileEntry(EncodeFileEntry(entry), &decoded));
  EXPECT_EQ(FileEntry::kMostPlaces, decoded.places.size());
  EXPECT_FALSE(DecodeFileEntry(EncodeFileEntry(entry) + encoded.substr(8), &decoded));
}

// Records as log::Writer writes them, each flipped bit and each end.
TEST(LogTest, FlippedBitsAreFoundAndCutEndsAreFine) {
  std::string contents;
  for (int i = 0; i < 3; i++) {
    const std::string payload(1 + i * 20, 'p');
    std::string typed(1, static_cast<char>(log::kFullType));
    typed += payload;
    std::string record;
    PutFixed32(&record, crc32c::Mask(crc32c::Value(typed.data(), typed.size())));
    record.push_back(static_cast<char>(payload.size()));
    record.push_back(0);
    contents += record + typed;
  }
  ASSERT_OK(CheckLog(contents));
  for (size_t size = 0; size < contents.size(); size++) {
    EXPECT_OK(CheckLog(Slice(contents.data(), size)));
  }
  int found = 0;
  for (size_t bit = 0; bit < contents.size() * 8; bit++) {
    std::string flipped = contents;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    found += CheckLog(flipped).IsCorruption() ? 1 : 0;
    const int type = static_cast<unsigned char>(flipped[6]);
    if (type != log::kFullType) {
      EXPECT_TRUE(CheckLog(flipped).IsCorruption()) << type;
    }
  }
  EXPECT_GT(found, static_cast<int>(contents.size() * 8 * 3 / 4));
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
