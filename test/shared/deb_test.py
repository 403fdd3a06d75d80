#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The Debian packages of scripts/deb, in a Debian 13: built, without a word of lintian, installed,
used with Debian's own programs, and removed.

TEST_TMPDIR: an empty folder.
"""

import glob
import os
import re
import unittest

import needs
from needs import ROOT, run, succeed

NO_TRIXIE = 3  # exit status of scripts/trixie


class Deb(needs.Needs):
    PROGRAMS = ("dpkg-deb", "unshare")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        result = run(ROOT + "/scripts/trixie", os.environ["TEST_TMPDIR"], "true")
        if result.returncode == NO_TRIXIE:
            reason = result.stderr.strip().splitlines()[-1]
            print("skipped:", reason)
            raise unittest.SkipTest(reason)
        cls.packages = succeed(ROOT + "/scripts/deb")

    def test_names_one_version_of_rocksdb(self):
        with open(ROOT + "/CMakeLists.txt") as file:
            version = re.search(r"^project\(rocktier VERSION (\S+)", file.read(), re.M).group(1)
        files = glob.glob(self.packages + "/*_%s_*.deb" % version)
        names = {os.path.basename(file).partition("_")[0] for file in files}
        self.assertLessEqual({"librocktier", "rocktier-tools"}, names)
        for file in files:
            if "-dbgsym" not in file:
                depends = succeed("dpkg-deb", "--field", file, "Depends")
                self.assertIn("librocksdb9.10 (<< 9.10.1~)", depends, file)
                self.assertIn("librocksdb9.10 (>= 9.10.0)", depends, file)

    def test_programs_of_debian(self):
        steps = succeed(ROOT + "/scripts/trixie", self.packages, "sh",
                        "/source/test/shared/deb_installed.sh", "/out")
        self.assertEqual(steps.splitlines()[-1], "done")
        self.assertEqual(steps.count("5000 records written and found"), 5, steps)
        self.assertEqual(steps.count("all records are there"), 5, steps)


if __name__ == "__main__":
    unittest.main()
