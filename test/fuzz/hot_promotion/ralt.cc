// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the access table reads from its files.

#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/digest.h"
#include "plugin/hot_promotion/ralt/filter.h"
#include "plugin/hot_promotion/ralt/record.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "test/fuzz/target.h"

using namespace rocktier;
namespace ralt = rocksdb::hot_promotion::ralt;

FUZZ_TARGET(hot_ralt_record) {
  ralt::Record record;
  if (!ralt::Record::Decode(bytes, &record)) {
    return;
  }
  std::string once;
  record.EncodeTo(&once);
  Require(once.size() == record.EncodedSize(), "a record has another size");
  Require(ralt::Record::Decode(once, &record), "a record is not read again");
  std::string twice;
  record.EncodeTo(&twice);
  Require(once == twice, "a record changes");
}

FUZZ_TARGET(hot_ralt_digest) {
  const Bound bound(FitFor(bytes.size()));
  ralt::Digest digest;
  if (!ralt::Digest::Decode(bytes, &digest)) {
    return;
  }
  const std::string once = digest.Encode();
  ralt::Digest again;
  Require(ralt::Digest::Decode(once, &again) && again.Encode() == once, "a digest changes");
  Require(digest.From(digest.last).hot_bytes <= digest.total.hot_bytes, "a rest is more than all");
}

FUZZ_TARGET(hot_ralt_filter) {
  Input input(bytes);
  const uint64_t hash = input.Number();
  const std::string rest = input.Rest();
  (void)ralt::Filter(rest).MayHave(hash);
}

FUZZ_TARGET(hot_ralt_catalog) {
  Input input(bytes);
  std::string made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    ralt::Catalog catalog;
    catalog.clock.tick = from->Number();
    catalog.next_file = from->Number();
    for (int run = from->Byte() % 4; run > 0; run--) {
      catalog.runs.emplace_back();
      for (int part = 1 + from->Byte() % 4; part > 0; part--) {
        catalog.runs.back().push_back({from->Number(), from->Number(), from->Bytes(30)});
      }
    }
    return made = catalog.Encode();
  });
  const Bound bound(FitFor(object.bytes.size()));
  ralt::Catalog catalog;
  const bool good = ralt::Catalog::Decode(object.bytes, &catalog).ok();
  if (good) {
    const std::string once = catalog.Encode();
    ralt::Catalog again;
    Require(ralt::Catalog::Decode(once, &again).ok() && again.Encode() == once,
            "a catalog changes");
    Require(!object.untouched || once == made, "a catalog is another one");
    for (const auto& run : catalog.runs) {
      for (const auto& part : run) {
        uint64_t number = 0;
        Require(ralt::ParseRunFileName(ralt::RunFileName("", part.number).substr(1), &number) &&
                    number == part.number,
                "a catalog names a file that is no run file");
      }
    }
  }
}
