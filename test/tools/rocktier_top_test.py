#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier top over statistics files that db_bench writes, and over some that nobody would write.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

# The Debian package is that of Debian's Python, and of no other one on the machine.
sys.path.append("/usr/lib/python3/dist-packages")
from prometheus_client.openmetrics.parser import text_string_to_metric_families  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
SHM = "/dev/shm" if os.path.isdir("/dev/shm") else TMP
SECONDS = 60  # that something may take on a busy machine

OPTIONS = """
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
  listeners={{id=BlobHybridListener}}
[CFOptions "default"]
  compression=kNoCompression
  write_buffer_size=256K
  target_file_size_base=256K
  max_bytes_for_level_base=1M
  enable_blob_files=true
  min_blob_size=300
  compaction_filter_factory={{id=BlobHybrid;space_floor=16M}}
  table_factory=HotPromotionTable
[TableOptions/HotPromotionTable "default"]
  path={folder}/elsewhere/hot
  budget=16M
  slow={folder}
  slow_read_micros=0
"""


def rocktier(*arguments, **options):
    return subprocess.run([BIN + "/rocktier", *arguments], capture_output=True, text=True,
                          timeout=SECONDS, **options)


# That are built.
PLUGINS = {command["plugin"] for command in json.loads(
    rocktier("--help", "--json").stdout)["commands"] if command["built"]}


def top(*arguments, status=0):
    """The object of a sample."""
    result = rocktier("top", *arguments, "--once", "--json")
    assert result.returncode == status, result
    assert len(result.stdout.splitlines()) == 1, result
    return json.loads(result.stdout)


def file_of(sample, plugin):
    return next((file for file in sample["files"] if file.get("plugin") == plugin), None)


def value_of(file, name, key="value", **labels):
    """The sum of a figure over all that have the labels; None if one is not known."""
    found = [metric[key] for metric in file["metrics"]
             if metric["name"] == "rocktier_%s_%s" % (file["plugin"], name) and
             labels.items() <= metric["labels"].items()]
    return None if None in found or not found else sum(found)


def wait_for(what, condition):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError("in vain: " + what)


def new_folder(name):
    folder = TMP + "/" + name
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


class Bench(unittest.TestCase):
    """db_bench runs as long as the tests of a class do."""

    plugins = ()

    @classmethod
    def flags(cls):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        if not set(cls.plugins) <= PLUGINS:
            raise unittest.SkipTest("a plugin is not built")
        # In memory: while other tests keep the disk busy, files there are renewed less often.
        cls.folder = tempfile.mkdtemp(prefix="rocktier_top.", dir=SHM)
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.db = cls.folder + "/db"
        with open(cls.folder + "/output", "w", encoding="utf-8") as output:
            cls.bench = subprocess.Popen(
                [BIN + "/db_bench", "--db=" + cls.db, "--benchmarks=readwhilewriting",
                 "--num=20000", "--value_size=400", "--benchmark_read_rate_limit=3000",
                 "--benchmark_write_rate_limit=1000000", "--duration=%d" % (15 * SECONDS),
                 *cls.flags()],
                stdout=output, stderr=subprocess.STDOUT)
        try:
            wait_for("the files of all plugins", cls.all_are_there)
        except AssertionError:
            cls.tearDownClass()
            raise

    @classmethod
    def all_are_there(cls):
        if cls.bench.poll() is not None:
            with open(cls.folder + "/output", encoding="utf-8") as output:
                raise AssertionError(output.read()[-2000:])
        result = rocktier("top", cls.db, "--once", "--json")
        sample = json.loads(result.stdout)
        return result.returncode == 0 and {file["plugin"] for file in sample["files"]} == set(
            cls.plugins)

    @classmethod
    def tearDownClass(cls):
        cls.bench.kill()
        cls.bench.wait()


