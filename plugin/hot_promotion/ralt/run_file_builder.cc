// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/run_file_builder.h"

#include "plugin/hot_promotion/ralt/filter.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

// Gives the SST the properties that are there when it is finished.
class Collector : public TablePropertiesCollector {
 public:
  explicit Collector(const UserCollectedProperties* properties) : properties_(properties) {}
  const char* Name() const override { return "RaltProperties"; }
  Status AddUserKey(const Slice& /*key*/, const Slice& /*value*/, EntryType /*type*/,
                    SequenceNumber /*seq*/, uint64_t /*file_size*/) override {
    return Status::OK();
  }
  Status Finish(UserCollectedProperties* properties) override {
    *properties = *properties_;
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override { return {}; }

 private:
  const UserCollectedProperties* const properties_;
};

class CollectorFactory : public TablePropertiesCollectorFactory {
 public:
  explicit CollectorFactory(const UserCollectedProperties* properties) : properties_(properties) {}
  const char* Name() const override { return "RaltProperties"; }
  TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new Collector(properties_);
  }

 private:
  const UserCollectedProperties* const properties_;
};

Options BuildOptions(Env* env, const UserCollectedProperties* properties) {
  Options options = RunFileOptions(env);
  options.table_properties_collector_factories.push_back(
      std::make_shared<CollectorFactory>(properties));
  return options;
}

}  // namespace

RunFileBuilder::RunFileBuilder(Env* env) : writer_(EnvOptions(), BuildOptions(env, &properties_)) {}

Status RunFileBuilder::Open(const std::string& name) { return writer_.Open(name); }

Status RunFileBuilder::Add(const Slice& key, uint64_t hash, const Record& record, bool hot,
                           bool fresh) {
  value_.clear();
  record.EncodeTo(&value_);
  if (hot) {
    hot_.push_back(hash);
  }
  Count(key, key.size() + value_.size(), record, hot, fresh);
  return writer_.Put(key, value_);
}

void RunFileBuilder::Count(const Slice& key, uint64_t raw, const Record& record, bool hot,
                           bool fresh) {
  Amounts* const total = &digest_.total;
  if (total->raw_bytes >= next_point_) {
    digest_.points.push_back({key.ToString(), total->table_bytes, total->hot_bytes});
    next_point_ = total->raw_bytes + kPointEvery;
  }
  digest_.last.assign(key.data(), key.size());
  total->records += 1;
  total->raw_bytes += raw;
  total->sizes += record.size;
  total->table_bytes += fresh ? raw : 0;
  total->hot_keys += fresh && hot ? 1 : 0;
  total->hot_bytes += fresh && hot ? record.size : 0;
}

Status RunFileBuilder::Finish() {
  properties_[kDigestProperty] = digest_.Encode();
  properties_[kFilterProperty] = Filter::Make(hot_);
  return writer_.Finish();
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
