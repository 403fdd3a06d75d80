#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""RocksDB's own programs with databases of the plugin.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTED = re.findall(r"^\| `(rocktier\.\w+)`",
                        open(ROOT + "/plugin/blob_hybrid/FORMAT.md", encoding="utf-8").read(), re.M)
# What each SST has; and what only SSTs with wide-column entities have. db_bench writes none.
PROPERTIES = ["rocktier.medium_values", "rocktier.medium_bytes", "rocktier.references",
              "rocktier.sketch"]
ENTITIES = "rocktier.entities"

# Where medium values are from 100 bytes on, and large ones from 1000 bytes on.
MEDIUM = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1

[DBOptions]
  create_if_missing=true
  listeners={id=BlobHybridListener}

[CFOptions "default"]
  enable_blob_files=true
  min_blob_size=1000
  compaction_filter_factory={id=BlobHybrid;medium_value_size=100;space_floor=16M}
  table_factory={id=BlobHybridTable}
  write_buffer_size=256K
  target_file_size_base=64K
  max_bytes_for_level_base=128K
  max_bytes_for_level_multiplier=4

[TableOptions/BlobHybridTable "default"]
  block_size=8192
"""

KEYS = 5000
# What db_bench writes: benchmark, writes, bytes of a value.
WRITES = (("fillseq", KEYS, 300), ("overwrite", 1000, 2000), ("overwrite", 1000, 20),
          ("overwrite", 2000, 300))


def run(program, *argv):
    return subprocess.run([os.path.join(BIN, program), *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace")


def succeed(program, *argv):
    result = run(program, *argv)
    if result.returncode != 0 or "Failed" in result.stderr:
        raise AssertionError(f"{program} {argv}: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def bench(db, benchmarks, *flags):
    return succeed("db_bench", "--db=" + db, "--benchmarks=" + benchmarks, f"--num={KEYS}", *flags)


def fill(db, *flags):
    for seed, (name, writes, size) in enumerate(WRITES, 1):
        bench(db, name + ",flush", f"--writes={writes}", f"--value_size={size}", f"--seed={seed}",
              f"--use_existing_db={int(name != 'fillseq')}", *flags)


def key(number):
    """As db_bench has it, in hexadecimal."""
    return f"0x{number:016X}" + "30" * 8


def scan(db, *flags):
    """Values by key, both in hexadecimal."""
    output = succeed("ldb", "--db=" + db, "--hex", *flags, "scan")
    return dict(line.split(" ==> ") for line in output.splitlines())


def properties(db):
    """The user properties of each SST by name, in hexadecimal."""
    all_properties = {}
    for line in succeed("sst_dump", "--file=" + db, "--show_properties",
                        "--command=none").splitlines():
        if line.startswith("Process "):
            names = all_properties.setdefault(os.path.basename(line.split()[1]), {})
        elif line.startswith("  # ") and ": 0x" in line:
            name, value = line[4:].split(": 0x")
            names[name] = value
    return all_properties


class Programs:
    """What both databases do alike; OPTIONS is the text of an options file."""

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.join(TMP, cls.__name__)
        os.makedirs(cls.folder)
        cls.options = "--options_file=" + cls.folder + "/options.ini"
        with open(cls.folder + "/options.ini", "w", encoding="utf-8") as file:
            file.write(cls.OPTIONS)
        cls.made = cls.folder + "/made"
        fill(cls.made, cls.options)
        # The same without the plugin, and without blob files.
        fill(cls.folder + "/stock")
        cls.expected = scan(cls.folder + "/stock")

    def setUp(self):
        self.db = os.path.join(self.folder, self.id().split(".")[-1])
        shutil.copytree(self.made, self.db)

    def ldb(self, *argv):
        return succeed("ldb", "--db=" + self.db, *argv)

    def files(self, suffix, db=None):
        return sorted(os.path.basename(n) for n in glob.glob(f"{db or self.db}/*{suffix}"))

    def stats(self):
        return json.loads(succeed("rocktier", "blob", "stats", self.db, "--json"))["default"]

    def assert_right(self, db=None, *flags):
        db = db or self.db
        values = scan(db, *flags)
        self.assertEqual([key(i) for i in range(KEYS)], list(values))
        self.assertTrue(self.expected == values)  # without a diff of megabytes
        succeed("rocktier", "blob", "verify", db)

    def test_db_bench(self):
        self.assertEqual({300, 2000, 20}, {len(v) // 2 - 1 for v in self.expected.values()})
        self.assertTrue(self.files(".blob"))
        output = bench(self.db, "readrandom,readseq,seekrandom", "--use_existing_db=1",
                       "--reads=2000", self.options)
        self.assertIn("(2000 of 2000 found)", output)
        self.assert_right()

    def test_ldb_reads(self):
        # It loads options by default.
        for flags in ((), ("--try_load_options",), ("--try_load_options=false",)):
            with self.subTest(flags=flags):
                self.assert_right(self.db, *flags)
                for number in (0, KEYS // 2, KEYS - 1):
                    value = self.ldb("--hex", *flags, "get", key(number)).strip()
                    self.assertEqual(self.expected[key(number)], value)
                self.assertIn("OK", self.ldb(*flags, "checkconsistency"))

    def test_ldb_names_what_it_lacks(self):
        # ldb turns blob files off unless it is told not to.
        result = run("ldb", "--db=" + self.db, "compact")
        self.assertNotEqual(0, result.returncode)
        self.assertIn("enable_blob_files", result.stderr)
        self.assert_right()

    def test_ldb_compacts_with_the_plugin(self):
        before = self.files(".sst")
        self.ldb("--try_load_options", "--enable_blob_files", "compact")
        self.assertFalse(set(before) & set(self.files(".sst")))
        for name, found in properties(self.db).items():
            self.assertLessEqual(set(PROPERTIES), set(found), name)
        self.assert_right()
        self.assertEqual(0, self.stats()["medium_bytes"])  # merged

    def test_ldb_compacts_without_the_plugin(self):
        self.ldb("--try_load_options=false", "compact")
        for name, found in properties(self.db).items():
            self.assertFalse(set(DOCUMENTED) & set(found), name)
        self.assert_right()
        self.assertTrue(self.files(".blob"))
        # The plugin goes on with what is there.
        output = bench(self.db, "overwrite,readrandom", "--use_existing_db=1",
                       "--value_size=2000", "--reads=1000", self.options)
        self.assertIn("(1000 of 1000 found)", output)
        succeed("rocktier", "blob", "verify", self.db)

    def test_ldb_checkpoint(self):
        copies = {}
        for name, flags in (("with", ("--try_load_options", "--enable_blob_files")),
                            ("without", ("--try_load_options=false",))):
            copies[name] = f"{self.folder}/checkpoint-{name}"
            self.ldb(*flags, "checkpoint", "--checkpoint_dir=" + copies[name])
            self.assertEqual(self.files(".blob"), self.files(".blob", copies[name]))
            self.assert_right(copies[name])
            self.assert_right(copies[name], "--try_load_options=false")
        # The plugin goes on there.
        output = bench(copies["with"], "overwrite,readrandom",
                       "--use_existing_db=1", "--reads=1000", "--value_size=300", self.options)
        self.assertIn("(1000 of 1000 found)", output)

    def test_ldb_dumps_live_files(self):
        for flags in ((), ("--try_load_options=false",)):
            output = self.ldb(*flags, "dump_live_files")
            for name in self.files(".sst") + self.files(".blob"):
                self.assertIn("/" + name, output)

    def test_sst_dump_verifies(self):
        output = succeed("sst_dump", "--file=" + self.db, "--command=verify")
        self.assertEqual(len(self.files(".sst")), output.count("The file is ok"), output)

    def test_sst_dump_shows_properties(self):
        self.assertEqual(PROPERTIES + [ENTITIES], DOCUMENTED)
        found = properties(self.db)
        self.assertEqual(self.files(".sst"), sorted(found))
        medium = 0
        referred = 0
        for name, values in found.items():
            self.assertLessEqual(set(PROPERTIES), set(values), name)
            self.assertNotIn(ENTITIES, values, name)
            texts = {p: bytes.fromhex(values[p]) for p in PROPERTIES}
            medium += int(texts["rocktier.medium_bytes"])
            self.assertEqual(int(texts["rocktier.medium_values"]) * (300 + 16 + 32),
                             int(texts["rocktier.medium_bytes"]))
            for reference in filter(None, texts["rocktier.references"].decode().split(",")):
                blob, size = reference.split(":")
                self.assertIn(f"{int(blob):06d}.blob", self.files(".blob"))
                referred += int(size)
            self.assertEqual(1, texts["rocktier.sketch"][0])
        stats = self.stats()
        self.assertEqual(medium, stats["medium_bytes"])
        self.assertEqual(referred, stats["medium_bytes"] + stats["large_bytes"] -
                         stats["large_garbage_bytes"])


class Large(Programs, unittest.TestCase):
    with open(ROOT + "/examples/blob_hybrid.ini", encoding="utf-8") as example:
        OPTIONS = example.read()

    def test_nothing_is_medium(self):
        self.assertEqual(0, self.stats()["medium_bytes"])  # merged
        self.assertGreater(self.stats()["large_live_bytes"], KEYS * 300 / 2)


class Medium(Programs, unittest.TestCase):
    OPTIONS = MEDIUM

    def test_there_are_all_classes(self):
        stats = self.stats()
        self.assertGreater(stats["medium_bytes"], 0)
        self.assertGreater(stats["large_live_bytes"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
