#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""librocktier.so beside the library of rocksdbjni: what it exports, and what it refuses.

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
SCRIPTS = ROOT + "/scripts/"
# Another version, most of whose symbols are the same: all that the plugins need are there.
OTHER = "9.9.3"


def status(path):
    """What rocktier_status() says in a process that loads the library, and its stderr."""
    program = ("import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); "
               "library.rocktier_status.restype = ctypes.c_char_p; "
               "print(library.rocktier_status().decode())")
    result = run(sys.executable, "-c", program, path)
    return result.stdout.strip("\n"), result.stderr


def any_library():
    """A shared library without RocksDB."""
    with open("/proc/self/maps") as maps:
        return next(line.split()[-1] for line in maps if "/libc.so" in line)


class Shared(needs.Needs):
    PROGRAMS = ("mvn", "c++", "nm")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lib = succeed(SCRIPTS + "shared")

    def library_of_another_version(self):
        return needs.library_of(succeed(SCRIPTS + "rocksdbjni", OTHER), TMP)

    def test_registers(self):
        self.assertEqual(status(self.lib + "/librocktier.so"), ("", ""))

    def test_exports_nothing_else(self):
        lines = run("nm", "-D", "--defined-only", self.lib + "/librocktier.so").stdout.splitlines()
        self.assertEqual(sorted(line.split()[-1] for line in lines),
                         ["_ZN7rocksdb3Env7DefaultEv", "rocktier_status"])

    def test_names_of_sources_are_relative(self):
        """RocksDB's logging.h cuts as much off them as its own name is too long by."""
        with open(self.lib + "/librocktier.so", "rb") as file:
            names = re.findall(rb"/?(?:[\w.-]+/)*plugin/[a-z_/]+\.cc(?=\0)", file.read())
        self.assertGreater(len(names), 0)
        self.assertEqual([name for name in names if name.startswith(b"/")], [])

    def test_public_headers_alone(self):
        source = succeed(SCRIPTS + "source")
        headers = TMP + "/headers"
        os.makedirs(headers)
        os.symlink(source + "/include", headers + "/include")
        lib = succeed(SCRIPTS + "shared", ROCKSDB_SRC=headers)
        self.assertEqual(status(lib + "/librocktier.so"), ("", ""))
        with open(os.path.dirname(lib) + "/plugins.h") as file:
            self.assertEqual(re.findall(r'\{"(\w+)", register_', file.read()),
                             ["raw_wal_fs", "secondary_cache_2q"])
        result = run(SCRIPTS + "shared", "", "raw_wal_fs", "tiered_env", ROCKSDB_SRC=headers)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("tiered_env needs internal headers of RocksDB, and %s has public ones only"
                      % headers, result.stderr)

    def test_finds_the_library_beside_it(self):
        dynamic = run("readelf", "-d", "-W", self.lib + "/librocktier.so").stdout
        self.assertIn("[%s]" % needs.LIBRARY, dynamic)
        self.assertIn("[$ORIGIN]", dynamic)
        self.assertEqual(os.readlink(self.lib + "/librocksdbjni.so"), "librocktier.so")
        self.assertEqual(os.readlink(self.lib + "/librocksdb.so"), needs.LIBRARY)

    def test_another_version_is_not_built_for(self):
        result = run(SCRIPTS + "shared", self.library_of_another_version())
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("has RocksDB %s, and the source in " % OTHER, result.stderr)

    def test_another_version_at_load(self):
        self.library_of_another_version()
        path = shutil.copy(self.lib + "/librocktier.so", TMP)
        why, stderr = status(path)
        self.assertRegex(why, "^built for RocksDB .*, and this process has RocksDB %s$" % OTHER)
        self.assertIn("rocktier: no plugin is registered: " + why, stderr)

    def test_another_layout_at_load(self):
        # The command of the build, for load.cc alone and with assertions.
        build = os.path.dirname(self.lib)
        commands = run("ninja", "-C", build, "-t", "commands", "librocktier").stdout.splitlines()
        compiler = next(line for line in commands if line.endswith("load.cc")).split()
        flags = [flag for flag in compiler if flag.startswith(("-D", "-I", "-O", "-f"))]
        flags.remove("-DNDEBUG")
        folder = TMP + "/layout"
        os.mkdir(folder)
        with open(build + "/plugins.h") as file:
            lines = [line for line in file if "register_" not in line]
        with open(folder + "/plugins.h", "w") as file:
            file.write("".join(lines).replace("kPlugins[] = {", 'kPlugins[] = {{"none", nullptr}'))
        os.symlink(os.path.realpath(self.lib + "/" + needs.LIBRARY), folder + "/" + needs.LIBRARY)
        built = run("c++", "-std=c++17", "-I" + folder, *flags, "-shared",
                    ROOT + "/shared/load.cc", ROOT + "/shared/default_env.cc", "-o",
                    folder + "/librocktier.so", "-L" + folder, "-l:" + needs.LIBRARY,
                    "-Wl,-rpath,$ORIGIN")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(status(folder + "/librocktier.so")[0],
                         "built for a RocksDB with assertions, and this process has one without "
                         "them")

    def test_what_is_no_library(self):
        for path, why in ((ROOT + "/README.md", "is no shared library"),
                          (any_library(), "has no RocksDB, or hides its symbols"),
                          (TMP + "/absent.so", "there is no library")):
            with self.subTest(path):
                result = run(SCRIPTS + "shared", path)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertIn(why, result.stderr)

    def test_no_such_plugin(self):
        result = run(SCRIPTS + "shared", "", "tiered")
        self.assertEqual((result.returncode, result.stderr),
                         (1, "rocktier: there is no plugin tiered\n"))


if __name__ == "__main__":
    unittest.main()
