#!/usr/bin/env python3
"""The cache policies and RocksDB's caches are given the same accesses, and hits are counted right.

A trace is made up, and a least-recently-used cache of a few lines says what its hits are.
"""

import collections
import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from benchmarks import cache_policies  # noqa: E402
from cache import policy_systems  # noqa: E402
from common.harness import Context  # noqa: E402
from common.results import Results  # noqa: E402

BIN = os.environ.get("ROCKTIER_BIN", "")
SEED = 3
ACCESSES, WARMUP = 60_000, 20_000
BLOCKS, ROOM = 10_000, 2_000
SIZE = 4096


def lru_hits(keys):
    held, hits = collections.OrderedDict(), 0
    for number, key in enumerate(keys):
        if key in held:
            held.move_to_end(key)
            hits += number >= WARMUP
            continue
        held[key] = True
        if len(held) > ROOM:
            held.popitem(last=False)
    return hits


class MeanTest(unittest.TestCase):
    def gate(self, misses):
        """`misses`: of each trace, for each system; others miss all."""
        results = Results()
        for trace, of_systems in misses.items():
            for system in ("2q", *policy_systems.ONLINE):
                results.add(trace, {system: {"miss_ratio": of_systems.get(system, 1.0)}}, 0)
        return cache_policies.mean_gate(results, "all", ("one", "two"), 1.0)

    def test_one_policy_has_to_be_better_over_all_traces(self):
        gate = self.gate({"one": {"2q": 0.3, "sim_arc": 0.2, "sim_lru": 0.3},
                          "two": {"2q": 0.3, "sim_arc": 0.8, "sim_lru": 0.27}})
        self.assertAlmostEqual(gate.value, (0.3 * 0.3 / (0.3 * 0.27)) ** 0.5)

    def test_nothing_is_said_of_a_part(self):
        self.assertIsNone(self.gate({"one": {"2q": 0.3}}).value)


class PoliciesTest(unittest.TestCase):
    def setUp(self):
        weights = [1 / (rank + 1) ** 0.9 for rank in range(BLOCKS)]
        print(f"seed {SEED}")
        self.keys = random.Random(SEED).choices(range(1, BLOCKS + 1), weights, k=ACCESSES)
        self.context = Context(BIN, tempfile.gettempdir())
        self.addCleanup(self.context.close)
        self.trace = self.context.path("trace")
        with open(self.trace, "wb") as file:
            for key in self.keys:
                file.write(struct.pack("=QQ", key * 7919, SIZE))
        self.lookups = ACCESSES - WARMUP

    def test_policies_and_caches(self):
        figures = policy_systems.over(self.context, self.trace, WARMUP, ROOM * SIZE)
        self.assertEqual(set(figures), {*policy_systems.REPLAYED, *policy_systems.SIMULATED})
        hits = lru_hits(self.keys)
        self.assertEqual(figures["sim_lru"]["hits"], hits)
        # RocksDB's LRU cache has shards, and its book-keeping in its capacity. It keeps blocks that
        # were hit longer than others: by default half of it is for them.
        self.assertGreaterEqual(figures["dram"]["hit_ratio"], hits / self.lookups - 0.03)
        self.assertGreater(figures["2q"]["hit_ratio"], 0.4)
        self.assertGreater(figures["2q"]["copied_bytes_per_lookup"], 0)
        for system, one in figures.items():
            self.assertGreaterEqual(one["misses_of_belady"], 1, system)

    def test_a_trace_that_ends_early_is_refused(self):
        with open(self.trace, "ab") as file:
            file.write(b"half")
        with self.assertRaisesRegex(RuntimeError, "ends early"):
            policy_systems.replay(self.context, self.trace, 0, ROOM * SIZE, "2q")


if __name__ == "__main__":
    unittest.main(verbosity=2)