class StorageOfARunningDatabase(Bench):

    plugins = ("tiered_env", "raw_wal_fs", "secondary_cache_2q")

    @classmethod
    def flags(cls):
        for name in "memory", "slow":
            os.makedirs(cls.folder + "/" + name)
        # The cache file is beside the database.
        return ["--fs_uri=id=TieredFileSystem;tiers={memory={kind=memory;path=%s/memory;budget=64M}"
                ";slow={path=%s/slow}};placement={0..2=memory;3..=slow};target={id=RawWalFileSystem"
                ";device=%s/log;size=256M;segment_size=1M}" % (cls.folder, cls.folder, TMP),
                "--cache_size=262144", "--secondary_cache_uri=id=TwoQSecondaryCache;capacity=8M;"
                "storage=file;path=%s/cache" % cls.folder, "--write_buffer_size=262144",
                "--compression_type=none"]

    def test_once(self):
        sample = top(self.db)
        self.assertEqual(os.path.realpath(self.db), sample["db"])
        self.assertEqual(self.bench.pid, sample["process"])
        self.assertLess(abs(time.time() - sample["time"]), SECONDS)
        self.assertEqual(list(self.plugins), [file["plugin"] for file in sample["files"]])
        for file in sample["files"]:
            self.assertEqual("live", file["state"])
            self.assertNotIn("reason", file)
            self.assertEqual(self.bench.pid, file["process"])
            self.assertTrue(0 <= file["age"] < SECONDS, file["age"])
            self.assertIsNone(file["seconds"])
            for metric in file["metrics"]:
                self.assertEqual(metric["name"].endswith("_total"), "rate" in metric)
                self.assertIsNone(metric.get("rate"))
        tiers = file_of(sample, "tiered_env")
        self.assertEqual({"home", "memory", "slow"},
                         {metric["labels"]["tier"] for metric in tiers["metrics"]
                          if "tier" in metric["labels"]})
        self.assertEqual(64 << 20, value_of(tiers, "tier_budget_bytes", tier="memory"))
        log = file_of(sample, "raw_wal_fs")
        self.assertGreater(value_of(log, "segments"), value_of(log, "segments_used"))
        self.assertEqual(8 << 20, value_of(file_of(sample, "secondary_cache_2q"),
                                           "capacity_bytes"))

    def test_counters_are_rates_between_two_samples(self):
        process = subprocess.Popen([BIN + "/rocktier", "top", self.db, "--json"],
                                   stdout=subprocess.PIPE, text=True)
        moving = {"tiered_env": "tier_written_bytes_total",
                  "raw_wal_fs": "appended_bytes_total", "secondary_cache_2q": "misses_total"}
        seen = set()
        before = None
        end = time.monotonic() + SECONDS
        for line in process.stdout:
            sample = json.loads(line)
            self.assertLess(time.monotonic(), end, seen)
            for plugin, name in moving.items():
                file = file_of(sample, plugin)
                rate = value_of(file, name, key="rate")
                if file["seconds"] is None:
                    self.assertIsNone(rate)
                    continue
                self.assertGreaterEqual(rate, 0)
                old = file_of(before, plugin)
                if rate > 0 and old["updated"] != file["updated"]:
                    self.assertAlmostEqual(file["updated"] - old["updated"], file["seconds"], 3)
                    grown = value_of(file, name) - value_of(old, name)
                    self.assertAlmostEqual(grown / file["seconds"], rate, delta=1e-6 * rate)
                    seen.add(plugin)
            if seen == set(moving):
                break
            before = sample
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        self.assertEqual(0, process.wait(SECONDS))

    def test_text(self):
        result = rocktier("top", self.db, "--once")
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        lines = result.stdout.splitlines()
        self.assertIn("process %d" % self.bench.pid, lines[0])
        for head in ("tiered_env, ", "raw_wal_fs, ", "secondary_cache_2q, "):
            self.assertEqual(1, len([line for line in lines if line.startswith(head)]), lines)
        for word in ("  tier ", "  memory ", "64 MiB", "recovery: rebuilt 0 SSTs", "hit rate ",
                     "segments used ", "syncs ", "moves "):
            self.assertIn(word, result.stdout)
        self.assertNotIn("/s,", result.stdout)  # one sample has no rates
        self.assertNotIn("\033", result.stdout)
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_blocks_where_there_is_no_terminal(self):
        process = subprocess.Popen([BIN + "/rocktier", "top", self.db, "--interval=0.5"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The files are renewed less often on a busy machine.
        end = time.monotonic() + SECONDS
        text = ""
        for line in process.stdout:
            self.assertLessEqual(len(line.rstrip("\n")), 80, line)
            self.assertLess(time.monotonic(), end, text)
            text += line
            if re.search(r"appended [0-9.]+ [KM]?i?B/s, written", line):
                break
        process.terminate()
        more, errors = process.communicate(timeout=SECONDS)
        self.assertEqual((0, ""), (process.returncode, errors))
        blocks = (text + more).split("\n\n")
        self.assertGreater(len(blocks), 1)
        for block in blocks:
            self.assertRegex(block, r"^\d\d:\d\d:\d\d  ")
            self.assertIn("\nraw_wal_fs, ", block)
        self.assertNotIn("\033", text)

    def on_terminal(self, keys):
        """What is printed on a terminal of 12 rows until `keys` are typed, which is after three
        frames."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 80, 0, 0))
        before = termios.tcgetattr(terminal)
        process = subprocess.Popen([BIN + "/rocktier", "top", self.db, "--interval=0.3"],
                                   stdin=terminal, stdout=terminal, stderr=terminal,
                                   start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        text = b""
        end = time.monotonic() + SECONDS
        try:
            while process.poll() is None:
                self.assertLess(time.monotonic(), end, text)
                if select.select([main], [], [], 0.1)[0]:
                    text += os.read(main, 65536)
                # The kernel drops what is in the terminal's queue when a signal is typed: the
                # frames that count have been read to their end.
                if text.count(b"\033[J") >= 3 and keys:
                    os.write(main, keys)
                    keys = b""
            while select.select([main], [], [], 0)[0]:
                text += os.read(main, 65536)
            self.assertEqual(before, termios.tcgetattr(terminal))
        finally:
            process.kill()
            process.wait()
            os.close(main)
            os.close(terminal)
        self.assertEqual(0, process.returncode)
        return text.decode()

    def test_is_refreshed_on_a_terminal(self):
        for keys in b"q", b"\x03":
            text = self.on_terminal(keys)
            self.assertTrue(text.startswith("\033[?1049h\033[?25l\033[H"), text[:40])
            self.assertTrue(text.endswith("\033[?25h\033[?1049l"), text[-40:])
            frames = text.split("\033[H")[1:]
            self.assertGreaterEqual(len(frames), 3)
            for frame in frames[:3]:
                lines = re.sub(r"\033\[[?0-9]*[A-Za-z]", "", frame).splitlines()
                self.assertEqual(12, len(lines), lines)
                self.assertRegex(lines[-1], r"^\.\.\. and \d+ more$")

    def test_others_beside_it_are_not_shown(self):
        with open(self.folder + "/cache.prom", encoding="utf-8") as file:
            text = file.read()
        with open(self.folder + "/other.prom", "w", encoding="utf-8") as file:
            file.write(text.replace('pid="%d"' % self.bench.pid, 'pid="%d"' % os.getpid()))
        with open(self.folder + "/damaged.prom", "w", encoding="utf-8") as file:
            file.write("x")
        self.assertEqual(list(self.plugins), [file["plugin"] for file in top(self.db)["files"]])

    def test_a_link_is_the_database(self):
        link = self.folder + "/link"
        os.symlink(self.db, link)
        self.assertEqual(list(self.plugins), [file["plugin"] for file in top(link)["files"]])

    def test_nobody_is_disturbed(self):
        # Its lock is still there after top has looked.
        top(self.db)
        result = subprocess.run([BIN + "/ldb", "--db=" + self.db, "put", "a", "b"],
                                capture_output=True, text=True)
        self.assertNotEqual(0, result.returncode)
        self.assertIsNone(self.bench.poll())


class ReadsAndValuesOfARunningDatabase(Bench):

    plugins = ("hot_promotion", "blob_hybrid")

    @classmethod
    def flags(cls):
        os.makedirs(cls.folder + "/elsewhere")
        with open(cls.folder + "/options.ini", "w", encoding="utf-8") as file:
            file.write(OPTIONS.format(folder=cls.folder))
        return ["--options_file=" + cls.folder + "/options.ini", "--cache_size=0"]

    def test_the_options_file_leads_to_the_hot_store(self):
        sample = top(self.db)
        hot = file_of(sample, "hot_promotion")
        self.assertEqual(os.path.realpath(self.folder) +
                         "/elsewhere/hot/rocktier_hot_promotion.prom", hot["path"])
        self.assertEqual(16 << 20, value_of(hot, "store_budget_bytes"))
        self.assertIsNotNone(value_of(file_of(sample, "blob_hybrid"), "blob_file_bytes"))

    def test_text(self):
        text = rocktier("top", self.db, "--once").stdout
        for word in ("records on slow storage", "store ", "access table", "  family ",
                     "  default "):
            self.assertIn(word, text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)


class AfterAKill(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        if "raw_wal_fs" not in PLUGINS:
            raise unittest.SkipTest("a plugin is not built")
        cls.folder = new_folder("killed")
        cls.db = cls.folder + "/db"
        bench = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + cls.db, "--benchmarks=overwrite", "--num=20000",
             "--duration=%d" % (10 * SECONDS), "--benchmark_write_rate_limit=1000000",
             "--fs_uri=id=RawWalFileSystem;device=%s/log;size=64M;segment_size=1M" % cls.folder],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.path = cls.db + "/rocktier_raw_wal_fs.prom"
        try:
            wait_for("the file", lambda: os.path.exists(cls.path))
        finally:
            bench.kill()
            bench.wait()
        cls.pid = bench.pid

    def test_the_file_is_stale(self):
        sample = top(self.db, status=1)
        self.assertIsNone(sample["process"])
        file, = sample["files"]
        self.assertEqual(("stale", "process %d is gone" % self.pid),
                         (file["state"], file["reason"]))
        self.assertGreater(file["age"], 0)
        result = rocktier("top", self.db, "--once")
        self.assertEqual(1, result.returncode)
        self.assertRegex(result.stdout, r"raw_wal_fs, STALE, [0-9.]+ s old: process %d is gone" %
                         self.pid)

    def test_all_is_read_as_others_read_it(self):
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        wanted = [(sample.name, sample.labels, sample.value)
                  for family in text_string_to_metric_families(text) for sample in family.samples
                  if not sample.name.endswith(("_info", "_updated_seconds"))]
        file, = top(self.db, status=1)["files"]
        self.assertEqual(wanted, [(metric["name"], metric["labels"], metric["value"])
                                  for metric in file["metrics"]])
        self.assertGreater(len(wanted), 10)

    def test_the_next_process_has_the_database_first(self):
        # As while SSTs in memory are rebuilt: the lock is held, and the file is of the last one.
        with open(self.db + "/LOCK", "w", encoding="utf-8") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            sample = top(self.db, status=1)
            self.assertEqual(os.getpid(), sample["process"])
            text = rocktier("top", self.db, "--once").stdout
        self.assertIn("process %d" % os.getpid(), text)
        self.assertIn("no statistics yet", text)
        self.assertIn("STALE", text)


class Files(unittest.TestCase):
    """Files that nobody would write."""

    def setUp(self):
        self.folder = new_folder(self.id().rpartition(".")[2])
        self.db = self.folder + "/db"
        os.makedirs(self.db)

    def write(self, body="", path=None, plugin="tiered_env", pid=None, age=0.0, end="# EOF\n"):
        path = path or "%s/rocktier_%s.prom" % (self.db, plugin)
        with open(path, "w", encoding="utf-8") as file:
            file.write('# TYPE rocktier_{0}_info gauge\nrocktier_{0}_info{{version="1",'
                       'rocksdb="2",pid="{1}"}} 1\nrocktier_{0}_updated_seconds {2:.3f}\n{3}{4}'
                       .format(plugin, os.getpid() if pid is None else pid, time.time() - age, body,
                               end))
        return path

    def check_damaged(self, reason, path=None):
        sample = top(self.db, status=1)
        path = path or self.db + "/rocktier_tiered_env.prom"
        file = next(file for file in sample["files"] if file["path"] == os.path.realpath(path))
        self.assertEqual({"path": os.path.realpath(path), "state": "damaged", "reason": reason},
                         file)
        result = rocktier("top", self.db, "--once")
        self.assertEqual((1, ""), (result.returncode, result.stderr))
        self.assertIn("DAMAGED: ", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_a_good_one(self):
        self.write('rocktier_tiered_env_tier_bytes{tier="a b\\"c\\\\d\\ne"} 5\n')
        file, = top(self.db)["files"]
        self.assertEqual("live", file["state"])
        self.assertEqual([{"name": "rocktier_tiered_env_tier_bytes",
                           "labels": {"tier": 'a b"c\\d\ne'}, "value": 5}], file["metrics"])

    def test_damaged_ones(self):
        for line in ("rocktier_x_y{", "rocktier_x_y{a=\"b} 1", "rocktier_x_y nan", "1 2",
                     "rocktier_x_y", "rocktier_x_y 1 2", "", "rocktier_x_y{a=\"b\" 1",
                     "rocktier_x_y{%s} 1" % ",".join('l%d="v"' % i for i in range(17))):
            self.write(line + "\n")
            self.check_damaged("line 4 is no sample")
        self.write(end="")
        self.check_damaged("is cut short: there is no # EOF")
        self.write(end="# EOF")
        self.check_damaged("is cut short: there is no # EOF")
        self.write(end="# EOF\nx 1\n")
        self.check_damaged("goes on behind # EOF")
        self.write(pid=0)
        self.check_damaged("is no statistics file of a plugin")
        with open(self.db + "/rocktier_tiered_env.prom", "wb") as file:
            file.write(b"# EOF\n")
        self.check_damaged("is no statistics file of a plugin")
        with open(self.db + "/rocktier_tiered_env.prom", "wb") as file:
            file.write(bytes(range(256)) * 100)
        self.check_damaged("line 1 is no sample")

    def test_each_length_of_a_file(self):
        path = self.write('rocktier_tiered_env_tier_bytes{tier="a"} 5\n')
        with open(path, "rb") as file:
            content = file.read()
        for length in range(0, len(content), 7):
            with open(path, "wb") as file:
                file.write(content[:length])
            self.check_damaged("is cut short: there is no # EOF")

    def test_huge_ones(self):
        path = self.write()
        os.truncate(path, 1 << 40)
        self.check_damaged("has more than 16777216 bytes")
        os.truncate(path, 0)
        self.write("rocktier_tiered_env_tier_bytes 1\n" * 100001)
        self.check_damaged("more than 100000 samples")

    def test_what_is_no_file(self):
        path = self.db + "/rocktier_tiered_env.prom"
        os.mkfifo(path)
        self.check_damaged("is no regular file")
        os.unlink(path)
        os.mkdir(path)
        self.check_damaged("is no regular file")

    def test_others_are_shown_beside_a_damaged_one(self):
        self.write(end="")
        self.write(plugin="raw_wal_fs")
        self.assertEqual(["damaged", "live"],
                         sorted(file["state"] for file in top(self.db, status=1)["files"]))

    def check_stale(self, reason):
        file, = top(self.db, status=1)["files"]
        self.assertEqual("stale", file["state"])
        self.assertRegex(file["reason"], reason)

    def test_stale_ones(self):
        # The first process is there for so long.
        self.write(pid=1, age=70)
        wait_for("a process of that age", lambda: "another" not in top(
            self.db, status=1)["files"][0]["reason"])
        self.check_stale(r"^not renewed for \d+ s$")
        file, = top(self.db, "--interval=60")["files"]  # it may be written as seldom
        self.assertEqual("live", file["state"])
        self.write(age=-1000)
        self.check_stale(r"^its time is \d+ s ahead$")
        sleeper = subprocess.Popen(["sleep", "600"])
        try:
            self.write(pid=sleeper.pid, age=10)
            self.check_stale("^%d is another process now$" % sleeper.pid)
        finally:
            sleeper.kill()
        # Its parent has not asked for it yet.
        wait_for("its end", lambda: top(self.db, status=1)["files"][0]["reason"] ==
                 "process %d is gone" % sleeper.pid)
        sleeper.wait()
        self.check_stale("^process %d is gone$" % sleeper.pid)

    def test_a_process_that_cannot_be_seen(self):
        # It is in another container: that it writes is enough.
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.write(pid=gone.pid)
        process = subprocess.Popen([BIN + "/rocktier", "top", self.db, "--json",
                                    "--interval=0.1"], stdout=subprocess.PIPE, text=True)
        states = []
        for line in process.stdout:
            states.append(json.loads(line)["files"][0]["state"])
            if states[-1] == "live" or len(states) == 100:
                break
            self.write(pid=gone.pid, path=self.folder + "/new")
            os.rename(self.folder + "/new", self.db + "/rocktier_tiered_env.prom")
        process.kill()
        process.communicate()
        self.assertEqual("stale", states[0])
        self.assertEqual("live", states[-1])

    def test_counters_that_begin_anew_have_no_rates(self):
        line = "rocktier_tiered_env_tier_reads_total %d\n"
        self.write(line % 1000)
        process = subprocess.Popen([BIN + "/rocktier", "top", self.db, "--json",
                                    "--interval=0.1"], stdout=subprocess.PIPE, text=True)
        rates = []
        for count in 1000, 1500, 20, 20, 70:
            self.write(line % count, path=self.folder + "/new")
            os.rename(self.folder + "/new", self.db + "/rocktier_tiered_env.prom")
            end = time.monotonic() + SECONDS
            for text in process.stdout:
                file, = json.loads(text)["files"]
                self.assertLess(time.monotonic(), end)
                if value_of(file, "tier_reads_total") == count:
                    rates.append(value_of(file, "tier_reads_total", key="rate"))
                    break
        process.kill()
        process.communicate()
        self.assertGreater(rates[1], 0)
        self.assertIsNone(rates[2])
        self.assertGreater(rates[4], 0)

    def test_names_give_no_orders_to_the_terminal(self):
        # OpenMetrics has no such escapes: the characters are there as they are.
        self.write('rocktier_tiered_env_tier_bytes{tier="\033[2J"} 5\n')
        self.write('rocktier_raw_wal_fs_segments{device="/dev/\033[2J"} 5\n', plugin="raw_wal_fs")
        text = rocktier("top", self.db, "--once").stdout
        self.assertNotIn("\033", text)
        self.assertIn("\\x1b[2J", text)

    def test_many_tiers_and_long_names(self):
        self.write("".join('rocktier_tiered_env_tier_bytes{tier="%s%d"} 123456789012345\n' %
                           ("n" * 200, i) for i in range(30)))
        self.write('rocktier_raw_wal_fs_segments{device="%s"} 1e300\n' % ("/d" * 300),
                   plugin="raw_wal_fs")
        result = rocktier("top", self.db, "--once")
        self.assertEqual(0, result.returncode)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        self.assertIn("... and 20 more", result.stdout)

    def test_column_families_with_a_budget(self):
        self.write("".join(
            'rocktier_tiered_env_family_bytes{{tier="{0}",cf="{1}"}} {2}\n'
            'rocktier_tiered_env_family_budget_bytes{{tier="{0}",cf="{1}"}} 10240\n'.format(*each)
            for each in [("fast", "users", 5120), ("slow", "users", 0), ("fast", "log", 9216)] +
            [("fast", "tenant_%02d" % number, 1024) for number in range(10)]))
        result = rocktier("top", self.db, "--once")
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        rows = [line.split() for line in result.stdout.splitlines()]
        head = rows.index(["family", "tier", "bytes", "budget", "used"])
        self.assertEqual([["log", "fast", "9", "KiB", "10", "KiB", "90.0%"],
                          ["users", "fast", "5", "KiB", "10", "KiB", "50.0%"],
                          ["tenant_00", "fast", "1", "KiB", "10", "KiB", "10.0%"]],
                         rows[head + 1:head + 4])
        self.assertIn("  ... and 3 more\n", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)

    def test_files_that_are_given(self):
        elsewhere = self.write(path=self.folder + "/elsewhere.txt")
        os.makedirs(self.folder + "/other")
        shared = self.write(
            "".join('rocktier_blob_hybrid_blob_files{db="%s/%s",cf="default"} %d\n' %
                    (self.folder, name, number) for name, number in (("db", 1), ("other", 2))),
            path=self.folder + "/shared.txt", plugin="blob_hybrid")
        sample = top(self.db, "--file", elsewhere, "--file=" + shared, "--file", elsewhere)
        self.assertEqual(["tiered_env", "blob_hybrid"],
                         [file["plugin"] for file in sample["files"]])
        self.assertEqual([1], [metric["value"] for metric in sample["files"][1]["metrics"]])
        # A database by another name, as in a container, is shown as a whole.
        third = self.folder + "/third"
        os.makedirs(third)
        self.assertEqual(2, len(top(third, "--file", shared)["files"][0]["metrics"]))
        file, = top(self.db, "--file", self.folder + "/none", status=1)["files"]
        self.assertEqual(("damaged", "No such file or directory"), (file["state"], file["reason"]))

    def test_files_that_the_options_file_names(self):
        shared = self.write('rocktier_blob_hybrid_blob_files{db="%s",cf="default"} 1\n' % self.db,
                            path=self.folder + "/elsewhere.text.prom", plugin="blob_hybrid")
        os.rename(shared, new_folder("named") + "/x.prom")
        with open(self.db + "/OPTIONS-000007", "w", encoding="utf-8") as file:
            file.write('[CFOptions "default"]\n  compaction_filter_factory={id=BlobHybrid;'
                       "metrics_file=%s/named/x.prom;jobs=1;}\n" % TMP)
        with open(self.db + "/OPTIONS-000005", "w", encoding="utf-8") as file:
            file.write("metrics_file=/none.prom\n")
        file, = top(self.db)["files"]
        self.assertEqual(os.path.realpath(TMP + "/named/x.prom"), file["path"])

    def test_errors(self):
        for arguments, message in (
                ([self.db], "NotFound: %s: no statistics file: is the database open, and is "
                            "metrics_interval above 0? If its file is elsewhere, take --file" %
                            self.db),
                ([self.folder + "/none"],
                 "NotFound: %s/none: No such file or directory" % self.folder),
                ([__file__], "Invalid argument: %s: is no directory" % __file__)):
            for more in [], ["--once"], ["--json"], ["--json", "--once"]:
                result = rocktier("top", *arguments, *more)
                self.assertEqual((2, "rocktier top: %s\n" % message),
                                 (result.returncode, result.stderr))
                if "--json" in more:
                    self.assertEqual({"error": message}, json.loads(result.stdout))
                else:
                    self.assertEqual("", result.stdout)

    def test_wrong_usage(self):
        for arguments, message in (
                ([], "DB is missing"), ([self.db, "x"], "one argument too many: x"),
                ([self.db, "--interval=0"], "--interval: no such value: 0"),
                ([self.db, "--interval=0.05"], "--interval: no such value: 0.05"),
                ([self.db, "--interval=1s"], "--interval: no such value: 1s"),
                ([self.db, "--interval=86401"], "--interval: at most 86400 seconds"),
                ([self.db, "--twice"], "takes no --twice"), ([self.db, "--human"],
                                                            "takes no --human")):
            result = rocktier("top", *arguments)
            self.assertEqual((2, "", "rocktier top: %s\nTry: rocktier top --help\n" % message),
                             (result.returncode, result.stdout, result.stderr))
            self.assertEqual({"error": message},
                             json.loads(rocktier("top", *arguments, "--json").stdout))


if __name__ == "__main__":
    unittest.main(verbosity=2)
