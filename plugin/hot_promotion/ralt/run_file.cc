// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/run_file.h"

#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "rocksdb/env.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

RunFile::RunFile(uint64_t number, const Options& options)
    : number_(number), reader_(new SstFileReader(options)) {}

Status RunFile::Open(Env* env, const std::string& directory, uint64_t number,
                     std::shared_ptr<const RunFile>* result) {
  const std::string name = RunFileName(directory, number);
  std::shared_ptr<RunFile> file(new RunFile(number, RunFileOptions(env)));
  Status s = env->GetFileSize(name, &file->file_size_);
  if (s.ok()) {
    s = file->Load(name);
  }
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

Status RunFile::Load(const std::string& name) {
  Status s = reader_->Open(name);
  if (!s.ok()) {
    return s;
  }
  properties_ = reader_->GetTableProperties();
  const UserCollectedProperties& mine = properties_->user_collected_properties;
  const auto digest = mine.find(kDigestProperty);
  const auto filter = mine.find(kFilterProperty);
  if (digest == mine.end() || filter == mine.end() || !Filter::Sound(filter->second) ||
      !Digest::Decode(digest->second, &digest_)) {
    return Status::Corruption(name, "is not a file of RALT's, or of another version");
  }
  filter_ = Filter(filter->second);
  memory_ = filter->second.size() + 2 * digest->second.size() + properties_->index_size;
  return s;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
