// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>

#include "rocksdb/sst_partitioner.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Ends a file of the hot store where retained records of another SST begin. So what a new SST
// retains lies between files, goes to the last level at once and is deleted as a whole. Promoted
// records come from many SSTs at a time, and share files.
class RetainedPartitioner : public SstPartitioner {
 public:
  const char* Name() const override { return "HotPromotionPartitioner"; }
  PartitionerResult ShouldPartition(const PartitionerRequest& request) override;
  bool CanDoTrivialMove(const Slice& smallest_key, const Slice& largest_key) override;
};

// Thread-safe.
class RetainedPartitionerFactory : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "HotPromotionPartitioner"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& /*context*/) const override {
    return std::make_unique<RetainedPartitioner>();
  }
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
