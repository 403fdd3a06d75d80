#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The examples of the plugins in other languages, run as examples/README.md has it.

TEST_TMPDIR: an empty folder.
"""

import os
import re
import sys
import unittest

import needs

EXAMPLES = needs.ROOT + "/examples"
FOLDER = os.environ["TEST_TMPDIR"] + "/databases"
PLUGINS = ["raw_wal_fs", "tiered_env", "secondary_cache_2q", "hot_promotion", "blob_hybrid"]


class Language(needs.Needs):
    PROGRAMS = ("mvn", "c++")

    def check_written(self, text):
        """Each plugin has a line with a figure that is not 0."""
        for plugin in PLUGINS:
            self.assertRegex(text, r"(?m)^%s +\d+ records written and found; \w+ [1-9]" % plugin)

    def check_read(self, text):
        for plugin in PLUGINS:
            self.assertRegex(text, "(?m)^%s +all records are there$" % plugin)

    def check_without(self, text):
        for why, plugin in (("refused: Corruption: unknown WriteBatch tag", "raw_wal_fs"),
                            ("refused: Corruption: Sst file size mismatch", "tiered_env"),
                            ("all records are there", "secondary_cache_2q"),
                            ("refused: NotFound: Missing configurable object", "hot_promotion"),
                            ("refused: NotFound: Missing configurable object", "blob_hybrid")):
            self.assertRegex(text, "(?m)^%s +%s" % (plugin, why))

    def check_run(self, language):
        text = needs.succeed("%s/%s/run" % (EXAMPLES, language), FOLDER)
        print(text)
        written, read, without, _ = text.split("\n\n")
        self.check_written(written)
        self.check_read(read)
        self.check_without(without)


class Python(Language):
    def test_as_the_readme_has_it(self):
        folder = needs.succeed(needs.ROOT + "/scripts/shared")
        program = EXAMPLES + "/python/plugins.py"
        plugins = folder + "/librocktier.so"
        self.check_written(needs.succeed(sys.executable, program, plugins, FOLDER))
        self.check_read(needs.succeed(sys.executable, program, plugins, FOLDER))
        without = folder + "/librocksdb.so"
        self.check_without(needs.succeed(sys.executable, program, without, FOLDER))


class Rust(Language):
    LANGUAGE = "rust"

    def test_as_the_readme_has_it(self):
        self.check_run("rust")


class Go(Language):
    LANGUAGE = "go"

    def test_as_the_readme_has_it(self):
        self.check_run("go")


class KafkaStreams(Language):
    LANGUAGE = "java"

    def test_as_the_readme_has_it(self):
        text = needs.succeed(EXAMPLES + "/kafka-streams/run", FOLDER)
        print(text)
        written, read, without, _ = text.split("\n\n")
        found = re.search(
            r"(\d+) readings written, and found; tier_files: fast [1-9].*, slow [1-9]", written)
        self.assertIsNotNone(found, written)
        self.assertLess(int(found.group(1)), 600)
        self.assertIn("all readings are there", read)
        self.assertRegex(without, "with TieredStores: +refused: there is no such Env: ")
        self.assertRegex(without, "without TieredStores: +refused: Sst file size mismatch: ")


if __name__ == "__main__":
    unittest.main()
