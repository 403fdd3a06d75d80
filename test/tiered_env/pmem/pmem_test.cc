// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files of a pmem tier. With PMEM_IS_PMEM_FORCE=1 mapped memory counts as persistent, with 0 it
// does not: ctest runs both.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/tiered_env/pmem/file_system.h"
#include "plugin/tiered_env/pmem/header.h"
#include "plugin/tiered_env/pmem/mapping.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

FileOptions Mapped() {
  FileOptions options;
  options.use_mmap_reads = true;
  return options;
}

// What a file holds at an offset, so that any part of it can be checked.
char ByteAt(uint64_t offset) { return static_cast<char>((offset * 0x9e3779b97f4a7c15) >> 56); }

std::string BytesAt(uint64_t offset, size_t n) {
  std::string bytes(n, '\0');
  for (size_t i = 0; i < n; ++i) {
    bytes[i] = ByteAt(offset + i);
  }
  return bytes;
}

class PmemTest : public testing::Test {
 protected:
  PmemTest() : folder_(rocktier::NewFolder()), path_(folder_ + "/file") {}

  void SetUp() override {
    IOStatus s = NewPmemFileSystem(FileSystem::Default(), folder_, &fs_, &persistent_);
    if (s.IsNotSupported()) {
      // What needs no libpmem works without it, too.
      printf("%s\n", s.ToString().c_str());
      ASSERT_FALSE(HaveLibpmem());
      fs_ = std::make_shared<PmemFileSystem>(FileSystem::Default());
      return;
    }
    ASSERT_OK(s);
    const char* force = getenv("PMEM_IS_PMEM_FORCE");
    if (force != nullptr) {
      ASSERT_EQ(persistent_, *force == '1');
    }
  }

  std::unique_ptr<FSWritableFile> Create(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_->NewWritableFile(path, FileOptions(), &file, nullptr));
    return file;
  }

  std::unique_ptr<FSWritableFile> Reopen(const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs_->ReopenWritableFile(path, FileOptions(), &file, nullptr));
    return file;
  }

  void Write(const std::string& path, const std::string& data) {
    std::unique_ptr<FSWritableFile> file = Create(path);
    ASSERT_OK(file->Append(data, IOOptions(), nullptr));
    ASSERT_OK(file->Sync(IOOptions(), nullptr));
    ASSERT_OK(file->Close(IOOptions(), nullptr));
  }

  // By each of the ways to read; they agree. With an error, the first one's.
  IOStatus ReadAll(const std::string& path, std::string* result) {
    uint64_t size = 0;
    IOStatus s = fs_->GetFileSize(path, IOOptions(), &size, nullptr);
    if (s.ok()) {
      s = ReadSequentially(path, size, result);
    }
    for (const FileOptions& options : {FileOptions(), Mapped()}) {
      std::unique_ptr<FSRandomAccessFile> file;
      const IOStatus opened = fs_->NewRandomAccessFile(path, options, &file, nullptr);
      EXPECT_EQ(s.code(), opened.code()) << s.ToString() << opened.ToString();
      if (opened.ok() && s.ok()) {
        std::string scratch(size + 10, 'x');
        Slice slice;
        EXPECT_OK(file->Read(0, size + 10, IOOptions(), &slice, scratch.data(), nullptr));
        EXPECT_TRUE(slice == *result) << path;
      }
    }
    return s;
  }

  IOStatus ReadSequentially(const std::string& path, uint64_t size, std::string* result) {
    std::unique_ptr<FSSequentialFile> file;
    IOStatus s = fs_->NewSequentialFile(path, FileOptions(), &file, nullptr);
    if (s.ok()) {
      result->resize(size + 10);
      Slice slice;
      s = file->Read(size + 10, IOOptions(), &slice, result->data(), nullptr);
      EXPECT_EQ(slice.size(), size);
      result->resize(slice.size());
    }
    return s;
  }

  std::string Contents(const std::string& path) {
    std::string result;
    EXPECT_OK(ReadAll(path, &result));
    return result;
  }

  static std::string Raw(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static void WriteRaw(const std::string& path, const std::string& data) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << data;
  }

  const std::string folder_;
  const std::string path_;
  std::shared_ptr<FileSystem> fs_;
  bool persistent_ = false;
};

