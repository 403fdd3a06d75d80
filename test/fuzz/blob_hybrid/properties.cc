// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What SSTs say about the values that they refer to.

#include "plugin/blob_hybrid/properties.h"

#include <map>
#include <string>

#include "db/blob/blob_index.h"
#include "plugin/blob_hybrid/sketch.h"
#include "test/fuzz/target.h"

using namespace rocktier;
namespace blob = rocksdb::blob_hybrid;

namespace {

// Of a value or an entry, as a blob file can have it: sums of all in an input are below
// blob::kMostBytes.
constexpr uint64_t kMostOfOne = uint64_t{1} << 34;

rocksdb::UserCollectedProperties Of(const char* name, const std::string& text) {
  return {{name, text}};
}

}  // namespace

// What is written into an SST is what is read from it.
FUZZ_TARGET(blob_counted) {
  Input input(bytes);
  const auto factories = blob::WithClassCounter(nullptr, /*large=*/1000, /*separated=*/100,
                                                std::make_shared<blob::Counters>());
  const std::unique_ptr<rocksdb::InternalTblPropColl> collector(
      factories.back()->CreateInternalTblPropColl(0, 1, 7, 0));
  std::map<uint64_t, bool> files;
  while (!input.empty()) {
    const std::string key = input.Bytes(30);
    const uint64_t file = input.Number();
    std::string value = input.Bytes(120);
    const auto type = input.Byte() % 3 == 0 ? rocksdb::kTypeValue : rocksdb::kTypeBlobIndex;
    if (type == rocksdb::kTypeBlobIndex) {
      value.clear();
      rocksdb::BlobIndex::EncodeBlob(&value, file, input.Number(), input.Below(kMostOfOne),
                                     rocksdb::kNoCompression);
      files[file] = true;
    }
    const rocksdb::InternalKey internal(key, 7, type);
    Require(collector->InternalAdd(internal.Encode(), value, 0).ok(), "an entry is counted");
  }
  rocksdb::UserCollectedProperties properties;
  Require(collector->Finish(&properties).ok(), "an SST is finished");
  const auto references = blob::ReferencesOf(properties);
  Require(references != nullptr && references->size() == files.size(), "references change");
  Require(blob::SketchOf(properties) != nullptr, "a sketch is not read again");
  (void)blob::MediumBytesOf(properties);
}

FUZZ_TARGET(blob_references) {
  Input input(bytes);
  const Bytes object = BytesFrom(&input, [](Input* from) {
    std::string text;
    uint64_t number = 0;
    while (!from->empty()) {
      number += from->Number();
      text +=
          (text.empty() ? "" : ",") + std::to_string(number) + ":" + std::to_string(from->Number());
    }
    return text;
  });
  const auto properties = Of(blob::kReferencesProperty, object.bytes);
  const Bound bound(FitFor(object.bytes.size()));
  const auto references = blob::ReferencesOf(properties);
  if (references == nullptr) {
    return;
  }
  for (size_t i = 0; i < references->size(); i++) {
    Require(i == 0 || (*references)[i - 1].first < (*references)[i].first,
            "references do not ascend");
    Require(blob::BytesIn(*references, (*references)[i].first) == (*references)[i].second,
            "a reference is not found");
  }
  (void)blob::BytesIn(*references, input.Number());
  (void)blob::MediumBytesOf(Of(blob::kMediumBytesProperty, object.bytes));
}

FUZZ_TARGET(blob_sketch) {
  Input input(bytes);
  const Bytes object = BytesFrom(&input, [](Input* from) {
    blob::SketchBuilder builder;
    while (!from->empty()) {
      const std::string key = from->Bytes(10);
      const uint64_t blob_bytes = from->Below(kMostOfOne);
      builder.Add(key, blob_bytes, from->Below(kMostOfOne), from->Byte() % 2 == 0);
    }
    return builder.Finish();
  });
  const Bound bound(FitFor(object.bytes.size()));
  blob::SketchPtr sketch = blob::DecodeSketch(object.bytes);
  Require(sketch != nullptr || !object.untouched, "a sketch is not read again");
  if (sketch == nullptr) {
    return;
  }
  const blob::Sampled sampled = blob::Combine({sketch.get(), sketch.get()});
  Require(sampled.keys <= sampled.entries && sampled.entries <= 2 * sketch->entries.size(),
          "more is sampled than there is");
  blob::ThinTogether({&sketch});
}
