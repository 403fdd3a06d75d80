// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A store that cannot be opened for a reason that passes, whatever of the opening it hits: too few
// descriptors, and EIO of every operation. The copies are there again once it has passed, nothing
// was begun anew, and the LOG of before is kept.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <set>
#include <utility>

#include "rocksdb/file_system.h"
#include "test/mistakes/hot_promotion_opening.h"

namespace ROCKSDB_NAMESPACE {

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of
// __real_SYMBOL to SYMBOL.
#define FS "_ZN7rocksdb10FileSystem7DefaultEv"
std::shared_ptr<FileSystem> RealFs() __asm__("__real_" FS);
std::shared_ptr<FileSystem> WrapFs() __asm__("__wrap_" FS);

namespace hot_promotion {
namespace {

// Which operations fail: of those of files below a folder the n-th, and all that follow or none.
class Faults {
 public:
  void Begin(const std::string& folder, int64_t first, bool alone) {
    folder_ = folder + "/";
    alone_ = alone;
    left_ = first;
    count_ = 0;
    on_ = true;
  }
  void End() { on_ = false; }
  // Operations since Begin() that have failed.
  int64_t count() const { return count_; }

  IOStatus Check(const std::string& path) {
    if (!on_ || (path + "/").find(folder_) != 0) {
      return IOStatus::OK();
    }
    const int64_t left = --left_;
    if (left > 0 || (alone_ && left < 0)) {
      return IOStatus::OK();
    }
    count_++;
    return IOStatus::IOError(path, "Input/output error");
  }

 private:
  std::string folder_;  // changes only when it is off, as the next one does
  bool alone_ = false;
  std::atomic<bool> on_{false};
  std::atomic<int64_t> left_{0};
  std::atomic<int64_t> count_{0};
};

Faults faults;

class FaultySequentialFile : public FSSequentialFileOwnerWrapper {
 public:
  FaultySequentialFile(std::unique_ptr<FSSequentialFile>&& file, std::string path)
      : FSSequentialFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}
  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path_);
    return s.ok() ? target()->Read(n, options, result, scratch, dbg) : s;
  }

 private:
  const std::string path_;
};

class FaultyRandomAccessFile : public FSRandomAccessFileOwnerWrapper {
 public:
  FaultyRandomAccessFile(std::unique_ptr<FSRandomAccessFile>&& file, std::string path)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    const IOStatus s = faults.Check(path_);
    return s.ok() ? target()->Read(offset, n, options, result, scratch, dbg) : s;
  }

 private:
  const std::string path_;
};

class FaultyWritableFile : public FSWritableFileOwnerWrapper {
 public:
  FaultyWritableFile(std::unique_ptr<FSWritableFile>&& file, std::string path)
      : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)) {}
  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path_);
    return s.ok() ? target()->Append(data, options, dbg) : s;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path_);
    return s.ok() ? target()->Sync(options, dbg) : s;
  }

 private:
  const std::string path_;
};

class FaultyFs : public FileSystemWrapper {
 public:
  FaultyFs() : FileSystemWrapper(RealFs()) {}
  const char* Name() const override { return "FaultyFs"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file,
                             IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? Wrap<FaultySequentialFile>(
                        target()->NewSequentialFile(path, options, file, dbg), path, file)
                  : s;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? Wrap<FaultyRandomAccessFile>(
                        target()->NewRandomAccessFile(path, options, file, dbg), path, file)
                  : s;
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? Wrap<FaultyWritableFile>(target()->NewWritableFile(path, options, file, dbg),
                                             path, file)
                  : s;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->NewDirectory(path, options, directory, dbg) : s;
  }
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* logger, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->NewLogger(path, options, logger, dbg) : s;
  }
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->FileExists(path, options, dbg) : s;
  }
  IOStatus GetChildren(const std::string& path, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->GetChildren(path, options, names, dbg) : s;
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->GetFileSize(path, options, size, dbg) : s;
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options,
                              IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->CreateDirIfMissing(path, options, dbg) : s;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->DeleteFile(path, options, dbg) : s;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    const IOStatus s = faults.Check(to);
    return s.ok() ? target()->RenameFile(from, to, options, dbg) : s;
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    const IOStatus s = faults.Check(path);
    return s.ok() ? target()->LockFile(path, options, lock, dbg) : s;
  }

 private:
  template <class Faulty, class File>
  static IOStatus Wrap(IOStatus s, const std::string& path, std::unique_ptr<File>* file) {
    if (s.ok()) {
      *file = std::make_unique<Faulty>(std::move(*file), path);
    }
    return s;
  }
};

// The part that fails decides which SSTs of the store there are: none that were there may go.
std::set<std::pair<std::string, uint64_t>> SstsOf(const std::string& folder) {
  std::set<std::pair<std::string, uint64_t>> ssts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat attributes;
    if (entry.path().extension() == ".sst" && stat(entry.path().c_str(), &attributes) == 0) {
      ssts.emplace(entry.path().filename(), attributes.st_ino);
    }
  }
  return ssts;
}

class PassingMistakes : public OpeningMistakes {
 protected:
  PassingMistakes() { hot_.store_open_files = 100; }