TEST(HeaderTest, LengthComesBack) {
  for (uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, uint64_t{0x123456789a},
                          kMaxLength - 1, kMaxLength}) {
    uint64_t result;
    EXPECT_TRUE(UnpackLength(PackLength(length), &result));
    EXPECT_EQ(result, length);
  }
}

TEST(HeaderTest, DamageOfUpTo16BitsInARowIsFound) {
  std::mt19937_64 random(rocktier::Seed());
  for (int round = 0; round < 1000; ++round) {
    const uint64_t word = PackLength(random() & kMaxLength);
    for (int bit = 0; bit <= 48; ++bit) {
      if (bit > 32 && bit < 48) {
        continue;  // partly of the length, partly of its checksum
      }
      const uint64_t damage = (random() % 0xffff + 1) << bit;
      uint64_t result;
      EXPECT_FALSE(UnpackLength(word ^ damage, &result)) << std::hex << word << " " << damage;
    }
  }
}

TEST(HeaderTest, Golden) {
  char root[kRootSize];
  EncodeRoot(root);
  std::string expected = std::string("rktrpmem\1\0\0\0\0\20\0\0", 16) + std::string(44, '\0');
  EXPECT_EQ(std::string(root, 60), expected);
  EXPECT_EQ(DecodeFixed32(root + 60), 0xfe379c80u);
  EXPECT_EQ(PackLength(0), 0xe10000000000000);
  EXPECT_EQ(PackLength(0x123456789a), 0xe7bc00123456789a);
  EXPECT_OK(CheckRoot("file", root));
}

TEST_F(PmemTest, IsOnlyWhatWasAppended) {
  std::unique_ptr<FSWritableFile> file = Create(path_);
  EXPECT_EQ(Contents(path_), "");
  ASSERT_OK(file->Append("one", IOOptions(), nullptr));
  ASSERT_OK(file->Append("", IOOptions(), nullptr));
  ASSERT_OK(file->Append("two", IOOptions(), nullptr));
  EXPECT_EQ(file->GetFileSize(IOOptions(), nullptr), 6);
  EXPECT_EQ(Contents(path_), "onetwo");
  ASSERT_OK(file->Sync(IOOptions(), nullptr));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  EXPECT_EQ(Contents(path_), "onetwo");
  EXPECT_EQ(std::filesystem::file_size(path_), kHeaderSize + 6);
  EXPECT_TRUE(file->Append("x", IOOptions(), nullptr).IsInvalidArgument());
  EXPECT_TRUE(file->Sync(IOOptions(), nullptr).IsInvalidArgument());
}

