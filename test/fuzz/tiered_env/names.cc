// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Small objects at home and in the folders: stubs, TIERS, OWNER, TIERS-STATS, and the statistics
// file.

#include "plugin/tiered_env/files/stub.h"
#include "plugin/tiered_env/metrics.h"
#include "plugin/tiered_env/stats.h"
#include "test/fuzz/target.h"

using namespace rocktier;
namespace tiered = rocksdb::tiered_env;

namespace {

std::string TextOf(const tiered::VolatileStats& stats) {
  tiered::TieredStats all;
  all.in_memory = stats;
  tiered::MetricsPage page;
  tiered::AddMetrics(all, /*has_memory=*/true, {{"db", "/db"}}, &page);
  return page.Text();
}

}  // namespace

FUZZ_TARGET(tiered_stub) {
  Input input(bytes);
  tiered::Stub made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    made.tier = from->Name(60);
    made.path = from->Name(100) + "/" + from->Name(100);
    made.directory = from->Name(255);
    return made.Encode();
  });
  tiered::Stub stub;
  const Bound bound(FitFor(object.bytes.size()));
  if (!tiered::Stub::Decode(object.bytes, "stub", &stub).ok()) {
    return;
  }
  if (object.untouched) {
    Require(stub.tier == made.tier && stub.path == made.path && stub.directory == made.directory,
            "a stub changes");
  }
  Require(stub.tier.size() + stub.path.size() + stub.directory.size() <= tiered::Stub::kSize,
          "a stub has more than it has room for");
  const std::string once = stub.Encode();
  tiered::Stub again;
  Require(once.size() == tiered::Stub::kSize && tiered::Stub::Decode(once, "stub", &again).ok() &&
              again.Encode() == once,
          "a stub is not read again");
}

FUZZ_TARGET(tiered_identity) {
  Input input(bytes);
  tiered::Identity made;
  const Bytes object = BytesFrom(&input, [&made](Input* from) {
    made.folder = from->Name(100);
    made.directory = from->Name(255);
    made.version = 1 + static_cast<int>(from->Number() % 2);
    made.opening = std::string(32, 'a');
    made.tiers["fast"] = {std::string(32, '0'), std::string(32, '1')};
    return made.Encode();
  });
  tiered::Identity identity;
  const Bound bound(FitFor(object.bytes.size()));
  if (!tiered::Identity::Decode(object.bytes, "TIERS", &identity).ok()) {
    return;
  }
  if (object.untouched) {
    Require(identity.folder == made.folder && identity.directory == made.directory,
            "an identity changes");
  }
  const std::string once = identity.Encode();
  tiered::Identity again;
  Require(tiered::Identity::Decode(once, "TIERS", &again).ok() && again.Encode() == once,
          "an identity is not read again");
}

FUZZ_TARGET(tiered_statistics) {
  Input input(bytes);
  const Bytes object = BytesFrom(&input, [](Input* from) {
    tiered::VolatileStats made;
    made.tables = from->Number();
    made.recipes = from->Number();
    return from->Number() % 2 == 0 ? tiered::EncodeStatistics(made) : TextOf(made);
  });
  tiered::VolatileStats stats;
  const Bound bound(FitFor(object.bytes.size()));
  if (tiered::DecodeStatistics(object.bytes, &stats)) {
    const std::string once = tiered::EncodeStatistics(stats);
    tiered::VolatileStats again;
    Require(tiered::DecodeStatistics(once, &again) && tiered::EncodeStatistics(again) == once,
            "statistics change");
  }
  if (tiered::ReadMemoryMetrics(object.bytes, &stats)) {
    const std::string once = TextOf(stats);
    tiered::VolatileStats again;
    Require(tiered::ReadMemoryMetrics(once, &again) && again.tables == stats.tables &&
                again.recovery_micros == stats.recovery_micros,
            "metrics change");
  }
}
