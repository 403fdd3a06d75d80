// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The header of a file in a tier of kind pmem.

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "plugin/tiered_env/pmem/file_length.h"
#include "plugin/tiered_env/pmem/header.h"
#include "test/fuzz/target.h"
#include "util/coding.h"

using namespace rocktier;
namespace tiered = rocksdb::tiered_env;

FUZZ_TARGET(tiered_pmem) {
  Input input(bytes);
  uint64_t length = 0;
  const Bytes object = BytesFrom(&input, [&length](Input* from) {
    length = from->Below(300);
    std::string file(tiered::kHeaderSize + length + from->Below(5000), 'x');
    tiered::EncodeRoot(file.data());
    rocksdb::EncodeFixed64(&file[tiered::kLengthOffset], tiered::PackLength(length));
    return file;
  });
  // One file for all: making one takes far longer than reading it.
  static const int fd = memfd_create("rocktier-fuzz", MFD_CLOEXEC);
  Require(fd >= 0 && ftruncate(fd, 0) == 0 &&
              pwrite(fd, object.bytes.data(), object.bytes.size(), 0) ==
                  static_cast<ssize_t>(object.bytes.size()),
          "a file in memory is written");
  uint64_t found = 0;
  const Bound bound(FitFor(0));
  const rocksdb::IOStatus s = tiered::FileLength(fd, "file").Get(&found);
  if (object.untouched) {
    Require(s.ok() && found == length, "a header changes");
  }
  Require(!s.ok() || found == 0 || tiered::kHeaderSize + found <= object.bytes.size(),
          "a length is beyond the end of the file");
}

FUZZ_TARGET(tiered_pmem_length) {
  Input input(bytes);
  const uint64_t word = input.Number();
  uint64_t length = 0;
  if (tiered::UnpackLength(word, &length)) {
    Require(length <= tiered::kMaxLength && tiered::PackLength(length) == word, "a length changes");
  }
  length = word & tiered::kMaxLength;
  uint64_t again = 0;
  Require(tiered::UnpackLength(tiered::PackLength(length), &again) && again == length,
          "a length is not read again");
}