TEST_F(PmemTest, MissingFile) {
  std::string unused;
  EXPECT_TRUE(ReadAll(path_, &unused).IsPathNotFound());
  EXPECT_TRUE(fs_->Truncate(path_, 0, IOOptions(), nullptr).IsNotFound());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Random operations against a string. Readers that were opened before see what comes after.
TEST_F(PmemTest, AgreesWithAString) {
  std::mt19937_64 random(rocktier::Seed());
  std::string expected;
  std::unique_ptr<FSWritableFile> file = Create(path_);
  std::unique_ptr<FSRandomAccessFile> old;
  const auto check = [&] {
    const uint64_t offset = random() % (expected.size() + 2);
    const size_t n = random() % 20000;
    std::string scratch(n, 'x');
    Slice slice;
    ASSERT_OK(old->Read(offset, n, IOOptions(), &slice, scratch.data(), nullptr));
    ASSERT_EQ(slice.ToString(), offset > expected.size() ? "" : expected.substr(offset, n));
  };
  for (int step = 0; step < 3000; ++step) {
    SCOPED_TRACE(step);
    switch (random() % 20) {
      case 0:
        ASSERT_OK(file->Close(IOOptions(), nullptr));
        file = Reopen(path_);
        break;
      case 1: {
        // Shorter or, with zeros, longer. An open reader may keep to what it knew.
        old.reset();
        const size_t size = random() % (expected.size() + expected.size() / 4 + 1);
        ASSERT_OK(file->Truncate(size, IOOptions(), nullptr));
        expected.resize(size, '\0');
        break;
      }
      case 2:
        old.reset();
        ASSERT_OK(file->Close(IOOptions(), nullptr));
        expected.resize(expected.size() / 2);
        ASSERT_OK(fs_->Truncate(path_, expected.size(), IOOptions(), nullptr));
        file = Reopen(path_);
        break;
      case 3:
        ASSERT_OK(file->Sync(IOOptions(), nullptr));
        break;
      case 4:
        ASSERT_OK(file->Allocate(expected.size(), random() % 300000, IOOptions(), nullptr));
        break;
      case 5: {
        // Over what is there, and beyond it.
        const size_t offset = random() % (expected.size() + 1);
        const std::string data = BytesAt(random(), random() % 20000);
        ASSERT_OK(file->PositionedAppend(data, offset, IOOptions(), nullptr));
        expected.replace(offset, data.size(), data);
        EXPECT_FALSE(file->PositionedAppend("x", expected.size() + 1, IOOptions(), nullptr).ok());
        break;
      }
      default: {
        const size_t most = size_t{1} << (random() % 18);
        const std::string data = BytesAt(random(), random() % most);
        ASSERT_OK(file->Append(data, IOOptions(), nullptr));
        expected += data;
      }
    }
    ASSERT_EQ(file->GetFileSize(IOOptions(), nullptr), expected.size());
    if (old == nullptr) {
      ASSERT_OK(fs_->NewRandomAccessFile(path_, random() % 2 == 0 ? FileOptions() : Mapped(), &old,
                                         nullptr));
    }
    check();
    if (step % 100 == 0) {
      ASSERT_TRUE(Contents(path_) == expected);
    }
  }
}

// Larger than what is mapped at a time.
TEST_F(PmemTest, LargeFile) {
  constexpr size_t kPiece = 7 << 20;
  std::unique_ptr<FSWritableFile> file = Create(path_);
  for (uint64_t at = 0; at < 10 * kPiece; at += kPiece) {
    ASSERT_OK(file->Append(BytesAt(at, kPiece), IOOptions(), nullptr));
  }
  ASSERT_OK(file->Append(BytesAt(10 * kPiece, 60 << 20), IOOptions(), nullptr));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  EXPECT_TRUE(Contents(path_) == BytesAt(0, 10 * kPiece + (60 << 20)));
}

TEST_F(PmemTest, ReadsOfMappedFilesCopyNothing) {
  Write(path_, BytesAt(0, 100000));
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, Mapped(), &file, nullptr));
  std::string scratch(100000, 'x');
  Slice first;
  Slice second;
  ASSERT_OK(file->Read(0, 4096, IOOptions(), &first, scratch.data(), nullptr));
  ASSERT_OK(file->Read(100, 4096, IOOptions(), &second, scratch.data(), nullptr));
  EXPECT_EQ(first.data() + 100, second.data());
  EXPECT_EQ(scratch, std::string(100000, 'x'));
  // As long as the file object, whatever becomes of the name.
  ASSERT_OK(fs_->DeleteFile(path_, IOOptions(), nullptr));
  EXPECT_EQ(first.ToString(), BytesAt(0, 4096));

  FSReadRequest requests[2];
  for (int i = 0; i < 2; ++i) {
    requests[i].offset = 50000 * i + 1;
    requests[i].len = 1000;
    requests[i].scratch = scratch.data() + 1000 * i;
  }
  ASSERT_OK(file->MultiRead(requests, 2, IOOptions(), nullptr));
  for (const FSReadRequest& request : requests) {
    EXPECT_OK(request.status);
    EXPECT_EQ(request.result.data(), first.data() + request.offset);
  }
}

TEST_F(PmemTest, MappedSlicesStayWhenTheFileGrows) {
  std::unique_ptr<FSWritableFile> writer = Create(path_);
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, Mapped(), &file, nullptr));
  std::vector<Slice> slices;
  constexpr size_t kPiece = 100000;
  for (uint64_t at = 0; at < 100 * kPiece; at += kPiece) {
    ASSERT_OK(writer->Append(BytesAt(at, kPiece), IOOptions(), nullptr));
    slices.emplace_back();
    ASSERT_OK(file->Read(at, 2 * kPiece, IOOptions(), &slices.back(), nullptr, nullptr));
    ASSERT_EQ(slices.back().size(), kPiece);
  }
  ASSERT_OK(writer->Close(IOOptions(), nullptr));
  for (size_t i = 0; i < slices.size(); ++i) {
    EXPECT_TRUE(slices[i] == BytesAt(i * kPiece, kPiece)) << i;
  }
}

