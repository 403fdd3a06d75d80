// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Surveys that go by what has changed: what they look at, and that they are as if all files had
// been looked at.

#include "plugin/blob_hybrid/survey.h"

#include <functional>
#include <initializer_list>

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "test/blob_hybrid/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

class SurveyTest : public HybridDb {
 protected:
  DBImpl* Impl() { return static_cast<DBImpl*>(db_.get()); }
  ColumnFamilyData* Data() {
    return static_cast<ColumnFamilyHandleImpl*>(db_->DefaultColumnFamily())->cfd();
  }

  // Each SST has two keys, each blob file one value.
  void UseTinyFiles() {
    options_.blob_file_size = 1;
    options_.target_file_size_base = 1;
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1;
  }

  // What the next look costs.
  uint64_t Look() {
    const uint64_t before = surveyor_->TEST_looked_at();
    Totals totals;
    EXPECT_OK(surveyor_->Sum(Impl(), Data(), &totals));
    return surveyor_->TEST_looked_at() - before;
  }

  void ExpectAsIfAllWereLookedAt() {
    Totals totals;
    Survey survey;
    Survey fresh;
    ASSERT_OK(surveyor_->Sum(Impl(), Data(), &totals));
    ASSERT_OK(surveyor_->Take(Impl(), Data(), &survey));
    ASSERT_OK(Surveyor(Surveyor::Reading::kWhole).Take(Impl(), Data(), &fresh));
    ExpectSums(TotalsOf(survey), totals);
    ASSERT_EQ(fresh.ssts.size(), survey.ssts.size());
    for (size_t i = 0; i < fresh.ssts.size(); i++) {
      ExpectSame(fresh.ssts[i], survey.ssts[i]);
    }
    ASSERT_EQ(fresh.blobs.size(), survey.blobs.size());
    std::map<uint64_t, uint64_t> corrected;
    for (size_t i = 0; i < fresh.blobs.size(); i++) {
      ExpectSame(fresh.blobs[i], survey.blobs[i]);
      if (fresh.blobs[i].corrected) {
        corrected[fresh.blobs[i].number] = fresh.blobs[i].garbage_bytes;
      }
    }
    EXPECT_EQ(corrected, surveyor_->corrected());
    EXPECT_EQ(fresh.last_level, survey.last_level);
    EXPECT_EQ(fresh.base_level, survey.base_level);
  }

  void DeleteFiles(int from, int to) {
    const std::string begin = KeyOf(from);
    const std::string end = KeyOf(to);
    const Slice first(begin);
    const Slice last(end);
    ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &first, &last));
  }

  // As a user does, of which RocksDB tells no listener: the SST with this number of all, where it
  // is, or level 0 to the next level.
  void CompactFile(size_t which) {
    Survey survey;
    ASSERT_OK(surveyor_->Take(Impl(), Data(), &survey));
    if (survey.ssts.empty()) {
      return;
    }
    const SstInfo& chosen = survey.ssts[which % survey.ssts.size()];
    std::vector<std::string> names;
    for (const SstInfo& sst : survey.ssts) {
      if (sst.number == chosen.number || (chosen.level == 0 && sst.level == 0)) {
        names.push_back(MakeTableFileName("", sst.number));
      }
    }
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), names,
                                chosen.level == 0 ? survey.base_level : chosen.level));
  }

  std::unique_ptr<Surveyor> surveyor_ = std::make_unique<Surveyor>(Surveyor::Reading::kWhole);

 private:
  template <typename Struct>
  struct Field {
    const char* name;
    uint64_t Struct::*member;
  };

  // Each of the members is the same in both.
  template <typename Struct>
  static void ExpectSameFields(std::initializer_list<Field<Struct>> fields, const Struct& expected,
                               const Struct& actual) {
    for (const Field<Struct>& field : fields) {
      EXPECT_EQ(expected.*field.member, actual.*field.member) << field.name;
    }
  }

  static void ExpectSums(const Totals& expected, const Totals& totals) {
    ExpectSameFields<Totals>({{"blob_files", &Totals::blob_files},
                              {"blob_file_bytes", &Totals::blob_file_bytes},
                              {"value_bytes", &Totals::value_bytes},
                              {"garbage_bytes", &Totals::garbage_bytes},
                              {"sst_files", &Totals::sst_files},
                              {"sst_bytes", &Totals::sst_bytes},
                              {"sst_user_bytes", &Totals::sst_user_bytes},
                              {"medium_bytes", &Totals::medium_bytes},
                              {"unsampled", &Totals::unsampled}},
                             expected, totals);
    ExpectSameFields<Sampled>(
        {{"keys", &Sampled::keys}, {"hidden_blob_bytes", &Sampled::hidden_blob_bytes}},
        expected.sampled, totals.sampled);
    EXPECT_EQ(expected.last_level, totals.last_level);
    for (size_t i = 0; i < totals.levels.size(); i++) {
      SCOPED_TRACE(i);
      ExpectSameFields<Totals::Level>(
          {{"entries", &Totals::Level::entries},
           {"values", &Totals::Level::values},
           {"covered", &Totals::Level::covered}},
          i < expected.levels.size() ? expected.levels[i] : Totals::Level(), totals.levels[i]);
    }
  }

  // All but what range deletions cover, which is counted once.
  static void ExpectSame(const SstInfo& expected, const SstInfo& sst) {
    SCOPED_TRACE(sst.number);
    ExpectSameFields<SstInfo>({{"number", &SstInfo::number},
                               {"bytes", &SstInfo::bytes},
                               {"user_bytes", &SstInfo::user_bytes},
                               {"entries", &SstInfo::entries},
                               {"deletions", &SstInfo::deletions},
                               {"range_deletions", &SstInfo::range_deletions},
                               {"oldest_blob", &SstInfo::oldest_blob}},
                              expected, sst);
    EXPECT_EQ(expected.level, sst.level);
    EXPECT_EQ(expected.references == nullptr, sst.references == nullptr);
    EXPECT_EQ(expected.sketch == nullptr, sst.sketch == nullptr);
    EXPECT_EQ(expected.keys->smallest, sst.keys->smallest);
  }

  static void ExpectSame(const BlobInfo& expected, const BlobInfo& blob) {
    SCOPED_TRACE(blob.number);
    ExpectSameFields<BlobInfo>({{"number", &BlobInfo::number},
                                {"bytes", &BlobInfo::bytes},
                                {"file_bytes", &BlobInfo::file_bytes},
                                {"garbage_bytes", &BlobInfo::garbage_bytes}},
                               expected, blob);
    EXPECT_EQ(expected.corrected, blob.corrected);
  }
};

