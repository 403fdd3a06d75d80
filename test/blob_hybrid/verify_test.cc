// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is wrong with blob files is found, and named; what is right is not.

#include "plugin/blob_hybrid/verify.h"

#include <algorithm>
#include <fstream>

#include "db/blob/blob_log_format.h"
#include "file/filename.h"
#include "plugin/blob_hybrid/advice.h"
#include "rocksdb/convenience.h"
#include "test/blob_hybrid/support.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 300;

class VerifyTest : public HybridDb {
 protected:
  // Two blob files: all keys, of which every second one has been overwritten, and those.
  void MakeFiles() {
    Open();
    Fill(0, kKeys, 0);
    Flush();
    Fill(0, kKeys, 1, 2);
    Flush();
    Compact();
    ASSERT_OK(db_->Put(WriteOptions(), "small", "value"));
    Flush();
    const auto files = BlobFiles();
    ASSERT_EQ(2u, files.size());
    first_ = BlobFileName(path_, *files.begin());
    second_ = BlobFileName(path_, *files.rbegin());
    Close();
  }

  BlobCheck Check() {
    std::map<std::string, BlobCheck> families;
    EXPECT_OK(VerifyBlobs(path_, &families));
    EXPECT_EQ(1u, families.size());
    const BlobCheck check = families["default"];
    EXPECT_EQ(std::min<uint64_t>(check.problem_count, 100), check.problems.size());
    return check;
  }

  // One problem at least, in that file, and each of them.
  void ExpectProblem(const std::string& file, const std::string& what) {
    const BlobCheck check = Check();
    ASSERT_GT(check.problem_count, 0u);
    EXPECT_EQ(file, check.problems.front().substr(0, file.size()));
    EXPECT_NE(std::string::npos, check.problems.front().find(what)) << check.problems.front();
  }

  static void ExpectAmong(const std::vector<std::string>& problems, const std::string& problem) {
    std::string all;
    for (const std::string& each : problems) {
      all += each + "\n";
    }
    EXPECT_NE(std::string::npos, all.find(problem + "\n")) << problem << " is not among\n" << all;
  }

  // Some 30 references each.
  void UseSmallSsts() {
    BlockBasedTableOptions tables;
    tables.block_size = 256;
    options_.table_factory.reset(NewBlockBasedTableFactory(tables));
    options_.target_file_size_base = 1024;
  }

  static void Flip(const std::string& file, uint64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(stream.good());
  }

  static std::string ReadAll(const std::string& file) {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), file, &bytes));
    return bytes;
  }

  std::string first_;
  std::string second_;
};

TEST_F(VerifyTest, AllIsRight) {
  MakeFiles();
  const BlobCheck check = Check();
  EXPECT_EQ(0u, check.problem_count) << check.problems.front();
  EXPECT_EQ(2u, check.blob_files);
  EXPECT_EQ(kKeys * 3 / 2u, check.values);
  EXPECT_EQ(kKeys * 1u, check.references);
  EXPECT_EQ(kKeys / 2u, check.garbage);
  EXPECT_EQ(0u, check.uncounted);
  EXPECT_GE(check.ssts, 2u);
}

TEST_F(VerifyTest, CompressedBlobs) {
  options_.blob_compression_type = kLZ4Compression;
  MakeFiles();
  EXPECT_EQ(0u, Check().problem_count);
}