// Without use_mmap_reads callers may rely on their buffer.
TEST_F(PmemTest, OtherReadsCopy) {
  Write(path_, BytesAt(0, 10000));
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, FileOptions(), &file, nullptr));
  std::string scratch(5000, 'x');
  Slice slice;
  ASSERT_OK(file->Read(7, 5000, IOOptions(), &slice, scratch.data(), nullptr));
  EXPECT_EQ(slice.data(), scratch.data());
  EXPECT_EQ(scratch, BytesAt(7, 5000));

  FSReadRequest request;
  request.offset = 9000;
  request.len = 5000;
  request.scratch = scratch.data();
  ASSERT_OK(file->MultiRead(&request, 1, IOOptions(), nullptr));
  ASSERT_OK(request.status);
  EXPECT_EQ(request.result.data(), scratch.data());
  EXPECT_EQ(request.result.ToString(), BytesAt(9000, 1000));
}

TEST_F(PmemTest, AsynchronousReadsCopyAtOnce) {
  Write(path_, BytesAt(0, 10000));
  for (const FileOptions& options : {FileOptions(), Mapped()}) {
    std::unique_ptr<FSRandomAccessFile> file;
    ASSERT_OK(fs_->NewRandomAccessFile(path_, options, &file, nullptr));
    std::string scratch(5000, 'x');
    FSReadRequest request;
    request.offset = 9000;
    request.len = 5000;
    request.scratch = scratch.data();
    void* handle = nullptr;
    IOHandleDeleter deleter;
    int calls = 0;
    ASSERT_OK(file->ReadAsync(
        request, IOOptions(),
        [&](FSReadRequest& done, void* argument) {
          EXPECT_OK(done.status);
          EXPECT_EQ(argument, &calls);
          EXPECT_EQ(done.result.data(), scratch.data());
          EXPECT_EQ(done.result.ToString(), BytesAt(9000, 1000));
          ++calls;
        },
        &calls, &handle, &deleter, nullptr));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(handle, nullptr);
  }
}

// What FSSupportedOps::kFSBuffer asks for.
TEST_F(PmemTest, MultiReadWithoutBuffer) {
  Write(path_, BytesAt(0, 10000));
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, FileOptions(), &file, nullptr));
  FSReadRequest request;
  request.offset = 10;
  request.len = 100;
  request.scratch = nullptr;
  ASSERT_OK(file->MultiRead(&request, 1, IOOptions(), nullptr));
  ASSERT_OK(request.status);
  EXPECT_NE(request.fs_scratch, nullptr);
  EXPECT_EQ(request.result.ToString(), BytesAt(10, 100));
}

TEST_F(PmemTest, RandomWritesWithinTheLength) {
  Write(path_, std::string(10000, 'a'));
  std::unique_ptr<FSRandomRWFile> file;
  ASSERT_OK(fs_->NewRandomRWFile(path_, FileOptions(), &file, nullptr));
  ASSERT_OK(file->Write(9995, "bbbbb", IOOptions(), nullptr));
  EXPECT_TRUE(file->Write(9996, "bbbbb", IOOptions(), nullptr).IsNotSupported());
  ASSERT_OK(file->Sync(IOOptions(), nullptr));
  char scratch[10];
  Slice slice;
  ASSERT_OK(file->Read(9993, 10, IOOptions(), &slice, scratch, nullptr));
  EXPECT_EQ(slice.ToString(), "aabbbbb");
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  EXPECT_EQ(Contents(path_), std::string(9995, 'a') + "bbbbb");
}

TEST_F(PmemTest, NamesAreThoseOfTheTarget) {
  Write(path_, "data");
  ASSERT_OK(fs_->LinkFile(path_, path_ + ".link", IOOptions(), nullptr));
  ASSERT_OK(fs_->RenameFile(path_, path_ + ".new", IOOptions(), nullptr));
  EXPECT_EQ(Contents(path_ + ".new"), "data");
  EXPECT_EQ(Contents(path_ + ".link"), "data");
  WriteRaw(folder_ + "/LOG", "not of this format, but not empty either");
  std::vector<FileAttributes> files;
  ASSERT_OK(fs_->GetChildrenFileAttributes(folder_, IOOptions(), &files, nullptr));
  std::map<std::string, uint64_t> sizes;
  for (const FileAttributes& file : files) {
    sizes[file.name] = file.size_bytes;
  }
  EXPECT_EQ(sizes["file.new"], 4);
  EXPECT_EQ(sizes["file.link"], 4);
  EXPECT_EQ(sizes["LOG"], 40);
}

