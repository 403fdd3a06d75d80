// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Registers the plugins when librocktier.so is loaded, or the tool begins, if the RocksDB that it
// meets is the one that it was compiled for. The linker does not see to that: most symbols of one
// version are in the next one, too.

#include "shared/load.h"

#include <cstdio>
#include <string>

#include "plugins.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/version.h"

#ifdef ROCKTIER_INTERNAL_HEADERS
#include <pthread.h>

#include <cstring>
#include <new>

#include "port/port.h"
#endif

namespace rocktier {

namespace {

using ROCKSDB_NAMESPACE::GetRocksVersionAsString;
using ROCKSDB_NAMESPACE::ObjectRegistry;

#ifdef ROCKTIER_INTERNAL_HEADERS

using ROCKSDB_NAMESPACE::port::Mutex;

// Whether RocksDB was built with assertions, by the layout of its Mutex, which has a member more
// then. Its constructor is in the library, and sets that member.
bool LibraryHasAssertions() {
  constexpr size_t kMember = sizeof(pthread_mutex_t);
  constexpr char kUntouched = 0x55;
  alignas(Mutex) char place[kMember + alignof(Mutex)];
  std::memset(place, kUntouched, sizeof(place));
  auto* mutex = new (place) Mutex();
  const bool has_member = place[kMember] != kUntouched;
  mutex->~Mutex();
  return has_member;
}

constexpr bool kHasAssertions = sizeof(Mutex) > sizeof(pthread_mutex_t);

// Why the classes in RocksDB's internal headers are not those of the library; empty if they are.
std::string MismatchOfAssertions() {
  if (LibraryHasAssertions() == kHasAssertions) {
    return "";
  }
  return kHasAssertions
             ? "built for a RocksDB with assertions, and this process has one without them"
             : "built for a RocksDB without assertions, and this process has one with them";
}

#else

// The classes in RocksDB's public headers have no assertions.
std::string MismatchOfAssertions() { return ""; }

#endif

// Why the library is not the one that this was compiled for; empty if it is.
std::string Mismatch() {
  const std::string built = std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR) +
                            "." + std::to_string(ROCKSDB_PATCH);
  const std::string met = GetRocksVersionAsString();
  if (met != built) {
    return "built for RocksDB " + built + ", and this process has RocksDB " + met;
  }
  return MismatchOfAssertions();
}

std::string Register() {
  const std::string mismatch = Mismatch();
  if (!mismatch.empty()) {
    std::fprintf(stderr,
                 "rocktier: no plugin is registered: %s. Build librocktier.so for this library: "
                 "scripts/shared LIBRARY\n",
                 mismatch.c_str());
  } else {
    for (const auto& [name, function] : kPlugins) {
      ObjectRegistry::Default()->RegisterPlugin(name, function);
    }
  }
  AfterLoad(mismatch);
  return mismatch;
}

// Is never destroyed: rocktier_status() may be called at exit.
const std::string& kStatus = *new std::string(Register());

}  // namespace

}  // namespace rocktier

// For programs that load librocktier.so themselves: why no plugin is registered; "" if they are.
extern "C" __attribute__((visibility("default"))) const char* rocktier_status() {
  return rocktier::kStatus.c_str();
}
