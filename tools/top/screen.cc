// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/top/screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace top {

namespace {

constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};

// Sequences of a terminal: another screen without a cursor, and back; its corner; what is behind on
// the line, and below.
constexpr char kEnter[] = "\033[?1049h\033[?25l";
constexpr char kLeave[] = "\033[?25h\033[?1049l";
constexpr char kCorner[] = "\033[H";
constexpr char kClearLine[] = "\033[K";
constexpr char kClearBelow[] = "\033[J";

volatile sig_atomic_t ended = 0;

void End(int) { ended = 1; }

size_t RowsOfTerminal() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

}  // namespace

// Signals come while somebody waits, and only then.
Screen::Screen(bool in_place) : in_place_(in_place) {
  sigset_t endings;
  sigemptyset(&endings);
  struct sigaction action {};
  action.sa_handler = End;
  for (const int signal : kEndings) {
    sigaddset(&endings, signal);
    sigaction(signal, &action, nullptr);
  }
  pthread_sigmask(SIG_BLOCK, &endings, &signals_);
  if (in_place_) {
    fputs(kEnter, stdout);
    is_raw_ = reads_keys_ = tcgetattr(STDIN_FILENO, &terminal_) == 0;
  }
  if (is_raw_) {
    termios raw = terminal_;
    raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
}

Screen::~Screen() {
  if (is_raw_) {
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal_);
  }
  if (in_place_) {
    fputs(kLeave, stdout);
    fflush(stdout);
  }
}

void Screen::Show(const std::vector<std::string>& lines) {
  size_t count = lines.size();
  if (in_place_) {
    fputs(kCorner, stdout);
    count = std::min(count, RowsOfTerminal() - 1);
  } else if (!first_) {
    fputs("\n", stdout);
  }
  first_ = false;
  for (size_t i = 0; i < count; i++) {
    printf("%s%s\n", lines[i].c_str(), in_place_ ? kClearLine : "");
  }
  if (in_place_) {
    const size_t left = lines.size() - count;
    const std::string more = left == 0 ? "" : "... and " + std::to_string(left) + " more";
    printf("%s%s%s", more.c_str(), kClearLine, kClearBelow);
  }
}

bool Screen::Wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  pollfd keys{};
  keys.fd = STDIN_FILENO;
  keys.events = POLLIN;
  for (auto now = Clock::now(); now < end && ended == 0; now = Clock::now()) {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end - now).count();
    timespec time{};
    time.tv_sec = static_cast<time_t>(left / 1000000000);
    time.tv_nsec = static_cast<long>(left % 1000000000);
    if (ppoll(&keys, reads_keys_ ? 1 : 0, &time, &signals_) > 0 && !TakeKeys()) {
      return false;
    }
  }
  return ended == 0;
}

bool Screen::TakeKeys() {
  char typed[64];
  const ssize_t n = read(STDIN_FILENO, typed, sizeof(typed));
  if (n <= 0) {
    reads_keys_ = n < 0 && errno == EINTR;  // there is nobody any more
    return true;
  }
  return std::none_of(typed, typed + n, [](char key) { return key == 'q' || key == 'Q'; });
}

}  // namespace top
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
