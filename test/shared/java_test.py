#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The plugins in Java: examples/java as README.md there has it, and the jar.

TEST_TMPDIR: an empty folder.
"""

import glob
import os
import re
import unittest
import zipfile

import needs
from needs import ROOT, run, succeed

TMP = os.environ["TEST_TMPDIR"]
PLUGINS = ["raw_wal_fs", "tiered_env", "secondary_cache_2q", "hot_promotion", "blob_hybrid"]


def log_device(path):
    """The variable that has a program's logs on a new device."""
    return {"ROCKTIER_FS_URI": "id=RawWalFileSystem;device=%s;size=64M" % path}


class WithJava(needs.Needs):
    PROGRAMS = ("mvn", "javac", "java", "c++")

    def counts(self, text):
        """Each plugin has a line with figures, and none of them is 0."""
        for plugin in PLUGINS:
            line = re.search(r"^%s .*" % plugin, text, re.MULTILINE)
            self.assertIsNotNone(line, text)
            figures = re.findall(r" [a-z_]+ ([\d,]+)", line.group())
            self.assertEqual(len(figures), 2, line.group())
            self.assertTrue(all(int(each.replace(",", "")) > 0 for each in figures), line.group())


class Example(WithJava):
    def test_as_the_readme_has_it(self):
        output = succeed(ROOT + "/examples/java/run", TMP + "/databases")
        print(output)
        written, read, absent, _ = output.split("\n\n")
        self.counts(written)
        self.assertEqual(read.count("all records are there"), len(PLUGINS))
        self.assertEqual(absent.count("refused: unknown WriteBatch tag"), 2)
        self.assertEqual(absent.count("refused: Sst file size mismatch"), 2)
        self.assertEqual(absent.count("refused: Missing configurable object"), 2)
        self.assertEqual(absent.count("all records are there"), 4)

    def test_a_program_that_knows_nothing(self):
        library = succeed(ROOT + "/scripts/shared")
        path = succeed(ROOT + "/scripts/rocksdbjni") + ":" + TMP + "/plain"
        succeed("javac", "-cp", path, "-d", TMP + "/plain", ROOT + "/test/shared/Plain.java")
        plain = ("java", "-Djava.library.path=" + library, "-cp", path, "Plain")
        db = TMP + "/plain/db"
        variable = log_device(TMP + "/plain/wal")
        for what in ("write", "read"):
            self.assertEqual(succeed(*plain, what, db, **variable), "2000 records are there")
        with open(db + "/LOG", encoding="latin-1") as log:
            self.assertIn("Options.fs: RawWalFileSystem", log.read())
        self.assertRegex(succeed(*plain, "read", db), "^refused: unknown WriteBatch tag")
        bad = run(*plain, "read", db, ROCKTIER_FS_URI="id=RawWalFileSystm")
        self.assertEqual(bad.returncode, 78)
        self.assertIn("Could not load FileSystem: RawWalFileSystm", bad.stderr)
        succeed(*plain, "destroy", db, **variable)
        self.assertFalse(os.path.exists(db))


class Jar(WithJava):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jar = succeed(ROOT + "/scripts/jar")
        rocksdb = re.search(r"rocksdb-([\d.]+)\.jar$", cls.jar).group(1)
        cls.rocksdbjni = succeed(ROOT + "/scripts/rocksdbjni", rocksdb)
        cls.path = ":".join((cls.jar, cls.rocksdbjni, TMP + "/classes"))
        sources = [name for folder in ("/examples/java", "/test/shared")
                   for name in glob.glob(ROOT + folder + "/*.java")]
        succeed("javac", "-cp", cls.path, "-d", TMP + "/classes", *sources)

    def test_one_call_loads_the_plugins(self):
        for what in ("write", "read"):
            output = succeed("java", "-cp", self.path, "LoadFirst", what,
                             ROOT + "/examples/options", TMP + "/databases")
            if what == "write":
                self.counts(output)
            else:
                self.assertEqual(output.count("all records are there"), len(PLUGINS))

    def test_a_program_that_knows_nothing(self):
        folder = TMP + "/plain"
        succeed("java", "-cp", self.path, "LoadFirst", "write", ROOT + "/examples/options",
                folder, "blob_hybrid", **log_device(TMP + "/wal"))
        with open(folder + "/blob_hybrid/db/LOG", encoding="latin-1") as log:
            self.assertIn("Options.fs: RawWalFileSystem", log.read())

    def test_it_is_too_late_when_rocksdb_is_loaded(self):
        self.assertEqual(succeed("java", "-cp", self.path, "LoadLate"),
                         "RocksDB is loaded already: call Rocktier.load() before")

    def test_maven_takes_it(self):
        repository = TMP + "/maven"
        succeed("mvn", "-B", "install:install-file", "-Dfile=" + self.jar,
                "-DpomFile=" + self.jar[:-len("jar")] + "pom", "-Dmaven.repo.local=" + repository)
        artifact = repository + "/io/github/rocktier/rocktier"
        self.assertEqual(len(glob.glob(artifact + "/*/*.jar")), 1)
        self.assertEqual(len(glob.glob(artifact + "/*/*.pom")), 1)

    def test_needs_what_rocksdbjni_needs(self):
        with zipfile.ZipFile(self.jar) as jar:
            library = jar.extract("io/github/rocktier/librocktier.so", TMP)
            pom = jar.read("META-INF/maven/io.github.rocktier/rocktier/pom.xml").decode()
        needed = re.findall(r"NEEDED.*\[(.*)\]", succeed("readelf", "-d", library))
        self.assertEqual([name for name in needed if not re.match(
            r"librocksdbjni-|lib(c|m|stdc\+\+|gcc_s)\.so|ld-linux", name)], [])
        self.assertRegex(pom, r"<artifactId>rocksdbjni</artifactId>\s*<version>[\d.]+</version>")


if __name__ == "__main__":
    unittest.main()
