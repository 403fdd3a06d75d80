// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/hot_promotion/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class RandomTest : public RandomDb {};

TEST_F(RandomTest, AnswersAreRight) { RunRounds(rocktier::Rounds(6)); }

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
