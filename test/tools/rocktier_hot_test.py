#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier hot over a directory that db_bench made, as a user calls it.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import fcntl
import json
import os
import shutil
import subprocess
import unittest

import units

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]

OPTIONS = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
[CFOptions "default"]
  table_factory=HotPromotionTable
  compression=kNoCompression
[TableOptions/HotPromotionTable "default"]
  path={tmp}/hot
  budget=16M
  slow={tmp}
  slow_read_micros=0
"""


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


class RocktierHotTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        options = TMP + "/options.ini"
        with open(options, "w") as file:
            file.write(OPTIONS.format(tmp=TMP))
        subprocess.run([
            BIN + "/db_bench", "--db=" + TMP + "/db", "--options_file=" + options,
            "--cache_size=0", "--num=2000", "--value_size=400", "--reads=20000",
            "--benchmarks=fillseq,compact,readrandom,readrandom"
        ], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    def setUp(self):
        self.path = TMP + "/" + self.id().rpartition(".")[2]
        shutil.copytree(TMP + "/hot", self.path)

    def json_of(self, action, status=0):
        result = rocktier("hot", action, self.path, "--json")
        self.assertEqual(status, result.returncode, result.stderr)
        self.assertEqual("", result.stderr)
        return json.loads(result.stdout)

    def fails(self, message, *arguments):
        result = rocktier("hot", *arguments)
        self.assertEqual(2, result.returncode)
        self.assertEqual("", result.stdout)
        self.assertIn(message, result.stderr)

    def test_stats_counts_records(self):
        info = self.json_of("stats")
        self.assertGreater(info["records"], 100)
        self.assertLessEqual(info["records"], 2000)
        self.assertEqual(400 * info["records"], info["value_bytes"])
        self.assertEqual(16 * info["records"], info["key_bytes"])
        self.assertEqual(0, info["unknown"])

    def test_text_and_json_say_the_same(self):
        for action in "stats", "verify":
            text = rocktier("hot", action, self.path)
            self.assertEqual(0, text.returncode, text.stderr)
            lines = dict(line.split(": ") for line in text.stdout.splitlines())
            self.assertEqual(lines, {k: str(v) for k, v in self.json_of(action).items()})

    def test_verify_compares_with_the_ssts(self):
        info = self.json_of("verify")
        self.assertEqual(info["records"], info["equal"])
        self.assertEqual(0, info["different"])
        self.assertEqual(0, info["unchecked"])

    def test_dump_has_a_line_for_each_record(self):
        lines = rocktier("hot", "dump", self.path).stdout.splitlines()
        self.assertEqual(self.json_of("stats")["records"], len(lines))
        file, key, size = lines[0].split()
        self.assertTrue(file.startswith(TMP + "/db/"))
        self.assertEqual(32, len(key))
        self.assertEqual("400", size)
        first = json.loads(rocktier("hot", "dump", self.path, "--json").stdout.splitlines()[0])
        self.assertEqual({"file": file, "key": key, "value_bytes": 400}, first)

    def test_a_dump_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([BIN + "/rocktier", "hot", "dump", self.path], stdout=full,
                                    stderr=subprocess.PIPE, text=True)
        self.assertEqual(2, result.returncode)
        self.assertIn("rocktier: stdout: ", result.stderr)

    def contents(self):
        found = {}
        for folder, _, names in os.walk(self.path):
            for name in names:
                with open(folder + "/" + name, "rb") as file:
                    found[folder + "/" + name] = file.read()
        return found

    def test_a_dry_run_clears_nothing(self):
        with open(self.path + "/rocktier_hot_promotion.prom", "w") as file:
            file.write("what a process that runs has written")
        before = self.contents()
        for flags in ["--dry-run"], ["--dry-run", "--force"]:
            result = rocktier("hot", "clear", self.path, *flags)
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn("would be cleared\ndry run: nothing was changed", result.stdout)
            self.assertEqual(before, self.contents())
        result = rocktier("hot", "clear", self.path, "--dry-run", "--json")
        self.assertEqual({"cleared": False, "dry_run": True}, json.loads(result.stdout))
        other = self.path + "/store/thesis.txt"
        with open(other, "w") as file:
            file.write("all of it")
        self.fails("has thesis.txt", "clear", self.path, "--dry-run")
        os.remove(other)
        self.fails("no hot store", "clear", TMP + "/none", "--dry-run")
        self.assertEqual(before, self.contents())
        result = rocktier("hot", "clear", self.path, "--force", "--json")
        self.assertEqual({"cleared": True}, json.loads(result.stdout))
        self.assertFalse(os.path.exists(self.path + "/store"))

    def test_a_directory_in_use_is_not_cleared(self):
        before = self.contents()
        with open(self.path + "/LOCK", "a") as lock:  # as a database that is open has it
            fcntl.lockf(lock, fcntl.LOCK_EX)
            for flag in "--dry-run", "--force":
                self.fails("Resource busy: HotPromotionTable: path=%s: " % self.path, "clear",
                           self.path, flag)
        self.assertEqual(before, self.contents())

    def test_bytes_in_larger_units(self):
        size = self.json_of("stats")["value_bytes"]
        self.assertIn("value_bytes: %s\n" % units.human(size),
                      rocktier("hot", "stats", self.path, "--human").stdout)
        self.assertNotIn("KiB", rocktier("hot", "stats", self.path).stdout)

    def test_clear_asks_for_force(self):
        self.fails("--force", "clear", self.path)
        self.assertEqual(0, rocktier("hot", "clear", self.path, "--force").returncode)
        self.fails("no hot store", "stats", self.path)
        self.assertFalse(os.path.exists(self.path + "/ralt"))

    def test_clear_touches_only_what_is_ours(self):
        for name in "store", "ralt":
            other = self.path + "/" + name + "/thesis.txt"
            with open(other, "w") as file:
                file.write("all of it")
            self.fails("has thesis.txt", "clear", self.path, "--force")
            os.remove(other)
        before = sorted(os.listdir(TMP + "/db"))
        self.fails("may not have made", "clear", TMP + "/db", "--force")
        self.assertEqual(before, sorted(os.listdir(TMP + "/db")))
        # A database at store, in a folder without a marker.
        shutil.rmtree(self.path)
        shutil.copytree(TMP + "/db", self.path + "/store")
        self.fails("may not have made", "clear", self.path, "--force")
        self.assertEqual(before, sorted(os.listdir(self.path + "/store")))

    def test_folders_without_markers_are_ours_by_their_contents(self):
        for part in "", "/store", "/ralt":
            os.remove(self.path + part + "/HOT_PROMOTION")
        self.json_of("verify")
        self.assertEqual(0, rocktier("hot", "clear", self.path, "--force").returncode)

    def test_what_is_no_store(self):
        self.fails("no hot store", "stats", TMP + "/none")
        self.fails("DIR is missing", "stats")
        self.fails("takes no --jason", "stats", self.path, "--jason")
        self.fails("no such verb: show", "show", self.path)
        manifest = [n for n in os.listdir(self.path + "/store") if n.startswith("MANIFEST")][0]
        with open(self.path + "/store/" + manifest, "wb") as file:
            file.write(b"nonsense")
        self.fails("Corruption", "verify", self.path)

    def test_help(self):
        result = rocktier("hot", "--help")
        self.assertEqual(0, result.returncode)
        self.assertIn("rocktier hot verify DIR", result.stdout)


if __name__ == "__main__":
    unittest.main()
