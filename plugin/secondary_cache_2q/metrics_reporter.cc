// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/metrics_reporter.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// A page begins with this line.
constexpr char kFirstLine[] = "# HELP rocktier_secondary_cache_2q_info ";
// Enough for what a page says of itself: of two that differ, this does.
constexpr size_t kHead = 32 << 10;
// Far more than a page has.
constexpr uint64_t kMostBytes = 16 << 20;
constexpr char kProcess[] = ",pid=\"";
// The writer of a page that has not changed in so many looks is gone.
constexpr int kLooks = 10;
// A page that is being written has the name of the file, this, the process, and the ending.
constexpr char kBeingWritten[] = ".secondary_cache_2q.";
constexpr char kEnding[] = ".tmp";

// Statistics that take long to write are written less often: for a hundredth of the time, and still
// so often that somebody who watches a busy disk sees something. Making all of them takes a
// hundredth of the thread's time.
constexpr int kPause = 100;
constexpr auto kMaxPause = std::chrono::seconds(10);
constexpr auto kLookAtPeriod = std::chrono::seconds(1);

std::chrono::nanoseconds CpuTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::string HeadOf(const std::string& text) { return text.substr(0, kHead); }

// The process that a page says it is of. 0: it says none.
pid_t ProcessOf(const std::string& head) {
  const size_t at = head.find(kProcess);
  return at == std::string::npos
             ? 0
             : static_cast<pid_t>(strtol(head.c_str() + at + sizeof(kProcess) - 1, nullptr, 10));
}

bool IsGone(pid_t process) { return process > 0 && kill(process, 0) != 0 && errno == ESRCH; }

IOStatus WrittenByAnother() {
  return IOStatus::Busy("another database or process writes this file");
}

IOStatus NoPage() {
  return IOStatus::InvalidArgument("a file that is no statistics of this plugin is there");
}

// Tells whether a file that begins with `bytes` has nothing but zeros. Reads on, into `scratch`.
bool HasOnlyZeros(FSSequentialFile* file, Slice bytes, char* scratch) {
  while (!bytes.empty()) {
    const bool zeros = std::all_of(bytes.data(), bytes.data() + bytes.size(),
                                   [](char byte) { return byte == '\0'; });
    if (!zeros || !file->Read(kHead, IOOptions(), &bytes, scratch, nullptr).ok()) {
      return false;
    }
  }
  return true;
}

// Reads the head of the page that is there; empty if there is none, or a file with nothing or zeros
// in it: a loss of power may leave that. An error if something else is there. It is not opened if
// it is no regular file: a FIFO would be waited for.
IOStatus Look(FileSystem* fs, const std::string& path, std::string* head) {
  head->clear();
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return NoPage();
  }
  uint64_t size = 0;
  if (!fs->GetFileSize(path, IOOptions(), &size, nullptr).ok() || size == 0) {
    return IOStatus::OK();  // if it can be written is seen then
  }
  std::unique_ptr<FSSequentialFile> file;
  IOStatus s = fs->NewSequentialFile(path, FileOptions(), &file, nullptr);
  Slice read;
  std::string scratch(kHead, '\0');
  if (s.ok()) {
    s = file->Read(kHead, IOOptions(), &read, scratch.data(), nullptr);
  }
  if (s.IsNotFound() || s.IsPathNotFound()) {  // it went meanwhile
    return IOStatus::OK();
  }
  if (s.ok() && read.starts_with(kFirstLine)) {
    *head = read.ToString();
  } else if (s.ok() && !(size <= kMostBytes && HasOnlyZeros(file.get(), read, scratch.data()))) {
    s = NoPage();
  }
  return s;
}

// Tells whether `name` is that of a page of `file` that is not being written any more: its process
// is gone, or is this one, whose pages are written by one thread.
bool IsLeft(const std::string& name, const std::string& file) {
  const std::string start = file + kBeingWritten;
  if (name.compare(0, start.size(), start) != 0) {
    return false;
  }
  char* end = nullptr;
  const auto process = static_cast<pid_t>(strtol(name.c_str() + start.size(), &end, 10));
  return strcmp(end, kEnding) == 0 && (process == getpid() || IsGone(process));
}

