#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The tool rocktier with the library of rocksdbjni, beside librocktier.so.

TEST_TMPDIR: an empty folder.
"""

import os
import re
import shutil
import sys
import unittest

import needs
from needs import run, succeed

TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGINS = ("blob_hybrid", "hot_promotion", "raw_wal_fs", "secondary_cache_2q", "tiered_env")


class Tool(needs.Needs):
    PROGRAMS = ("mvn", "c++")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lib = succeed(ROOT + "/scripts/shared", ROCKTIER_TOOL="ON")
        cls.rocktier = cls.lib + "/rocktier"

    def refused(self, result, why):
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(why, result.stderr)

    def test_is_for_the_library(self):
        source = succeed(ROOT + "/scripts/source")
        rocksdb = re.search(r"rocksdb-([\d.]+)$", source).group(1)
        self.assertRegex(succeed(self.rocktier, "--version"), "^rocktier [0-9.]+ for RocksDB %s, "
                         "with %s$" % (re.escape(rocksdb), ", ".join(PLUGINS)))

    def test_a_copy_of_the_folder_runs(self):
        shutil.copytree(self.lib, TMP + "/copy")
        succeed(TMP + "/copy/rocktier", "--version")

    def test_finds_what_the_plugins_have_written_in_order(self):
        folder = TMP + "/python"
        written = succeed(sys.executable, ROOT + "/examples/python/plugins.py",
                          self.lib + "/librocktier.so", folder)
        self.assertEqual(written.count("5000 records written and found"), len(PLUGINS), written)
        tiered = folder + "/tiered_env"
        uri = "id=TieredFileSystem;tiers={fast={path=%s/fast;budget=64M};slow={path=%s/slow}}" % (
            tiered, tiered)
        for arguments, says in (
                (("blob", "verify", folder + "/blob_hybrid/db"), '"blob_files":[1-9]'),
                (("cache", "verify", folder + "/secondary_cache_2q/cache"), '"verified":[1-9]'),
                (("hot", "verify", folder + "/hot_promotion/hot"), '"equal":[1-9]'),
                (("tier", "check", uri, tiered + "/db"), '"files":[1-9]'),
                (("wal", "check", folder + "/raw_wal_fs/wal"), '"problems":0')):
            answer = succeed(self.rocktier, *arguments, "--json")
            print(arguments[0], answer)
            self.assertRegex(answer, says)

    def test_another_version_is_refused(self):
        needs.library_of(succeed(ROOT + "/scripts/rocksdbjni", "9.9.3"), TMP + "/other")
        self.refused(run(shutil.copy(self.rocktier, TMP + "/other"), "--version"),
                     "rocktier: no plugin is registered: built for RocksDB ")

    def test_is_not_preloaded(self):
        self.refused(run(self.rocktier, "--version", LD_PRELOAD=self.lib + "/librocktier.so"),
                     "rocktier: librocktier.so is in this process, too: unset LD_PRELOAD")


if __name__ == "__main__":
    unittest.main()
