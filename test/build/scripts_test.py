#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The scripts that download RocksDB and run the tests: what they must not take away, nor pass over.

TEST_TMPDIR: an empty folder.
"""

import os
import re
import shutil
import subprocess
import unittest

TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
APT = """#!/bin/sh
[ "$1" = indextargets ] && echo http://mirror.invalid/debian Debian Debian
"""
CARGO = """#!/bin/sh
printf 'name = "librocksdb-sys"\\nchecksum = "%s"\\n' >Cargo.lock
mkdir -p vendor/librocksdb-sys/rocksdb/include/rocksdb
touch vendor/librocksdb-sys/rocksdb/include/rocksdb/version.h
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def environment(folder, **more):
    """Of a run with programs, a cache and nothing else of its own in the folder."""
    variables = {name: value for name, value in os.environ.items() if name != "ROCKSDB_SRC"}
    return {**variables, "ROCKTIER_CACHE": folder + "/cache", "ROCKTIER_SCRATCH": "disk",
            "PATH": folder + "/bin:" + os.environ["PATH"], **more}


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(TMP, self.id().replace(".", "-"))
        os.mkdir(self.folder)

    def run_script(self, name, *arguments, root=ROOT, **variables):
        return subprocess.run([root + "/scripts/" + name, *arguments], capture_output=True,
                              text=True, env=environment(self.folder, **variables))


class Source(InAFolder):
    """A cache folder has folders of somebody else, with names that are not rocktier's alone."""

    def setUp(self):
        super().setUp()
        self.mine = [self.folder + "/cache/%s/mine" % name for name in ("apt", "cargo")]
        for path in self.mine:
            write(path, "")
        write(self.folder + "/bin/apt-get", APT + "exit 1\n")

    def source(self, version):
        result = self.run_script("source", ROCKSDB_VERSION=version)
        for path in self.mine:
            self.assertTrue(os.path.exists(path), path)
        left = [name for name in os.listdir(self.folder + "/cache") if "download" in name]
        self.assertEqual([], left)
        return result

    def test_folders_stay_when_nothing_is_downloaded(self):
        write(self.folder + "/bin/cargo", "#!/bin/sh\nexit 1\n")
        for version in "9.10.0", "11.8.1":
            result = self.source(version)
            self.assertEqual(1, result.returncode)
            self.assertIn("cannot get the RocksDB %s source" % version, result.stderr)

    def test_a_tree_of_somebody_else_stays(self):
        tree = self.folder + "/cache/rocksdb-9.10.0"
        self.mine.append(tree + "/mine")
        write(self.mine[-1], "")
        result = self.source("9.10.0")
        self.assertEqual(1, result.returncode)
        self.assertIn(tree + " is there", result.stderr)

    def test_what_was_downloaded_is_taken(self):
        with open(ROOT + "/scripts/source", encoding="utf-8") as file:
            checksum = re.search(r"^readonly checksum=(\w+)$", file.read(), re.MULTILINE).group(1)
        write(self.folder + "/bin/cargo", CARGO % checksum)
        tree = self.folder + "/cache/rocksdb-11.8.1"
        for _ in range(2):
            result = self.source("11.8.1")
            self.assertEqual((0, tree + "\n"), (result.returncode, result.stdout), result.stderr)
            self.assertTrue(os.path.exists(tree + "/include/rocksdb/version.h"))
            write(self.folder + "/bin/cargo", "#!/bin/sh\nexit 1\n")  # once is enough


class Scratch(InAFolder):
    def start(self, *command):
        return subprocess.Popen(
            [ROOT + "/scripts/with-scratch", self.folder + "/scratch", *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(self.folder))

    def test_tests_that_run_keep_their_data(self):
        data = self.folder + "/scratch/data"
        first = self.start("sh", "-c", 'touch "$0"; echo begun; read line; exit 3', data)
        self.assertEqual("begun\n", first.stdout.readline())
        second = self.start("ls", self.folder + "/scratch")
        self.assertIn("waiting for other tests", second.stderr.readline())
        self.assertTrue(os.path.exists(data))
        self.assertIsNone(second.poll())
        first.communicate("\n")
        self.assertEqual(3, first.returncode)
        self.assertEqual("", second.communicate()[0])
        self.assertEqual(0, second.returncode)


class Test(InAFolder):
    """A clone whose build is one test, of no plugin."""

    def setUp(self):
        super().setUp()
        self.clone = self.folder + "/clone"
        os.mkdir(self.clone)
        shutil.copytree(ROOT + "/scripts", self.clone + "/scripts")
        write(self.clone + "/plugin/a/a.mk", "")
        write(self.folder + "/build/CTestTestfile.cmake", 'add_test(one "true")\n')
        write(self.clone + "/scripts/build", "#!/bin/sh\necho %s/build\n" % self.folder)
        write(self.clone + "/scripts/source", "#!/bin/sh\necho %s\n" % self.folder)

    def test_a_name_that_no_test_has_is_an_error(self):
        for name, good in ("one", True), ("typo", False):
            result = self.run_script("test", "checked", "--", "-R", name, root=self.clone,
                                     ROCKSDB_VERSION="")
            self.assertEqual(good, result.returncode == 0, result.stdout + result.stderr)
        result = self.run_script("test-next", "60", root=self.clone)
        self.assertNotEqual(0, result.returncode, result.stdout + result.stderr)
        self.assertIn("No tests were found", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
