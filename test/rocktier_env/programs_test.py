#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""RocksDB's own programs with a RocktierEnv: what README.md of the plugin says of each.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import glob
import os
import shutil
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
STACK = ("id=RawWalFileSystem;device=%s/wal;size=64M;segment_size=256K;target={"
         "id=TieredFileSystem;tiers={fast={path=%s/fast;budget=8M};slow={path=%s/slow}};"
         "placement={0..1=fast;2..=slow}}" % (TMP, TMP, TMP))
URI = "--env_uri=id=RocktierEnv;file_system={%s}" % STACK
OPTIONS = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
  avoid_flush_during_shutdown=true
  env={id=RocktierEnv;file_system={%s}}
[CFOptions "default"]
[TableOptions/BlockBasedTable "default"]
""" % STACK

# The first key of db_bench, as ldb prints it.
FIRST = "0x00000000000000003030303030303030"
# Faults of the FileSystem: none here.
NO_FAULTS = ["--%s_fault_one_in=0" % fault for fault in (
    "read", "metadata_read", "metadata_write", "write", "open_read", "open_write",
    "open_metadata_read", "open_metadata_write")]
# RocksDB 11; its workers abort compactions at random.
NO_WORKERS = ["--remote_compaction_worker_threads=0", "--undefok=remote_compaction_worker_threads"]


def run(program, *argv):
    return subprocess.run([os.path.join(BIN, program), *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")


def file_system_of(db):
    """The FileSystem that the LOG of a database names."""
    with open(db + "/LOG", errors="replace") as file:
        return next(line.split()[-1] for line in file if "Options.fs:" in line)


class Programs(unittest.TestCase):
    def setUp(self):
        for name in ("fast", "slow"):
            os.makedirs("%s/%s" % (TMP, name))
        self.db = TMP + "/db"
        self.options = TMP + "/options.ini"
        with open(self.options, "w") as file:
            file.write(OPTIONS)
        self.succeed(self.bench("fillseq,flush,overwrite", URI))

    def tearDown(self):
        for name in os.listdir(TMP):
            path = os.path.join(TMP, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def succeed(self, result):
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def bench(self, benchmarks, *flags, db=None):
        return run("db_bench", "--db=" + (db or self.db), "--options_file=" + self.options,
                   "--benchmarks=" + benchmarks, "--num=1000", *flags)

    def ldb(self, *argv):
        return run("ldb", "--db=" + self.db, URI, *argv)

    def check_first_key(self, db, *flags):
        output = self.succeed(run("ldb", "--db=" + db, "scan", "--max_keys=1", "--hex", *flags))
        self.assertIn(FIRST, output)

    def test_db_bench(self):
        self.assertEqual(file_system_of(self.db), "RawWalFileSystem")
        self.assertTrue(glob.glob(TMP + "/fast/*/*.sst.*"))
        output = self.succeed(self.bench("readseq,readrandom", "--use_existing_db", URI))
        self.assertIn("(1000 of 1000 found)", output)
        # It replaces the env of an OPTIONS file by that of its flags.
        plain = TMP + "/plain"
        self.succeed(self.bench("fillseq", db=plain))
        self.assertEqual(file_system_of(plain), "PosixFileSystem")

    def test_ldb(self):
        for flags in ((), ("--try_load_options",), ("--try_load_options=false",),
                      ("--secondary_path=%s/secondary" % TMP,)):
            self.check_first_key(self.db, URI, *flags)
        self.assertIn("OK", self.succeed(self.ldb("checkconsistency")))
        self.succeed(self.ldb("list_live_files_metadata"))
        self.succeed(self.ldb("backup", "--backup_dir=%s/backup" % TMP))
        self.succeed(self.ldb("backup", "--backup_dir=%s/backup2" % TMP,
                              "--backup_" + URI.lstrip("-")))
        self.succeed(self.ldb("checkpoint", "--checkpoint_dir=%s/checkpoint" % TMP))
        self.succeed(self.ldb("repair"))
        self.check_first_key(self.db, URI)
        self.succeed(run("ldb", "--db=%s/restored" % TMP, "--backup_dir=%s/backup" % TMP,
                         "restore"))
        for copy in ("restored", "checkpoint"):  # plain files
            self.check_first_key("%s/%s" % (TMP, copy))

    def test_ldb_needs_the_uri(self):
        """RocksDB writes no env into the OPTIONS file of a database."""
        for path in glob.glob(self.db + "/OPTIONS-*"):
            with open(path) as file:
                self.assertNotIn("RocktierEnv", file.read())
        plain = run("ldb", "--db=" + self.db, "--try_load_options", "scan", "--max_keys=1")
        self.assertEqual(plain.returncode, 1, plain.stdout)
        self.assertIn("Corruption", plain.stdout)

    def test_sst_dump(self):
        output = self.succeed(run("sst_dump", URI, "--file=" + self.db, "--command=verify"))
        self.assertIn("The file is ok", output)

    def test_db_stress(self):
        os.mkdir(TMP + "/expected")
        stress = run("db_stress", URI, "--db=%s/stress" % TMP, "--destroy_db_initially=1",
                     "--expected_values_dir=%s/expected" % TMP, "--clear_column_family_one_in=0",
                     "--max_key=500", "--ops_per_thread=200", "--threads=2", "--reopen=2",
                     *NO_FAULTS, *NO_WORKERS)
        self.assertIn("Verification successful", self.succeed(stress))
        # The LOG names a wrapper of db_stress.
        self.assertTrue(os.path.exists(TMP + "/stress/TIERS"))

    def test_wrong_strings(self):
        wrong = {
            "RocktierEnv": "RocktierEnv: file_system: is required",
            "id=RocktierEnv;file_sytem={%s}" % STACK: "RocktierEnv: file_sytem: is no option",
            "id=RocktierEnv;file_system={id=RawWalFileSystm;device=/x}":
                "RocktierEnv: file_system={id=RawWalFileSystm;device=/x}: Not implemented: "
                "Could not load FileSystem: RawWalFileSystm",
            "id=RocktierEnv;file_system={id=RawWalFileSystem;devise=/x}":
                "RocktierEnv: file_system={id=RawWalFileSystem;devise=/x}: NotFound: ",
            "id=RocktierEnv;file_system={id=RawWalFileSystem;device=/no/x}":
                "RocktierEnv: file_system={id=RawWalFileSystem;device=/no/x}: Invalid argument: "
                "device=/no/x: does not exist",
            "id=RocktierEnv;file_system={%s" % STACK: "RocktierEnv: braces do not match",
        }
        programs = (("ldb", "--db=" + self.db, "scan"), ("sst_dump", "--file=" + self.db),
                    ("db_bench", "--db=" + self.db, "--benchmarks=readseq", "--use_existing_db"))
        for uri, message in wrong.items():
            for program in programs:
                result = run(*program, "--env_uri=" + uri)
                self.assertEqual(result.returncode, 1, result.stdout)
                self.assertIn("Invalid argument: " + message, result.stdout)

    def test_a_misspelt_name_is_no_env(self):
        """RocksDB drops it without a word. What the plugins wrote is refused then."""
        result = run("ldb", "--db=" + self.db, URI.replace("RocktierEnv", "RoktierEnv"), "scan")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertNotIn("RoktierEnv", result.stdout)


if __name__ == "__main__":
    unittest.main()
