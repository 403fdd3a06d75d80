// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What recipes refer to, also recipes that somebody made to do harm.

#include "plugin/tiered_env/recovery/segment_loader.h"

#include <limits>

#include "plugin/tiered_env/recipe/format.h"
#include "plugin/tiered_env/wal/archive.h"
#include "test/support/memory_limit.h"
#include "test/support/scratch.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kKnown = 1;
constexpr uint64_t kUnknown = 2;
constexpr uint64_t kLittle = 32 << 20;  // bytes
constexpr Ordinal kLargest = std::numeric_limits<Ordinal>::max();

// Of one entry, with a right checksum.
std::string RecipeOf(uint64_t segment, Ordinal ordinal) {
  SegmentRange range;
  range.segment = segment;
  range.first = ordinal;
  range.count = 1;
  RecipeParts parts;
  EXPECT_TRUE(parts.space.Init({range}, /*halves=*/false));
  parts.numbers = parts.summary.references = 1;
  std::string packed;
  BitWriter writer(parts.space.width(), &packed);
  writer.Put(0);
  writer.Finish();
  parts.packed = packed;
  std::string recipe;
  EncodeRecipe(parts, &recipe);
  return recipe;
}

class SegmentLoaderTest : public testing::Test {
 protected:
  SegmentLoaderTest() {
    LoggedSegment known;
    known.id = kKnown;
    known.log_number = 7;
    known.entries = 10;
    contents_.segments[kKnown] = known;
  }
  Status Add(uint64_t segment, Ordinal ordinal, bool wanted = true) {
    return loader_.Add(contents_, RecipeOf(segment, ordinal), wanted);
  }
  void WriteArchive(uint64_t segment, const std::vector<Ordinal>& ordinals) {
    const std::string path = folder_ + "/" + WalSegments::ArchiveName(segment, "");
    std::unique_ptr<ArchiveWriter> writer;
    ASSERT_OK(ArchiveWriter::Open(fs_.get(), path, segment, kNoCompression, nullptr, &writer));
    for (const Ordinal ordinal : ordinals) {
      Entry entry;
      entry.sequence = entry.batch = 100 + uint64_t{ordinal};
      entry.key = "key";
      ASSERT_OK(writer->Add(ordinal, entry));
    }
    ASSERT_OK(writer->Finish());
  }
  void LoadAll() {
    ASSERT_OK(loader_.Find(contents_));
    for (const uint64_t id : loader_.ids()) {
      ASSERT_OK(loader_.Load(id));
    }
  }
  bool Finds(uint64_t segment, Ordinal ordinal) {
    Reference reference;
    reference.segment = segment;
    reference.ordinal = ordinal;
    Entry entry;
    return loader_.Entries()->Get(reference, &entry);
  }

  const std::string folder_ = NewFolder();
  const std::shared_ptr<FileSystem> fs_ = FileSystem::Default();
  RecipeLogContents contents_;
  SegmentLoader loader_{fs_.get(), fs_.get(), folder_, nullptr};
};

TEST_F(SegmentLoaderTest, AnOrdinalThatASegmentHasNotIsDamage) {
  for (const Ordinal ordinal : {Ordinal{10}, Ordinal{1} << 31, kLargest}) {
    for (const bool wanted : {false, true}) {
      const Status s = Add(kKnown, ordinal, wanted);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_TRUE(loader_.ids().empty());
    }
  }
  ASSERT_OK(Add(kKnown, 9));
  EXPECT_EQ(loader_.ids(), std::vector<uint64_t>{kKnown});
}

TEST_F(SegmentLoaderTest, AnOrdinalOfASegmentThatNobodyKnowsIsNotThere) {
  ASSERT_OK(Add(kUnknown, kLargest));
  LoadAll();
  EXPECT_FALSE(Finds(kUnknown, kLargest));
  EXPECT_NE(loader_.ProblemsOf(RecipeOf(kUnknown, kLargest)), "");
}

// Its archive says whose it is.
TEST_F(SegmentLoaderTest, AnArchiveOfASegmentThatNobodyKnowsIsUsed) {
  WriteArchive(kUnknown, {5});
  ASSERT_OK(Add(kUnknown, 5));
  LoadAll();
  EXPECT_TRUE(Finds(kUnknown, 5));
  EXPECT_FALSE(Finds(kUnknown, 6));
}

// Whatever its ordinals are, it takes as much memory as it has entries.
TEST_F(SegmentLoaderTest, AnArchiveOfASegmentThatNobodyKnowsTakesNoMoreThanItHas) {
  WriteArchive(kUnknown, {5, Ordinal{1} << 31, kLargest});
  ASSERT_OK(Add(kUnknown, Ordinal{1} << 31));
  {
    const MemoryLimit limit(kLittle);
    LoadAll();
  }
  EXPECT_TRUE(Finds(kUnknown, 5));
  EXPECT_FALSE(Finds(kUnknown, 6));
  EXPECT_TRUE(Finds(kUnknown, Ordinal{1} << 31));
  EXPECT_TRUE(Finds(kUnknown, kLargest));
  EXPECT_EQ(loader_.segment(kUnknown), nullptr);
}

TEST_F(SegmentLoaderTest, AnArchiveWithMoreThanItsLogHadIsDamaged) {
  for (const Ordinal ordinal : {Ordinal{10}, Ordinal{1} << 31, kLargest}) {
    WriteArchive(kKnown, {5, ordinal});
    ASSERT_OK(Add(kKnown, 5));
    {
      const MemoryLimit limit(kLittle);
      LoadAll();
    }
    const std::string problems = loader_.ProblemsOf(RecipeOf(kKnown, 5));
    EXPECT_NE(problems.find("never had"), std::string::npos) << problems;
    EXPECT_EQ(loader_.segment(kKnown), nullptr);
  }
}

TEST_F(SegmentLoaderTest, AnArchiveWithTheLastOfItsLogIsSound) {
  WriteArchive(kKnown, {5, 9});
  ASSERT_OK(Add(kKnown, 9));
  LoadAll();
  EXPECT_TRUE(Finds(kKnown, 9));
  EXPECT_FALSE(Finds(kKnown, 5));
  ASSERT_NE(loader_.segment(kKnown), nullptr);
  EXPECT_EQ(loader_.segment(kKnown)->entries(), 2u);
}

}  // namespace

}  // namespace rocktier
