#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The parts of the interaction matrix: which stacks there are, what they are asked for, losses of
power by the journal of a device, and what coverage takes for done."""

import collections
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import coverage
import losses
import matrix
import options
import power
import stacks

JOURNAL = os.path.join(os.environ.get("ROCKTIER_BIN", ""), "power_journal.so")
SECTORS = 64

# Writes in a process with the journal: each line is offset, byte, length and flags, or "flush".
_WRITER = """
import os, sys
fd = os.open(os.environ["ROCKTIER_POWER_DEVICE"], os.O_RDWR)
other = os.open(os.environ["ROCKTIER_POWER_DEVICE"] + ".other", os.O_RDWR | os.O_CREAT)
for line in sys.stdin:
    if line == "flush\\n":
        os.fdatasync(fd)
    elif line == "other\\n":
        os.pwritev(other, [b"x" * 512], 0, 0)
        os.fdatasync(other)
    elif line == "die\\n":
        os.kill(os.getpid(), 9)
    else:
        offset, byte, length, durable = map(int, line.split())
        os.pwritev(fd, [bytes([byte]) * length], offset, os.RWF_DSYNC if durable else 0)
"""


class Stacks(unittest.TestCase):
    def test_each_set_of_plugins_is_there_once(self):
        found = collections.Counter(stacks.all_stacks())
        self.assertEqual(set(found.values()), {1})
        # 2 x 3 x 2 x 2 x 2 choices, without none (1) and single members (6).
        self.assertEqual(len(found), 41)
        sizes = collections.Counter(len(stack) for stack in found)
        self.assertEqual(sizes, {2: 14, 3: 16, 4: 9, 5: 2})
        for stack in found:
            self.assertFalse({stacks.TIERS, stacks.MEMORY} <= set(stack))

    def test_each_pair_meets_each_kind(self):
        met = {(pair, kind) for stack, kind in stacks.plan() for pair in stacks.pairs_of(stack)}
        pairs = {s for s in stacks.all_stacks() if len(s) == 2}
        self.assertEqual(met, set(itertools.product(pairs, stacks.KINDS)))
        self.assertEqual({stack for stack, _ in stacks.plan()}, set(stacks.all_stacks()))
        self.assertEqual(len(list(stacks.plan(every_kind=True))), 41 * len(stacks.KINDS))
        self.assertEqual(len(list(stacks.plan(True, alone=True))), 47 * len(stacks.KINDS))


class Options(unittest.TestCase):
    def setups(self):
        for number, (stack, kind) in enumerate(stacks.plan(every_kind=True)):
            yield options.Setup(stack, kind, "/folder", random.Random(number))

    def test_what_is_acknowledged_is_synced_or_may_be_lost(self):
        for setup in self.setups():
            arguments = setup.of_crashtest(1, "")
            if setup.has(stacks.RAW):
                self.assertEqual("--sync=1" in arguments, not setup.unsynced)
                self.assertEqual("--sync_fault_injection=1" in arguments, setup.unsynced)
                self.assertIn("--manual_wal_flush_one_in=0", arguments)
            if setup.kind in ("write_prepared", "write_unprepared"):
                self.assertFalse(setup.unsynced)

    def test_the_file_systems_are_in_orders_that_are_run(self):
        found = set()
        for setup in self.setups():
            uri = [a for a in setup.of_round(random.Random(1)) if a.startswith("--fs_uri=")]
            self.assertEqual(len(uri), setup.has(stacks.RAW, stacks.TIERS, stacks.MEMORY))
            if setup.has(stacks.RAW) and setup.has(stacks.TIERS, stacks.MEMORY):
                upper, lower = re.findall("id=(Raw|Tiered)", uri[0])
                names = {"Raw": stacks.RAW, "Tiered": setup.stack[1]}
                found.add((names[upper], names[lower]))
                self.assertNotIn("wal=", uri[0])
        self.assertEqual(found, {order for order, (taken, _) in stacks.ORDERS.items()
                                 if taken and stacks.RAW in order})

    def test_the_options_file_names_the_tables(self):
        for setup in self.setups():
            if setup.has(stacks.HOT):
                text = setup.options_file()
                self.assertIn("table_factory={id=HotPromotionTable}", text)
                self.assertEqual("table={id=BlobHybridTable}" in text, setup.has(stacks.BLOB))
                self.assertEqual("id=BlobHybrid;" in text, setup.has(stacks.BLOB))

    def test_a_cache_is_of_blocks_or_of_blobs(self):
        kinds = set()
        for setup in self.setups():
            blocks = "--secondary_cache_uri" in " ".join(setup.of_round(random.Random(1)))
            blobs = setup.has_options_file() and "blob_cache=" in setup.options_file()
            self.assertEqual(blocks + blobs, setup.has(stacks.CACHE))
            kinds.add((blocks, blobs))
        self.assertEqual(len(kinds), 3)

    def test_the_same_seed_draws_the_same(self):
        first, second = ([setup.of_round(random.Random(7)) for setup in self.setups()]
                         for _ in range(2))
        self.assertEqual(first, second)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content=b"content"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(content)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


class Power(Folder):
    """Compares what may be lost with a model of a disk with a cache."""

    def setUp(self):
        super().setUp()
        self.write("device", bytes(SECTORS * 512))
        self.old = {}  # By sector that is not durable: what is on the medium.

    def run_writer(self, lines):
        environment = dict(os.environ, LD_PRELOAD=JOURNAL,
                           ROCKTIER_POWER_DEVICE=self.path("device"),
                           ROCKTIER_POWER_JOURNAL=self.path("journal"),
                           ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
        return subprocess.run([sys.executable, "-c", _WRITER], env=environment, text=True,
                              input="".join(line + "\n" for line in lines),
                              stderr=subprocess.PIPE)

    def noted(self):
        """What the journal has: by sector the bytes on the medium."""
        journal = self.read("journal")
        self.assertEqual(len(journal), SECTORS * 513)
        return {i: journal[SECTORS + i * 512:SECTORS + (i + 1) * 512]
                for i in range(SECTORS) if journal[i]}

    def model(self, line, medium):
        if line == "flush":
            self.old.clear()
        elif line not in ("other", "die"):
            offset, byte, length, durable = map(int, line.split())
            for i in range(offset // 512, (offset + length) // 512):
                if durable:
                    self.old.pop(i, None)
                else:
                    self.old.setdefault(i, bytes(medium[i * 512:(i + 1) * 512]))
            medium[offset:offset + length] = bytes([byte]) * length

    def test_the_journal_is_that_of_a_disk_with_a_cache(self):
        rng = random.Random(os.environ.get("ROCKTIER_SEED", 1))
        medium = bytearray(SECTORS * 512)
        for _ in range(5):  # processes
            lines = []
            for _ in range(rng.randrange(1, 40)):
                at = rng.randrange(SECTORS - 8)
                write = "%d %d %d %d" % (at * 512, rng.randrange(256),
                                         512 * rng.randrange(1, 9), rng.random() < 0.3)
                lines.append(rng.choice([write, write, write, write, "flush", "other"]))
                self.model(lines[-1], medium)
            result = self.run_writer(lines + ["die"])
            self.assertEqual(result.returncode, -9, result.stderr)
            self.assertEqual(self.noted(), self.old)
            self.assertEqual(self.read("device"), medium)

    def lose(self, rng):
        return power.lose_power(self.path("device"), self.path("journal"), rng)

    def test_what_is_lost_is_not_durable(self):
        self.run_writer(["0 1 4096 1", "4096 2 4096 0", "0 3 512 0", "die"])
        shares = set()
        for seed in range(20):
            shutil.copy(self.path("device"), self.path("device.then"))
            shutil.copy(self.path("journal"), self.path("journal.then"))
            lost, written = self.lose(random.Random(seed))
            shares.add(lost == written)
            self.assertEqual(written, 9)
            device = self.read("device")
            self.assertIn(device[:512], (b"\1" * 512, b"\3" * 512))
            self.assertEqual(device[512:4096], b"\1" * 3584)
            sectors = [device[at:at + 512] for at in range(4096, 8192, 512)]
            self.assertLessEqual(set(sectors), {bytes(512), b"\2" * 512})
            self.assertEqual(sectors.count(bytes(512)) + (device[0] == 1), lost)
            # What is there now is on the medium: it is not lost the next time.
            self.assertEqual(self.lose(random.Random(seed)), (0, 0))
            os.rename(self.path("device.then"), self.path("device"))
            os.rename(self.path("journal.then"), self.path("journal"))
        self.assertEqual(shares, {False, True})

    def test_nothing_is_lost_without_a_journal(self):
        self.assertEqual(self.lose(random.Random(1)), (0, 0))

    def test_without_its_names_it_notes_nothing(self):
        environment = dict(os.environ, LD_PRELOAD=JOURNAL,
                           ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
        code = "import os; fd = os.open('%s', os.O_RDWR); os.pwritev(fd, [b'x'], 0, 0); " \
            "os.fsync(fd)" % self.path("device")
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        self.assertFalse(os.path.exists(self.path("journal")))
        self.assertEqual(self.read("device")[:2], b"x\0")


class Losses(Folder):
    def test_memory(self):
        for what in ("all", "some", "cut"):
            for i in range(40):
                self.write("memory/db/%d.sst" % i, bytes(5000))
            self.write("memory/OWNER")
            self.assertTrue(losses.lose_memory(self.path("memory"), what, random.Random(1)))
            self.assertEqual(os.path.exists(self.path("memory/OWNER")), what != "all")
            left = os.listdir(self.path("memory/db")) if what != "all" else []
            self.assertEqual(len(left) < 40, what != "cut")
        self.assertLess(min(os.path.getsize(self.path("memory/db/" + name)) for name in left), 5000)

    def test_a_cache_keeps_its_superblock(self):
        content = random.Random(1).randbytes(100 << 10)
        self.write("cache", content)
        self.assertTrue(losses.damage_cache(self.path("cache"), "damaged", random.Random(2)))
        damaged = self.read("cache")
        self.assertEqual(len(damaged), len(content))
        self.assertEqual(damaged[:losses.SUPERBLOCK], content[:losses.SUPERBLOCK])
        self.assertNotEqual(damaged, content)
        self.assertTrue(losses.damage_cache(self.path("cache"), "gone", random.Random(2)))
        self.assertFalse(losses.damage_cache(self.path("cache"), "damaged", random.Random(2)))

    def test_memory_goes_with_the_power(self):
        counted = collections.Counter()
        for seed in range(20):
            self.write("memory/db/1.sst")
            self.write("journal", bytes(SECTORS * 513))
            self.write("log-device", bytes(SECTORS * 512))
            lost = losses.Losses(self.folder, (stacks.RAW, stacks.MEMORY), random.Random(seed))
            lost.lose()
            counted.update(lost.counted)
            if "lost.power" in lost.counted:
                self.assertFalse(os.path.exists(self.path("memory")))
        self.assertGreater(counted["lost.power"], 0)


class Coverage(unittest.TestCase):
    TEXT = """# TYPE rocktier_tiered_env_tier_files gauge
