#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""docs/deploy-families.md: its commands in their order, as they are but for the disks' folders.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import re
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/deploy-families.md")
DISKS = ("nvme", "hdd", "hdd2")
DB = TMP + "/nvme/db"


def blocks():
    """The commands of the page, block by block, with disks that are folders here."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield re.sub(r"(?<![\w.])/(?=(?:%s)\b)" % "|".join(DISKS), lambda _: TMP + "/", block)


class PageTest(unittest.TestCase):
    """One block after the other; variables of the shell last from one to the next."""

    def setUp(self):
        for disk in DISKS:
            os.mkdir("%s/%s" % (TMP, disk))
        self.left = list(blocks())
        self.variables = ""

    def run_block(self, word):
        """Runs the next block, which has the word. Returns what it prints."""
        block = self.left.pop(0)
        self.assertIn(word, block)
        result = self.bash("%s\n%s\ndeclare -p uri tiers >variables || true" %
                           (self.variables, block))
        self.assertEqual(0, result.returncode, block + result.stdout + result.stderr)
        with open(TMP + "/variables", encoding="utf-8") as file:
            self.variables = file.read()
        return result.stdout

    def bash(self, script):
        return subprocess.run(["bash", "-ec", script], cwd=TMP, capture_output=True, text=True,
                              env={**os.environ, "PATH": BIN + ":" + os.environ["PATH"]})

    def tier(self, verb):
        result = self.bash('%s\nrocktier tier %s "$uri" %s --json' % (self.variables, verb, DB))
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        return json.loads(result.stdout)

    def places(self):
        """The tiers of each family, by its id."""
        found = {}
        for file in self.tier("ls"):
            if file["needed"]:
                found.setdefault(file["column_family"], set()).add(file["tier"])
        return found

    def test_commands(self):
        self.run_block("rocktier preset nvme+hdd")
        with open(TMP + "/tiers.ini", encoding="utf-8") as file:
            options = file.read()
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        for line in re.search(r"```text\n(tiers=.*?)```", page, re.DOTALL)[1].splitlines():
            self.assertIn(line.replace("/hdd", TMP + "/hdd"), options)

        self.run_block("rocktier tier ls")
        self.settle()
        self.assertEqual({0: {"home"}, 1: {"home"}, 2: {"slow"}}, self.places())

        self.assertIn("2 files", self.run_block("rocktier tier plan").splitlines()[-1])
        plan = self.tier("plan")
        self.assertEqual({("home", "slow"), ("slow", "home")},
                         {(move["from"], move["to"]) for move in plan["moves"]})

        change = self.left[0]
        self.run_block("--use_existing_db")
        for _ in range(10):  # a short run of db_bench may end before
            if self.tier("plan")["files"] == 0:
                break
            self.left.insert(0, change)
            self.run_block("--use_existing_db")
        self.assertEqual({0: {"home"}, 1: {"slow"}, 2: {"home"}}, self.places())

        several = self.left[0]
        self.assertIn("slow.2", self.run_block("/hdd2"))
        for _ in range(10):  # by the numbers of files, all may have gone to one directory
            if "slow.2" in self.places()[1]:
                break
            self.left.insert(0, several)
            self.run_block("/hdd2")
        self.assertEqual({"slow", "slow.2"}, self.places()[1])
        self.assertEqual({"home"}, self.places()[2])
        self.run_block("rocktier tier drain")
        self.assertEqual([], os.listdir(TMP + "/hdd2"))

        self.assertIn("52428800 bytes per second", self.run_block("mover_hours"))
        self.assertEqual({0: {"home"}, 1: {"slow"}, 2: {"home"}}, self.places())
        self.assertEqual(0, self.tier("check")["problems"])

        self.run_block("rocktier tier evacuate")
        self.assertEqual([], self.left)
        self.assertEqual([], os.listdir(TMP + "/hdd"))
        result = self.bash("ldb --db=%s --column_family=column_family_name_000001 scan --hex "
                           "--max_keys=10" % DB)
        self.assertEqual(10, len(re.findall(r"^0x\w+ ", result.stdout, re.MULTILINE)),
                         result.stdout + result.stderr)

    def settle(self):
        """Until the mover has done what the end of db_bench may have stopped."""
        for _ in range(10):
            if self.tier("plan")["files"] == 0:
                return
            self.bash('%s\ndb_bench --db=%s --options_file=tiers.ini --cache_size=0 '
                      '--fs_uri="$uri" --num_column_families=3 --use_existing_db '
                      "--benchmarks=readrandom --duration=3 --num=100000" % (self.variables, DB))
        self.fail(self.tier("plan"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
