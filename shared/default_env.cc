// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Env::Default() for programs that know nothing of the plugins: over the FileSystem that the
// environment variable ROCKTIER_FS_URI names. The dynamic linker takes it in the place of RocksDB's
// own, for the program and for RocksDB itself, where librocktier.so comes first: by LD_PRELOAD, or
// because RocksDB was loaded with it. If the variable is not set, it is RocksDB's own.
//
// Whoever sets the variable wants no database in plain files. So the process ends if that is what
// would be made.

#include <dlfcn.h>
#include <sysexits.h>

#include <cstdio>
#include <cstdlib>

#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "shared/load.h"

namespace rocktier {

namespace {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DBOptions;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::Status;

constexpr char kVariable[] = "ROCKTIER_FS_URI";

// Whether the plugins are registered.
bool is_loaded = false;

// What this thread does is a part of making the Env, or of finding out who asks for it. It gets
// RocksDB's own Env meanwhile.
thread_local bool is_inside = false;
// Whether this thread has asked for an Env since it was set to false.
thread_local bool has_asked = false;

// Null if the variable is not set. Who runs a program with the rights of somebody else does not
// choose its files.
const char* Uri() {
  static const char* const uri = secure_getenv(kVariable);
  return uri;
}

[[noreturn]] void End(const std::string& why) {
  std::fprintf(stderr,
               "rocktier: %s: %s\nrocktier: the program ends: its databases would be plain "
               "files\n",
               kVariable, why.c_str());
  // Destructors of a program that is at work would wait for it.
  std::_Exit(EX_CONFIG);
}

Env* Make(const std::string& uri) {
  if (!is_loaded) {
    End("has no effect yet, for a static object uses RocksDB before librocktier.so is ready");
  }
  if (uri.empty()) {
    End("is empty; unset it to go without");
  }
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  Env* env = nullptr;
  const Status s = Env::CreateFromString(config, "id=RocktierEnv;file_system={" + uri + "}", &env);
  if (s.IsNotSupported()) {
    End("librocktier.so is built without the plugin rocktier_env");
  }
  if (!s.ok()) {
    End(s.ToString());
  }
  return env;
}

}  // namespace

// Env::Default() of RocksDB. The linker has the plugins call this one (--wrap): their own files,
// such as the store of hot_promotion, are where they are without the variable.
Env* OriginalEnv() __asm__("__wrap__ZN7rocksdb3Env7DefaultEv");
Env* OriginalEnv() {
  using Function = Env* (*)();
  static const auto function =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "_ZN7rocksdb3Env7DefaultEv"));
  return function();
}

// Ends the process if the variable is set and can have no effect.
void AfterLoad(const std::string& mismatch) {
  is_loaded = true;
  if (Uri() == nullptr) {
    return;
  }
  if (!mismatch.empty()) {
    End(mismatch);
  }
  // RocksDB's own code asks for an Env here. It must get there.
  has_asked = false;
  is_inside = true;
  const DBOptions options;
  is_inside = false;
  if (!has_asked) {
    End("has no effect, for RocksDB was loaded before librocktier.so: take LD_PRELOAD");
  }
}

}  // namespace rocktier

// A thread waits while another one makes the Env.
__attribute__((visibility("default"))) ROCKSDB_NAMESPACE::Env* ROCKSDB_NAMESPACE::Env::Default() {
  using namespace rocktier;  // NOLINT
  has_asked = true;
  if (is_inside || Uri() == nullptr) {
    return OriginalEnv();
  }
  is_inside = true;
  static Env* const env = Make(Uri());
  is_inside = false;
  return env;
}
