// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/types.h>

#include <string>

namespace rocktier {

// A process with a database, which does what it is told. Killed, if it lives still, when this is
// destroyed. Not thread-safe.
class Child {
 public:
  // Runs this program again, whose main() then calls ChildMain().
  Child();
  ~Child() { Kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The commands; the answer is "OK" or an error. "" if the child died.
  std::string Open(const std::string& uri, const std::string& db_name);
  // Writes key(from) to key(to - 1), with values of up to `size` bytes.
  std::string Put(int from, int to, int size, bool sync);
  std::string Flush() { return Ask("flush"); }
  // Writes key(0) to key(to - 1), with values of up to SizeOf() bytes, and does not wait for it.
  std::string Start(int to, bool sync);
  static int SizeOf(int n) { return n % 50 == 0 ? 20000 : 300; }
  // Waits for what was started.
  std::string Wait() { return Ask("wait"); }
  // Closes the database and its FileSystem.
  std::string Close() { return Ask("close"); }

  // kill -9
  void Kill();

  static std::string Key(int n);
  static std::string Value(int n, int size);

 private:
  std::string Ask(const std::string& command);

  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
};

// Does what the child does, on its standard input and output.
int ChildMain();

}  // namespace rocktier
