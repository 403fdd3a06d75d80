#!/usr/bin/env python3
"""Trials of presets: what is taken out of an OPTIONS file for stock RocksDB, what is said of a
forecast, and one of a second.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder on a disk or in memory.
"""

import json
import os
import subprocess
import sys
import unittest

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

import trial  # noqa: E402
from common import pairs  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
PRESETS = {
    "nvme+hdd": "--data=2G --fast=/f --fast-size=1G --slow=/s --slow-size=8G --memory=256M",
    "cache-only": "--data=2G --fast=/f --fast-size=1G --memory=256M",
    "wal-only": "--device=/d --device-size=512M",
}


def preset(name):
    return subprocess.run([f"{BIN}/rocktier", "preset", name, *PRESETS[name].split()], check=True,
                          capture_output=True, text=True).stdout


class StockOptions(unittest.TestCase):
    def test_nothing_of_a_plugin_is_left(self):
        self.assertEqual(set(PRESETS), set(trial.TRIALS))
        for name in PRESETS:
            lines = [line for line in trial.without_plugins(preset(name)).splitlines()
                     if not line.lstrip().startswith("#")]
            text = "\n".join(lines)
            for word in ("env=", "listeners=", "TwoQ", "2q", "Tiered", "RawWal"):
                self.assertNotIn(word, text, name)
            self.assertIn("write_buffer_size=", text)

    def test_memory_is_the_same(self):
        text = preset("cache-only")
        index = int(trial.INDEX.search(text).group(1).split(".")[0])
        self.assertGreater(index, 0)
        self.assertIn(f"block_cache={85 + index}M", trial.without_plugins(text))
        self.assertIn("capacity=85M", text)


class Verdicts(unittest.TestCase):
    def verdict(self, ratios):
        rounds = [{"ours": {"ops": ratio, "seconds": 1}, "stock": {"ops": 1, "seconds": 1}}
                  for ratio in ratios]
        one = pairs.compare(rounds, trial.RATE, "ours", "stock")
        return trial.verdict(one, {"low": 1.5, "high": 2})

    def test_all(self):
        self.assertEqual("as was foretold", self.verdict([1.7, 1.8, 1.6, 1.7, 1.8, 1.7]))
        self.assertEqual("less than was foretold", self.verdict([1.1, 1.2, 1.3, 1.2, 1.1, 1.2]))
        self.assertEqual("more than was foretold", self.verdict([2.1, 2.2, 2.3, 2.2, 2.1, 2.2]))
        self.assertEqual("undecided", self.verdict([1.3, 1.4, 1.6, 1.4, 1.3, 1.45]))


class Run(unittest.TestCase):
    def test_a_short_one(self):
        done = subprocess.run(
            [sys.executable, f"{BENCH}/trial.py", f"--bin={BIN}", "--preset=wal-only", "--quick",
             f"--data-dir={TMP}", f"--results={TMP}"], capture_output=True, text=True, check=False)
        if "has no figure" in done.stderr:  # a log device gains nothing here just now
            self.skipTest(done.stderr)
        self.assertEqual("", done.stderr)
        self.assertEqual(0, done.returncode, done.stdout)
        with open(f"{TMP}/trial-wal-only.json", encoding="utf-8") as file:
            result = json.load(file)
        self.assertGreaterEqual(len(result["rounds"]), pairs.FEWEST_ROUNDS)
        self.assertIn(result["verdict"], done.stdout)
        self.assertNotIn(TMP, json.dumps(result))
        self.assertEqual([], [name for name in os.listdir(TMP) if name.startswith("rocktier-")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
