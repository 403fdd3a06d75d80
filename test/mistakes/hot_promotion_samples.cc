// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A database and a hot_promotion directory that the first version has written: see data/README.md.

#include "test/hot_promotion/support.h"
#include "test/mistakes/samples.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class HotSamples : public HotDb {
 protected:
  HotSamples() {
    const std::string sample = rocktier::SamplePath("hot_promotion_v1.tar.gz");
    EXPECT_EQ(0, system(("tar -xzf '" + sample + "' -C '" + root_ + "'").c_str()));
  }
};

// It had no markers. Its copies are of use still, and those that are made now besides.
TEST_F(HotSamples, CopiesOfTheFirstVersionAreServed) {
  constexpr int kKeys = 100;
  constexpr uint64_t kHot = 50;
  for (int round = 0; round < 2; round++) {
    Open();
    Settle();
    TakeServed();
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i), Get(i));
    }
    const uint64_t served = TakeServed().store;
    EXPECT_GE(served, kHot) << round;
    EXPECT_TRUE(round > 0 || served == kHot) << "others are copied for the next round: " << served;
    EXPECT_GE(Stats().access_table["hot_keys"], kHot);
    CloseAll();
  }
  Open();
  Heat(60, 80);
  for (int i = 0; i < kKeys; i++) {
    ASSERT_EQ(ValueOf(i), Get(i));
  }
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
