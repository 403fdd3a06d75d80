// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Following a MANIFEST.

#include "plugin/tiered_env/db/manifest.h"

#include <fstream>

#include "db/log_writer.h"
#include "db/version_edit.h"
#include "file/writable_file_writer.h"
#include "test/support/scratch.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

#define ASSERT_OK(expression)                               \
  do {                                                      \
    const ROCKSDB_NAMESPACE::Status status_ = (expression); \
    ASSERT_TRUE(status_.ok()) << status_.ToString();        \
  } while (false)

// A directory with a CURRENT and a MANIFEST that is written to it.
class ManifestTest : public ::testing::Test {
 protected:
  ManifestTest() : fs_(FileSystem::Default()), folder_(NewFolder()) {
    std::ofstream(folder_ + "/CURRENT") << "MANIFEST-000001\n";
    std::unique_ptr<FSWritableFile> file;
    const std::string path = folder_ + "/MANIFEST-000001";
    EXPECT_TRUE(fs_->NewWritableFile(path, FileOptions(), &file, nullptr).ok());
    writer_ = std::make_unique<log::Writer>(
        std::make_unique<WritableFileWriter>(std::move(file), path, FileOptions()), 0,
        /*recycle_log_files=*/false);
  }

  // Writes an edit that adds an SST; `left`: how many of its group come after it, -1: it is in
  // none.
  void Add(uint64_t number, int left) {
    VersionEdit edit;
    FileMetaData table;
    table.fd = FileDescriptor(number, /*path_id=*/0, /*file_size=*/100, 1, 2);
    table.smallest = InternalKey("a", 1, kTypeValue);
    table.largest = InternalKey("b", 2, kTypeValue);
    table.epoch_number = 1;
    edit.AddFile(/*level=*/0, table);
    if (left >= 0) {
      edit.MarkAtomicGroup(static_cast<uint32_t>(left));
    }
    Write(edit);
  }

  void Write(const VersionEdit& edit) {
    std::string record;
    ASSERT_TRUE(edit.EncodeTo(&record, 0));
    ASSERT_OK(writer_->AddRecord(WriteOptions(), record));
  }
  // Writes an edit that adds a blob file of 5 values to a column family.
  void AddBlob(uint64_t number, uint32_t family) {
    VersionEdit edit;
    edit.SetColumnFamily(family);
    edit.AddBlobFile(number, /*total_blob_count=*/5, /*total_blob_bytes=*/500, "", "");
    Write(edit);
  }

  const std::shared_ptr<FileSystem> fs_;
  const std::string folder_;
  std::unique_ptr<log::Writer> writer_;
};

TEST_F(ManifestTest, AGroupCountsWhenItIsComplete) {
  Manifest manifest(fs_.get(), folder_);
  Add(10, -1);
  Add(11, 2);
  Add(12, 1);
  ASSERT_OK(manifest.Refresh());
  EXPECT_EQ(manifest.tables().size(), 1u);
  Add(13, 0);
  ASSERT_OK(manifest.Refresh());
  EXPECT_EQ(manifest.tables().size(), 4u);
  Add(14, 0);  // alone
  ASSERT_OK(manifest.Refresh());
  EXPECT_EQ(manifest.tables().count(14), 1u);
  ASSERT_OK(manifest.Check());
}

TEST_F(ManifestTest, AGroupWithoutItsEndIsDamage) {
  Add(10, 1);
  Add(11, -1);
  const Status s = Manifest(fs_.get(), folder_).Refresh();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(ManifestTest, AFamilyThatIsDroppedNeedsNoBlobFile) {
  VersionEdit add;
  add.SetColumnFamily(7);
  add.AddColumnFamily("seven");
  Write(add);
  AddBlob(10, 0);
  AddBlob(11, 7);
  Manifest manifest(fs_.get(), folder_);
  ASSERT_OK(manifest.Refresh());
  EXPECT_EQ(manifest.blobs().size(), 2u);
  VersionEdit drop;
  drop.SetColumnFamily(7);
  drop.DropColumnFamily();
  Write(drop);
  ASSERT_OK(manifest.Refresh());
  EXPECT_EQ(manifest.blobs().size(), 1u);
  EXPECT_EQ(manifest.blobs().count(10), 1u);
}

}  // namespace

}  // namespace rocktier