TEST_F(VerifyTest, OldVersionsAreReferences) {
  Open();
  Fill(0, kKeys, 0);
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  Fill(0, kKeys, 1);
  Flush();
  Compact();
  const BlobCheck check = Check();
  EXPECT_EQ(0u, check.problem_count);
  EXPECT_EQ(2u * kKeys, check.references);
  EXPECT_EQ(0u, check.garbage);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(VerifyTest, DamagedValue) {
  MakeFiles();
  Flip(first_, ReadAll(first_).find(ValueOf(101, 0)) + 500);
  ExpectProblem(first_, "CRC");
}

TEST_F(VerifyTest, DamagedHeaderOfAValue) {
  MakeFiles();
  Flip(second_, BlobLogHeader::kSize);
  ExpectProblem(second_, "after value 0");
}

// A record that says it has more than the file, with a right checksum: as much memory as it says
// would be taken.
TEST_F(VerifyTest, ForgedHeaderOfAValue) {
  MakeFiles();
  const std::string bytes = ReadAll(second_);
  const std::pair<uint64_t, uint64_t> sizes[] = {{11, uint64_t{1} << 62},
                                                 {uint64_t{1} << 62, 11},
                                                 {uint64_t{1} << 63, uint64_t{1} << 63},
                                                 {11, bytes.size()}};
  for (const auto& [key_size, value_size] : sizes) {
    Slice header(bytes.data() + BlobLogHeader::kSize, BlobLogRecord::kHeaderSize);
    BlobLogRecord record;
    ASSERT_OK(record.DecodeHeaderFrom(header));
    std::string forged;
    PutFixed64(&forged, key_size);
    PutFixed64(&forged, value_size);
    PutFixed64(&forged, record.expiration);
    PutFixed32(&forged, crc32c::Mask(crc32c::Value(forged.data(), forged.size())));
    PutFixed32(&forged, record.blob_crc);
    ASSERT_EQ(header.size(), forged.size());
    std::string all = bytes;
    all.replace(BlobLogHeader::kSize, forged.size(), forged);
    ASSERT_OK(WriteStringToFile(Env::Default(), all, second_));
    ExpectProblem(second_, "the header of a record says more than the file has: after value 0");
  }
}

TEST_F(VerifyTest, DamagedHeaderAndFooter) {
  MakeFiles();
  Flip(first_, 0);
  ExpectProblem(first_, "Corruption");
  Flip(first_, 0);
  EXPECT_EQ(0u, Check().problem_count);
  Flip(first_, ReadAll(first_).size() - 5);
  ExpectProblem(first_, "Corruption");
}

TEST_F(VerifyTest, MissingFileIsAnErrorOfTheOpen) {
  MakeFiles();
  ASSERT_OK(Env::Default()->DeleteFile(first_));
  std::map<std::string, BlobCheck> families;
  const Status s = VerifyBlobs(path_, &families);
  if (s.ok()) {
    ExpectProblem(first_, "No such file");
  } else {
    EXPECT_NE(std::string::npos, s.ToString().find(first_)) << s.ToString();
  }
}

// A file that was exchanged with one of equal size and other keys, with right checksums all along.
TEST_F(VerifyTest, ValuesOfOtherKeys) {
  MakeFiles();
  const std::string right = ReadAll(first_);
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  // The same with the keys from 1000 on.
  Open();
  Fill(1000, 1000 + kKeys, 0);
  Flush();
  Fill(1000, 1000 + kKeys, 1, 2);
  Flush();
  Compact();
  const std::string file = BlobFileName(path_, *BlobFiles().begin());
  Close();
  ASSERT_EQ(right.size(), ReadAll(file).size());
  ASSERT_OK(WriteStringToFile(Env::Default(), right, file));
  const BlobCheck check = Check();
  EXPECT_EQ(kKeys / 2u, check.problem_count);  // of the references
  EXPECT_NE(std::string::npos, check.problems.front().find("of another key"));
}

// Without a problem: SSTs that were dropped as a whole leave values that nobody counts, as long as
// others refer to their file.
TEST_F(VerifyTest, UncountedGarbage) {
  UseSmallSsts();
  Open();
  Fill(0, kKeys, 0);
  Flush();
  Compact();
  const BlobCheck before = Check();
  EXPECT_EQ(0u, before.problem_count);
  EXPECT_EQ(1u, before.blob_files);
  EXPECT_GT(before.ssts, 3u);
  EXPECT_EQ(kKeys * 1u, before.references);
  EXPECT_EQ(0u, before.uncounted);
  const std::string begin = KeyOf(kKeys / 4);
  const std::string end = KeyOf(3 * kKeys / 4);
  const Slice from(begin);
  const Slice to(end);
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &from, &to));
  const BlobCheck after = Check();
  EXPECT_EQ(0u, after.problem_count);
  EXPECT_EQ(1u, after.blob_files);
  EXPECT_LT(after.ssts, before.ssts);
  EXPECT_EQ(kKeys * 1u, after.values);
  EXPECT_EQ(0u, after.garbage);
  EXPECT_GT(after.uncounted, 0u);
  EXPECT_LE(after.uncounted, kKeys / 2 + 1u);
  EXPECT_EQ(after.values, after.references + after.uncounted);
}

