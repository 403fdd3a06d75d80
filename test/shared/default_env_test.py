#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""ROCKTIER_FS_URI: programs that know nothing of the plugins, over log devices and tiers.

plain.cc is such a program, linked with the library of rocksdbjni. TEST_TMPDIR: an empty folder.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import needs
from needs import run, succeed

TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPTS = ROOT + "/scripts/"
VARIABLE = "ROCKTIER_FS_URI"
REFUSED = 78  # EX_CONFIG
ENDS = "\nrocktier: the program ends: its databases would be plain files\n"
FOUND = "2000 records are there"


# A library whose static object uses RocksDB, and a program that has it.
EARLY = """
#include "rocksdb/c.h"
struct Early { Early() { rocksdb_options_create(); } } early;
extern "C" int touch() { return 0; }
"""
USES_EARLY = """
extern "C" int touch();
int main() { return touch(); }
"""


def compile_with(output, *argv, source=None):
    """Compiles plain.cc, or the text `source`."""
    path = ROOT + "/test/shared/plain.cc"
    if source is not None:
        path = output + ".cc"
        with open(path, "w") as file:
            file.write(source)
    succeed("c++", "-std=c++17", "-I" + succeed(SCRIPTS + "source") + "/include", path,
            "-o", output, *argv)


class DefaultEnv(needs.Needs):
    PROGRAMS = ("mvn", "c++")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lib = succeed(SCRIPTS + "shared")
        cls.plugins = cls.lib + "/librocktier.so"
        cls.library = cls.lib + "/" + needs.LIBRARY
        cls.link = ("-L" + cls.lib, "-l:" + needs.LIBRARY, "-Wl,-rpath," + cls.lib)
        cls.plain = TMP + "/plain"
        compile_with(cls.plain, *cls.link)

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=TMP)
        self.db = self.folder + "/db"
        for name in ("fast", "slow"):
            os.mkdir(self.folder + "/" + name)
        self.uri = ("id=RawWalFileSystem;device={0}/wal;size=64M;target={{id=TieredFileSystem;"
                    "tiers={{fast={{path={0}/fast}};slow={{path={0}/slow}}}};"
                    "placement={{0..1=fast;2..=slow}}}}").format(self.folder)
        self.variable = {VARIABLE: self.uri}

    def preloaded(self, *argv, uri):
        return run(self.plain, *argv, ROCKTIER_FS_URI=uri, LD_PRELOAD=self.plugins)

    def refused(self, result, why):
        self.assertEqual(result.returncode, REFUSED, result.stderr)
        said = result.stderr[result.stderr.index("rocktier: %s: " % VARIABLE):]
        self.assertTrue(said.endswith(ENDS), said)
        self.assertIn(why, said)
        self.assertFalse(os.path.exists(self.db))

    def wait_for_counter(self, plugin, name, least):
        """Of the database's statistics file; the sum of all tiers. Until it is more than that."""
        values = []
        end = time.monotonic() + 120
        while time.monotonic() < end:
            path = "%s/rocktier_%s.prom" % (self.db, plugin)
            if os.path.exists(path):
                with open(path) as file:
                    values = re.findall(r"^rocktier_%s_%s\{.* (\S+)$" % (plugin, name),
                                        file.read(), re.MULTILINE)
                if sum(map(float, values)) > least:
                    return
            time.sleep(0.1)
        raise AssertionError("%s is %s in %s" % (name, values, path))

    def in_tiers(self):
        return glob.glob(self.folder + "/fast/**/*.sst.*", recursive=True)

    def test_a_program_that_knows_nothing(self):
        environment = {**os.environ, "LD_PRELOAD": self.plugins, VARIABLE: self.uri}
        with subprocess.Popen([self.plain, "write", self.db], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), FOUND + "\n")
            self.wait_for_counter("raw_wal_fs", "written_bytes_total", 2000 * 1000)
            self.wait_for_counter("tiered_env", "tier_written_bytes_total", 0)
            process.stdin.close()
            self.assertEqual(process.wait(), 0)
        self.assertEqual(len(self.in_tiers()), 1)

        without = run(self.plain, "read", self.db, LD_PRELOAD=self.plugins)
        self.assertEqual(without.returncode, 1)
        self.assertIn("Corruption: Sst file size mismatch", without.stderr)
        self.assertEqual(self.preloaded("read", self.db, uri=self.uri).stdout, FOUND + "\n")
        destroyed = self.preloaded("destroy", self.db, uri=self.uri)
        self.assertEqual((destroyed.returncode, destroyed.stderr), (0, ""))
        self.assertFalse(os.path.exists(self.db))
        self.assertEqual(self.in_tiers(), [])

    def test_linked_before_rocksdb(self):
        program = self.folder + "/linked"
        compile_with(program, "-Wl,--no-as-needed", "-L" + self.lib, "-l:librocktier.so",
                     *self.link)
        self.assertEqual(run(program, "write", self.db, **self.variable).stdout, FOUND + "\n")
        self.assertEqual(len(self.in_tiers()), 1)

    def test_linked_behind_rocksdb_is_refused(self):
        program = self.folder + "/linked"
        compile_with(program, "-Wl,--no-as-needed", *self.link, "-l:librocktier.so")
        self.refused(run(program, "write", self.db, **self.variable),
                     "has no effect, for RocksDB was loaded before librocktier.so")
        self.assertEqual(succeed(program, "write", self.db), FOUND)

    def test_loaded_after_rocksdb_is_refused(self):
        load = "import ctypes, sys; [ctypes.CDLL(each) for each in sys.argv[1:]]"
        late = run(sys.executable, "-c", load, self.library, self.plugins, **self.variable)
        self.refused(late, "has no effect, for RocksDB was loaded before librocktier.so")
        succeed(sys.executable, "-c", load, self.plugins, self.library, **self.variable)

    def test_used_by_a_static_object(self):
        library = self.folder + "/libearly.so"
        program = self.folder + "/early"
        compile_with(library, "-shared", "-fPIC", *self.link, source=EARLY)
        compile_with(program, library, source=USES_EARLY)
        self.refused(run(program, **self.variable, LD_PRELOAD=self.plugins),
                     "has no effect yet, for a static object uses RocksDB")
        succeed(program, LD_PRELOAD=self.plugins)
        compile_with(library, "-shared", "-fPIC", "-Wl,--no-as-needed", "-L" + self.lib,
                     "-l:librocktier.so", *self.link, source=EARLY)
        succeed(program, **self.variable)

    def test_with_the_other_plugins(self):
        """Files of their own are where they are without the variable."""
        uri = "id=RawWalFileSystem;device=%s/wal;size=64M" % self.folder
        example = (sys.executable, ROOT + "/examples/python/plugins.py", self.plugins,
                   self.folder + "/python", "secondary_cache_2q", "hot_promotion", "blob_hybrid")
        written = succeed(*example, ROCKTIER_FS_URI=uri)
        self.assertEqual(len(re.findall("5000 records written and found; [a-z_]+ [1-9]", written)),
                         3, written)
        self.assertEqual(succeed(*example, ROCKTIER_FS_URI=uri).count("all records are there"), 3)
        with open(self.folder + "/python/hot_promotion/db/LOG") as log:
            self.assertIn("Options.fs: RawWalFileSystem", log.read())
        # A thread of hot_promotion reads its store while the process ends, now and then.
        for _ in range(20):
            without = succeed(*example[:3], self.folder + "/python", "blob_hybrid", "hot_promotion")
            self.assertEqual(without.count("refused: Corruption: unknown WriteBatch tag"), 2,
                             without)

    def test_bad_text_is_refused(self):
        for uri, why in (
                ("", "is empty"),
                ("id=RawWalFileSystm;device=/x", "Could not load FileSystem: RawWalFileSystm"),
                ("RawWal", "Could not load FileSystem: RawWal"),
                ("id=RawWalFileSystem;device=%s/absent" % self.folder, "does not exist"),
                ("id=RawWalFileSystem;devise=/x", "devise"),
                ("id=RawWalFileSystem;device={/x", "braces do not match"),
                ("id=RawWalFileSystem;device=/x}", "braces do not match")):
            with self.subTest(uri):
                self.refused(self.preloaded("write", self.db, uri=uri), why)

    def test_a_program_without_rocksdb_goes_on(self):
        succeed("true", ROCKTIER_FS_URI="id=RawWalFileSystm", LD_PRELOAD=self.plugins)

    def test_without_the_variable_nothing_changes(self):
        self.assertEqual(succeed(self.plain, "write", self.db, LD_PRELOAD=self.plugins), FOUND)
        self.assertEqual(succeed(self.plain, "read", self.db), FOUND)

    def test_another_version_is_refused(self):
        needs.library_of(succeed(SCRIPTS + "rocksdbjni", "9.9.3"), self.folder)
        plugins = shutil.copy(self.plugins, self.folder)
        self.refused(run(self.plain, "write", self.db, **self.variable, LD_PRELOAD=plugins,
                         LD_LIBRARY_PATH=self.folder), "built for RocksDB ")

    def test_needs_the_plugin(self):
        lib = succeed(SCRIPTS + "shared", "", "raw_wal_fs")
        self.refused(run(self.plain, "write", self.db, **self.variable,
                         LD_PRELOAD=lib + "/librocktier.so"),
                     "librocktier.so is built without the plugin rocktier_env")


if __name__ == "__main__":
    unittest.main()
