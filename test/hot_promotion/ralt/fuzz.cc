// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// libFuzzer on what RALT reads from its files: make fuzz. Whatever is accepted must be the same after it
// was written and read again.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/digest.h"
#include "plugin/hot_promotion/ralt/record.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace {

namespace ralt = ROCKSDB_NAMESPACE::hot_promotion::ralt;
using ROCKSDB_NAMESPACE::Slice;

void Check(bool right, const char* what) {
  if (!right) {
    fprintf(stderr, "%s\n", what);
    abort();
  }
}

void CheckRecord(const Slice& bytes) {
  ralt::Record record;
  if (!ralt::Record::Decode(bytes, &record)) {
    return;
  }
  std::string once;
  record.EncodeTo(&once);
  Check(once.size() == record.EncodedSize(), "a record's size");
  Check(ralt::Record::Decode(once, &record), "a record is not read again");
  std::string twice;
  record.EncodeTo(&twice);
  Check(once == twice, "a record changes");
}

void CheckDigest(const Slice& bytes) {
  ralt::Digest digest;
  if (!ralt::Digest::Decode(bytes, &digest)) {
    return;
  }
  const std::string once = digest.Encode();
  ralt::Digest again;
  Check(ralt::Digest::Decode(once, &again) && again.Encode() == once, "a digest changes");
  const uint64_t all = digest.HotBytes(Slice(), Slice());
  Check(all == digest.total.hot_bytes, "a digest's sum");
  Check(digest.HotBytes(digest.points.back().key, digest.last) <= all, "a part is more than all");
  Check(digest.From(digest.last).hot_bytes <= all, "a rest is more than all");
}

// The checksum would keep nearly everything out: it is put right.
void CheckCatalog(const Slice& body) {
  std::string bytes = ralt::Catalog().Encode().substr(0, 12);
  ROCKSDB_NAMESPACE::PutFixed32(
      &bytes,
      ROCKSDB_NAMESPACE::crc32c::Mask(ROCKSDB_NAMESPACE::crc32c::Value(body.data(), body.size())));
  bytes.append(body.data(), body.size());
  ralt::Catalog catalog;
  if (!ralt::Catalog::Decode(bytes, &catalog).ok()) {
    return;
  }
  const std::string once = catalog.Encode();
  ralt::Catalog again;
  Check(ralt::Catalog::Decode(once, &again).ok() && again.Encode() == once, "a catalog changes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Slice bytes(reinterpret_cast<const char*>(data), size);
  CheckRecord(bytes);
  CheckDigest(bytes);
  CheckCatalog(bytes);
  return 0;
}
