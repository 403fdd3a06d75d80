#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What soak.py counts, and which test it runs next, and how it ends."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import soak


def made(name, plugin, stress=False):
    return {"name": name, "plugin": plugin, "stress": stress, "faults": False}


def line(plugin, kills, code=0):
    return {"plugin": plugin, "rocksdb": "9.10.0", "seconds": 10, "kills": kills,
            "power_losses": 2, "code": code}


class Counts(unittest.TestCase):
    def test_what_tests_say(self):
        counted = soak.count("ROCKTIER_SEED=7\n12 kills, 5 at the point\nraw_wal_fs: 8 sequences "
                             "from seed 9, 0 failed, 3 kills, 4 refused\n100 losses of power\n")
        self.assertEqual(counted, {"kills": 15, "power_losses": 100, "seeds": ["7", "9"]})

    def test_what_db_crashtest_says(self):
        said = "Running db_stress with pid=41\nKILLED 41\nx KILLED 42\nTERMINATED 43\n"
        self.assertEqual(soak.count(said)["kills"], 2)

    def test_each_plugin_needs_so_many(self):
        lines = [line("raw_wal_fs", 60), line("raw_wal_fs", 50), line("tiered_env", 99),
                 line("matrix", 500)]
        plugins = {"raw_wal_fs", "tiered_env", "blob_hybrid", "matrix", ""}
        self.assertEqual(soak.too_few(lines, plugins, 100),
                         ["tiered_env: 99 kills of 100", "blob_hybrid: 0 kills of 100"])
        self.assertEqual(soak.too_few(lines, plugins, 0), [])

    def test_the_table_has_all_runs(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            findings = soak.summarize([line("raw_wal_fs", 60), line("raw_wal_fs", 5, code=1)])
        self.assertEqual(findings, 1)
        self.assertIn("| raw_wal_fs | 9.10.0 | 2 | 0.01 | 65 | 4 | 1 |", said.getvalue())


class Runs(unittest.TestCase):
    def run_shell(self, command, timeout=100, seconds=0):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(folder + "/scratch")
            test = {"name": "t", "plugin": "", "faults": False, "timeout": timeout,
                    "environment": {"TEST_TMPDIR": folder + "/scratch"},
                    "command": ["sh", "-c", command]}
            result = soak.run(test, seconds, folder)
            return result, sorted(os.listdir(folder))

    def test_a_good_one_leaves_nothing(self):
        result, left = self.run_shell("echo seed 5, 7 kills, $ROCKTIER_CRASH_SECONDS; "
                                      "rmdir $TEST_TMPDIR", seconds=3)
        self.assertEqual((result["code"], result["kills"], result["seeds"]), (0, 7, ["5"]))
        self.assertEqual(left, [])

    def test_what_a_bad_one_leaves_is_kept(self):
        result, left = self.run_shell("echo 2 kills; exit 3")
        self.assertEqual((result["code"], result["kills"]), (3, 2))
        self.assertEqual([name.split("-")[0] for name in left], ["scratch", "t"])
        self.assertEqual(left[1], result["output"])

    def test_one_that_hangs_is_ended_with_all_that_it_has_started(self):
        result, _ = self.run_shell("echo 1 kills; sleep 1000 & wait", timeout=2)
        self.assertEqual((result["code"], result["kills"]), ("timeout", 1))
        self.assertLess(result["seconds"], 60)


class Turns(unittest.TestCase):
    def take(self, rotation, kills, seconds=10):
        test = rotation.take()
        if test is not None:
            rotation.give_back(test, {"kills": kills.get(test["name"], 0), "seconds": seconds})
            return test["name"]
        return None

    def test_all_in_turn(self):
        rotation = soak.Rotation([made("a", "raw_wal_fs"), made("b", "tiered_env", stress=True)],
                                 hours=1, kills=0, pause=None)
        self.assertEqual([self.take(rotation, {}) for _ in range(4)], ["a", "b", "a", "b"])
        rotation.take()
        self.assertFalse(rotation.take()["faults"])
        self.assertIsNone(rotation.take(), "both are taken")

    def test_with_faults_every_other_time(self):
        rotation = soak.Rotation([made("b", "tiered_env", stress=True)], 1, 0, None)
        seen = []
        for _ in range(3):
            test = rotation.take()
            seen.append(test["faults"])
            rotation.give_back(test, {"kills": 0, "seconds": 1})
        self.assertEqual(seen, [False, True, False])

    def test_nothing_more_without_kills(self):
        rotation = soak.Rotation([made("a", "raw_wal_fs")], hours=0, kills=0, pause=None)
        self.assertIsNone(rotation.take())

    def test_until_each_plugin_has_enough_kills(self):
        tests = [made(name, "raw_wal_fs") for name in ("slow", "none", "quick", "other")]
        tests.append(made("blob", "blob_hybrid"))
        kills = {"slow": 1, "quick": 10, "other": 3, "blob": 40}
        rotation = soak.Rotation(tests, hours=0, kills=40, pause=None)
        taken = []
        while True:
            name = self.take(rotation, kills)
            if name is None:
                break
            taken.append(name)
        # Each once, as nobody knows them. Then those that are quick enough, in turn.
        self.assertEqual(taken, ["slow", "none", "quick", "other", "quick", "other", "quick",
                                 "other", "blob"])

    def test_what_was_interrupted_counts(self):
        tests = [made("quick", "raw_wal_fs"), made("slow", "raw_wal_fs")]
        before = [{"test": "quick", "plugin": "raw_wal_fs", "kills": 30, "seconds": 10},
                  {"test": "slow", "plugin": "raw_wal_fs", "kills": 1, "seconds": 10}]
        rotation = soak.Rotation(tests, hours=0, kills=40, pause=None, before=before)
        self.assertEqual(self.take(rotation, {"quick": 9}), "quick")
        self.assertIsNone(rotation.take(), "30, 1 and 9")

    def test_other_commits_do_not_count(self):
        about = {"rocksdb": "9.10.0", "commit": "new"}
        lines = [{**about, "kills": 1}, {**about, "commit": "old"}, {**about, "rocksdb": "11.8.1"}]
        with tempfile.NamedTemporaryFile("w") as results:
            results.write("".join(json.dumps(one) + "\n" for one in lines))
            results.flush()
            self.assertEqual(soak.lines_before(results.name, about), lines[:1])
        self.assertEqual(soak.lines_before("/does/not/exist", about), [])

    def test_the_part_of_a_line_does_not_count(self):
        whole = '{"kills": 3}\n'
        for before in ("", whole, whole + '{"kills": 1'):
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/soak.jsonl"
                with open(path, "w") as results:
                    results.write(before)
                soak.end_last_line(path)
                with open(path, "a") as results:
                    results.write(whole)
                self.assertEqual(soak.read_lines(path), [{"kills": 3}] * (2 if before else 1))
                with open(path) as results:
                    self.assertTrue(results.read().startswith(before), "nothing is removed")


if __name__ == "__main__":
    unittest.main()
