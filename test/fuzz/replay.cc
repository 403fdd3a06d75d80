// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Runs targets without libFuzzer: replay [TARGET [HEX...]]. Each gets the inputs that are kept
// (ROCKTIER_FUZZ_SEEDS, a folder with TARGET.hex, an input a line), and then
// ROCKTIER_FUZZ_MUTATIONS=20000 changed ones, always the same. With HEX, these alone. An input that
// fails is printed.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include "test/fuzz/target.h"
#include "test/support/seed.h"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace rocktier {

namespace {

constexpr size_t kMostInput = 4096;
constexpr unsigned kHangs = 60;  // seconds
constexpr uint64_t kSeed = 20;

const char* running = "";
std::string input;

void Put(const char* text, size_t size) {
  if (write(STDERR_FILENO, text, size) < 0) {
    _exit(2);
  }
}

// Prints the input; safe in a signal handler.
void TellInput() {
  Put("input of ", 9);
  Put(running, strlen(running));
  Put(": ", 2);
  for (const char c : input) {
    const char hex[] = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(c);
    const char digits[2] = {hex[byte >> 4], hex[byte & 15]};
    Put(digits, 2);
  }
  Put("\n", 1);
}

void OnSignal(int number) {
  if (number == SIGALRM) {
    Put("wrong: hangs\n", 13);
  }
  TellInput();
  signal(number, SIG_DFL);
  raise(number);
}

void Run(const Target& target, std::string bytes) {
  running = target.name;
  input = std::move(bytes);
  alarm(kHangs);
  target.run(input);
  alarm(0);
}

bool FromHex(const std::string& hex, std::string* bytes) {
  bytes->clear();
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes->push_back(static_cast<char>(strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
  }
  return hex.size() % 2 == 0 && hex.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<std::string> SeedsOf(const Target& target) {
  std::vector<std::string> seeds;
  const char* folder = getenv("ROCKTIER_FUZZ_SEEDS");
  std::ifstream file(std::string(folder == nullptr ? "." : folder) + "/" + target.name + ".hex");
  for (std::string line, bytes; std::getline(file, line);) {
    Require(FromHex(line, &bytes), "a line of the seeds is not hexadecimal");
    seeds.push_back(bytes);
  }
  return seeds;
}

class Mutator {
 public:
  explicit Mutator(const std::vector<std::string>& seeds) : seeds_(seeds) {}

  std::string Next() {
    std::string bytes = seeds_.empty() || Below(4) == 0 ? Random(Below(200)) : Seed();
    for (size_t i = Below(5); i > 0; i--) {
      Change(&bytes);
    }
    bytes.resize(std::min(bytes.size(), kMostInput));
    return bytes;
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }
  const std::string& Seed() { return seeds_[Below(seeds_.size())]; }

  std::string Random(size_t size) {
    std::string bytes(size, '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random_());
    }
    return bytes;
  }

  void Change(std::string* bytes) {
    const size_t at = Below(bytes->size() + 1);
    switch (Below(5)) {
      case 0:
        bytes->insert(at, Random(1 + Below(16)));
        break;
      case 1:
        bytes->erase(at, 1 + Below(16));
        break;
      case 2:
        if (!seeds_.empty()) {
          const std::string& other = Seed();
          bytes->insert(at, other.substr(Below(other.size() + 1), Below(64)));
        }
        break;
      default:
        if (at < bytes->size()) {
          (*bytes)[at] =
              static_cast<char>(Below(2) == 0 ? random_() : (*bytes)[at] ^ 1 << Below(8));
        }
    }
  }

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_{kSeed};
};

void RunAll(const Target& target) {
  const uint64_t mutations = FromEnvironment("ROCKTIER_FUZZ_MUTATIONS", 20000);
  const std::vector<std::string> seeds = SeedsOf(target);
  for (const std::string& seed : seeds) {
    Run(target, seed);
  }
  Mutator mutator(seeds);
  for (uint64_t i = 0; i < mutations; i++) {
    Run(target, mutator.Next());
  }
  printf("%s: %zu inputs that are kept, %lu changed ones\n", target.name, seeds.size(), mutations);
}

}  // namespace

int Replay(int argc, char** argv) {
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) {
    if (__sanitizer_set_death_callback == nullptr || number == SIGABRT || number == SIGALRM) {
      signal(number, OnSignal);
    }
  }
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(TellInput);
  }
  bool found = false;
  for (const Target& target : Targets()) {
    if (argc > 1 && strcmp(argv[1], target.name) != 0) {
      continue;
    }
    found = true;
    if (argc <= 2) {
      RunAll(target);
    }
    for (int i = 2; i < argc; i++) {
      std::string bytes;
      Require(FromHex(argv[i], &bytes), "an argument is not hexadecimal");
      Run(target, bytes);
    }
  }
  Require(found, "there is no such target");
  return 0;
}

}  // namespace rocktier

int main(int argc, char** argv) { return rocktier::Replay(argc, argv); }
