#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""ldb looks at a database with a hot store, before and while it is opened for writing.

Whoever only looks leaves the folder of copies alone: the database still has its copies.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import os
import re
import shutil
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
DB = TMP + "/db"
HOT = TMP + "/hot"
RECORDS = 2000

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
  path={hot}
  budget=16M
  slow={tmp}
  slow_read_micros=0
"""


def bench(benchmarks, reads):
    result = subprocess.run([
        BIN + "/db_bench", "--db=" + DB, "--options_file=" + TMP + "/options.ini", "--cache_size=0",
        "--num=%d" % RECORDS, "--value_size=400", "--reads=%d" % reads, "--statistics",
        "--use_existing_db=%d" % os.path.exists(DB), "--benchmarks=" + benchmarks
    ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        raise AssertionError(result.stdout)
    return result.stdout


def ldb(*words):
    return [BIN + "/ldb", "--db=" + DB, "--try_load_options", *words]


def state_of(folder):
    """Each file's name, identity, and when it was written."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            status = os.stat(os.path.join(path, name))
            found[os.path.join(path, name)] = status.st_ino, status.st_size, status.st_mtime_ns
    return found


class HotPromotionLdb(unittest.TestCase):

    def setUp(self):
        with open(TMP + "/options.ini", "w") as file:
            file.write(OPTIONS.format(tmp=TMP, hot=HOT))
        bench("fillseq,compact,readrandom,readrandom", 10 * RECORDS)
        self.expect_copies()

    def tearDown(self):
        for folder in DB, HOT, TMP + "/secondary":
            shutil.rmtree(folder, ignore_errors=True)

    def expect_copies(self):
        """The database opens for writing, and its copies answer nearly all reads."""
        count = re.search(r"rocksdb\.hot\.file\.read\.count COUNT : (\d+)",
                          bench("readrandom", RECORDS))
        self.assertGreater(int(count.group(1)), RECORDS * 9 // 10)

    def look(self, *words):
        before = state_of(HOT)
        result = subprocess.run(ldb(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, errors="replace")
        self.assertEqual(0, result.returncode, result.stdout)
        self.assertEqual(before, state_of(HOT))
        return result.stdout

    def test_ldb_looks_first(self):
        first = self.look("scan", "--hex", "--max_keys=1").split()[0]
        self.look("get", "--hex", first)
        self.look("scan", "--hex", "--max_keys=1", "--secondary_path=%s/secondary" % TMP)
        self.assertIn("%d" % RECORDS, self.look("dump", "--count_only"))
        self.look("approxsize", "--hex", "--from=" + first, "--to=0xff")
        self.look("checkconsistency")
        self.look("list_live_files_metadata")
        self.look("list_column_families")
        self.look("manifest_dump")
        self.expect_copies()

    def test_ldb_looks_while_the_database_is_opened(self):
        for more in (), ("--secondary_path=%s/secondary" % TMP,):
            # It waits for a reader of its output, which is larger than a pipe, with the database
            # open.
            with subprocess.Popen(ldb("scan", "--hex", *more), stdout=subprocess.PIPE,
                                  text=True) as looking:
                line = looking.stdout.readline()
                self.assertIn(" ==> ", line)
                files = "/proc/%d/fd" % looking.pid
                names = [os.readlink(files + "/" + name) for name in os.listdir(files)]
                self.assertTrue([name for name in names if name.startswith(DB + "/")], names)
                self.assertEqual([], [name for name in names if name.startswith(HOT)])
                self.expect_copies()
                self.assertIsNone(looking.poll())
                rest = looking.stdout.read()
            self.assertEqual(0, looking.returncode)
            self.assertEqual(RECORDS - 1, rest.count(" ==> "))

    def test_ldb_writes_first(self):
        result = subprocess.run(ldb("put", "another key", "its value"), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        self.assertIn("OK", result.stdout)
        self.expect_copies()
        self.assertIn("its value", self.look("get", "another key"))


if __name__ == "__main__":
    unittest.main()
