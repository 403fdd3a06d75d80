// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What SSTs and statistics say is read, and written, as FORMAT.md and README.md have it.

#include "plugin/blob_hybrid/properties.h"

#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr char kMost[] = "18446744073709551615";
constexpr char kTooMuch[] = "18446744073709551616";

uint64_t MediumBytes(const std::string& text) {
  return MediumBytesOf({{kMediumBytesProperty, text}});
}

std::shared_ptr<const References> ParseReferences(const std::string& text) {
  return ReferencesOf({{kReferencesProperty, text}});
}

TEST(PropertiesTest, MediumBytes) {
  EXPECT_EQ(0u, MediumBytes("0"));
  EXPECT_EQ(68600u, MediumBytes("68600"));
  EXPECT_EQ(kMostBytes, MediumBytes(std::to_string(kMostBytes)));
  EXPECT_EQ(0u, MediumBytes(std::to_string(kMostBytes + 1)));
}

TEST(PropertiesTest, OtherTextIsNoMediumBytes) {
  EXPECT_EQ(0u, MediumBytesOf({}));
  EXPECT_EQ(0u, MediumBytesOf({{kMediumValuesProperty, "7"}}));
  for (const char* text : {"", "x", "12x", "12 ", " 12", "-12", "+12", "1.5", "0x12", kTooMuch}) {
    EXPECT_EQ(0u, MediumBytes(text)) << text;
  }
  EXPECT_EQ(0u, MediumBytes(std::string("12\0", 3)));
}

TEST(PropertiesTest, References) {
  ASSERT_NE(nullptr, ParseReferences(""));
  EXPECT_EQ(References(), *ParseReferences(""));
  ASSERT_NE(nullptr, ParseReferences("7:68600"));
  EXPECT_EQ(References({{7, 68600}}), *ParseReferences("7:68600"));
  const auto several = ParseReferences(std::string("7:0,12:343,") + kMost + ":5");
  ASSERT_NE(nullptr, several);
  EXPECT_EQ(References({{7, 0}, {12, 343}, {UINT64_MAX, 5}}), *several);
  EXPECT_EQ(nullptr, ParseReferences("7:" + std::to_string(kMostBytes + 1)));
}

TEST(PropertiesTest, OtherTextIsNoReferences) {
  EXPECT_EQ(nullptr, ReferencesOf({}));
  for (const char* text : {"x",
                           "1",
                           "1:",
                           ":2",
                           "1:2,",
                           ",1:2",
                           "1:2,,3:4",
                           "1:2,3",
                           "1:2,3:",
                           "1:2,x",
                           "1:2;3:4",
                           "1:2 ",
                           " 1:2",
                           "1:-2",
                           "-1:2",
                           "1=2",
                           "1:2:3",
                           "1:18446744073709551616",
                           "18446744073709551616:1",
                           "1:2,3:99999999999999999999"}) {
    EXPECT_EQ(nullptr, ParseReferences(text)) << text;
  }
}

TEST(PropertiesTest, Sketch) {
  EXPECT_EQ(nullptr, SketchOf({}));
  EXPECT_EQ(nullptr, SketchOf({{kSketchProperty, ""}}));
  EXPECT_EQ(nullptr, SketchOf({{kSketchProperty, "\x01short"}}));
  SketchBuilder builder;
  EXPECT_NE(nullptr, SketchOf({{kSketchProperty, builder.Finish()}}));
}

BlobHybridStats MakeStats() {
  BlobHybridStats stats;
  uint64_t next = 1;
#define X(name, unit, description) stats.name = next++;
  BLOB_HYBRID_GAUGES(X)
  BLOB_HYBRID_COUNTERS(X)
#undef X
  return stats;
}

constexpr char kGauges[] =
    "blob_files: 1\n"
    "blob_file_bytes: 2\n"
    "medium_bytes: 3\n"
    "large_bytes: 4\n"
    "large_garbage_bytes: 5\n"
    "large_hidden_bytes: 6\n"
    "large_live_bytes: 7\n"
    "sst_files: 8\n"
    "small_bytes: 9\n"
    "space_amplification_percent: 10\n";
constexpr char kCounters[] =
    "moved_values: 11\n"
    "moved_bytes: 12\n"
    "merged_values: 13\n"
    "merged_bytes: 14\n"
    "not_separated: 15\n"
    "crowded_flushes: 16\n"
    "read_errors: 17\n"
    "jobs: 18\n"
    "log_jobs: 19\n"
    "job_bytes: 20\n"
    "job_errors: 21\n"
    "unread_ssts: 22\n"
    "flush_waits: 23\n"
    "flush_wait_micros: 24\n"
    "bound_missed: 25\n";

// "name: value" lines as a JSON object.
std::string AsJson(const std::string& lines) {
  std::string json = "{\"";
  for (size_t i = 0; i + 1 < lines.size(); i++) {
    const char c = lines[i];
    json += c == ':' ? "\":" : c == ' ' ? "" : c == '\n' ? ",\"" : std::string(1, c);
  }
  return json + "}";
}

TEST(StatsTest, TextHasALineEach) {
  const BlobHybridStats stats = MakeStats();
  const BlobHybridSpace& space = stats;
  EXPECT_EQ(kGauges, space.ToString());
  EXPECT_EQ(std::string(kGauges) + kCounters, stats.ToString());
}

TEST(StatsTest, JsonHasTheSame) {
  const BlobHybridStats stats = MakeStats();
  const BlobHybridSpace& space = stats;
  EXPECT_EQ(AsJson(kGauges), space.ToJson());
  EXPECT_EQ(AsJson(std::string(kGauges) + kCounters), stats.ToJson());
  EXPECT_EQ("{\"blob_files\":0,", BlobHybridSpace().ToJson().substr(0, 16));
}

// Of 2,000 SSTs that refer to as many blob files as they may, of 10,000: what the README says.
TEST(MemoryTest, ReferencesOfManySsts) {
  constexpr size_t kSsts = 2000;
  constexpr size_t kBlobs = 10000;
  const auto allocated = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  std::vector<std::string> texts(kSsts);
  std::vector<std::shared_ptr<const References>> references(kSsts);
  const size_t before = allocated();
  for (size_t sst = 0; sst < kSsts; sst++) {
    for (size_t i = 0; i < kMostReferences; i++) {
      const size_t blob = 1000000 + sst % 4 + i * (kBlobs / kMostReferences);
      texts[sst] += (i == 0 ? "" : ",") + std::to_string(blob) + ":10320";
    }
    texts[sst].shrink_to_fit();
  }
  const size_t with_texts = allocated();
  for (size_t sst = 0; sst < kSsts; sst++) {
    references[sst] = ParseReferences(texts[sst]);
  }
  const size_t with_references = allocated();
  ASSERT_NE(nullptr, references.back());
  if (with_texts == before) {
    return;  // another allocator, as that of sanitizers: it does not tell
  }
  printf("properties: %zu MB, references: %zu MB\n", (with_texts - before) >> 20,
         (with_references - with_texts) >> 20);
  EXPECT_LE(with_references - with_texts, kSsts * (kMostReferences * 16 + 256));
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