#if ROCKSDB_MAJOR < 11  // whose SSTs differ by a byte, so that it refuses the other one
// An SST in the place of a newer one, of equal size: the values that it refers to are there and
// those of its keys. But its blob file has more references than the MANIFEST counts, and RocksDB
// would not keep it for this SST.
TEST_F(VerifyTest, SstThatRefersToAnOlderFile) {
  options_.compression = kNoCompression;
  options_.verify_sst_unique_id_in_manifest = false;
  Open();
  for (int i = 0; i < 5; i++) {  // so that numbers of files have two digits
    ASSERT_OK(db_->Put(WriteOptions(), "small" + std::to_string(i), "value"));
    Flush();
  }
  Fill(0, kKeys, 0);
  Flush();
  Fill(0, kKeys, 1);
  Flush();
  std::vector<LiveFileMetaData> ssts;
  db_->GetLiveFilesMetaData(&ssts);
  std::sort(ssts.begin(), ssts.end(),
            [](const auto& a, const auto& b) { return a.file_number > b.file_number; });
  const std::string newer = path_ + ssts[0].name;
  const std::string older = path_ + ssts[1].name;
  const auto blobs = BlobFiles();
  ASSERT_EQ(2u, blobs.size());
  Close();
  ASSERT_EQ(ReadAll(older).size(), ReadAll(newer).size());
  ASSERT_OK(WriteStringToFile(Env::Default(), ReadAll(older), newer));
  const BlobCheck check = Check();
  EXPECT_EQ(2u, check.problem_count);
  ExpectAmong(check.problems, newer + ": refers to blob file " + std::to_string(*blobs.begin()) +
                                  "; the oldest that the MANIFEST knows of is " +
                                  std::to_string(*blobs.rbegin()));
  ExpectAmong(check.problems,
              BlobFileName(path_, *blobs.begin()) + ": has 600 references; the MANIFEST says 300");
  EXPECT_EQ(kKeys * 1u, check.uncounted);  // of the newer file
}
#endif

TEST_F(VerifyTest, AdviceKnowsSizesAndOverwrites) {
  Open();
  for (int version = 0; version < 4; version++) {
    Fill(0, kKeys, version);
  }
  for (int i = 0; i < kKeys; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), "small" + KeyOf(i), "value"));
  }
  Flush();
  Compact();
  std::map<std::string, Advice> families;
  ASSERT_OK(AdviseDatabase(path_, 1.5, &families));
  const Advice& advice = families["default"];
  EXPECT_EQ(2u * kKeys, advice.profile.sampled);
  EXPECT_NEAR(2 * kKeys, advice.profile.records, 1);
  EXPECT_NEAR(1 - 2.0 / 5, advice.overwrites, 0.02);
  EXPECT_NEAR(13.5, advice.profile.key_bytes, 0.01);  // 11 and 16
  EXPECT_NEAR(1011.0 / (1011 + 21), advice.large_share, 0.01);
  EXPECT_EQ(200u, advice.profile.cutoff);
  EXPECT_EQ(661u, advice.min_blob_size);
  EXPECT_LT(advice.large.write_amplification, advice.in_place.write_amplification);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