// Deletes what crashes have left of pages that were being written.
void DeleteLeft(FileSystem* fs, const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  const std::string directory = path.substr(0, name);
  std::vector<std::string> files;
  fs->GetChildren(directory, IOOptions(), &files, nullptr).PermitUncheckedError();
  for (const std::string& file : files) {
    if (IsLeft(file, path.substr(name))) {
      fs->DeleteFile(directory + file, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
}

}  // namespace

// The thread of all reporters. Thread-safe.
class MetricsThread {
 public:
  // Is never destroyed: reporters may be gone after static objects. A child of fork() gets another
  // one, for the thread stays with the parent. See Renew().
  static MetricsThread* Instance() {
    static std::once_flag once;
    std::call_once(once, [] {
      instance_ = new MetricsThread;
      pthread_atfork([] { instance_->mutex_.lock(); }, [] { instance_->mutex_.unlock(); }, Renew);
    });
    return instance_;
  }

  void Add(MetricsReporter* reporter) {
    std::lock_guard<std::mutex> lock(mutex_);
    reporters_.insert(reporter);
    running_ = running_ || Start();
    changed_.notify_all();
  }

  // Afterwards it is not used any more. Waits for what this reporter does, and for no other one:
  // that may hang. So nobody waits for the thread, either.
  void Remove(MetricsReporter* reporter) {
    std::unique_lock<std::mutex> lock(mutex_);
    reporters_.erase(reporter);
    changed_.notify_all();
    changed_.wait(lock, [&] { return busy_ != reporter; });
  }

 private:
  using Clock = MetricsReporter::Clock;

  // In a child of fork(), which may have this thread alone: takes over the reporters. They go on
  // when there is another one. The old object has been copied with a thread that is not there.
  static void Renew() {
    auto* const renewed = new MetricsThread;
    renewed->reporters_ = instance_->reporters_;
    instance_ = renewed;
  }

  // False if no thread can be had: then nothing is reported until another reporter comes. Requires
  // mutex_.
  bool Start() {
    try {
      std::thread([this] { Run(); }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void Run() {
    std::unique_lock<std::mutex> lock(mutex_);
    Clock::time_point rest;  // nothing is done before
    while (!reporters_.empty()) {
      const auto now = Clock::now();
      auto next = now + std::chrono::hours(1);
      for (const MetricsReporter* reporter : reporters_) {
        next = std::min(next, reporter->NextTime());
      }
      next = std::max(next, rest);
      if (now < next) {
        changed_.wait_until(lock, next);
        continue;
      }
      const auto before = CpuTime();
      RunDue(now, &lock);
      rest = now + std::chrono::duration_cast<Clock::duration>(kPause * (CpuTime() - before));
    }
    running_ = false;
  }

  void RunDue(Clock::time_point now, std::unique_lock<std::mutex>* lock) {
    const std::vector<MetricsReporter*> all(reporters_.begin(), reporters_.end());
    for (MetricsReporter* const reporter : all) {
      if (reporters_.count(reporter) == 0 || reporter->NextTime() > now) {
        continue;
      }
      busy_ = reporter;
      lock->unlock();
      reporter->Run();
      lock->lock();
      busy_ = nullptr;
      changed_.notify_all();
    }
  }

  static MetricsThread* instance_;  // constant but for Renew()

  std::mutex mutex_;  // not held during I/O
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  std::set<MetricsReporter*> reporters_;
  MetricsReporter* busy_ = nullptr;
  bool running_ = false;
};

MetricsThread* MetricsThread::instance_ = nullptr;

MetricsReporter::MetricsReporter(MetricsReport report)
    : report_(std::move(report)),
      next_log_(report_.log ? Clock::now() + kLookAtPeriod : Clock::time_point::max()),
      next_file_(HasFile() || report_.alone ? Clock::now() : Clock::time_point::max()) {
  if (NeedsThread()) {
    MetricsThread::Instance()->Add(this);
  }
}

MetricsReporter::~MetricsReporter() {
  if (NeedsThread()) {
    MetricsThread::Instance()->Remove(this);
  }
  if (process_ != getpid()) {  // what there is belongs to the parent of this process
    return;
  }
  if (report_.log) {
    report_.log();
  }
  std::string head;
  if (report_.alone) {
    Delete(report_.fs.get(), report_.path);
  } else if (ours_ && Look(report_.fs.get(), report_.path, &head).ok() && head == seen_) {
    report_.fs->DeleteFile(report_.path, IOOptions(), nullptr).PermitUncheckedError();
  }
}

void MetricsReporter::Delete(FileSystem* fs, const std::string& path) {
  std::string head;
  if (Look(fs, path, &head).ok()) {
    fs->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();  // it may not be there
  }
  DeleteLeft(fs, path);
}

MetricsReporter::Clock::time_point MetricsReporter::NextTime() const {
  return std::min(next_log_, next_file_);
}

void MetricsReporter::Run() {
  const auto now = Clock::now();
  if (now >= next_log_) {
    next_log_ = now + kLookAtPeriod;
    RunLog(now);
  }
  if (now >= next_file_) {
    RunFile(now);
  }
}

void MetricsReporter::RunLog(Clock::time_point now) {
  const auto period = std::chrono::seconds(report_.log_period());
  if (period.count() != 0 && now - logged_ >= period) {
    logged_ = now;
    report_.log();
  }
}

void MetricsReporter::RunFile(Clock::time_point now) {
  if (looked_ != getpid()) {
    looked_ = getpid();
    Begin();
  } else {
    const IOStatus s = Write();
    if (s.ok() && report_.written) {
      report_.written();
    }
    if (!s.ok() && !warned_) {
      report_.warn(s);
    }
    warned_ = !s.ok();
  }
  const Clock::duration took = Clock::now() - now;
  const Clock::duration interval = std::chrono::seconds(report_.interval);
  const Clock::duration pause = std::min<Clock::duration>(kPause * took, took + kMaxPause);
  next_file_ = HasFile() ? now + std::max(interval, pause) : Clock::time_point::max();
}

void MetricsReporter::Begin() {
  ours_ = false;
  unchanged_ = 0;
  if (report_.alone && process_ == getpid()) {
    Delete(report_.fs.get(), report_.path);
  } else {
    Look(report_.fs.get(), report_.path, &seen_).PermitUncheckedError();  // Write() tells of it
    DeleteLeft(report_.fs.get(), report_.path);
  }
}

IOStatus MetricsReporter::Write() {
  std::string head;
  IOStatus s = Look(report_.fs.get(), report_.path, &head);
  if (s.ok() && !head.empty() && head != seen_) {
    seen_ = head;
    ours_ = false;
    unchanged_ = 0;
    return report_.shared && ProcessOf(head) == getpid() ? s : WrittenByAnother();
  }
  if (s.ok() && !head.empty() && !ours_ && !IsGone(ProcessOf(head)) && ++unchanged_ < kLooks) {
    return warned_ ? WrittenByAnother() : s;
  }
  if (s.ok()) {
    const std::string text = report_.text();
    s = Replace(text);
    if (s.ok()) {
      seen_ = HeadOf(text);
      ours_ = true;
      process_ = getpid();
    }
  }
  return s;
}

IOStatus MetricsReporter::Replace(const std::string& text) const {
  FileSystem* const fs = report_.fs.get();
  const std::string temporary = report_.path + kBeingWritten + std::to_string(getpid()) + kEnding;
  // A link that somebody has put there is not followed.
  fs->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = fs->NewWritableFile(temporary, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(text, IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = fs->RenameFile(temporary, report_.path, IOOptions(), nullptr);
  }
  if (!s.ok()) {
    fs->DeleteFile(temporary, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