// A name that is written anew is another file: what is open, or linked, stays.
TEST_F(PmemTest, ReplacedFileStaysForItsReaders) {
  Write(path_, "old");
  std::unique_ptr<FSRandomAccessFile> reader;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, Mapped(), &reader, nullptr));
  ASSERT_OK(fs_->LinkFile(path_, path_ + ".link", IOOptions(), nullptr));
  Write(path_, "new");
  Slice slice;
  ASSERT_OK(reader->Read(0, 10, IOOptions(), &slice, nullptr, nullptr));
  EXPECT_EQ(slice.ToString(), "old");
  EXPECT_EQ(Contents(path_ + ".link"), "old");
  EXPECT_EQ(Contents(path_), "new");
}

TEST_F(PmemTest, ReusedFileIsEmptyAndKeepsItsRoom) {
  Write(path_, BytesAt(0, 1 << 20));
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReuseWritableFile(path_ + ".new", path_, FileOptions(), &file, nullptr));
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(Contents(path_ + ".new"), "");
  EXPECT_EQ(std::filesystem::file_size(path_ + ".new"), kHeaderSize + (1 << 20));
  ASSERT_OK(file->Append("data", IOOptions(), nullptr));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  EXPECT_EQ(Contents(path_ + ".new"), "data");
}

TEST_F(PmemTest, EachDamageOfTheHeaderIsFoundOrHarmless) {
  const std::string data = BytesAt(0, 5000);
  Write(path_, data);
  const std::string raw = Raw(path_);
  ASSERT_EQ(raw.size(), kHeaderSize + data.size());
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](size_t at, int byte) {
    file.seekp(static_cast<std::streamoff>(at)).put(static_cast<char>(byte)).flush();
  };
  int found = 0;
  for (size_t at = 0; at < kHeaderSize; ++at) {
    // Each value of the bytes that are looked at; of the others some.
    const int step = at < 80 ? 1 : 85;
    for (int damage = 1; damage < 256; damage += step) {
      put(at, raw[at] ^ damage);
      std::string result;
      const IOStatus s = ReadAll(path_, &result);
      std::unique_ptr<FSWritableFile> writer;
      EXPECT_EQ(fs_->ReopenWritableFile(path_, FileOptions(), &writer, nullptr).code(), s.code());
      if (s.ok()) {
        ASSERT_TRUE(result == data) << at << " ^ " << damage;
      } else {
        ASSERT_TRUE(s.IsCorruption()) << s.ToString();
        ASSERT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
        ++found;
      }
    }
    put(at, raw[at]);
    ASSERT_TRUE(Raw(path_) == raw) << "a file that was not written to has changed";
  }
  EXPECT_EQ(found, 72 * 255);
}

TEST_F(PmemTest, LengthBeyondTheFileIsCorruption) {
  Write(path_, BytesAt(0, 5000));
  std::filesystem::resize_file(path_, kHeaderSize + 4999);
  std::string unused;
  const IOStatus s = ReadAll(path_, &unused);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
  std::unique_ptr<FSWritableFile> file;
  EXPECT_TRUE(fs_->ReopenWritableFile(path_, FileOptions(), &file, nullptr).IsCorruption());
  EXPECT_EQ(std::filesystem::file_size(path_), kHeaderSize + 4999);
}

TEST_F(PmemTest, AnotherFormatIsCorruption) {
  for (const std::string& data : {std::string("x"), std::string(10000, 'x')}) {
    WriteRaw(path_, data);
    std::string unused;
    const IOStatus s = ReadAll(path_, &unused);
    EXPECT_TRUE(s.IsCorruption());
    EXPECT_NE(s.ToString().find(path_), std::string::npos) << s.ToString();
    std::unique_ptr<FSWritableFile> file;
    EXPECT_TRUE(fs_->ReopenWritableFile(path_, FileOptions(), &file, nullptr).IsCorruption());
    EXPECT_EQ(Raw(path_), data);
  }
}

