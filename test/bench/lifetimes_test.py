#!/usr/bin/env python3
"""The model of blob_hybrid and the policies that know lifetimes, on traces made by hand."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from blob import blob_systems, hybrid_model, lifetimes, lsm_model  # noqa: E402

BIN = os.environ.get("ROCKTIER_BIN", "")
SIZE = 1000
STORED = SIZE + lsm_model.HEADER + lsm_model.KEY
MEDIUM = 100
RECORDS = 2000


def writes_of(records, size=SIZE, loaded=0):
    return lsm_model.Writes(records, [size] * len(records), loaded)


def tree_of(writes, policy=None):
    return lsm_model.Tree(writes, policy or lifetimes.Today(writes), 4 << 20, lambda: None)


def victims(*numbers):
    return lsm_model.Aim(frozenset(numbers))


class TreeTest(unittest.TestCase):
    def test_what_a_memtable_overwrites_reaches_no_file(self):
        tree = tree_of(writes_of([0, 1, 0, 0]))
        tree.flush([0, 1, 2, 3], lsm_model.LARGE)
        self.assertEqual(tree.value_bytes, 2 * STORED)
        self.assertEqual(tree.counters["flushed_blob_bytes"], 2 * STORED + lsm_model.BLOB_FILE)
        self.assertEqual((tree.all.blobs, tree.hidden.blobs), (2, 0))

    def test_garbage_is_known_when_a_compaction_drops_the_reference(self):
        tree = tree_of(writes_of([0, 1, 0]))
        tree.flush([0, 1], lsm_model.LARGE)
        old = tree.place[0]
        tree.flush([2], lsm_model.LARGE)
        self.assertEqual((tree.garbage_bytes, tree.hidden.blob_bytes), (0, STORED))
        tree.compact(tree.levels[0], 6, lsm_model.Aim())
        self.assertEqual((tree.garbage_bytes, tree.hidden.blob_bytes), (STORED, 0))
        self.assertEqual(tree.blobs[old].garbage, STORED)
        self.assertEqual(len(tree.levels[6]), 1)

    def test_a_file_of_garbage_alone_goes(self):
        tree = tree_of(writes_of([0, 1, 0, 1]))
        tree.flush([0, 1], lsm_model.LARGE)
        tree.flush([2, 3], lsm_model.LARGE)
        tree.compact(tree.levels[0], 6, lsm_model.Aim())
        self.assertEqual([blob.number for blob in tree.blobs.values()], [tree.place[3]])
        self.assertEqual(tree.blob_file_bytes, 2 * STORED + lsm_model.BLOB_FILE)
        self.assertEqual((tree.garbage_bytes, tree.counters["moved_bytes"]), (0, 0))

    def test_values_move_out_of_victims(self):
        tree = tree_of(writes_of([0, 1, 2, 3, 0, 1, 2]))
        tree.flush([0, 1, 2, 3], lsm_model.LARGE)
        victim = tree.place[3]
        tree.flush([4, 5, 6], lsm_model.LARGE)
        other = tree.place[4]
        tree.compact(tree.levels[0], 6, victims(victim))
        self.assertEqual(tree.counters["moved_bytes"], SIZE)
        self.assertNotIn(tree.place[3], (victim, other))
        self.assertEqual(set(tree.blobs), {other, tree.place[3]})
        self.assertEqual(tree.levels[6][0].references, {other: 3 * STORED, tree.place[3]: STORED})

    def test_young_files_are_sorted_once_and_rest(self):
        writes = writes_of([0, 1, 2, 3, 4, 2, 0])
        tree = tree_of(writes, lifetimes.YoungDeaths(writes, 2))
        tree.flush([0, 1, 2, 3], lsm_model.LARGE)
        young = tree.blobs[tree.place[0]]
        tree.flush([4], lsm_model.LARGE)
        tree.compact(tree.levels[0], 6, lsm_model.Aim(young=True))
        kept = [put for put in range(5) if tree.place[put] == young.number]
        self.assertEqual(set(kept) - {4}, {0, 2})  # they die
        self.assertEqual((young.young, young.rest), (False, 2 * STORED))

    def test_a_part_of_a_victim_moves(self):
        writes = writes_of([0, 1, 2, 3, 2, 0])
        tree = tree_of(writes, lifetimes.PartDeaths(writes, 2))
        tree.flush([0, 1, 2, 3], lsm_model.LARGE)
        victim = tree.place[0]
        tree.compact(tree.levels[0], 6, victims(victim))
        self.assertEqual([tree.place[put] == victim for put in range(4)],
                         [True, False, True, False])
        tree.blobs[victim].let_rest()
        tree.compact(tree.levels[6], 6, victims(victim))  # now all
        self.assertNotIn(victim, tree.blobs)

    def test_what_rests_is_spared_until_half_of_it_has_died(self):
        policy, blob = lifetimes.PartPast(writes_of([0]), 2), lsm_model.Blob(1, [], 100)
        self.assertTrue(policy.may_collect(blob, 0))
        blob.let_rest()
        self.assertFalse(policy.may_collect(blob, 0))
        blob.garbage = 50
        self.assertTrue(policy.may_collect(blob, 0))

    def test_neighbours_are_read_together_if_they_are(self):
        tree = tree_of(writes_of([0, 1, 2, 3, 1]))
        tree.flush([0, 1, 2, 3], lsm_model.LARGE)
        self.assertEqual(tree.scan_shares(), (1, 1 / 4))
        tree.flush([4], lsm_model.LARGE)
        self.assertEqual(tree.scan_shares()[0], 1)
        self.assertIn(tree.scan_shares()[1], (2 / 4, 3 / 4))  # 1 is at an end, or within

    def test_a_hidden_value_moves_and_is_counted(self):
        tree = tree_of(writes_of([0, 1, 0]))
        tree.flush([0, 1], lsm_model.LARGE)
        tree.compact(tree.levels[0], 6, lsm_model.Aim())
        tree.flush([2], lsm_model.LARGE)
        tree.compact(tree.levels[6], 6, victims(tree.place[0]))
        self.assertEqual(tree.counters["moved_bytes"], 2 * SIZE)
        self.assertEqual(tree.counters["moved_dead_bytes"], SIZE)

    def test_medium_values_merge_at_the_merge_level(self):
        tree = tree_of(writes_of([0, 1], MEDIUM))
        tree.flush([0, 1], MEDIUM)
        self.assertEqual(tree.medium_bytes, 2 * (MEDIUM + lsm_model.HEADER + lsm_model.KEY))
        tree.compact(tree.levels[0], 5, lsm_model.Aim(merge_level=6))
        self.assertEqual(len(tree.blobs), 1)
        tree.compact(tree.levels[5], 6, lsm_model.Aim(merge_level=6))
        self.assertEqual((len(tree.blobs), tree.medium_bytes), (0, 0))
        self.assertEqual(tree.counters["merged_bytes"], 2 * MEDIUM)
        self.assertEqual((tree.all.inline, tree.all.inline_bytes), (2, 2 * (MEDIUM + 24)))

    def test_level_0_is_compacted_to_the_last_level_first(self):
        tree = tree_of(writes_of(range(16)))
        for put in range(16):
            self.assertIsNone(tree.next_compaction())
            tree.flush([put], lsm_model.LARGE)
        inputs, output_level = tree.next_compaction()
        self.assertEqual((len(inputs), output_level), (16, 6))

    def test_ssts_end_when_they_are_full_or_at_an_edge(self):
        ends = [100_000 * (i + 1) for i in range(10)]
        self.assertEqual(lsm_model.cut(ends, [], 0, 0), 3)
        self.assertEqual(lsm_model.cut(ends, [1, 2], 0, 0), 2)  # where it is more than half full
        self.assertEqual(lsm_model.cut(ends, [], 9, 900_000), 10)


class JobTest(unittest.TestCase):
    def test_victims_are_those_with_most_garbage(self):
        blobs = [lsm_model.Blob(number, [], 100) for number in range(1, 5)]
        for blob, garbage in zip(blobs, (20, 60, 40, 10)):
            blob.garbage = garbage

        def picked(room, collected=(), may_collect=lambda blob: True):
            return set(hybrid_model.pick_victims(blobs, 1 / 6, 1.5, room, dict(collected),
                                                 may_collect))

        self.assertEqual(picked((2, 1000)), {2, 3})  # 270 bytes live, so 270 are moved at a time
        self.assertEqual(picked((3, 1000)), {1, 2, 3})  # 4 has too little
        self.assertEqual(picked((0.15, 0)), {2})  # one at least
        self.assertEqual(picked((0.15, 0), [(4, False)]), {4})
        self.assertEqual(picked((0.15, 0), [(4, True)]), {2, 4})
        self.assertEqual(picked((0.15, 0), may_collect=lambda blob: blob.number != 2), {3})

    def test_the_estimate_takes_the_most_that_is_possible_of_a_small_sample(self):
        writes = writes_of([0, 1, 0])
        tree = tree_of(writes)
        tree.flush([0, 1], lsm_model.LARGE)
        tree.compact(tree.levels[0], 6, lsm_model.Aim())
        tree.flush([2], lsm_model.LARGE)
        space = hybrid_model.estimate(tree, hybrid_model.Options(1.5, 1, 0))
        self.assertEqual(space.disk, tree.disk_bytes)
        self.assertEqual(space.hidden, 3 * STORED / 3)  # one of three entries is above the last one
        self.assertAlmostEqual(space.amplification, tree.disk_bytes / (
            3 * STORED * 2 / 3 + tree.sst_user_bytes * 2 / 3))


class PolicyTest(unittest.TestCase):
    def test_split_has_values_together_that_die_together(self):
        writes = writes_of([0, 1, 2, 3, 2, 0])
        split = lifetimes.Split(writes, 2)
        self.assertEqual(split.files([0, 1, 2, 3], 4), [[2, 0], [1, 3]])
        self.assertEqual(lifetimes.Split(writes, 4).files([0, 1, 2, 3], 4), [[2], [0], [1], [3]])
        self.assertEqual(lifetimes.Split(writes, 8).files([0, 1], 4), [[0], [1]])
        self.assertEqual(lifetimes.Today(writes).files([0, 1, 2, 3], 4), [[0, 1, 2, 3]])

    def test_split_of_the_run_knows_nothing_of_the_load(self):
        split = lifetimes.SplitRun(writes_of([0, 1, 0], loaded=2), 2)
        self.assertEqual(split.files([0, 1], 2), [[0, 1]])
        self.assertEqual(split.files([0, 1], 3), [[0], [1]])

    def test_rates_are_not_times(self):
        split = lifetimes.SplitRates(writes_of([0, 1, 2, 0, 1, 1]), 3)
        self.assertEqual(split.files([0, 1, 2], 3), [[1], [0], [2]])

    def test_the_past_goes_by_the_value_before(self):
        split = lifetimes.SplitPast(writes_of([0, 1, 2, 3, 3, 1, 0]), 4)
        self.assertEqual(split.remaining(4, 4), 1)
        self.assertEqual(split.remaining(5, 7), 2)
        self.assertEqual(split.remaining(4, 7), 3)  # it has lived for 3, longer than the one before
        self.assertGreater(split.remaining(2, 7), 1 << 60)  # nothing was before it

    def test_pick_leaves_files_alone_that_die_soon(self):
        writes = writes_of([*range(10), 0, 1, 2, 3])  # soon: two puts
        pick = lifetimes.Pick(writes)
        blob = lsm_model.Blob(1, [0, 1, 2, 8], 4 * STORED)
        self.assertFalse(pick.may_collect(blob, 9))  # 0 and 1 die: half of it
        other = lsm_model.Blob(2, [0, 2, 8, 9], 4 * STORED)
        self.assertTrue(pick.may_collect(other, 9))


class RunTest(unittest.TestCase):
    """Every second record is written once, and the others again and again, in turn."""

    def setUp(self):
        run = list(range(0, RECORDS, 2)) * 12
        self.writes = writes_of([*range(RECORDS), *run], loaded=RECORDS)
        self.updates = len(run)

    def figures(self, system, bound=1.5):
        options = hybrid_model.Options(bound, 1, 0)
        return lifetimes.simulate(system, self.writes, options, 4 << 20)

    def test_without_need_nothing_moves(self):
        figures = self.figures("sim_today", bound=100)
        self.assertEqual((figures["moved_bytes"], figures["jobs"]), (0, 0))
        self.assertEqual(figures["update_bytes"], self.updates * (SIZE + lsm_model.KEY))
        # A memtable has fewer records than are written in turn: none is overwritten in it.
        self.assertGreaterEqual(figures["flushed_blob_bytes"], self.updates * STORED)

    def test_cold_values_move_once_or_never(self):
        today, split = self.figures("sim_today"), self.figures("sim_split2")
        # Half of each file of the load dies, so each cold value moves.
        self.assertGreaterEqual(today["moved_bytes"] - today["moved_dead_bytes"],
                                RECORDS // 2 * SIZE)
        # A file has the one kind or the other: what moves is garbage that nobody knows of.
        self.assertEqual(split["moved_bytes"], split["moved_dead_bytes"])

    def test_processes_share_the_systems(self):
        systems = [str(number) for number in range(20)]
        self.assertEqual(list(lifetimes.in_processes(systems, int).items()),
                         [(system, int(system)) for system in systems])

    def test_the_same_again(self):
        self.assertEqual(self.figures("sim_both8"), self.figures("sim_both8"))


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = os.path.join(folder.name, "trace")

    def write(self, *puts, more=b""):
        with open(self.trace, "wb") as file:
            file.write(b"".join(lifetimes.WRITE.pack(*put) for put in puts) + more)

    def test_what_is_read(self):
        self.write((0, 9, 0), (1, 1004, 0), (0, 104, 1), (0, 9, 1))
        writes = lifetimes.read(self.trace)
        self.assertEqual((writes.sizes, writes.loaded, writes.records), ((9, 1004, 104, 9), 2, 2))
        self.assertEqual(writes.deaths, [2, lsm_model.NEVER, 3, lsm_model.NEVER])
        self.assertEqual(writes.before, [None, None, 0, 2])

    def test_what_is_refused(self):
        self.write((0, 9, 0), (0, 9, 1), more=b"half")
        with self.assertRaisesRegex(RuntimeError, "ends early"):
            lifetimes.read(self.trace)
        for puts in ([(0, 9, 0)], [(0, 9, 1), (0, 9, 0)], [(0, 9, 1)]):
            self.write(*puts)
            with self.assertRaisesRegex(RuntimeError, "is not a load and a run"):
                lifetimes.read(self.trace)

    @unittest.skipUnless(os.path.exists(os.path.join(BIN, "blob_driver")), "no blob_driver")
    def test_the_driver_traces_each_put(self):
        argv = [os.path.join(BIN, "blob_driver"), f"--db={self.folder}/db", "--sizes=LD",
                f"--options={blob_systems.options('ours', 'LD', {}, 1)}", "--direct=false",
                f"--records={RECORDS}", f"--write_trace={self.trace}"]
        filled = json.loads(subprocess.check_output([*argv, "--mode=fill"]))
        run = json.loads(subprocess.check_output([*argv, f"--operations={4 * RECORDS}"]))
        writes = lifetimes.read(self.trace)
        self.assertEqual((writes.loaded, writes.records), (RECORDS, RECORDS))
        bytes_of = [size + lsm_model.KEY for size in writes.sizes]
        self.assertEqual(sum(bytes_of[:RECORDS]), filled["user_written_bytes"])
        self.assertEqual(sum(bytes_of[RECORDS:]), run["user_written_bytes"])
        live = sum(size for size, death in zip(bytes_of, writes.deaths)
                   if death == lsm_model.NEVER)
        self.assertEqual(live, run["live_bytes"])
        failed = subprocess.run([*argv, "--mode=check"], stderr=subprocess.PIPE, text=True)
        self.assertEqual(failed.returncode, 1)
        self.assertIn("--write_trace is of --mode=fill or run", failed.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
