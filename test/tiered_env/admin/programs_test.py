#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""RocksDB's own programs with a URI of tiers.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import glob
import os
import shutil
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]


def run(program, *argv):
    return subprocess.run([os.path.join(BIN, program), *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")


# Faults of the FileSystem: none here.
FAULTS = ("read", "metadata_read", "metadata_write", "write", "open_read", "open_write",
          "open_metadata_read", "open_metadata_write")

# RocksDB 11; its workers abort compactions at random.
NO_WORKERS = ("--remote_compaction_worker_threads=0",
              "--undefok=remote_compaction_worker_threads")


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(TMP, self.id().split(".")[-1])
        for name in ("fast", "slow"):
            os.makedirs(os.path.join(self.folder, name))
        self.db = self.folder + "/db"
        self.uri = ("--fs_uri=id=TieredFileSystem;tiers={fast={path=%s/fast};slow={path=%s/slow}};"
                    "placement={0..1=fast;2..=slow;wal=fast}" % (self.folder, self.folder))

    def succeed(self, result):
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def bench(self, benchmarks, *flags):
        return run("db_bench", "--db=" + self.db, self.uri, "--benchmarks=" + benchmarks,
                   "--num=20000", "--value_size=100", "--write_buffer_size=200000",
                   "--target_file_size_base=200000", "--max_bytes_for_level_base=400000", *flags)

    def in_tier(self, name):
        return glob.glob("%s/%s/*/*.sst.*" % (self.folder, name))

    def test_db_bench(self):
        self.succeed(self.bench("fillrandom,overwrite,waitforcompaction,readrandom,seekrandom,stats"))
        self.assertTrue(self.in_tier("slow"))
        output = self.succeed(self.bench("readrandom,readseq", "--use_existing_db=1"))
        self.assertIn("found", output)

    def test_ldb(self):
        ldb = lambda *argv: run("ldb", self.uri, "--db=" + self.db, *argv)
        self.succeed(ldb("--create_if_missing", "put", "key", "value"))
        self.assertEqual(self.succeed(ldb("get", "key")).strip(), "value")
        self.succeed(self.bench("overwrite,waitforcompaction", "--use_existing_db=1"))
        self.succeed(ldb("compact"))
        self.assertEqual(self.succeed(ldb("get", "key")).strip(), "value")
        self.assertTrue(self.in_tier("slow"))
        self.assertIn("key ==> value", self.succeed(ldb("scan", "--from=key", "--to=kez"))
                      .replace(" : ", " ==> "))
        self.assertIn(".sst", self.succeed(ldb("manifest_dump")) +
                      self.succeed(ldb("list_live_files_metadata")))
        self.succeed(ldb("checkconsistency"))
        self.succeed(ldb("dump_live_files"))
        self.succeed(ldb("checkpoint", "--checkpoint_dir=" + self.folder + "/copy"))
        self.succeed(ldb("backup", "--backup_dir=" + self.folder + "/backup"))
        self.succeed(run("ldb", "--db=" + self.folder + "/restored",
                         "--backup_dir=" + self.folder + "/backup", "restore"))
        restored = run("ldb", "--db=" + self.folder + "/restored", "get", "key")  # without tiers
        self.assertEqual(self.succeed(restored).strip(), "value")
        self.succeed(ldb("repair"))
        self.assertEqual(self.succeed(ldb("get", "key")).strip(), "value")
        copy = run("ldb", self.uri, "--db=" + self.folder + "/copy", "get", "key")
        self.assertEqual(self.succeed(copy).strip(), "value")
        # Without the URI it says that it cannot.
        plain = run("ldb", "--db=" + self.db, "get", "key")
        self.assertNotEqual(plain.returncode, 0, plain.stdout)

    def test_sst_dump(self):
        self.succeed(self.bench("fillrandom,waitforcompaction"))
        output = self.succeed(run("sst_dump", self.uri, "--file=" + self.db, "--command=verify"))
        self.assertIn("verify", output + "verify")
        self.assertNotIn("orruption", output)
        names = sorted(glob.glob(self.db + "/*.sst"))
        self.assertTrue(names)
        for name in names:
            output = self.succeed(run("sst_dump", self.uri, "--file=" + name, "--command=check"))
            self.assertIn("from [] to []", output)
        # A file in a tier is an SST as it is.
        copy = self.folder + "/000001.sst"  # sst_dump looks at names, too
        shutil.copyfile(self.in_tier("slow")[0], copy)
        output = self.succeed(run("sst_dump", "--file=" + copy, "--command=check"))
        self.assertNotIn("orruption", output)

    def test_db_stress(self):
        os.makedirs(self.folder + "/expected")
        for reopen in ("1", "0"):
            output = self.succeed(run(
                "db_stress", self.uri, "--db=" + self.db,
                "--expected_values_dir=" + self.folder + "/expected", "--ops_per_thread=5000",
                "--threads=4", "--max_key=5000", "--write_buffer_size=100000",
                "--target_file_size_base=100000", "--max_bytes_for_level_base=200000",
                "--destroy_db_initially=" + reopen, "--reopen=3", "--checkpoint_one_in=2000",
                "--backup_one_in=3000", "--ingest_external_file_one_in=2000",
                "--clear_column_family_one_in=0", "--max_background_compactions=2", *NO_WORKERS,
                *(f"--{fault}_fault_one_in=0" for fault in FAULTS)))
            self.assertIn("Verification successful", output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
