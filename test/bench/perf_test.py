#!/usr/bin/env python3
"""Samples of perf are counted for the innermost function that says what was done."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from common import perf  # noqa: E402

KINDS = {"wake": r"\bfutex_wake", "table": r"BlockBuilder::|TableBuilder::", "file": r"Writer::"}
# As perf script prints two fields.
TEXT = """
\tffffffff81b94ccc _raw_spin_unlock
\tffffffff81ceecb2 futex_wake
\t          656687 rocksdb::log::Writer::AddRecord(rocksdb::Slice const&)

\t           1de38 __memmove_avx512
\t           1a34e rocksdb::BlockBuilder::Add(rocksdb::Slice const&)
\t           1bccb rocksdb::WritableFileWriter::Append(rocksdb::Slice const&)

\t           1ab77 [unknown]

"""


class PerfTest(unittest.TestCase):
    def test_kinds(self):
        samples = list(perf.parse(TEXT))
        self.assertEqual([len(sample) for sample in samples], [3, 3, 1])
        self.assertEqual(samples[2], ["[unknown]"])
        counted = {kind: round(seconds * perf.FREQUENCY)
                   for kind, seconds in perf.seconds(samples, KINDS).items()}
        self.assertEqual(counted, {"wake": 1, "table": 1, "file": 0, "rest": 1})

    def test_the_first_kind_that_fits_counts(self):
        samples = [["rocksdb::TableBuilder::Writer::Add"]]
        self.assertGreater(perf.seconds(samples, KINDS)["table"], 0)
        self.assertEqual(perf.seconds(samples, KINDS)["file"], 0)

    def test_nothing(self):
        self.assertEqual(list(perf.parse("")), [])
        self.assertEqual(perf.seconds([], KINDS)["rest"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