TEST_F(SurveyTest, LooksAtWhatHasChanged) {
  constexpr int kMany = 1400;
  UseTinyFiles();
  Open();
  Fill(0, kMany, 0);
  Flush();
  Compact();
  const uint64_t all = Look();
  EXPECT_GE(all, 2000u);
  EXPECT_EQ(0u, Look());
  Put(kMany / 2, 1);
  EXPECT_EQ(0u, Look()) << "in a memtable";
  Flush();
  EXPECT_EQ(2u, Look()) << "an SST and a blob file";
  const std::string key = KeyOf(kMany / 2);
  const Slice only(key);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), &only, &only));
  const uint64_t overlapping = Look();
  EXPECT_GE(overlapping, 3u) << "two SSTs have become one";
  EXPECT_LE(overlapping, 12u);
  ExpectAsIfAllWereLookedAt();
  Survey survey;
  ASSERT_OK(surveyor_->Take(Impl(), Data(), &survey));
  EXPECT_EQ(all, survey.ssts.size() + survey.blobs.size());
}

TEST_F(SurveyTest, NeedsNoEvents) {
  constexpr int kMany = 100;
  UseTinyFiles();
  Open();
  Fill(0, kMany, 0);
  Flush();
  Compact();
  Look();
  CompactFile(kMany / 2);
  EXPECT_GE(Look(), 2u);
  ExpectAsIfAllWereLookedAt();
  DeleteFiles(kMany / 2, kMany);
  EXPECT_GE(Look(), static_cast<uint64_t>(kMany / 8));
  ExpectAsIfAllWereLookedAt();
  EXPECT_GE(surveyor_->corrected().size(), static_cast<size_t>(kMany / 4))
      << "RocksDB does not know of this garbage";
}

// So many references change at a time that all blob files are gone through.
TEST_F(SurveyTest, ManyReferences) {
  constexpr int kFlushes = 256;
  options_.target_file_size_base = 4 << 10;
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
  Open();
  for (int flush = 0; flush < kFlushes; flush++) {
    for (int i = 0; i < kFlushes; i++) {
      Put(i * kFlushes + flush, 0, 200);
    }
    Flush();
  }
  Compact();
  Look();
  DeleteFiles(0, kFlushes * kFlushes / 2);
  Look();
  ExpectAsIfAllWereLookedAt();
  EXPECT_EQ(static_cast<size_t>(kFlushes), surveyor_->corrected().size());
}

TEST_F(SurveyTest, RandomChanges) {
  constexpr int kKeys = 400;
  Random random(Seed());
  options_.blob_file_size = 4 << 10;
  options_.target_file_size_base = 1 << 10;
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 256;
  UseMedium();
  options_.min_blob_size = 1000;
  const auto key = [&] { return static_cast<int>(random.Uniform(kKeys)); };
  const std::function<void()> changes[] = {
      [&] { Flush(); },
      [&] { Compact(); },
      [&] { CompactFile(random.Next()); },
      [&] {
        const int from = key();
        DeleteFiles(from, from + kKeys / 10);
      },
      [&] {
        const int from = key();
        ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(from), KeyOf(from + kKeys / 10)));
      },
      [&] {  // moves files, if they are not in the way of each other
        CompactRangeOptions options;
        options.change_level = true;
        options.target_level = 5 + static_cast<int>(random.Uniform(2));
        db_->CompactRange(options, nullptr, nullptr).PermitUncheckedError();
      },
  };
  for (int round = 0; round < 3; round++) {
    OpenWithoutPlugin();  // SSTs that do not say what they refer to
    Fill(key(), kKeys, round, 7);
    Flush();
    Close();
    Open();
    surveyor_ = std::make_unique<Surveyor>(Surveyor::Reading::kWhole);
    for (int step = 0; step < 25; step++) {
      for (int i = 0; i < kKeys / 10; i++) {
        Put(key(), step, 100 + random.Uniform(2000));
      }
      changes[random.Uniform(static_cast<int>(std::size(changes)))]();
      if (step % 3 != 0) {
        ExpectAsIfAllWereLookedAt();
      }
    }
    Close();
  }
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
