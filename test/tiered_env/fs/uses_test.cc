// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Options are not changed under whoever is at work, with no database open: a cache that reads what
// it had of files, a BackupEngine, a tool.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/tiered_env/admin/session.h"
#include "test/support/hanging_fs.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// Calls at_close() when a file that was open for reading is closed.
class ClosingFs : public FileSystemWrapper {
 public:
  ClosingFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "ClosingFs"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus s = target_->NewRandomAccessFile(path, options, result, dbg);
    if (s.ok()) {
      *result = std::make_unique<File>(this, std::move(*result));
    }
    return s;
  }

  std::function<void()> at_close;

 private:
  class File : public FSRandomAccessFileOwnerWrapper {
   public:
    File(ClosingFs* fs, std::unique_ptr<FSRandomAccessFile>&& target)
        : FSRandomAccessFileOwnerWrapper(std::move(target)), fs_(fs) {}
    ~File() override {
      if (fs_->at_close) {
        fs_->at_close();
      }
    }

   private:
    ClosingFs* const fs_;
  };
};

class TieredUsesTest : public TieredTest {
 protected:
  Status SetPlacement(const std::string& placement) const {
    return fs_->ConfigureOption(ConfigOptions(), "placement", placement);
  }
  void ExpectInUse() const {
    const Status s = SetPlacement("0..=slow");
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("in use"), std::string::npos) << s.ToString();
    EXPECT_EQ(fs_->GetOptions<TieredOptions>()->placement, "0..=fast");
  }
  // Makes a database with an SST in the tier fast, and closes it. Returns the SST's path.
  std::string MakeTable() {
    NewFs(Tiers(), "0..=fast");
    Open();
    Fill(100);
    EXPECT_OK(db_->Flush(FlushOptions()));
    Settle();
    Close();
    const std::vector<std::string> tables = FilesOf(".sst");
    EXPECT_EQ(tables.size(), 1u);
    EXPECT_EQ(TierOf(tables[0]), "fast");
    return db_name_ + "/" + tables[0];
  }
};

TEST_F(TieredUsesTest, OptionsStayDuringACall) {
  const std::string path = db_name_ + "/000012.sst";
  const std::string other = db_name_ + "/000013.sst";
  const FileOptions options;
  const IOOptions io;
  std::unique_ptr<FSSequentialFile> sequential;
  std::unique_ptr<FSRandomAccessFile> random;
  std::unique_ptr<FSRandomRWFile> random_rw;
  std::unique_ptr<FSWritableFile> writable;
  std::unique_ptr<MemoryMappedFileBuffer> mapped;
  uint64_t number = 0;
  bool same = false;
  const std::pair<const char*, std::function<IOStatus()>> calls[] = {
      {"NewSequentialFile",
       [&] { return fs_->NewSequentialFile(path, options, &sequential, nullptr); }},
      {"NewRandomAccessFile",
       [&] { return fs_->NewRandomAccessFile(path, options, &random, nullptr); }},
      {"NewWritableFile", [&] { return fs_->NewWritableFile(path, options, &writable, nullptr); }},
      {"ReopenWritableFile",
       [&] { return fs_->ReopenWritableFile(path, options, &writable, nullptr); }},
      {"ReuseWritableFile",
       [&] { return fs_->ReuseWritableFile(other, path, options, &writable, nullptr); }},
      {"NewRandomRWFile", [&] { return fs_->NewRandomRWFile(path, options, &random_rw, nullptr); }},
      {"NewMemoryMappedFileBuffer", [&] { return fs_->NewMemoryMappedFileBuffer(path, &mapped); }},
      {"DeleteFile", [&] { return fs_->DeleteFile(path, io, nullptr); }},
      {"Truncate", [&] { return fs_->Truncate(path, 1, io, nullptr); }},
      {"GetFileSize", [&] { return fs_->GetFileSize(path, io, &number, nullptr); }},
      {"GetFileModificationTime",
       [&] { return fs_->GetFileModificationTime(path, io, &number, nullptr); }},
      {"NumFileLinks", [&] { return fs_->NumFileLinks(path, io, &number, nullptr); }},
      {"AreFilesSame", [&] { return fs_->AreFilesSame(path, other, io, &same, nullptr); }},
      {"RenameFile", [&] { return fs_->RenameFile(path, other, io, nullptr); }},
      {"LinkFile", [&] { return fs_->LinkFile(path, other, io, nullptr); }},
  };
  std::filesystem::create_directories(db_name_);
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    const auto target = std::make_shared<HangingFs>("000012.sst");
    target_ = target;
    NewFs(Tiers(), "0..=fast");
    std::thread thread([&call = call] { call().PermitUncheckedError(); });
    EXPECT_TRUE(WaitFor([&] { return target->is_hanging(); }));
    ExpectInUse();
    target->Release();
    thread.join();
    sequential.reset();
    random.reset();
    random_rw.reset();
    writable.reset();
    mapped.reset();
    EXPECT_OK(SetPlacement("0..=slow"));
  }
}

// To the end of the reader: it counts what it has read when it is closed already.
TEST_F(TieredUsesTest, OptionsStayWhileAFileIsRead) {
  const auto target = std::make_shared<ClosingFs>();
  target_ = target;
  const std::string path = MakeTable();
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(path, FileOptions(), &file, nullptr));
  ExpectInUse();
  int closed = 0;
  target->at_close = [&] {
    closed++;
    ExpectInUse();
  };
  file.reset();
  EXPECT_EQ(closed, 1);
  EXPECT_OK(SetPlacement("0..=slow"));
}

// As those of a BackupEngine are, until it is closed.
TEST_F(TieredUsesTest, OptionsStayWhileADirectoryIsOpen) {
  const std::string path = MakeTable();
  for (const bool closes : {true, false}) {
    std::unique_ptr<FSDirectory> directory;
    ASSERT_OK(fs_->NewDirectory(db_name_, IOOptions(), &directory, nullptr));
    ExpectInUse();
    ASSERT_OK(directory->Fsync(IOOptions(), nullptr));
    if (closes) {
      ASSERT_OK(directory->Close(IOOptions(), nullptr));
    } else {
      directory.reset();
    }
    EXPECT_OK(SetPlacement("0..=slow"));
    EXPECT_OK(SetPlacement("0..=fast"));
  }
}

TEST_F(TieredUsesTest, OptionsStayWhileAToolWorks) {
  MakeTable();
  auto* const fs = fs_->CheckedCast<TieredFileSystem>();
  ASSERT_NE(fs, nullptr);
  auto session = std::make_unique<AdminSession>(fs, db_name_);
  ASSERT_OK(session->Lock());
  ExpectInUse();
  session.reset();
  EXPECT_OK(SetPlacement("0..=slow"));
}

}  // namespace

}  // namespace rocktier
