#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier check: what it says of OPTIONS files, those of presets and wrong ones.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import shutil
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

    def write(self, database="", family="", table="BlockBasedTable", more="", version=None):
        text = FILE.format(database=database, family=family, table=table, more=more)
        if table is None:
            text = text.partition("[TableOptions")[0]
        with open(self.options, "w", encoding="utf-8") as file:
            file.write(text.replace("9.10.0", version or "9.10.0"))

    def all_files(self):
        """And when each was changed; a folder, by a file that was there for a moment, too."""
        return {path: os.stat(path).st_mtime_ns for folder, _, names in os.walk(self.folder)
                for path in [folder] + ["%s/%s" % (folder, name) for name in names]}

    def check(self, *flags, status):
        flags = ["--options=" + self.options, "--memory=1G", *flags]
        before = self.all_files()
        result = rocktier("check", self.db, *flags, "--json")
        self.assertEqual(before, self.all_files())
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

    def test_the_directories_of_a_tier(self):
        tiers = ("id=TieredFileSystem;orphan_budget=1m;"
                 "tiers={{slow={{path={fast},{%s};budget=1m}}; home={{budget=1m}}}}")
        self.write(database=self.env(tiers % "slow"))
        self.check(status=0)
        self.found("refused", "tier slow.2: %s/none is not there: mount its disk" % self.folder,
                   database=self.env(tiers % "none"))

    def test_a_standby_that_is_not_there(self):
        wal = "id=RawWalFileSystem;device={none};size=1G;standby=%s"
        self.write(database=self.env(wal % "{slow}"))
        self.check(status=0)
        self.found("refused", "standby=/none: is no directory: make it, or mount its disk",
                   database=self.env(wal % "/none"))

    def test_an_env_that_names_no_file_system(self):
        good = self.env("id=TieredFileSystem;tiers={{home={{budget=1M}};slow={{path={slow}}}}}")
        self.write(database=good)
        self.check(status=0)
        for wrong in "id=RocktierEnw;", "RocktierEnv;":
            self.found("refused", "is no RocktierEnv. RocksDB passes over it without a word",
                       database=good.replace("id=RocktierEnv;", wrong))
        self.found("refused", "RocktierEnv: file_system: is required",
                   database="env={id=RocktierEnv}")
        self.found("refused", "device %s/none is not there, and has no size=" % self.folder,
                   database="env={id=RocktierEnv;file_system=raw_wal://%s/none}" % self.folder)

    def test_what_rocksdb_and_the_plugins_refuse(self):
        wal = "id=RawWalFileSystem;device={none};size=1G"
        for text, file_system in (
                ("Could not load FileSystem: RawWalFileSystm",
                 "id=RawWalFileSystm;device={none};size=1G"),
                ("RawWalFileSystem: sise=1: there is no such option", wal + ";sise=1"),
                ("RawWalFileSystem: segment_size=1: must be a power of two", wal +
                 ";segment_size=1"),
                ("kind=memry", "id=TieredFileSystem;tiers={{m={{kind=memry;path={slow}}}}}"),
                ("there is no such tier", "id=TieredFileSystem;tiers={{slow={{path={slow}}}}};"
                 "placement={{0..1=fast}}"),
                ("TieredFileSystem: placment=0..1=slow: there is no such option",
                 "id=TieredFileSystem;tiers={{slow={{path={slow}}}}};placment=0..1=slow;"
                 "target={{%s}}" % wal)):
            self.found("refused", text, database=self.env(file_system))
        # The device would be made, if it were opened.
        self.found("refused", "max_total_wal_sise",
                   database=self.env(wal) + "\n  max_total_wal_sise=1")
        self.found("refused", "A valid statement must have a '='", database="nonsense")
        self.found("refused", "compaction_filter_factory",
                   database="listeners={id=BlobHybridListener}",
                   family="enable_blob_files=true\n  compaction_filter_factory="
                   "{id=BlobHybrid;max_space_amplificaton=1.5}")
        cache = ("block_cache={id={lru+2q://capacity=8M;secondary_cache={capacity=8M;storage=file;"
                 "path=%s/fast/cache%s}}}")
        self.write(more=cache % (self.folder, ""))
        self.check(status=0)
        for wrong in "polcy=2q", "io=slow":
            self.found("refused", wrong, more=cache % (self.folder, ";" + wrong))

    def test_what_is_not_in_this_rocktier(self):
        self.found("note", "Could not load MergeOperator: MyOwn: is not in this rocktier",
                   family="merge_operator=MyOwn")
        self.found("note", "family default: no table factory HotPromotionTabel: is not in this "
                   "rocktier", table="HotPromotionTabel")
        self.found("note", self.options + " is of RocksDB 99.0.0, and this rocktier of ",
                   family="of_a_later_version=true", version="99.0.0")

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
        self.found("refused", "HotPromotionTable: budget=5120: must be at least 1048576 bytes",
                   table=table, more=good % (self.folder, "5K", "/none"))
        self.found("refused", "HotPromotionTable: slow: is required with a path", table=table,
                   more=good % (self.folder, "1M", ""))
        self.found("refused", "HotPromotionTable: path=hot: must be absolute", table=table,
                   more="path=hot\n  budget=1M\n  slow=/none")
        self.found("note", "no tier has the temperature of slow=temperature:cold", table=None,
                   family="table_factory={id=HotPromotionTable;path=%s/fast/hot;budget=1m;"
                   "slow=temperature:cold}" % self.folder)
        self.found("note", "no tier has the temperature of slow=temperature:cold: nothing is "
                   "promoted", table=table, more=good % (self.folder, "1M", "temperature:cold"))
        self.found("note", "family default: path and slow are on one file system", table=table,
                   more=good % (self.folder, "1M", self.folder + "/slow"))

    def test_room(self):
        for size in "1023T", "1023t":
            self.found("room", "tier home 1023T", database=self.env(
                "id=TieredFileSystem;tiers={{home={{budget=%s}}}}" % size))
        self.found("room", ", tier slow.2 ", database=self.env(
            "id=TieredFileSystem;tiers={{slow={{path={fast},{slow};budget=1000T}}}}"))
        self.found("room", "cache file 1T", more="block_cache={id={lru+2q://capacity=8M;"
                   "secondary_cache={capacity=1T;storage=file;path=%s/fast/cache}}}" % self.folder)
        for size in "2G", "2g", "{capacity=2g}":
            self.found("room", "memtables, caches and tiers in memory need 2.1G, and there are 1G",
                       more="block_cache=" + size)
        self.found("room", "has room for 59M, and the logs of family default need 192M",
                   database=self.env("id=RawWalFileSystem;device={none};size=64M"))
        self.found("note", "max_total_wal_size=4G is more than device", database=self.env(
            "id=RawWalFileSystem;device={none};size=1G") + "\n  max_total_wal_size=4G")

    def test_the_newest_file_of_a_database(self):
        self.write()
        for number in 9, 10:
            shutil.copy(self.options, "%s/OPTIONS-%06d" % (self.db, number))
        with open(self.db + "/OPTIONS-000011.dbtmp", "w", encoding="utf-8"):
            pass
        result = rocktier("check", self.db, "--memory=1G", "--json")
        answer = json.loads(result.stdout)
        self.assertEqual(0, result.returncode)
        self.assertEqual(self.db + "/OPTIONS-000010", answer["options"])
        self.assertEqual([True], [NOTE in note for note in answer["note"]])

    def test_what_rocksdb_has_written_itself(self):
        subprocess.run([BIN + "/ldb", "--db=%s/new" % self.folder, "--create_if_missing", "put",
                        "key", "value"], check=True, stdout=subprocess.DEVNULL)
        result = rocktier("check", self.folder + "/new", "--memory=1G", "--json")
        answer = json.loads(result.stdout)
        self.assertEqual((0, [], []), (result.returncode, answer["refused"], answer["room"]))
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