rocktier_tiered_env_tier_files{db="/a,b",tier="fast"} 3
rocktier_tiered_env_tier_files{db="/a,b",tier="slow"} 0
rocktier_blob_hybrid_jobs_total{db="/a",cf="one"} 7
rocktier_blob_hybrid_jobs_total{db="/a",cf="two"} 7
rocktier_raw_wal_fs_sync_p50_seconds 1.5e-05
# EOF
"""

    def test_figures(self):
        self.assertEqual(coverage.parse(self.TEXT), {
            "tiered_env_tier_files.fast": 3, "tiered_env_tier_files.slow": 0,
            "blob_hybrid_jobs_total": 7, "raw_wal_fs_sync_p50_seconds": 1.5e-05})

    def test_what_is_missing_is_named(self):
        stack = (stacks.TIERS, stacks.HOT)
        total = {"tiered_env_tier_files.fast": 1, "tiered_env_tier_moves_total.slow": 1,
                 "hot_promotion_captured_total": 1, "hot_promotion_served_store_total": 2}
        self.assertEqual(coverage.missing(total, stack, "none"), [
            "tiered_env: files in the slow tier", "hot_promotion: folders of copies gone"])
        total.update({"tiered_env_tier_files.slow": 1, "lost.hot": 1})
        self.assertEqual(coverage.missing(total, stack, "none"), [])
        self.assertEqual(coverage.missing(total, stack, "write_prepared"),
                         ["hot_promotion: reads that copies may not answer"])


class Results(unittest.TestCase):
    def test_what_was_run_for_this_commit_is_not_run_again(self):
        about = {"rocksdb": "9.10.0", "commit": "abc"}
        line = {**about, "stack": "raw_wal_fs+hot_promotion", "kind": "none", "verdict": "ok"}
        stack = (stacks.RAW, stacks.HOT)
        self.assertTrue(matrix.is_done([line], about, stack, "none"))
        for change in ({"commit": "abd"}, {"kind": "batched"}, {"verdict": "idle: x"},
                       {"stack": "raw_wal_fs+tiered_env"}, {"rocksdb": "11.8.1"}):
            self.assertFalse(matrix.is_done([{**line, **change}], about, stack, "none"))


if __name__ == "__main__":
    unittest.main()
