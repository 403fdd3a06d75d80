#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier check: what it says of OPTIONS files, those of presets and wrong ones.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
NOTE = "RocksDB keeps neither env nor block_cache nor blob_cache in its own OPTIONS files"

FILE = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1
[DBOptions]
  {database}
[CFOptions "default"]  # a comment
  {family}
[TableOptions/{table} "default"]
  {more}
"""


def rocktier(*arguments):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True)


class Check(unittest.TestCase):

    def setUp(self):
        self.folder = "%s/%s" % (TMP, self._testMethodName)
        self.db = self.folder + "/db"
        for name in "db", "fast", "slow":
            os.makedirs("%s/%s" % (self.folder, name))
        self.options = self.folder + "/options.ini"

    def write(self, database="", family="", table="BlockBasedTable", more=""):
        with open(self.options, "w", encoding="utf-8") as file:
            file.write(FILE.format(database=database, family=family, table=table, more=more))

    def check(self, *flags, status):
        flags = ["--options=" + self.options, "--memory=1G", *flags]
        result = rocktier("check", self.db, *flags, "--json")
        self.assertEqual((status, ""), (result.returncode, result.stderr), result.stdout)
        answer = json.loads(result.stdout)
        text = rocktier("check", self.db, *flags)
        self.assertEqual(status, text.returncode)
        for kind in "refused", "room", "note":
            for finding in answer[kind]:
                self.assertIn("%s: %s\n" % (kind, finding), text.stdout)
        self.assertEqual(status == 1, bool(answer["refused"] or answer["room"]))
        return answer

    def found(self, kind, text, **options):
        """That the file has just this problem, or this note among others: the disk may rotate."""
        self.write(**options)
        answer = self.check(status=0 if kind == "note" else 1)
        found = [text in finding for finding in answer[kind]]
        self.assertEqual([True], found if kind != "note" else sorted(set(found))[-1:], answer)
        for other in {"refused", "room"} - {kind}:
            self.assertEqual([], answer[other])
        return answer

    def env(self, file_system):
        return "env={id=RocktierEnv;file_system={%s}}" % file_system.format(
            fast=self.folder + "/fast", slow=self.folder + "/slow", none=self.folder + "/none")

    def test_a_file_without_plugins(self):
        self.write()
        answer = self.check(status=0)
        self.assertEqual({"options": self.options, "refused": [], "room": [], "note": []}, answer)

    def test_what_presets_print(self):
        fast, slow = self.folder + "/fast", self.folder + "/slow"
        for name, flags in (
                ("nvme+hdd", ["--data=64M", "--value=1000", "--hot=5%", "--fast=" + fast,
                              "--slow=" + slow, "--fast-size=40M", "--slow-size=1G"]),
                ("ram+ssd", ["--data=32M", "--value=1000", "--fast=%s/memory" % fast,
                             "--fast-size=64M", "--slow=" + slow, "--slow-size=1G",
                             "--device=%s/device" % fast, "--device-size=64M"]),
                ("large-values", ["--data=32M", "--value=1000", "--slow=" + slow, "--slow-size=1G",
                                  "--fast=" + fast, "--fast-size=128M", "--hot=50%"]),
                ("cache-only", ["--data=64M", "--fast=" + fast, "--fast-size=80M"])):
            result = rocktier("preset", name, *flags, "--memory=512M", "--memtable=1M")
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            with open(self.options, "w", encoding="utf-8") as file:
                file.write(result.stdout)
            answer = self.check(status=0)
            self.assertEqual(name == "ram+ssd", "recovery_seconds" in answer)

    def test_tiers_and_devices_that_are_not_there(self):
        self.found("refused", "tier slow: %s/none is not there: mount its disk" % self.folder,
                   database=self.env("id=TieredFileSystem;tiers={{home={{budget=1M}};slow={{path="
                                     "{none}}}}}"))
        self.found("refused", "device %s/none is not there, and has no size=" % self.folder,
                   database=self.env("id=RawWalFileSystem;device={none}"))
        self.write(database=self.env("id=RawWalFileSystem;device={none};size=1G"))
        self.check(status=0)

    def test_the_order_of_log_device_and_memory(self):
        tiers = ("id=TieredFileSystem;tiers={{memory={{kind=memory;path={fast}/m;budget=43M}}}};"
                 "placement={{0..last-1=memory}}")
        self.found("refused", "raw_wal_fs is above a tier in memory: put it below",
                   database=self.env("id=RawWalFileSystem;device={none};size=1G;target={{%s}}" %
                                     tiers))
        self.write(database=self.env(tiers +
                                     ";target={{id=RawWalFileSystem;device={none};size=1G}}"))
        self.assertEqual(int(1.5 * 43 * 1024 * 1024 / 220e6),
                         self.check(status=0)["recovery_seconds"])

    def test_blob_hybrid_needs_all_of_its_lines(self):
        database = "listeners={id=BlobHybridListener}"
        family = ("enable_blob_files=true\n  compaction_filter_factory="
                  "{id=BlobHybrid;max_space_amplification=1.5}")
        self.write(database=database, family=family)
        self.check(status=0)
        self.found("refused", "family default: the line listeners={id=BlobHybridListener} is "
                   "missing", family=family)
        self.found("refused", "family default: the line enable_blob_files=true is missing",
                   database=database, family=family.replace("true", "false"))
        self.found("refused", "the line compaction_filter_factory={id=BlobHybrid} is missing",
                   database=database, family="enable_blob_files=true", table="BlobHybridTable")
        self.found("refused", "blob_hybrid refuses enable_blob_garbage_collection=true",
                   database=database, family=family + "\n  enable_blob_garbage_collection=true")

    def test_hot_promotion(self):
        good = "path=%s/fast/hot\n  budget=%s\n  slow=%s"
        table = "HotPromotionTable"
        self.found("refused", "HotPromotionTable: budget must be at least 1M", table=table,
                   more=good % (self.folder, "5K", "/none"))
        self.found("refused", "HotPromotionTable: slow is missing", table=table,
                   more=good % (self.folder, "1M", ""))
        self.found("refused", "HotPromotionTable: path=hot must be absolute", table=table,
                   more="path=hot\n  budget=1M\n  slow=/none")
        self.found("note", "no tier has the temperature of slow=temperature:cold: nothing is "
                   "promoted", table=table, more=good % (self.folder, "1M", "temperature:cold"))
        self.found("note", "family default: path and slow are on one file system", table=table,
                   more=good % (self.folder, "1M", self.folder + "/slow"))

    def test_room(self):
        self.found("room", "tier home 1023T", database=self.env(
            "id=TieredFileSystem;tiers={{home={{budget=1023T}}}}"))
        self.found("room", "cache file 1T", more="block_cache={id={lru+2q://capacity=8M;"
                   "secondary_cache={capacity=1T;storage=file;path=%s/fast/cache}}}" % self.folder)
        self.found("room", "memtables, caches and tiers in memory need 2.1G, and there are 1G",
                   more="block_cache=2G")
        self.found("room", "has room for 59M, and the logs of family default need 192M",
                   database=self.env("id=RawWalFileSystem;device={none};size=64M"))
        self.found("note", "max_total_wal_size=4G is more than device", database=self.env(
            "id=RawWalFileSystem;device={none};size=1G") + "\n  max_total_wal_size=4G")

    def test_the_newest_file_of_a_database(self):
        self.write()
        for number, name in ((9, "default"), (10, "other")):
            with open(self.options, encoding="utf-8") as source, \
                    open("%s/OPTIONS-%06d" % (self.db, number), "w", encoding="utf-8") as file:
                file.write(source.read().replace("default", name))
        with open(self.db + "/OPTIONS-000011.dbtmp", "w", encoding="utf-8"):
            pass
        result = rocktier("check", self.db, "--memory=1G", "--json")
        answer = json.loads(result.stdout)
        self.assertEqual(0, result.returncode)
        self.assertEqual(self.db + "/OPTIONS-000010", answer["options"])
        self.assertEqual([True], [NOTE in note for note in answer["note"]])

    def test_errors(self):
        with open(self.options, "w", encoding="utf-8") as file:
            file.write("nothing\n")
        for arguments, message in (([self.folder + "/none"], "No such file or directory"),
                                   ([self.db], "has no OPTIONS file"),
                                   ([self.db, "--options=" + self.options], "is no OPTIONS file"),
                                   ([self.db, "--options=/none"], "No such file or directory")):
            result = rocktier("check", *arguments, "--json")
            self.assertEqual(2, result.returncode)
            self.assertIn(message, json.loads(result.stdout)["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
