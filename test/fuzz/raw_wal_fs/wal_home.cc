// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The file in a wal_dir that says whose logs are there.

#include "plugin/raw_wal_fs/wal_home.h"

#include "test/fuzz/target.h"

using namespace rocktier;
namespace raw = rocksdb::raw_wal_fs;

FUZZ_TARGET(raw_wal_home) {
  Input input(bytes);
  raw::WalHome made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    made.directory.born = from->Number();
    made.directory.inode = from->Number();
    made.path = "/" + from->Name(raw::WalHome::kMaxPath - 1);
    return made.Encode();
  });
  raw::WalHome home;
  const Bound bound(FitFor(object.bytes.size()));
  if (!raw::WalHome::Decode(object.bytes, "file", &home).ok()) {
    Require(!object.untouched, "a good file is refused");
    return;
  }
  Require(home.path.size() <= raw::WalHome::kMaxPath, "a path is longer than it may be");
  Require(home.Encode() == object.bytes, "a file is not written as it was read");
}