TEST_F(PmemTest, LaterVersionIsNotSupported) {
  Write(path_, "data");
  std::string raw = Raw(path_);
  raw[8] = 2;
  EncodeFixed32(raw.data() + 60, crc32c::Mask(crc32c::Value(raw.data(), 60)));
  WriteRaw(path_, raw);
  std::string unused;
  EXPECT_TRUE(ReadAll(path_, &unused).IsNotSupported());
}

// What a crash between the steps of a creation leaves.
TEST_F(PmemTest, UnfinishedFileIsEmptyAndCanBeContinued) {
  Write(path_, "data");
  std::string unfinished = Raw(path_);
  memset(unfinished.data(), 0, 8);
  for (const std::string& raw : {std::string(), std::string(64 << 10, '\0'), unfinished}) {
    WriteRaw(path_, raw);
    EXPECT_EQ(Contents(path_), "");
    std::unique_ptr<FSWritableFile> file = Reopen(path_);
    ASSERT_OK(file->Append("more", IOOptions(), nullptr));
    ASSERT_OK(file->Close(IOOptions(), nullptr));
    EXPECT_EQ(Contents(path_), "more");
  }
}

// Runs in a process of its own.
template <typename Work>
pid_t Fork(const Work& work) {
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  return child;
}

// A number that two processes see.
class Shared {
 public:
  Shared()
      : value_(new (mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<uint64_t>(0)) {}
  ~Shared() { munmap(static_cast<void*>(value_), sizeof(*value_)); }
  std::atomic<uint64_t>* operator->() { return value_; }

 private:
  std::atomic<uint64_t>* const value_;
};

TEST_F(PmemTest, AppendedBytesOutliveTheProcess) {
  std::mt19937_64 random(rocktier::Seed());
  for (int round = 0; round < 20; ++round) {
    const std::string path = path_ + std::to_string(round);
    const uint64_t enough = random() % (3 << 20);
    Shared appended;
    const pid_t child = Fork([&] {
      std::unique_ptr<FSWritableFile> file;
      uint64_t at = 0;
      bool ok = fs_->NewWritableFile(path, FileOptions(), &file, nullptr).ok();
      while (ok) {
        const std::string data = BytesAt(at, random() % 3000);
        ok = file->Append(data, IOOptions(), nullptr).ok();
        at += data.size();
        appended->store(at);
      }
      _exit(1);
    });
    ASSERT_GT(child, 0);
    while (appended->load() <= enough && waitpid(child, nullptr, WNOHANG) == 0) {
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ASSERT_GT(appended->load(), enough);
    const std::string contents = Contents(path);
    // One append may have come to its end without being counted.
    ASSERT_GE(contents.size(), appended->load());
    ASSERT_LT(contents.size(), appended->load() + 3000);
    ASSERT_TRUE(contents == BytesAt(0, contents.size()));
    std::unique_ptr<FSWritableFile> file = Reopen(path);
    ASSERT_OK(file->Append("more", IOOptions(), nullptr));
    ASSERT_OK(file->Close(IOOptions(), nullptr));
    ASSERT_TRUE(Contents(path) == contents + "more");
  }
}

// Reads what another process appends, from before there is a file.
TEST_F(PmemTest, LiveReaders) {
  constexpr uint64_t kEnd = 20 << 20;
  std::mt19937_64 random(rocktier::Seed());
  Shared appended;
  const pid_t child = Fork([&] {
    std::unique_ptr<FSWritableFile> file;
    uint64_t at = 0;
    bool ok = fs_->NewWritableFile(path_, FileOptions(), &file, nullptr).ok();
    while (ok && at < kEnd) {
      const std::string data = BytesAt(at, random() % 3000);
      ok = file->Append(data, IOOptions(), nullptr).ok();
      at += data.size();
      appended->store(at);
    }
    ok = ok && file->Close(IOOptions(), nullptr).ok();
    appended->store(kEnd + 3000);
    _exit(ok ? 0 : 1);
  });
  ASSERT_GT(child, 0);
  std::unique_ptr<FSSequentialFile> sequential;
  IOStatus s;
  do {
    s = fs_->NewSequentialFile(path_, FileOptions(), &sequential, nullptr);
  } while (s.IsPathNotFound());
  ASSERT_OK(s);
  std::unique_ptr<FSRandomAccessFile> mapped;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, Mapped(), &mapped, nullptr));
  uint64_t at = 0;
  while (true) {
    const uint64_t before = appended->load();
    char scratch[10000];
    Slice slice;
    ASSERT_OK(sequential->Read(sizeof(scratch), IOOptions(), &slice, scratch, nullptr));
    // What was appended is seen at once.
    ASSERT_GE(at + slice.size(), std::min<uint64_t>(at + sizeof(scratch), before % (kEnd + 3000)));
    ASSERT_TRUE(slice == BytesAt(at, slice.size())) << at;
    const size_t size = slice.size();
    ASSERT_OK(mapped->Read(at, size, IOOptions(), &slice, nullptr, nullptr));
    ASSERT_TRUE(slice == BytesAt(at, size)) << at;
    at += size;
    if (size == 0 && before == kEnd + 3000) {
      break;
    }
  }
  EXPECT_GE(at, kEnd);
  int status;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(PmemTest, SyncWhileAppending) {
  std::unique_ptr<FSWritableFile> file = Create(path_);
  ASSERT_TRUE(file->IsSyncThreadSafe());
  std::atomic<bool> done{false};
  std::thread syncer([&] {
    while (!done.load()) {
      EXPECT_OK(file->Sync(IOOptions(), nullptr));
    }
  });
  std::unique_ptr<FSRandomAccessFile> reader;
  ASSERT_OK(fs_->NewRandomAccessFile(path_, Mapped(), &reader, nullptr));
  std::thread random_reader([&] {
    std::mt19937_64 random(1);
    while (!done.load()) {
      Slice slice;
      const uint64_t offset = random() % (4 << 20);
      EXPECT_OK(reader->Read(offset, 100, IOOptions(), &slice, nullptr, nullptr));
      EXPECT_TRUE(slice == BytesAt(offset, slice.size()));
    }
  });
  for (uint64_t at = 0; at < 4 << 20; at += 1000) {
    EXPECT_OK(file->Append(BytesAt(at, 1000), IOOptions(), nullptr));
  }
  done.store(true);
  syncer.join();
  random_reader.join();
  ASSERT_OK(file->Close(IOOptions(), nullptr));
}

// A small file system in memory, for the time of a test.
class Mount {
 public:
  Mount(const std::string& folder, const std::string& options) : folder_(folder) {
    std::filesystem::create_directories(folder);
    ok_ = mount("rocktier", folder.c_str(), "tmpfs", 0, options.c_str()) == 0;
    error_ = errno;
  }
  ~Mount() {
    if (ok_) {
      umount2(folder_.c_str(), MNT_DETACH);
    }
  }
  bool ok() const { return ok_; }
  const char* error() const { return strerror(error_); }

