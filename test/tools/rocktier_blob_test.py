#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier blob over databases that db_bench made, as a user calls it.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import shutil
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
DB = TMP + "/db"


# Two families with values of all classes.
HYBRID = TMP + "/hybrid"
FAMILIES = ["column_family_name_000001", "default"]
OPTIONS = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1

[DBOptions]
  create_if_missing=true
  listeners={id=BlobHybridListener}

[CFOptions "default"]
  enable_blob_files=true
  min_blob_size=800
  compaction_filter_factory={id=BlobHybrid;medium_value_size=64;space_floor=16M}
  table_factory={id=BlobHybridTable}
  write_buffer_size=128K
  target_file_size_base=32K
  max_bytes_for_level_base=64K
  max_bytes_for_level_multiplier=4

[TableOptions/BlobHybridTable "default"]
"""


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


class RocktierBlobTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        subprocess.run([
            BIN + "/db_bench", "--db=" + DB, "--enable_blob_files", "--min_blob_size=100",
            "--num=1000", "--value_size=1000", "--benchmarks=fillseq,overwrite,compact"
        ], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    def fails(self, message, *arguments):
        result = rocktier("blob", *arguments)
        self.assertEqual(2, result.returncode, result.stdout)
        self.assertIn(message, result.stderr)
        self.assertEqual("", result.stdout)

    def test_stats_count_the_files(self):
        before = sorted(os.listdir(DB))
        result = rocktier("blob", "stats", DB, "--json")
        self.assertEqual(0, result.returncode, result.stderr)
        families = json.loads(result.stdout)
        self.assertEqual(["default"], list(families))
        space = families["default"]
        blobs = [n for n in os.listdir(DB) if n.endswith(".blob")]
        self.assertEqual(len(blobs), space["blob_files"])
        self.assertEqual(sum(os.path.getsize(DB + "/" + n) for n in blobs),
                         space["blob_file_bytes"])
        ssts = [n for n in os.listdir(DB) if n.endswith(".sst")]
        self.assertEqual(len(ssts), space["sst_files"])
        self.assertEqual(sum(os.path.getsize(DB + "/" + n) for n in ssts), space["small_bytes"])
        # A record has a header of 32 bytes and a key of 16. All keys are live; nothing is above
        # the last level.
        self.assertEqual(1000 * 1048, space["large_live_bytes"])
        self.assertEqual(0, space["large_hidden_bytes"])
        self.assertEqual(space["large_bytes"],
                         space["large_live_bytes"] + space["large_garbage_bytes"])
        self.assertEqual(before, sorted(os.listdir(DB)))

    def test_text_has_the_same(self):
        space = json.loads(rocktier("blob", "stats", DB, "--json").stdout)["default"]
        lines = rocktier("blob", "stats", DB).stdout.splitlines()
        self.assertEqual("[default]", lines[0])
        self.assertEqual(space, {k: int(v) for k, v in (line.split(": ") for line in lines[1:])})

    def test_bytes_in_larger_units(self):
        space = json.loads(rocktier("blob", "stats", DB, "--json").stdout)["default"]
        self.assertIn("large_live_bytes: 1048000 (1023.4 KiB)\n",
                      rocktier("blob", "stats", DB, "--human").stdout)
        self.assertIn("sst_files: %d\n" % space["sst_files"],
                      rocktier("blob", "stats", DB, "--human").stdout)

    def test_verify_finds_no_problem(self):
        result = rocktier("blob", "verify", DB, "--json")
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        check = json.loads(result.stdout)["default"]
        stats = json.loads(rocktier("blob", "stats", DB, "--json").stdout)["default"]
        self.assertEqual([], check["problems"])
        self.assertEqual(0, check["problem_count"])
        self.assertEqual(1000, check["references"])
        self.assertEqual(stats["large_bytes"] // 1048, check["values"])
        self.assertEqual(check["values"], check["references"] + check["garbage"])
        self.assertEqual(stats["blob_files"], check["blob_files"])
        self.assertEqual(stats["sst_files"], check["ssts"])

    def test_verify_names_the_file_with_a_problem(self):
        copy = TMP + "/copy"
        shutil.copytree(DB, copy)
        blob = sorted(n for n in os.listdir(copy) if n.endswith(".blob"))[0]
        with open(f"{copy}/{blob}", "r+b") as file:
            file.seek(200)
            byte = file.read(1)
            file.seek(200)
            file.write(bytes([byte[0] ^ 1]))
        result = rocktier("blob", "verify", copy)
        self.assertEqual(1, result.returncode, result.stderr)
        self.assertRegex(result.stdout, f"problem: .*/{blob}: Corruption")
        check = json.loads(rocktier("blob", "verify", copy, "--json").stdout)["default"]
        self.assertEqual(check["problem_count"], len(check["problems"]))
        shutil.rmtree(copy)

    def test_advise(self):
        advice = json.loads(rocktier("blob", "advise", DB, "--json").stdout)["default"]
        self.assertEqual(1000, advice["sampled_records"])
        self.assertEqual(16, advice["key_bytes"])
        self.assertEqual(784, advice["large_from"])  # a key is 2% of the record
        self.assertEqual(1, advice["large_share"])
        self.assertEqual(100, advice["current_min_blob_size"])
        self.assertEqual(784, advice["min_blob_size"])
        self.assertAlmostEqual(0.5, advice["overwrite_share"], delta=0.05)
        self.assertLess(advice["large_write_amplification"], advice["in_place_write_amplification"])
        narrow = json.loads(rocktier("blob", "advise", DB, "--space=1.1",
                                     "--json").stdout)["default"]
        self.assertLess(narrow["large_space_amplification"], advice["large_space_amplification"])
        self.assertIn("min_blob_size: 784", rocktier("blob", "advise", DB).stdout)

    def test_wrong_usage(self):
        self.fails("stats, verify or advise?")
        self.fails("no such verb: show", "show", DB)
        self.fails("takes no --space", "stats", DB, "--space=2")
        self.fails("no such value", "advise", DB, "--space=0.5")
        self.fails("no such value", "advise", DB, "--space=x")
        self.fails("DB is missing", "verify")
        self.fails("", "verify", TMP + "/none")
        self.fails("", "advise", TMP + "/none")
        self.fails("DB is missing", "stats")
        self.fails("one argument too many: " + DB, "stats", DB, DB)
        self.fails("takes no --jason", "stats", DB, "--jason")
        self.fails("", "stats", TMP + "/none")
        self.assertFalse(os.path.exists(TMP + "/none"))

    def test_help(self):
        result = rocktier("blob", "--help")
        self.assertEqual(0, result.returncode)
        self.assertIn("rocktier blob stats DB", result.stdout)


class DatabaseOfThePlugin(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with open(TMP + "/options.ini", "w", encoding="utf-8") as file:
            file.write(OPTIONS)
        for seed, (name, size) in enumerate((("fillseq", 200), ("overwrite", 2000),
                                             ("overwrite", 20), ("overwrite", 200))):
            subprocess.run([
                BIN + "/db_bench", "--db=" + HYBRID, "--options_file=" + TMP + "/options.ini",
                "--num_column_families=2", "--num=8000", "--writes=" + ("2000" if seed else "8000"),
                f"--value_size={size}", f"--seed={seed + 1}", f"--use_existing_db={int(seed > 0)}",
                f"--benchmarks={name},flush" + (",waitforcompaction" if seed == 3 else "")
            ], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    def look(self, *arguments):
        result = rocktier("blob", *arguments, "--json")
        self.assertEqual(0, result.returncode, result.stdout + result.stderr)
        families = json.loads(result.stdout)
        self.assertEqual(FAMILIES, sorted(families))
        return families

    def assert_files(self, families, db):
        for suffix, name in ((".blob", "blob_file_bytes"), (".sst", "small_bytes")):
            files = [n for n in os.listdir(db) if n.endswith(suffix)]
            self.assertEqual(sum(os.path.getsize(db + "/" + n) for n in files),
                             sum(family[name] for family in families.values()))

    def test_stats_tell_the_classes(self):
        families = self.look("stats", HYBRID)
        self.assert_files(families, HYBRID)
        for space in families.values():
            self.assertGreater(space["medium_bytes"], 0)
            self.assertEqual(0, space["medium_bytes"] % (200 + 16 + 32))
            self.assertGreater(space["large_live_bytes"], 0)
            self.assertEqual(
                space["large_bytes"], space["large_live_bytes"] + space["large_garbage_bytes"] +
                space["large_hidden_bytes"])

    def test_verify_finds_no_problem(self):
        stats = self.look("stats", HYBRID)
        for name, check in self.look("verify", HYBRID).items():
            self.assertEqual([], check["problems"])
            self.assertEqual(0, check["problem_count"])
            self.assertEqual(0, check["uncounted"])
            self.assertGreater(check["garbage"], 0)
            self.assertEqual(check["values"], check["references"] + check["garbage"])
            self.assertEqual(stats[name]["sst_files"], check["ssts"])

    def test_stats_of_an_open_database(self):
        copy = TMP + "/open"
        shutil.copytree(HYBRID, copy)
        user = subprocess.Popen([
            BIN + "/db_bench", "--db=" + copy, "--options_file=" + TMP + "/options.ini",
            "--num_column_families=2", "--num=8000", "--use_existing_db=1", "--duration=600",
            "--benchmarks=readrandom"
        ], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            for line in user.stderr:
                if "... finished" in line:  # it is reading
                    break
            self.assertEqual(self.look("stats", HYBRID), self.look("stats", copy))
            self.assertIsNone(user.poll())
        finally:
            user.kill()
            user.wait()
            user.stderr.close()

    def test_advise(self):
        for advice in self.look("advise", HYBRID).values():
            self.assertEqual(16, advice["key_bytes"])
            self.assertEqual(64, advice["medium_from"])  # a key is 20% of the record
            self.assertEqual(784, advice["large_from"])  # 2%
            shares = [advice[name + "_share"] for name in ("small", "medium", "large")]
            self.assertAlmostEqual(1, sum(shares), delta=0.02)
            self.assertTrue(all(0 < share < 1 for share in shares), shares)
            self.assertLess(advice["hybrid_write_amplification"],
                            advice["in_place_write_amplification"])
            self.assertEqual(800, advice["current_min_blob_size"])
            self.assertEqual(784, advice["min_blob_size"])
            self.assertLessEqual(advice["large_space_amplification"], 1.5)
            self.assertEqual(1, advice["space_kept"])

    def test_advise_keeps_to_the_space(self):
        for narrow in self.look("advise", HYBRID, "--space=1.2").values():
            self.assertEqual(784, narrow["min_blob_size"])
            self.assertLessEqual(narrow["large_space_amplification"], 1.2)
            self.assertEqual(1, narrow["space_kept"])

    def test_advise_says_that_it_cannot(self):
        # A tenth of what is overwritten is above the last level, where nobody knows of it.
        for none in self.look("advise", HYBRID, "--space=1").values():
            self.assertGreater(none["in_place_space_amplification"], 1)
            self.assertGreater(none["large_space_amplification"], 1)
            self.assertEqual(0, none["space_kept"])
        self.assertIn("space_kept: 0\n", rocktier("blob", "advise", HYBRID, "--space=1").stdout)


if __name__ == "__main__":
    unittest.main()
