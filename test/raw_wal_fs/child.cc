// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/raw_wal_fs/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/support/open_db.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

// The database of a child.
class Server {
 public:
  ~Server() { Close(); }

  std::string Obey(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "open") {
      std::string uri;
      std::string name;
      words >> uri >> name;
      return Open(uri, name).ToString();
    }
    if (command == "put") {
      int from, to, size, sync;
      words >> from >> to >> size >> sync;
      return Put(from, to, size, sync != 0).ToString();
    }
    if (command == "flush") {
      return db_->Flush(FlushOptions()).ToString();
    }
    if (command == "start") {
      int to, sync;
      words >> to >> sync;
      writer_ = std::thread([this, to, sync] { Write(to, sync != 0); });
      return "OK";
    }
    if (command == "wait") {
      Wait();
      return failure_.ToString();
    }
    if (command == "close") {
      Close();
      return "OK";
    }
    return "unknown command";
  }

 private:
  Status Open(const std::string& uri, const std::string& name) {
    Close();
    Status s = FileSystem::CreateFromString(ConfigOptions(), uri, &fs_);
    if (s.ok()) {
      env_ = NewCompositeEnv(fs_);
      Options options;
      options.env = env_.get();
      options.create_if_missing = true;
      options.avoid_flush_during_shutdown = true;
      options.write_buffer_size = 1 << 20;
      s = OpenDb(options, name, &db_);
    }
    if (!s.ok()) {
      Close();
    }
    return s;
  }

  Status Put(int from, int to, int size, bool sync) {
    WriteOptions options;
    options.sync = sync;
    Status s;
    for (int i = from; i < to && s.ok(); i++) {
      s = db_->Put(options, Child::Key(i), Child::Value(i, size));
    }
    return s;
  }

  void Write(int to, bool sync) {
    failure_ = Status::OK();
    for (int i = 0; i < to && failure_.ok(); i++) {
      failure_ = Put(i, i + 1, Child::SizeOf(i), sync);
    }
  }

  void Wait() {
    if (writer_.joinable()) {
      writer_.join();
    }
  }

  void Close() {
    Wait();
    db_.reset();
    env_.reset();
    fs_.reset();
  }

  std::shared_ptr<FileSystem> fs_;
  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  std::thread writer_;
  Status failure_;  // the writer's until it is joined
};

}  // namespace

int ChildMain() {
  Server server;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << server.Obey(line) << std::endl;
  }
  return 0;
}

Child::Child() {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    abort();
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const char* arguments[] = {"process_test", "--child", nullptr};
  if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, const_cast<char**>(arguments),
                  environ) != 0) {
    abort();
  }
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

void Child::Kill() {
  if (pid_ <= 0) {
    return;
  }
  kill(pid_, SIGKILL);
  int status;
  waitpid(pid_, &status, 0);
  close(to_);
  close(from_);
  pid_ = -1;
}

std::string Child::Open(const std::string& uri, const std::string& db_name) {
  return Ask("open " + uri + " " + db_name);
}

std::string Child::Put(int from, int to, int size, bool sync) {
  return Ask("put " + std::to_string(from) + " " + std::to_string(to) + " " + std::to_string(size) +
             (sync ? " 1" : " 0"));
}

std::string Child::Start(int to, bool sync) {
  return Ask("start " + std::to_string(to) + (sync ? " 1" : " 0"));
}

std::string Child::Key(int n) {
  char text[16];
  snprintf(text, sizeof(text), "%08d", n);
  return text;
}

std::string Child::Value(int n, int size) {
  std::string value = Key(n);
  value.resize(8 + static_cast<size_t>(n * 7 % (size + 1)), static_cast<char>('a' + n % 26));
  return value;
}

std::string Child::Ask(const std::string& command) {
  const std::string line = command + "\n";
  if (pid_ <= 0 || write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    return "";
  }
  std::string answer;
  char c;
  while (read(from_, &c, 1) == 1 && c != '\n') {
    answer += c;
  }
  return answer;
}

}  // namespace rocktier