 private:
  const std::string folder_;
  bool ok_;
  int error_;
};

TEST_F(PmemTest, NoSpaceIsAStatus) {
  const std::string folder = folder_ + "/small";
  Mount mount(folder, "size=1M");
  if (!mount.ok()) {
    printf("SKIPPED: cannot mount a tmpfs: %s\n", mount.error());
    return;
  }
  const std::string path = folder + "/file";
  std::unique_ptr<FSWritableFile> file = Create(path);
  ASSERT_OK(file->Append(BytesAt(0, 500000), IOOptions(), nullptr));
  const IOStatus s = file->Append(std::string(600000, 'x'), IOOptions(), nullptr);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_EQ(file->GetFileSize(IOOptions(), nullptr), 500000);
  // There is less room than would be taken to spare.
  ASSERT_OK(file->Append(BytesAt(500000, 500000), IOOptions(), nullptr));
  std::unique_ptr<FSWritableFile> second;
  EXPECT_TRUE(fs_->NewWritableFile(folder + "/2", FileOptions(), &second, nullptr).IsNoSpace());
  EXPECT_TRUE(Contents(path) == BytesAt(0, 1000000));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
}

TEST_F(PmemTest, FolderThatIsNotThere) {
  std::shared_ptr<FileSystem> fs;
  const IOStatus s = NewPmemFileSystem(FileSystem::Default(), folder_ + "/none", &fs);
  EXPECT_TRUE(HaveLibpmem() ? s.IsPathNotFound() : s.IsNotSupported()) << s.ToString();
  EXPECT_EQ(fs, nullptr);
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
