#!/usr/bin/env python3
"""Statistics and gates: what is met, missed and undecided, and the order of rounds."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from common import gates, harness  # noqa: E402
from common.gates import INTERVAL, WORST, Gate, Judge  # noqa: E402
from common.results import Results  # noqa: E402


def results_of(**figures_by_system):
    """Rounds of the workload "w": system=[{metric: value} of each round]."""
    results = Results()
    for system, rounds in figures_by_system.items():
        for number, figures in enumerate(rounds):
            results.add("w", {system: figures}, number)
    return results


def rates(ours, stock):
    return results_of(ours=[{"rate": value} for value in ours],
                      stock=[{"rate": value} for value in stock])


def of_rates(ours, stock, target=1.2, at_least=True):
    judge = Judge(rates(ours, stock))
    return judge.ratio("rate", "w", "rate", "ours", ("stock",), target, at_least)


class ResultsTest(unittest.TestCase):
    def test_one_round_has_no_spread(self):
        results = rates([150], [100])
        self.assertIsNone(results.spread("w", "ours", "rate"))
        self.assertEqual(rates([150, 100, 200], []).spread("w", "ours", "rate"), 100 / 150)

    def test_ratios_are_the_rounds_own(self):
        results = rates([150, 75, 300], [100, 50, 200])
        self.assertEqual(results.ratios("w", "rate", "ours", "stock"), [1.5, 1.5, 1.5])
        self.assertEqual(results.ratio("w", "rate", "ours", "stock"), 1.5)

    def test_rounds_without_the_other_do_not_count(self):
        results = rates([150, 75, 300], [100])
        self.assertEqual(results.ratios("w", "rate", "ours", "stock"), [1.5])
        self.assertEqual(results.ratios("w", "rate", "ours", "nobody"), [])

    def test_nothing_to_divide_by(self):
        results = rates([5, 0, 5], [0, 0, 0])
        self.assertIsNone(results.ratio("w", "rate", "ours", "stock"))
        self.assertEqual(gates.exit_status([of_rates([5] * 3, [0] * 3, 0.2, False)], False), 1)

    def test_slices_are_samples_and_series_are_not(self):
        results = Results()
        results.add("w", {"ours": {"rate": [1, None, 3], "each second": {"operations": [1, 2]}}}, 0)
        self.assertEqual(results.by_round("w", "ours", "rate"), {0: 1, 2: 3})
        self.assertEqual(results.samples("w", "ours", "each second"), [])

    def test_the_best_one_is_that_of_the_better_median(self):
        results = results_of(a=[{"rate": 1}, {"rate": 5}, {"rate": 6}],
                             b=[{"rate": 4}, {"rate": 4}, {"rate": 4}])
        self.assertEqual(results.best("w", "rate", ("a", "b"), True), "a")
        self.assertEqual(results.best("w", "rate", ("a", "b"), False), "b")
        self.assertIsNone(results.best("w", "rate", ("a", "nobody"), True))


class VerdictTest(unittest.TestCase):
    def test_all_of_the_interval_on_the_right_side_is_met(self):
        self.assertEqual(of_rates([150, 140, 130], [100] * 3).verdict, gates.MET)

    def test_a_missed_gate_is_missed(self):
        gate = of_rates([110, 115, 119], [100] * 3)
        self.assertEqual(gate.verdict, gates.MISSED)
        self.assertEqual(gates.exit_status([gate], quick=False), 1)
        self.assertEqual(gates.exit_status([gate], quick=True), 1)
        self.assertTrue(next(gates.lines([gate])).startswith("missed: rate: 1.150"))

    def test_less_is_better(self):
        self.assertEqual(of_rates([50] * 3, [100] * 3, 0.5, False).verdict, gates.MET)
        self.assertEqual(of_rates([51] * 3, [100] * 3, 0.5, False).verdict, gates.MISSED)

    def test_a_target_within_the_interval_decides_nothing(self):
        gate = of_rates([110, 130, 140], [100] * 3)
        self.assertEqual(gate.verdict, gates.UNDECIDED)
        self.assertEqual(gates.exit_status([gate], quick=False), 3)
        self.assertEqual(gates.exit_status([gate], quick=True), 0)

    def test_one_round_decides_nothing(self):
        gate = of_rates([500], [100])
        self.assertEqual(gate.verdict_text(), "undecided: 2 more rounds")
        self.assertIsNone(gate.interval)
        self.assertIn("n/a", next(gates.lines([gate])))

    def test_the_rounds_that_are_missing(self):
        # The median is 0.1 above, the ends are 0.2 away: four times as many rounds.
        gate = of_rates([110, 130, 150], [100] * 3)
        self.assertEqual(gate.interval, (1.1, 1.5))
        self.assertEqual(gate.verdict_text(), "undecided: 9 more rounds")
        self.assertEqual(of_rates([110, 120, 130], [100] * 3).verdict_text(),
                         "undecided: more than 100 more rounds")

    def test_a_median_that_is_right_is_not_enough(self):
        """Which it was: two of three rounds are above 1.2."""
        self.assertNotEqual(of_rates([190, 121, 50], [100] * 3).verdict, gates.MET)

    def test_what_was_not_measured(self):
        gate = of_rates([], [])
        self.assertEqual(gate.verdict, gates.NOT_MEASURED)
        met = of_rates([150] * 3, [100] * 3)
        self.assertEqual(gates.exit_status([gate, met], quick=False), 0, "a subset is judged")
        self.assertEqual(gates.exit_status([gate], quick=False), 1, "nothing was judged")

    def test_not_judged_at_this_size(self):
        missed = of_rates([100] * 3, [100] * 3)
        self.assertEqual([gate.verdict for gate in gates.not_judged([missed])], [gates.NOT_JUDGED])
        met = of_rates([150] * 3, [100] * 3)
        self.assertEqual(gates.exit_status([met, *gates.not_judged([missed])], quick=True), 0)


class SafetyTest(unittest.TestCase):
    def gate(self, *lost):
        results = results_of(ours=[{"lost": value} for value in lost])
        return Judge(results).worst("keys lost", ("w",), "lost", "ours", 0)

    def test_keys_lost_in_one_of_three_rounds(self):
        gate = self.gate(0, 5000, 0)
        self.assertEqual(gate.value, 5000)
        self.assertEqual(gate.verdict, gates.MISSED)
        self.assertEqual(gates.exit_status([gate], quick=True), 1)

    def test_none_lost(self):
        self.assertEqual(self.gate(0, 0, 0).verdict, gates.MET)
        self.assertEqual(self.gate(0).verdict, gates.MET, "one round is enough to count")
        self.assertEqual(self.gate().verdict, gates.NOT_MEASURED)

    def test_the_worst_of_all_workloads(self):
        results = results_of(ours=[{"space": 1.4}, {"space": 1.6}])
        results.add("v", {"ours": {"space": 1.2}}, 0)
        gate = Judge(results).worst("space", ("v", "w"), "space", "ours", 1.575)
        self.assertEqual((gate.value, gate.verdict), (1.6, gates.MISSED))

    def test_at_least_takes_the_smallest(self):
        self.assertEqual(Gate("x", (3, 1, 2), 2, True, WORST).verdict, gates.MISSED)
        self.assertEqual(Gate("x", (3, 1, 2), 2, True, INTERVAL).verdict, gates.UNDECIDED)


class DescribedTest(unittest.TestCase):
    def test_all_is_in_the_file(self):
        described = of_rates([110, 130, 150], [100] * 3).described()
        self.assertEqual(described["samples"], [1.1, 1.3, 1.5])
        self.assertEqual(described["interval"], (1.1, 1.5))
        self.assertEqual((described["relation"], described["target"]), (">=", 1.2))
        self.assertEqual(described["verdict"], "undecided: 9 more rounds")


class RotationTest(unittest.TestCase):
    @staticmethod
    def cases(*names, turn=""):
        return [harness.Case(name.split("/")[0], (name.split("/")[1],), None, turn=turn)
                for name in names]

    @staticmethod
    def order(cases, number):
        return " ".join(case.benchmark + case.systems[0]
                        for case in harness.rotated(cases, number))

    def test_systems_rotate_within_a_workload(self):
        cases = self.cases("w/a", "w/b", "w/c", "v/a", "v/b")
        self.assertEqual(self.order(cases, 0), "wa wb wc va vb")
        self.assertEqual(self.order(cases, 1), "wb wc wa vb va")
        self.assertEqual(self.order(cases, 2), "wc wa wb va vb")

    def test_a_turn_stays_together(self):
        cases = self.cases("w/a", "v/a", "w/b", "v/b", turn="use")
        self.assertEqual(self.order(cases, 1), "wb vb wa va")


if __name__ == "__main__":
    unittest.main(verbosity=2)
