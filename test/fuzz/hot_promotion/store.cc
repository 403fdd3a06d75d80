// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Keys and values of the hot store.

#include "plugin/hot_promotion/store/format.h"
#include "test/fuzz/target.h"

using namespace rocktier;
namespace hot = rocksdb::hot_promotion;

FUZZ_TARGET(hot_store_key) {
  const Bound bound(FitFor(bytes.size()));
  hot::StoreKey key;
  if (!hot::DecodeKey(bytes, &key)) {
    return;
  }
  const std::string once = key.tag == hot::Tag::kFile
                               ? hot::EncodeFileKey(key.way, key.file)
                               : hot::EncodeRecordKey(key.way, key.file, key.user_key);
  Require(bytes == once, "a key of the store changes");
  Require(bytes.compare(hot::FirstKeyOf(key.way, key.file)) >= 0 &&
              bytes.compare(hot::LastKeyOf(key.way, key.file)) <= 0,
          "a key is not between the first and the last one of its SST");
}

FUZZ_TARGET(hot_store_file) {
  Input input(bytes);
  hot::FileEntry made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    made.space = from->Number();
    for (int i = from->Byte() % hot::FileEntry::kMostPlaces; i >= 0; i--) {
      made.places.push_back({from->Bytes(30), from->Bytes(100)});
    }
    return hot::EncodeFileEntry(made);
  });
  const Bound bound(FitFor(object.bytes.size()));
  hot::FileEntry entry;
  const bool good = hot::DecodeFileEntry(object.bytes, &entry);
  Require(good || !object.untouched, "what is known of an SST is not read again");
  if (!good) {
    return;
  }
  Require(!entry.places.empty() && entry.places.size() <= hot::FileEntry::kMostPlaces,
          "an SST has no place, or too many");
  const std::string once = hot::EncodeFileEntry(entry);
  hot::FileEntry again;
  Require(hot::DecodeFileEntry(once, &again) && again.space == entry.space &&
              again.places == entry.places,
          "what is known of an SST changes");
}
