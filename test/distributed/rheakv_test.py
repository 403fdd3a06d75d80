#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Three nodes of RheaKV with the plugins, killed and checked: examples/rheakv as its README has it.

TEST_TMPDIR: an empty folder.
"""

import glob
import json
import os
import re
import subprocess
import sys
import unittest
import zipfile

import rounds

sys.path.insert(0, os.path.join(rounds.ROOT, "test/shared"))
import needs  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
HERE = os.path.dirname(os.path.abspath(__file__))
STUB = b"RKTTIERS"  # of tiered_env; plugin/tiered_env/FORMAT.md


def run(*argv):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    print(result.stdout)
    if result.returncode != 0:
        raise AssertionError("%s:\n%s%s" % (" ".join(argv), result.stdout, result.stderr))
    return result.stdout


class WithRheaKv(needs.Needs):
    PROGRAMS = ("mvn", "javac", "java", "c++")

    def kills(self, number, *modes):
        results = TMP + "/rounds.jsonl"
        run(HERE + "/rounds.py", "--rounds", str(number), "--scratch", TMP + "/rounds",
            "--results", results, *("--mode=" + mode for mode in modes))
        with open(results) as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["mode"] for line in lines], list(modes))
        for line in lines:
            self.assertGreaterEqual(line["kills"], number)
            self.assertGreater(line["acknowledged"], 0)


class Short(WithRheaKv):
    def test_as_the_readme_has_it(self):
        folder = TMP + "/demo"
        output = run(rounds.RUN, "--folder", folder)
        self.assertEqual(output.count("all found"), 5)
        self.assertEqual(len(re.findall(r"^  [a-z_0-9]+ +[\d,]+$", output, re.MULTILINE)), 8)
        self.snapshots_have_no_stubs(folder)

    def snapshots_have_no_stubs(self, folder):
        """What one node ships to another is whole, though SSTs of the store are in tiers."""
        paths = glob.glob(folder + "/node*/raft/*/snapshot/snapshot_*/kv.zip")
        self.assertEqual(len(paths), 3)
        for path in paths:
            with zipfile.ZipFile(path) as snapshot:
                files = {name: snapshot.read(name) for name in snapshot.namelist()}
            tables = [name for name in files if name.endswith(".sst")]
            self.assertNotEqual(tables, [])
            for name, data in files.items():
                self.assertNotIn(STUB, data[:100], name)

    def test_kills(self):
        self.kills(1, "backup", "sst", "sst-async")

    def test_the_oracle_finds_what_is_lost(self):
        run("javac", "-d", TMP + "/classes", rounds.ROOT + "/examples/rheakv/Oracle.java",
            HERE + "/OracleTest.java")
        run("java", "-cp", TMP + "/classes", "OracleTest")


class Long(WithRheaKv):
    def test_kills(self):
        self.kills(10, *rounds.MODES)

    def test_without_plugins(self):
        for mode in rounds.MODES:
            output = run(rounds.RUN, "--plain", "--mode", mode, "--rounds", "5",
                         "--folder", TMP + "/plain-" + mode)
            self.assertEqual(output.count("all found"), 5)

    def test_compare(self):
        results = TMP + "/compare.json"
        output = run(rounds.RUN, "--compare", "--rounds", "2", "--records", "2000", "--seconds",
                     "2", "--results", results)
        self.assertEqual(len(re.findall(r"^\| (?:load|mixed): .* \|$", output, re.MULTILINE)), 8)
        with open(results) as file:
            measured = json.load(file)["rounds"]
        self.assertEqual([set(each) for each in measured], [{"plain", "plugins"}] * 2)


if __name__ == "__main__":
    unittest.main()
