#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Statistics files: db_bench writes, and is watched, killed and started again.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
ROCKTIER_PLUGIN: the plugin; all by default.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

# The Debian package is that of Debian's Python, and of no other one on the machine.
sys.path.append("/usr/lib/python3/dist-packages")
from prometheus_client import parser  # noqa: E402
from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 120  # that something may take on a busy machine

OPTIONS = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
  {db}
[CFOptions "default"]
  compression=kNoCompression
  write_buffer_size=256K
  target_file_size_base=256K
  max_bytes_for_level_base=1M
  {family}
[TableOptions/{table} "default"]
  block_size=4096
  {more}
"""


def documented(plugin):
    """Names, as they are in the text, with what docs/metrics.md says of them."""
    with open(ROOT + "/docs/metrics.md", encoding="utf-8") as file:
        rows = re.search(r"^\| `rocktier_%s_` \|.*\n.*\n((?:\|.*\n)*)" % plugin, file.read(),
                         re.MULTILINE).group(1)
    return {"rocktier_%s_%s" % (plugin, name): meaning
            for name, meaning in re.findall(r"^\| `(\w+)` \| (.*) \|$", rows, re.MULTILINE)}


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def wait_for(what, condition):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError("in vain: " + what)


class Statistics:
    """What a test of each plugin does. Subclasses say how db_bench uses the plugin."""

    plugin = None
    moving = None  # a figure that grows then
    benchmark = "overwrite"

    def setUp(self):
        self.folder = TMP + "/" + self.plugin
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("fast", "slow", "memory"):
            os.makedirs(self.folder + "/" + name)
        self.db = self.folder + "/db"
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            process.kill()
            process.wait()

    def flags(self):
        raise NotImplementedError

    def path(self):
        return "%s/rocktier_%s.prom" % (self.db, self.plugin)

    def options(self, **lines):
        path = self.folder + "/options.ini"
        with open(path, "w", encoding="utf-8") as file:
            file.write(OPTIONS.format(**lines))
        return "--options_file=" + path

    def bench(self, *more):
        with open(self.folder + "/output", "a", encoding="utf-8") as output:
            process = subprocess.Popen(
                [BIN + "/db_bench", "--db=" + self.db, "--benchmarks=" + self.benchmark,
                 "--num=20000", "--value_size=400", *self.flags(), *more],
                stdout=output, stderr=subprocess.STDOUT)
        self.processes.append(process)
        return process

    def families(self):
        """The file as it is now, by the name of each metric; empty if there is none."""
        return {family.name: family
                for family in text_string_to_metric_families(read(self.path()) or "# EOF\n")}

    def value(self, name):
        family = self.families().get("rocktier_%s_%s" % (self.plugin, name))
        return sum(sample.value for sample in family.samples) if family else 0

    def check_text(self):
        families = self.families()
        known = documented(self.plugin)
        prefix = "rocktier_%s_" % self.plugin
        self.assertEqual(set(known) | {prefix + "info", prefix + "updated_seconds"},
                         {sample.name for family in families.values()
                          for sample in family.samples})
        for family in families.values():
            for sample in family.samples:
                self.assertEqual(known.get(sample.name, family.documentation),
                                 family.documentation)
                self.assertEqual(sample.name.endswith("_total"), family.type == "counter")
            ending = re.search(r"_(bytes|seconds|ratio)$", family.name)
            self.assertEqual(ending.group(1) if ending else "", family.unit)
        # node_exporter's parser is of the older format.
        older = list(parser.text_string_to_metric_families(read(self.path())))
        self.assertEqual({sample.name for family in older for sample in family.samples},
                         {sample.name for family in families.values()
                          for sample in family.samples})

    def pid(self):
        info = self.families().get("rocktier_%s_info" % self.plugin)
        return info and int(info.samples[0].labels["pid"])

    def test_the_file_of_a_running_database(self):
        first = self.bench("--duration=%d" % (5 * SECONDS))
        wait_for("the file", lambda: self.pid() == first.pid)
        wait_for(self.moving, lambda: self.value(self.moving) > 0)
        self.check_text()
        before = self.value("updated_seconds")
        self.assertLess(abs(time.time() - before), SECONDS)
        wait_for("a newer one", lambda: self.value("updated_seconds") > before)
        first.send_signal(signal.SIGKILL)
        first.wait()
        self.assertEqual(self.pid(), first.pid)  # it is stale
        second = self.bench("--use_existing_db=1", "--duration=%d" % (5 * SECONDS))
        wait_for("the file of the second", lambda: self.pid() == second.pid)
        self.check_text()
        second.send_signal(signal.SIGKILL)
        second.wait()
        third = self.bench("--use_existing_db=1", "--num=3000")
        self.assertEqual(third.wait(SECONDS), 0, read(self.folder + "/output")[-2000:])
        self.assertFalse([name for name in os.listdir(os.path.dirname(self.path()))
                          if ".prom" in name])


class RawWalFs(Statistics, unittest.TestCase):
    plugin = "raw_wal_fs"
    moving = "appended_bytes"

    def flags(self):
        return ["--fs_uri=id=RawWalFileSystem;device=%s/log;size=64M;segment_size=1M" %
                self.folder]


class TieredEnv(Statistics, unittest.TestCase):
    plugin = "tiered_env"
    moving = "memory_tables"

    def flags(self):
        return ["--fs_uri=id=TieredFileSystem;tiers={memory={kind=memory;path=%s/memory};"
                "slow={path=%s/slow;cf:column_family_name_*=1G}};"
                "placement={0..2=memory;3..=slow}" % (self.folder, self.folder),
                "--num_column_families=3", "--write_buffer_size=262144",
                "--compression_type=none"]

    def check_text(self):
        super().check_text()
        # The default one has no budget, and is left out: there may be thousands of families.
        for name in "family_bytes", "family_budget_bytes":
            samples = self.families()["rocktier_tiered_env_" + name].samples
            self.assertEqual([("slow", "column_family_name_00000%d" % number)
                              for number in (1, 2)],
                             [(sample.labels["tier"], sample.labels["cf"]) for sample in samples])
        self.assertEqual({1 << 30}, {sample.value for sample in samples})


class SecondaryCache2q(Statistics, unittest.TestCase):
    plugin = "secondary_cache_2q"
    moving = "offers"
    benchmark = "readrandomwriterandom"

    def path(self):
        return self.folder + "/cache.prom"

    def flags(self):
        return ["--cache_size=262144", "--secondary_cache_uri=id=TwoQSecondaryCache;"
                "capacity=8M;storage=file;path=%s/cache" % self.folder,
                "--write_buffer_size=262144"]


class HotPromotion(Statistics, unittest.TestCase):
    plugin = "hot_promotion"
    moving = "served_slow"
    benchmark = "readrandomwriterandom"

    def path(self):
        return self.folder + "/hot/rocktier_hot_promotion.prom"

    def flags(self):
        return [self.options(db="", family="table_factory=HotPromotionTable",
                             table="HotPromotionTable",
                             more="path=%s/hot\n  budget=16M\n  slow=%s\n  slow_read_micros=0" %
                             (self.folder, self.folder)), "--cache_size=0"]


class BlobHybrid(Statistics, unittest.TestCase):
    plugin = "blob_hybrid"
    moving = "blob_file_bytes"

    def flags(self):
        return [self.options(db="listeners={id=BlobHybridListener}",
                             family="enable_blob_files=true\n  min_blob_size=100\n  "
                                    "compaction_filter_factory={id=BlobHybrid;space_floor=16M}",
                             table="BlockBasedTable", more="")]


def load_tests(loader, tests, _):
    plugin = os.environ.get("ROCKTIER_PLUGIN")
    cases = (RawWalFs, TieredEnv, SecondaryCache2q, HotPromotion, BlobHybrid)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases
                              if plugin in (None, case.plugin))


if __name__ == "__main__":
    unittest.main(verbosity=2)