  // Before each opening that may fail.
  void Note() {
    ssts_ = SstsOf(hot_.path + "/store");
    ASSERT_FALSE(ssts_.empty());
    log_ = "what was told before opening " + std::to_string(++openings_) + "\n";
    ASSERT_OK(WriteStringToFile(Env::Default(), log_, hot_.path + "/LOG"));
  }
  // Before another process opens it.
  void NoteLog() { log_ = Text(std::filesystem::exists(hot_.path + "/LOG") ? "/LOG" : "/LOG.old"); }
  // `failed`: the opening.
  void ExpectAllIsKept(bool failed) {
    EXPECT_TRUE(log_ == Text("/LOG") || log_ == Text("/LOG.old")) << Text("/LOG.old");
    for (const char* told : {"begins empty", "starts empty"}) {
      EXPECT_EQ(std::string::npos, Text("/LOG").find(told)) << Text("/LOG") << Text("/LOG.old");
    }
    if (failed) {
      EXPECT_EQ(ssts_, SstsOf(hot_.path + "/store"));
    }
  }
  void ExpectAnswers() {
    for (int i = 0; i < 200; i += 3) {
      ASSERT_EQ(ValueOf(i), Get(i));
    }
  }
  // All records that were copied before.
  void ExpectCopies() {
    TakeServed();
    for (int i = 0; i < 100; i++) {
      ASSERT_EQ(ValueOf(i), Get(i));
    }
    EXPECT_EQ(100u, TakeServed().store) << Text("/LOG");
    EXPECT_GE(Stats().access_table["hot_keys"], 100u) << Text("/LOG");
  }

  std::string Text(const std::string& name) {
    std::string text;
    if (std::filesystem::exists(hot_.path + name)) {
      EXPECT_OK(ReadFileToString(Env::Default(), hot_.path + name, &text));
    }
    return text;
  }

 private:
  std::set<std::pair<std::string, uint64_t>> ssts_;
  std::string log_;
  int openings_ = 0;
};

// The process may open so many files more than it has now, as long as this exists.
class FewFiles {
 public:
  explicit FewFiles(int more) {
    EXPECT_EQ(0, getrlimit(RLIMIT_NOFILE, &before_));
    struct rlimit few = before_;
    few.rlim_cur = 0;
    for (int left = more; left > 0 || fcntl(static_cast<int>(few.rlim_cur), F_GETFD) >= 0;) {
      left -= fcntl(static_cast<int>(few.rlim_cur), F_GETFD) < 0 ? 1 : 0;
      few.rlim_cur++;
    }
    EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &few));
  }
  ~FewFiles() { EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before_)); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  struct rlimit before_;
};

TEST_F(PassingMistakes, TooFewDescriptors) {
  constexpr int kMost = 60;
  Prepare();
  int more = 0;
  int tellings = 0;
  for (bool failed = true; failed; more++) {
    SCOPED_TRACE(std::to_string(more) + " files more");
    ASSERT_LT(more, kMost);
    ASSERT_NO_FATAL_FAILURE(Note());
    std::shared_ptr<Engine> engine;
    Status s;
    {
      const FewFiles few(more);
      engine = Engine::Get(hot_);
      s = engine->GetStatus();
      failed = !s.ok();
      if (more % 8 != 0) {
        engine.reset();  // the process ends
      }
    }
    tellings += s.ToString().find("Too many open files") != std::string::npos ? 1 : 0;
    ExpectAllIsKept(failed);
    if (engine == nullptr) {
      NoteLog();
    }
    Open();
    ExpectAnswers();
    if (failed && engine != nullptr) {
      EXPECT_TRUE(Soon([&] { return IsServed(5); })) << s.ToString();
    }
    ExpectCopies();
    ExpectAllIsKept(false);
    engine.reset();
    CloseAll();
  }
  EXPECT_GT(more, 5);
  EXPECT_GT(tellings, more / 2);
}

// The n-th operation of an opening fails, for any n; and all that follow, or it alone.
class EioMistakes : public PassingMistakes, public testing::WithParamInterface<bool> {
 protected:
  // One of so many openings stays for the next try of its process.
  static constexpr int64_t kStays = 60;

  void Open(int64_t first) {
    ASSERT_NO_FATAL_FAILURE(Note());
    faults.Begin(hot_.path, first, GetParam());
    std::shared_ptr<Engine> engine = Engine::Get(hot_);
    const Status s = engine->GetStatus();
    hit_ = faults.count() > 0;
    failed_ += s.ok() ? 0 : 1;
    if (first % kStays == 1) {
      HotDb::Open();
      ExpectAnswers();
      faults.End();
      ExpectAllIsKept(!s.ok());
      EXPECT_TRUE(Soon([&] { return IsServed(5); })) << s.ToString();
    } else {
      engine.reset();
      faults.End();
      ExpectAllIsKept(!s.ok());
      NoteLog();
      HotDb::Open();
      ExpectAnswers();
    }
    ExpectCopies();
    ExpectAllIsKept(false);
    engine.reset();
    CloseAll();
  }

  bool hit_ = true;
  int failed_ = 0;
};

TEST_P(EioMistakes, OfAnyOperation) {
  constexpr int64_t kMost = 2000;
  Prepare();
  for (int64_t first = 1; hit_; first++) {
    SCOPED_TRACE("operation " + std::to_string(first));
    ASSERT_LT(first, kMost);
    ASSERT_NO_FATAL_FAILURE(Open(first));
  }
  printf("%d openings failed\n", failed_);
  EXPECT_GT(failed_, 40);
}

INSTANTIATE_TEST_CASE_P(AloneOrNot, EioMistakes, testing::Bool());

}  // namespace
}  // namespace hot_promotion

// Never destroyed: RocksDB's is not, either.
std::shared_ptr<FileSystem> WrapFs() {
  static const auto* const faulty =
      new std::shared_ptr<FileSystem>(std::make_shared<hot_promotion::FaultyFs>());
  return *faulty;
}

}  // namespace ROCKSDB_NAMESPACE
