#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier cache over a cache file that db_bench made, as a user calls it.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import re
import struct
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]

SLOT_SIZE = 64
SUPERBLOCK_SIZE = 4096
FIELDS = {
    "version", "uuid", "capacity", "file_size", "block_size", "shards", "slots", "blocks",
    "block_bytes", "bad_slots", "verified", "corrupt"
}


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


def make_cache_file(path):
    subprocess.run([
        BIN + "/db_bench", "--db=" + TMP + "/db", "--benchmarks=fillseq,compact,readrandom",
        "--num=5000", "--value_size=400", "--compression_type=none", "--cache_size=100000",
        "--secondary_cache_uri=id=TwoQSecondaryCache;capacity=4M;storage=file;path=" + path
    ], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)


def used_slots(content):
    """(position of the slot, offset of its block in the data area) for each used slot."""
    slots = struct.unpack_from("<Q", content, 32)[0]
    for i in range(slots):
        at = SUPERBLOCK_SIZE + i * SLOT_SIZE
        if content[at:at + SLOT_SIZE] != bytes(SLOT_SIZE):
            yield at, struct.unpack_from("<Q", content, at + 32)[0]


def data_offset(content):
    return len(content) - struct.unpack_from("<Q", content, 24)[0]  # the data is last


class RocktierCacheTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        path = TMP + "/cache"
        make_cache_file(path)
        with open(path, "rb") as file:
            cls.content = file.read()
        cls.blocks = len(list(used_slots(cls.content)))

    def setUp(self):
        self.path = TMP + "/" + self.id().rpartition(".")[2]
        self.write(self.content)

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)

    def flip(self, position):
        content = bytearray(self.content)
        content[position] ^= 1
        self.write(content)

    def json_of(self, action, status=0):
        result = rocktier("cache", action, self.path, "--json")
        self.assertEqual(status, result.returncode, result.stderr)
        self.assertEqual("", result.stderr)
        info = json.loads(result.stdout)
        # What only reading the blocks can tell is left out where they are not read.
        unread = {"verified", "corrupt"} if action == "info" else set()
        self.assertEqual(FIELDS - unread, set(info))
        return info

    def fails(self, message, *arguments):
        result = rocktier(*arguments)
        self.assertEqual(2, result.returncode)
        self.assertEqual("", result.stdout)
        self.assertIn(message, result.stderr)

    def test_info_counts_the_blocks_of_the_index(self):
        info = self.json_of("info")
        self.assertGreater(self.blocks, 100)
        self.assertEqual(self.blocks, info["blocks"])
        self.assertEqual(len(self.content), info["file_size"])
        self.assertEqual(4 << 20, info["capacity"])
        self.assertRegex(info["uuid"], "^[0-9A-F]{32}$")
        self.assertEqual(0, info["bad_slots"])

    def test_text_and_json_say_the_same(self):
        for action in "info", "verify":
            text = rocktier("cache", action, self.path)
            self.assertEqual(0, text.returncode, text.stderr)
            lines = dict(line.split(": ") for line in text.stdout.splitlines())
            self.assertEqual(lines, {k: str(v) for k, v in self.json_of(action).items()})

    def test_bytes_in_larger_units(self):
        text = rocktier("cache", "info", self.path, "--human").stdout
        self.assertIn("capacity: 4194304 (4 MiB)\n", text)
        self.assertIn("block_size: %d\n" % self.json_of("info")["block_size"],
                      rocktier("cache", "info", self.path).stdout)

    def test_verify_reads_every_block(self):
        info = self.json_of("verify")
        self.assertEqual(self.blocks, info["verified"])
        self.assertEqual(0, info["corrupt"])

    def test_verify_finds_a_corrupt_block(self):
        _, offset = next(used_slots(self.content))
        self.flip(data_offset(self.content) + offset)
        info = self.json_of("verify", status=1)
        self.assertEqual(1, info["corrupt"])
        self.assertEqual(self.blocks - 1, info["verified"])
        self.assertEqual(0, self.json_of("info")["bad_slots"])

    def test_verify_finds_a_bad_slot(self):
        at, _ = next(used_slots(self.content))
        self.flip(at + 8)
        info = self.json_of("verify", status=1)
        self.assertEqual(1, info["bad_slots"])
        self.assertEqual(self.blocks - 1, info["verified"])
        self.assertEqual(1, self.json_of("info")["bad_slots"])

    def test_the_file_is_not_changed(self):
        rocktier("cache", "info", self.path)
        rocktier("cache", "verify", self.path)
        with open(self.path, "rb") as file:
            self.assertEqual(self.content, file.read())

    def test_what_is_not_a_cache_file_is_named(self):
        missing = TMP + "/missing"
        foreign = TMP + "/db/CURRENT"
        for action in "info", "verify":
            self.fails(missing + ": no such file", "cache", action, missing)
            self.fails(foreign + ": is not a TwoQSecondaryCache file", "cache", action, foreign)
            self.fails(TMP + ": is not a regular file", "cache", action, TMP)

    def test_a_damaged_or_short_file_is_named(self):
        self.flip(24)
        self.fails(self.path + ": has a damaged superblock", "cache", "info", self.path)
        self.write(self.content[:-4096])
        self.fails(self.path + ": is shorter than", "cache", "verify", self.path)

    def test_another_version_is_refused(self):
        self.write(self.content[:8] + struct.pack("<I", 99) + self.content[12:])
        self.fails("version 99", "cache", "info", self.path)

    def test_wrong_usage(self):
        self.fails("Usage: rocktier")
        self.fails("no such command: cash", "cash")
        self.fails("info or verify?", "cache")
        self.fails("no such verb: repair", "cache", "repair")
        self.fails("FILE is missing", "cache", "info")
        self.fails("one argument too many: b", "cache", "verify", "a", "b")
        self.fails("takes no --jason", "cache", "info", "--jason", self.path)

    def test_help_on_every_level(self):
        for arguments in [], ["cache"], ["cache", "info"], ["cache", "verify"]:
            result = rocktier(*arguments, "--help")
            self.assertEqual(0, result.returncode)
            self.assertIn(" ".join(["rocktier", *arguments]), result.stdout)
            self.assertIn("Usage:", result.stdout)

    def test_version(self):
        result = rocktier("--version")
        self.assertEqual(0, result.returncode)
        self.assertTrue(re.match(r"rocktier \d+\.\d+\.\d+ for RocksDB \d+\.\d+\.\d+, with .*"
                                 r"secondary_cache_2q", result.stdout))


if __name__ == "__main__":
    unittest.main()
