// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Whether an example may delete what is in the folder that it is called with. A program that starts
// from an example needs none of this.

#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "rocksdb/env.h"

namespace rocktier_example {

// Makes the folder if there is none, and marks it as an example's. Prints why and returns false if
// there is anything in it and no example has marked it.
inline bool OwnFolder(const std::string& folder) {
  using ROCKSDB_NAMESPACE::Env;
  using ROCKSDB_NAMESPACE::Status;
  Env* const env = Env::Default();
  const std::string marker = folder + "/ROCKTIER_EXAMPLE";
  Status s = env->FileExists(marker);
  if (s.ok()) {
    return true;
  }
  std::vector<std::string> names;
  s = env->CreateDirIfMissing(folder);
  if (s.ok()) {
    s = env->GetChildren(folder, &names);
  }
  if (s.ok() && !names.empty()) {
    s = Status::InvalidArgument(
        folder, "has " + names.front() +
                    ", which no example has made and this one might delete: name another folder");
  }
  if (s.ok()) {
    s = WriteStringToFile(env, "Examples of rocktier delete what is in this folder.\n", marker);
  }
  if (!s.ok()) {
    std::fprintf(stderr, "%s\n", s.ToString().c_str());
  }
  return s.ok();
}

}  // namespace rocktier_example
