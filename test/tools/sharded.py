# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Deals the cases of a test program out to the entries of ctest, as GoogleTest does."""

import os
import unittest

TOTAL = int(os.environ.get("GTEST_TOTAL_SHARDS", 1))
INDEX = int(os.environ.get("GTEST_SHARD_INDEX", 0))


class Dealer(unittest.TestLoader):
    dealt = 0

    def getTestCaseNames(self, testCaseClass):
        names = super().getTestCaseNames(testCaseClass)
        mine = [name for i, name in enumerate(names, self.dealt) if i % TOTAL == INDEX]
        self.dealt += len(names)
        return mine


def main():
    unittest.main(verbosity=2, testLoader=Dealer())
