// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/types.h>

#include <cstdint>

#include "test/crash/secondary_cache_2q/site.h"

namespace rocktier {

// A process of its own that holds the DB and the cache of a Site and puts a Workload on them. It is
// this very program, called with the arguments of ChildMain(). Not thread-safe.
class Child {
 public:
  // Starts it. Shared::running and the samples are the new child's from here on.
  Child(const Site& site, Oracle* oracle, uint64_t seed);
  // Kills it if it still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits until its cache holds this many blocks. False, with a message on stderr, if the child
  // ends before or it takes too long.
  bool WaitForBlocks(uint64_t blocks);
  // Sends SIGKILL. True if this is what it died of.
  bool Kill();
  // Asks for a clean close. True if it ends with status 0.
  bool Stop();

 private:
  bool Running();
  int Join();

  Oracle* const oracle_;
  pid_t pid_ = -1;
  bool joined_ = false;
  int status_ = 0;
};

// "--child folder cache_options hyper_clock seed"; anything else is not for a child.
bool IsChild(int argc, char** argv);
int ChildMain(char** argv);

}  // namespace rocktier
