#!/usr/bin/env python3
"""Every gate of every benchmark finds its figures in what the benchmark measures.

Nothing is run: each system of each workload has each metric, with the same value in all rounds. A
gate that is not measured then would never be.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import run as runner  # noqa: E402
from cache import public_traces  # noqa: E402
from common import gates, grounds, harness, peers, perf, slice_cases  # noqa: E402
from common.results import Results  # noqa: E402
from tier import volatile_systems  # noqa: E402

ROUNDS = 3


def measured(benchmark, args):
    results = Results()
    for number in range(ROUNDS):
        for case in harness.rotated(benchmark.cases(args), number):
            figures = {metric.name: 1.0 for metric in benchmark.metrics}
            results.add(case.benchmark, {system: figures for system in case.systems}, number)
    return results


class GatesTest(unittest.TestCase):
    def setUp(self):
        reason = grounds.missing(in_memory=True) or volatile_systems.no_memory()
        if reason:
            self.skipTest(f"not all systems can be measured here: {reason}")

    def benchmarks(self, *flags):
        for name in harness.names("benchmarks"):
            beside = [f"--peer={peer}=none" for peer in peers.KNOWN]
            args = runner.parse(["--bin=none", f"--name={name}", *beside, *flags])
            benchmark = harness.load("benchmarks", name).BENCHMARK
            missing = {"cpu_profile": perf.missing, "cache_policies": public_traces.missing}
            if name in missing and missing[name]():
                print(f"skipped: {name}: {missing[name]()}")
                continue
            yield benchmark, args

    def test_a_full_run(self):
        for benchmark, args in self.benchmarks():
            judged = runner.gates_of(benchmark, measured(benchmark, args), quick=False)
            self.check(judged)
            self.assertEqual({gate.verdict for gate in judged} - {gates.MET, gates.MISSED}, set())

    def test_a_quick_run(self):
        for benchmark, args in self.benchmarks("--quick"):
            benchmark = slice_cases.with_slices(benchmark)
            results = measured(benchmark, args)
            judged = benchmark.quick_gates(results)
            self.check(judged)
            rest = runner.gates_of(benchmark, results, quick=True)[len(judged):]
            self.assertEqual({gate.verdict for gate in rest} -
                             {gates.NOT_JUDGED, gates.NOT_MEASURED}, set())

    def check(self, judged):
        self.assertGreater(len(judged), 0)
        self.assertEqual([gate.name for gate in judged if not gate.samples], [])
        names = [gate.name for gate in judged]
        self.assertEqual(len(names), len(set(names)), "names are unique")

    def test_things_of_the_demo(self):
        for benchmark, _ in self.benchmarks():
            for thing in benchmark.things:
                self.assertIn(thing, harness.names("demos"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
