// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files in the database directory that are neither RocksDB's nor the plugin's.

#include <sys/stat.h>

#include "plugin/tiered_env/files/names.h"
#include "test/mistakes/tiered_env_durable.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

// One file cannot be read, as by a user whom its mode keeps out, and no FIFO may be opened.
class ForeignFs : public FileSystemWrapper {
 public:
  ForeignFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "ForeignFs"; }
  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    IOStatus s = Ask(path);
    return s.ok() ? target_->NewSequentialFile(path, options, result, dbg) : s;
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& options, bool* is_directory,
                       IODebugContext* dbg) override {
    IOStatus s = Ask(path);
    return s.ok() ? target_->IsDirectory(path, options, is_directory, dbg) : s;
  }

  std::string unreadable;  // its name

 private:
  IOStatus Ask(const std::string& path) const {
    if (fs::is_fifo(path)) {
      ADD_FAILURE() << path << " would have it wait for who writes to it";
      return IOStatus::IOError(path, "is a FIFO");
    }
    return BaseOf(path) == unreadable ? IOStatus::IOError(path, "Permission denied")
                                      : IOStatus::OK();
  }
};

class ForeignMistakes : public DurableMistakes {};

TEST_F(ForeignMistakes, FilesOfOthersAtHome) {
  const auto disk = std::make_shared<ForeignFs>();
  target_ = disk;
  FillTiers();
  fs::create_directories(db_name_ + "/archive");
  for (const char* fifo : {"/pipe", "/archive/pipe"}) {
    ASSERT_EQ(mkfifo((db_name_ + fifo).c_str(), 0600), 0);
  }
  WriteFile(db_name_ + "/notes", "private");
  disk->unreadable = "notes";
  ExpectWhole(Tiers());
  ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  EXPECT_TRUE(check.problems.empty());
  EXPECT_EQ(ReadFile(db_name_ + "/notes"), "private");
  // What may be a stub is not passed over.
  disk->unreadable = OneIn("slow");
  const Status s = TryOpen(Tiers());
  EXPECT_NE(s.ToString().find("Permission denied"), std::string::npos) << s.ToString();
  Close();
  disk->unreadable.clear();
  uint64_t moved = 0;
  ASSERT_OK(EvacuateTiers(fs_.get(), db_name_, &moved));
  EXPECT_GT(moved, 0u);
}

}  // namespace

}  // namespace rocktier
