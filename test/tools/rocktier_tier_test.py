#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier tier as a user calls it, on databases that db_bench writes.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import glob
import hashlib
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import time
import unittest

import sharded
import units

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
STUB = 2048  # bytes

SMALL_FILES = [
    "--write_buffer_size=131072", "--target_file_size_base=65536",
    "--max_bytes_for_level_base=262144", "--max_bytes_for_level_multiplier=4",
    "--level_compaction_dynamic_level_bytes=false", "--compression_type=none",
]


def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tier(*argv):
    return run(BIN + "/rocktier", "tier", *argv)


class TierTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(TMP, self.id().replace(".", "-"))
        for name in "fast", "slow":
            os.makedirs(self.folder + "/" + name)
        self.db = self.folder + "/db"
        self.uri = self.make_uri()

    def make_uri(self, fast="", slow="", home="", placement=""):
        return (
            "id=TieredFileSystem;tiers={fast={path=%s/fast;%s};slow={path=%s/slow;%s};home={%s}};"
            "placement={0..1=fast;2..=slow;blob=slow%s};mover_bytes_per_second=0" %
            (self.folder, fast, self.folder, slow, home, placement))

    def succeed(self, result):
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout

    def refused(self, result, *texts):
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout)
        for text in texts:
            self.assertIn(text, result.stderr)

    def write(self, *flags, uri=None):
        """Leaves SSTs in several levels, and what was written last in a write-ahead log."""
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + (uri or self.uri),
                         "--benchmarks=fillrandom,waitforcompaction", "--num=30000",
                         "--value_size=100", *SMALL_FILES, *flags))
        self.let_the_mover_end(uri or self.uri)

    def let_the_mover_end(self, uri):
        """db_bench does not wait for it when it ends."""
        deadline = time.monotonic() + 60
        while self.plan(uri)["files"] > 0 and time.monotonic() < deadline:
            self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + uri,
                             "--benchmarks=readrandom", "--duration=2", "--use_existing_db=1",
                             "--disable_auto_compactions=1", *SMALL_FILES))

    def plan(self, uri):
        return json.loads(self.succeed(tier("plan", uri, self.db, "--json")))

    def write_level_0(self):
        """Leaves an SST in level 0, which write() does not if compactions had time to empty it."""
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + self.uri,
                         "--benchmarks=overwrite,flush", "--num=30000", "--writes=100",
                         "--value_size=100", "--use_existing_db=1",
                         "--disable_auto_compactions=1", *SMALL_FILES))

    def read(self, name):
        with open(self.db + "/" + name, "rb") as file:
            return file.read()

    def has_begun(self, log):
        """Whether the database was opened after it had the LOG of this inode."""
        try:
            return log != os.stat(self.db + "/LOG").st_ino and b"DB pointer" in self.read("LOG")
        except FileNotFoundError:  # it is just being renamed
            return False

    def contents(self, uri=None):
        """A digest of all that the database has; without a URI, as stock RocksDB reads it.

        ldb opens it with options of its own, whose compactions would move small levels to the last.
        """
        flags = ["--fs_uri=" + uri] if uri else []
        out = self.succeed(run(BIN + "/ldb", "--db=" + self.db, *flags, "--auto_compaction=false",
                               "scan", "--hex"))
        self.assertGreater(len(out.splitlines()), 10000)
        return hashlib.sha256(out.encode()).hexdigest()

    def ls(self, uri=None):
        return json.loads(self.succeed(tier("ls", uri or self.uri, self.db, "--json")))

    def df(self, uri=None):
        tiers = json.loads(self.succeed(tier("df", uri or self.uri, self.db, "--json")))
        return {one["name"]: one for one in tiers}

    def check(self, *flags, problems=0, uri=None):
        """The list of what was found."""
        result = tier("check", uri or self.uri, self.db, "--json", *flags)
        self.assertEqual(result.returncode, 1 if problems else 0, result.stderr + result.stdout)
        answer = json.loads(result.stdout)
        self.assertEqual(answer["problems"], problems, result.stdout)
        return answer["list"]

    def files_in(self, name):
        """Paths of a tier's files but for those that name owners."""
        found = []
        for folder, _, names in os.walk(self.folder + "/" + name):
            found += [folder + "/" + base for base in names if base not in ("OWNER", "LOCK")]
        return found

    def a_file_in(self, name):
        return next(f for f in self.ls() if f["tier"] == name and f["needed"])


    def contents_of_all(self):
        """All bytes of the database and its tiers."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                with open(folder + "/" + name, "rb") as file:
                    found[folder + "/" + name] = hashlib.sha256(file.read()).hexdigest()
        return found

    def answer(self, *argv, status=0):
        result = tier(*argv, "--json")
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        return json.loads(result.stdout)

    def dry(self, verb, *argv, status=0, uri=None):
        """What a dry run says it would do; nothing is changed."""
        before = self.contents_of_all()
        text = tier(verb, uri or self.uri, self.db, *argv, "--dry-run")
        self.assertEqual(text.returncode, status, text.stderr + text.stdout)
        self.assertEqual(text.stdout.splitlines()[-1], "dry run: nothing was changed")
        answer = self.answer(verb, uri or self.uri, self.db, *argv, "--dry-run", status=status)
        self.assertTrue(answer.pop("dry_run"))
        self.assertEqual(self.contents_of_all(), before)
        return answer


class Looking(TierTest):
    def test_files_levels_and_bytes_are_told(self):
        self.write()
        files = self.ls()
        for file in files:
            self.assertEqual(file["needed"] is None, not file["name"].endswith(".sst"), file)
            if file["needed"]:
                self.assertEqual(file["tier"], "fast" if file["level"] <= 1 else "slow", file)
            self.assertEqual(os.path.getsize(file["path"]), file["size"])
        self.assertGreater(max(file["level"] for file in files), 1)
        tiers = self.df()
        for name in "fast", "slow":
            self.assertEqual(tiers[name]["files"] + tiers[name]["other_files"],
                             len(self.files_in(name)))
            self.assertEqual(tiers[name]["bytes"],
                             sum(os.path.getsize(path) for path in self.files_in(name)))
            self.assertEqual(tiers[name]["stranded_files"], 0)
        self.assertEqual(self.check(), [])
        text = self.succeed(tier("ls", self.uri, self.db))
        self.assertEqual(len(text.splitlines()), len(files) + 1)
        self.assertIn("0 problems", self.succeed(tier("check", self.uri, self.db)))
        self.assertEqual(len(self.succeed(tier("df", self.uri, self.db)).splitlines()), 4)

    def test_a_damaged_manifest_does_not_tell_what_is_needed(self):
        self.write()
        self.assertTrue(any(file["needed"] for file in self.ls()))
        manifest = glob.glob(self.db + "/MANIFEST-*")[0]
        with open(manifest, "r+b") as file:
            content = bytearray(file.read())
            content[len(content) // 2] ^= 0x40
            file.seek(0)
            file.write(content)
        self.assertEqual({file["needed"] for file in self.ls()}, {None})

    def test_what_found_no_room_is_stranded(self):
        uri = self.make_uri(fast="budget=40K")
        self.write("--disable_auto_compactions=true", uri=uri)  # all of it stays in level 0
        tiers = self.df(uri)
        self.assertLessEqual(tiers["fast"]["bytes"], 40 << 10)
        self.assertEqual(tiers["fast"]["budget"], 40 << 10)
        stranded = [f for f in self.ls(uri) if f["tier"] == "slow" and f["wanted"] == "fast"]
        self.assertEqual(tiers["slow"]["stranded_files"], len(stranded))
        self.assertEqual(tiers["slow"]["stranded_bytes"], sum(f["size"] for f in stranded))
        self.assertGreater(len(stranded), 0)

    def test_budgets_of_column_families(self):
        uri = self.make_uri(fast="cf:default=100K;cf:log_*=2G", slow="cf:*=0")
        self.write("--disable_auto_compactions=true", uri=uri)  # all of it stays in level 0
        tiers = self.df(uri)
        self.assertNotIn("families", tiers["slow"])
        held, unused = tiers["fast"]["families"]
        self.assertEqual((held["name"], held["is_pattern"], held["budget"]),
                         ("default", False, 100 << 10))
        self.assertEqual(held["bytes"], tiers["fast"]["bytes"])
        self.assertEqual(unused,
                         {"name": "log_*", "is_pattern": True, "bytes": 0, "budget": 2 << 30})
        self.assertEqual(tiers["slow"]["stranded_bytes"], tiers["slow"]["bytes"])
        text = self.succeed(tier("df", uri, self.db, "--human")).splitlines()
        self.assertEqual(text[5], "budgets of column families")
        self.assertEqual(text[7].split()[:2], ["default", "fast"])
        self.assertIn("no family goes by it", text[8])
        # The file that is brought back is beyond the budget.
        wide = self.make_uri(fast="cf:default=1G")
        self.assertEqual(self.plan(wide)["bytes"], tiers["slow"]["bytes"])
        narrow = self.make_uri(fast="cf:default=1K")
        self.assertEqual(self.plan(narrow)["bytes"], tiers["fast"]["bytes"])
        file = self.a_file_in("slow")
        self.refused(tier("mv", narrow, self.db, file["name"], "fast"),
                     "is beyond the budget of column family default in tier fast")

    def test_the_moves_of_another_uri_are_foretold(self):
        self.write("--disable_auto_compactions=true")  # all of it stays in level 0
        self.assertEqual(self.plan(self.uri),
                         {"files": 0, "bytes": 0, "mover_bytes_per_second": 0, "seconds": None,
                          "moves": []})
        self.assertEqual(self.succeed(tier("plan", self.uri, self.db)),
                         "0 files, 0 bytes; the mover has no limit\n")
        uri = ("id=TieredFileSystem;tiers={fast={path=%s/fast};slow={path=%s/slow}};"
               "placement={0..=slow};mover_bytes_per_second=100000" % (self.folder, self.folder))
        before = self.ls()
        upper = [file for file in before if file["tier"] == "fast"]
        self.assertGreater(len(upper), 0)
        plan = self.plan(uri)
        self.assertEqual(sorted(move["name"] for move in plan["moves"]),
                         sorted(file["name"] for file in upper))
        self.assertEqual({(move["from"], move["to"], move["wanted"]) for move in plan["moves"]},
                         {("fast", "slow", "slow")})
        self.assertEqual(plan["files"], len(upper))
        self.assertEqual(plan["bytes"], sum(file["size"] for file in upper))
        self.assertEqual(plan["seconds"], -(-plan["bytes"] // 100000))
        text = self.succeed(tier("plan", uri, self.db))
        self.assertEqual(len(text.splitlines()), len(upper) + 2)
        self.assertIn("%d files, %d bytes, %d s at 100000 bytes per second" %
                      (plan["files"], plan["bytes"], plan["seconds"]), text)
        self.assertEqual(self.ls(), before)
        # As it comes.
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + uri,
                         "--benchmarks=waitforcompaction", "--use_existing_db=1",
                         "--disable_auto_compactions=1", *SMALL_FILES))
        self.let_the_mover_end(uri)
        self.assertEqual(self.plan(uri)["files"], 0)
        after = {file["name"]: file["tier"] for file in self.ls()}
        for file in upper:
            self.assertEqual(after.get(file["name"]), "slow", after)

    def test_a_database_that_is_open_can_be_looked_at_and_nothing_else(self):
        self.write()
        log = os.stat(self.db + "/LOG").st_ino
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + self.uri, "--use_existing_db",
             "--benchmarks=overwrite", "--num=30000", "--duration=600", "--value_size=100",
             "--benchmark_write_rate_limit=2000000", *SMALL_FILES],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # Not by a look at the lock, which db_bench might then find taken.
            while not self.has_begun(log):
                self.assertIsNone(writer.poll(), "db_bench has ended")
                time.sleep(0.1)
            for _ in range(20):
                self.assertEqual(self.check(), [])
                self.assertEqual([f for f in self.ls() if f["lost"]], [])
                self.assertGreater(self.df()["slow"]["files"], 0)
            for argv in (["check", self.uri, self.db, "--repair"],
                         ["drain", self.uri, self.db, "fast"],
                         ["evacuate", self.uri, self.db]):
                self.refused(tier(*argv), "LOCK")
            self.assertIsNone(writer.poll())
        finally:
            writer.kill()
            writer.wait()

    def test_wrong_usage_is_told(self):
        self.write()
        for argv in ([], ["fly"], ["ls"], ["ls", self.uri], ["ls", self.uri, self.db, "x"],
                     ["mv", self.uri, self.db, "x"], ["drain", self.uri, self.db],
                     ["ls", self.uri, self.db, "--repair"], ["mv", "--json", "a", "b", "c", "d"]):
            result = tier(*argv)
            self.refused(result, "rocktier tier")
        self.assertIn("Usage", self.succeed(tier("--help")))
        self.refused(tier("ls", self.uri, self.folder), self.folder)
        self.refused(tier("ls", "id=NoSuchFileSystem", self.db), "NoSuchFileSystem")
        self.refused(tier("ls", "posix://", self.db), "TieredFileSystem")
        self.refused(tier("ls", "id=TieredFileSystem;tiers={a={path=b}}", self.db), "absolute")
        self.refused(tier("ls", "id=TieredFileSystem;tiers={fast={path=%s/fast}}" % self.folder,
                       self.db), "is in tier slow")
        self.refused(tier("drain", self.uri, self.db, "home"), "home")
        self.refused(tier("drain", self.uri, self.db, "none"), "none")
        self.refused(tier("mv", self.uri, self.db, "999999.sst", "fast"), "999999.sst")


    def test_bytes_in_larger_units(self):
        self.write()
        size = self.df()["slow"]["bytes"]
        self.assertIn(units.human(size),
                      self.succeed(tier("df", self.uri, self.db, "--human")))
        self.assertNotIn("MiB", self.succeed(tier("df", self.uri, self.db)))
        file = self.a_file_in("slow")
        self.assertIn(units.human(file["size"]),
                      self.succeed(tier("ls", self.uri, self.db, "--human")))


class Moving(TierTest):
    def test_a_dry_run_says_what_would_be_moved(self):
        self.write()
        self.write_level_0()
        file = self.a_file_in("slow")
        would = self.dry("mv", file["name"], "fast")
        self.assertEqual(would, {"file": file["name"], "tier": "fast", "later": "slow"})
        full = self.make_uri(fast="budget=1K")
        self.refused(tier("mv", full, self.db, file["name"], "fast", "--dry-run"), "budget")
        full = self.make_uri(slow="budget=1K", home="budget=1K")
        self.refused(tier("drain", full, self.db, "fast", "--dry-run"), "room")
        self.assertEqual(self.answer("mv", self.uri, self.db, file["name"], "fast"), would)
        self.assertEqual(self.dry("mv", file["name"], "slow")["later"], "")
        self.answer("mv", self.uri, self.db, file["name"], "slow")

        would = self.dry("drain", "fast")
        self.assertGreater(would["moved"], 0)
        self.assertEqual(self.answer("drain", self.uri, self.db, "fast"), would)
        would = self.dry("evacuate")
        self.assertGreater(would["moved"], 0)
        self.assertEqual(self.answer("evacuate", self.uri, self.db), would)
        self.assertEqual(self.dry("evacuate"), {"moved": 0})

    def test_progress_is_shown_on_a_terminal(self):
        self.write()
        slowed = self.make_uri(slow="emulate={bandwidth=500K}")
        control, terminal = pty.openpty()
        process = subprocess.Popen([BIN + "/rocktier", "tier", "evacuate", slowed, self.db],
                                   stdout=subprocess.PIPE, stderr=terminal, text=True)
        os.close(terminal)
        shown = b""
        try:
            while True:
                shown += os.read(control, 1000)
        except OSError:  # the end
            pass
        os.close(control)
        out, _ = process.communicate()
        self.assertEqual(process.returncode, 0, shown)
        self.assertIn("files moved", out)
        self.assertRegex(shown.decode(), r"\rrocktier tier evacuate: \[#* *\] +\d+%, \d+ s")
        self.assertTrue(shown.endswith(b"\r\033[K"), shown)  # and is gone
        self.succeed(tier("check", self.uri, self.db))

    def test_a_file_is_moved_and_it_is_told_that_it_will_not_stay(self):
        self.write()
        before = self.contents(self.uri)
        file = self.a_file_in("slow")
        self.assertIn("mover will put it into slow",
                      self.succeed(tier("mv", self.uri, self.db, file["name"], "fast")))
        moved = next(f for f in self.ls() if f["name"] == file["name"])
        self.assertEqual((moved["tier"], moved["wanted"]), ("fast", "slow"))
        self.assertEqual(self.df()["fast"]["stranded_files"], 1)
        self.assertEqual(self.check(), [])
        back = self.succeed(tier("mv", self.uri, self.db, file["name"], "slow"))
        self.assertNotIn("mover", back)
        self.assertEqual(self.contents(self.uri), before)

    def test_a_budget_holds_for_it_too(self):
        self.write()
        full = self.make_uri(fast="budget=1K")
        file = self.a_file_in("slow")
        self.refused(tier("mv", full, self.db, file["name"], "fast"), "budget")
        self.assertEqual(self.check(), [])

    def test_a_tier_is_drained(self):
        self.write()
        self.write_level_0()
        before = self.contents(self.uri)
        self.assertIn("files moved", self.succeed(tier("drain", self.uri, self.db, "fast")))
        self.assertEqual(os.listdir(self.folder + "/fast"), [])
        self.assertEqual(self.df()["fast"]["files"], 0)
        self.assertEqual(self.check(), [])
        # The device is gone, and its tier from the options.
        shutil.rmtree(self.folder + "/fast")
        uri = "id=TieredFileSystem;tiers={slow={path=%s/slow}};placement={2..=slow}" % self.folder
        self.assertEqual(self.contents(uri), before)

    def test_a_tier_can_get_another_path(self):
        self.write()
        before = self.contents(self.uri)
        os.rename(self.folder + "/fast", self.folder + "/faster")
        uri = self.uri.replace("/fast;", "/faster;")
        self.assertNotEqual(uri, self.uri)
        self.assertEqual(self.check(uri=uri), [])
        self.assertEqual(self.contents(uri), before)

    def test_a_tier_is_not_drained_if_the_others_have_no_room(self):
        self.write()
        self.write_level_0()
        files = len(self.files_in("slow"))
        uri = self.make_uri(slow="budget=1K", home="budget=1K")
        self.refused(tier("drain", uri, self.db, "fast"), "room")
        self.assertEqual(len(self.files_in("slow")), files)
        self.assertEqual(self.check(), [])

    def test_evacuated_a_database_is_one_of_stock_rocksdb(self):
        for flags in ([], ["--enable_blob_files=1", "--min_blob_size=90"]):
            with self.subTest(flags=flags):
                uri = self.make_uri(placement=";wal=fast;meta=slow")
                self.write(*flags, uri=uri)
                self.assertTrue(any("MANIFEST" in path for path in self.files_in("slow")))
                before = self.contents(uri)
                self.assertNotEqual(
                    run(BIN + "/ldb", "--db=" + self.db, "scan", "--max_keys=1").returncode, 0,
                    "stock RocksDB opened it without its files")
                self.succeed(tier("evacuate", uri, self.db))
                self.assert_evacuated(before)
                self.assertIn("0 files moved", self.succeed(tier("evacuate", uri, self.db)))
                # And the way back.
                self.assertEqual(self.contents(uri), before)
                shutil.rmtree(self.db)

    def assert_evacuated(self, before):
        self.assertEqual(os.listdir(self.folder + "/fast"), [])
        self.assertEqual(os.listdir(self.folder + "/slow"), [])
        self.assertEqual([n for n in os.listdir(self.db) if "TIERS" in n or "tiers" in n], [])
        self.assertEqual(self.contents(), before)

    def interrupt(self, seconds, *argv):
        """True if the command was killed before its end."""
        process = subprocess.Popen([BIN + "/rocktier", "tier", *argv], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        try:
            out, err = process.communicate(timeout=seconds)
            self.assertEqual(process.returncode, 0, out + err)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return True

    def kill_again_and_again(self, *argv):
        """Runs a command to its end, killed many times on the way."""
        seed = random.randrange(1 << 30)
        print("seed", seed)
        chance = random.Random(seed)
        kills = 0
        # More and more time, or a slow machine gets nowhere.
        while self.interrupt(chance.uniform(0.02, 0.4) * (1 + kills / 20), *argv):
            kills += 1
            self.assertLess(kills, 1000)
            self.check()  # which has nothing but harmless things to tell
        print("killed", kills, "times")
        self.assertGreater(kills, 2)

    def test_a_drain_can_be_killed_and_run_again(self):
        self.write()
        before = self.contents(self.uri)
        slowed = self.make_uri(slow="emulate={bandwidth=1M}")
        self.kill_again_and_again("drain", slowed, self.db, "slow")
        self.assertEqual(os.listdir(self.folder + "/slow"), [])
        self.assertEqual(self.contents(self.uri), before)

    def test_an_evacuation_can_be_killed_and_run_again(self):
        self.write()
        before = self.contents(self.uri)
        slowed = self.make_uri(slow="emulate={bandwidth=1M}")
        self.kill_again_and_again("evacuate", slowed, self.db)
        self.assert_evacuated(before)


class Recovering(TierTest):
    def memory_uri(self):
        return (
            "id=TieredFileSystem;tiers={memory={kind=memory;path=%s/memory};slow={path=%s/slow}};"
            "placement={0..2=memory;3..=slow}" % (self.folder, self.folder))

    def test_what_memory_has_lost_is_rebuilt(self):
        uri = self.memory_uri()
        self.write(uri=uri)
        before = self.contents(uri)
        lost = [f["name"] for f in self.ls(uri) if f["tier"] == "memory" and f["needed"]]
        self.assertGreater(len(lost), 1)
        shutil.rmtree(self.folder + "/memory")
        self.assertEqual([f["name"] for f in self.ls(uri) if f["lost"] and f["needed"]], lost)
        refused = run(BIN + "/ldb", "--db=" + self.db, "--fs_uri=" + uri, "scan")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("rocktier tier recover", refused.stdout + refused.stderr)
        self.assertIn("has all its SSTs", self.succeed(tier("recover", uri, self.db)))
        self.assertEqual([f for f in self.ls(uri) if f["lost"]], [])
        self.assertEqual(self.contents(uri), before)
        self.assertEqual(self.answer("recover", uri, self.db), {"recovered": True})  # nothing to do

        shutil.rmtree(self.folder + "/memory")
        kept = self.a_needed_log()
        os.rename(kept, self.folder + "/away")
        self.refused(tier("recover", uri, self.db), "cannot be rebuilt", ".sst",
                     os.path.basename(kept))
        os.rename(self.folder + "/away", kept)
        self.succeed(tier("recover", uri, self.db))
        self.assertEqual(self.contents(uri), before)

    def test_a_dry_run_rebuilds_nothing(self):
        uri = self.memory_uri()
        self.write(uri=uri)
        self.assertEqual(self.dry("recover", uri=uri), {"lost": [], "given_up": []})
        lost = [f["name"] for f in self.ls(uri) if f["tier"] == "memory" and f["needed"]]
        shutil.rmtree(self.folder + "/memory")
        self.assertEqual(self.dry("recover", uri=uri), {"lost": lost, "given_up": []})
        self.assertEqual(self.dry("recover", "--salvage", uri=uri), {"lost": lost, "given_up": []})
        for name in os.listdir(self.db):
            if name.startswith("TIERS-") and name.endswith(".log"):
                os.remove(self.db + "/" + name)
        self.refused(tier("recover", uri, self.db, "--dry-run"), "cannot be rebuilt", "--salvage")
        would = self.dry("recover", "--salvage", uri=uri, status=1)
        self.assertEqual(would["lost"], lost)
        self.assertTrue(would["given_up"])
        self.refused(tier("recover", uri, self.db), "cannot be rebuilt")
        given_up = self.answer("recover", uri, self.db, "--salvage", status=1)["given_up"]
        self.assertEqual(sorted(text.split(":")[0] for text in given_up),
                         [text.split(":")[0] for text in would["given_up"]])

    def test_a_salvage_waits_for_the_disk_of_the_logs(self):
        uri = self.memory_uri()
        logs = self.folder + "/logs"
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + uri,
                         "--wal_dir=" + logs, "--benchmarks=fillrandom,flush", "--num=10000",
                         "--value_size=100", "--disable_auto_compactions=1", *SMALL_FILES))
        shutil.rmtree(self.folder + "/memory")
        os.rename(logs, self.folder + "/away")
        os.mkdir(logs)  # a mount point
        salvage = ["recover", uri, self.db, "--salvage"]
        before = self.listing().keys()
        for more in [], ["--lost=" + self.folder + "/away"], ["--dry-run"]:
            self.refused(tier(*salvage, *more), logs + ": ", "--lost=")
            self.assertEqual(self.listing().keys(), before)
        self.refused(tier("recover", uri, self.db, "--lost=" + logs), "goes with --salvage")
        would = self.dry("recover", "--salvage", "--lost=" + logs, uri=uri, status=1)
        self.assertTrue(would["given_up"])
        shutil.rmtree(logs)
        os.rename(self.folder + "/away", logs)
        self.assertEqual(self.dry("recover", "--salvage", uri=uri)["given_up"], [])
        os.rename(logs, self.folder + "/away")
        given_up = self.answer(*salvage, "--lost=" + logs, status=1)["given_up"]
        self.assertEqual(sorted(text.split(":")[0] for text in given_up),
                         [text.split(":")[0] for text in would["given_up"]])

    def a_needed_log(self):
        """The path of one that is retained because an SST in memory needs it."""
        return next(log["path"] for log in self.logs()
                    if log["kind"] == "retained" and log["live_entries"])

    def logs(self):
        return json.loads(self.succeed(tier("logs", self.memory_uri(), self.db, "--json")))

    def listing(self):
        found = {}
        for folder, _, names in os.walk(self.db):
            for name in names:
                stat = os.stat(folder + "/" + name)
                found[folder + "/" + name] = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        return found

    def test_logs_are_told_with_what_is_live_of_them(self):
        uri = self.memory_uri()
        self.write(uri=uri)
        before = self.listing()
        logs = self.logs()
        text = self.succeed(tier("logs", uri, self.db))
        self.assertEqual(self.listing(), before)
        told = self.df(uri)["memory"]["in_memory"]
        self.assertEqual(sum(log["bytes"] for log in logs if log["kind"] != "log"),
                         told["retained_bytes"])
        self.assertEqual(sum(log["bytes"] for log in logs if log["kind"] == "log"),
                         told["needed_bytes"])
        self.assertTrue(logs)
        self.assertEqual(len(text.splitlines()), len(logs) + 1)
        for log in logs:
            self.assertEqual(log["problem"], "", log)
            self.assertEqual(log["bytes"], os.path.getsize(log["path"]))
            self.assertIn(log["kind"], ("log", "retained", "rewritten"))
            self.assertAlmostEqual(log["live_entry_share"], log["live_entries"] / log["entries"],
                                   places=5)
            self.assertAlmostEqual(log["live_byte_share"], log["live_bytes"] / log["entry_bytes"],
                                   places=5)
            self.assertLessEqual(log["live_entry_share"], 1)
            self.assertIn(log["path"], text)
            self.assertIn("%.3f" % log["live_byte_share"], text)

        # A log that is gone, and one that is damaged.
        needed = next(log for log in logs if log["kind"] != "log" and log["live_entries"])
        os.rename(needed["path"], self.folder + "/away")
        lost = next(log for log in self.logs() if log["id"] == needed["id"])
        self.assertEqual(lost["kind"], "lost", lost)
        self.assertIn("is not there", lost["problem"])
        with open(self.folder + "/away", "rb") as file:
            contents = bytearray(file.read())
        contents[len(contents) // 2] ^= 1
        with open(needed["path"], "wb") as file:
            file.write(contents)
        damaged = next(log for log in self.logs() if log["id"] == needed["id"])
        self.assertNotEqual(damaged["problem"], "", damaged)
        os.rename(self.folder + "/away", needed["path"])
        self.refused(tier("logs", uri, self.db, "--repair"), "takes no --repair")
        self.refused(tier("logs", uri), "DIRECTORY is missing")

    def test_logs_of_a_database_that_is_open(self):
        uri = self.memory_uri()
        self.write(uri=uri)
        log = os.stat(self.db + "/LOG").st_ino
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + uri, "--use_existing_db",
             "--benchmarks=overwrite", "--num=30000", "--duration=600", "--value_size=100",
             "--benchmark_write_rate_limit=2000000", *SMALL_FILES],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not self.has_begun(log):
                self.assertIsNone(writer.poll(), "db_bench has ended")
                time.sleep(0.1)
            for _ in range(20):
                logs = self.logs()
                self.assertTrue(logs)
                self.assertEqual([log for log in logs if log["problem"]], [])
            self.assertIsNone(writer.poll())
        finally:
            writer.kill()
            writer.wait()

    def test_what_is_in_memory_is_told_and_tried(self):
        uri = self.memory_uri()
        self.write(uri=uri)
        memory = self.df(uri)["memory"]
        told = memory["in_memory"]
        self.assertEqual(told["bytes"], memory["bytes"])
        self.assertEqual(told["recipes"], memory["files"])
        self.assertGreater(told["recipe_bytes"], 0)
        self.assertGreater(told["wal_amplification"], 0)
        self.assertGreater(told["saved_bytes"], 0)
        self.assertNotIn("in_memory", self.df(uri)["slow"])
        text = self.succeed(tier("df", uri, self.db))
        for name in "wal_amplification", "literal_ratio", "saved_bytes", "retained_bytes", "trims":
            self.assertIn(name, text)

        self.assertEqual(self.check("--rebuild", uri=uri), [])
        shutil.rmtree(self.folder + "/memory")
        os.remove(self.a_needed_log())
        self.refused(tier("recover", uri, self.db), "cannot be rebuilt", "--salvage")
        result = tier("recover", uri, self.db, "--salvage")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("given up: ", result.stdout)
        self.assertEqual(self.df(uri)["memory"]["files"], 0)
        self.succeed(tier("recover", uri, self.db, "--salvage"))  # nothing to do any more
        self.refused(tier("check", uri, self.db, "--salvage"), "takes no --salvage")


class Checking(TierTest):
    def setUp(self):
        super().setUp()
        self.write()
        self.write_level_0()
        self.before = self.contents(self.uri)

    def repair(self, *states, problems=0):
        found = self.check("--repair", problems=problems)
        self.assertEqual(sorted(one["state"] for one in found), sorted(states), found)
        return found

    def assert_as_before(self):
        self.assertEqual(self.check(), [])
        self.assertEqual(self.contents(self.uri), self.before)

    def test_a_lost_stub_comes_back(self):
        for name in "fast", "slow":
            os.unlink(self.db + "/" + self.a_file_in(name)["name"])
        found = self.check(problems=2)
        self.assertTrue(all("it is in " + self.folder in one["what"] for one in found), found)
        # Opening deletes neither: the MANIFEST needs them.
        files = self.files_in("slow")
        self.assertNotEqual(
            run(BIN + "/ldb", "--db=" + self.db, "--fs_uri=" + self.uri, "scan").returncode, 0)
        self.assertEqual(self.files_in("slow"), files)
        self.repair("repaired", "repaired")
        self.assert_as_before()

    def test_damaged_and_torn_stubs_come_back(self):
        files = [f["name"] for f in self.ls() if f["needed"]][:3]
        with open(self.db + "/" + files[0], "r+b") as stub:
            stub.seek(40)
            stub.write(b"!")
        with open(self.db + "/" + files[1], "wb") as stub:
            stub.write(bytes(STUB))
        with open(self.db + "/" + files[2], "r+b") as stub:
            stub.truncate(100)
        self.check(problems=3)
        self.repair("repaired", "repaired", "repaired")
        self.assert_as_before()

    def test_of_two_files_none_is_taken(self):
        file = self.a_file_in("slow")
        shutil.copyfile(file["path"], file["path"] + "ff")
        os.unlink(self.db + "/" + file["name"])
        found = self.repair("problem", problems=1)
        self.assertIn("there are 2 such files", found[0]["what"])
        os.unlink(file["path"] + "ff")
        self.repair("repaired")
        self.assert_as_before()

    def test_a_lost_file_is_told_and_its_stub_stays(self):
        file = self.a_file_in("slow")
        os.rename(file["path"], file["path"] + ".kept")
        os.rename(file["path"] + ".kept", self.folder + "/kept")
        found = self.repair("problem", problems=1)
        self.assertIn("is lost", found[0]["what"])
        self.assertIn(file["path"], found[0]["what"])
        self.refused(tier("evacuate", self.uri, self.db), "rocktier tier check")
        self.refused(tier("drain", self.uri, self.db, "fast"), "rocktier tier check")
        os.rename(self.folder + "/kept", file["path"])
        self.assert_as_before()

    def test_a_file_of_another_size_is_told(self):
        file = self.a_file_in("slow")
        with open(file["path"], "ab") as sst:
            sst.write(b"more")
        found = self.repair("problem", problems=1)
        self.assertIn("the MANIFEST says %d" % file["size"], found[0]["what"])
        self.refused(tier("evacuate", self.uri, self.db), "size")

    def test_a_tier_that_is_not_mounted_is_told_and_nothing_is_deleted(self):
        os.rename(self.folder + "/slow", self.folder + "/away")
        found = self.repair("problem", problems=1)
        self.assertIn("is not there", found[0]["what"])
        os.rename(self.folder + "/away", self.folder + "/slow")
        self.assert_as_before()

    def test_what_nothing_names_is_put_aside_and_purged(self):
        file = self.a_file_in("slow")
        extra = os.path.dirname(file["path"]) + "/000001.sst.0123456789abcdef"
        shutil.copyfile(file["path"], extra)
        shutil.copyfile(file["path"], self.db + "/000001.sst.tiers-tmp")
        found = self.check()
        self.assertEqual([one["state"] for one in found], ["harmless", "harmless"])
        self.assertTrue(os.path.exists(extra))
        would = self.dry("check", "--repair")["list"]
        self.assertEqual([one["repairable"] for one in would], [True, True])
        self.assertEqual(self.dry("purge"), {"files": 1, "bytes": file["size"], "folders": []})
        found = self.check("--repair")
        self.assertEqual([one["state"] for one in found], ["repaired", "repaired", "harmless"])
        self.assertFalse(os.path.exists(extra))
        lost = os.path.dirname(extra) + "/lost"
        self.assertEqual(len(os.listdir(lost)), 1)
        self.assertEqual(self.dry("purge"), {"files": 1, "bytes": file["size"], "folders": []})
        self.assertIn("%d bytes" % file["size"], found[2]["what"])
        self.assertIn("1 files deleted, %d bytes" % file["size"],
                      self.succeed(tier("purge", self.uri, self.db)))
        self.assertEqual(os.listdir(lost), [])
        self.assertEqual(self.answer("purge", self.uri, self.db),
                         {"files": 0, "bytes": 0, "folders": []})
        self.assert_as_before()

    def test_names_of_folders_come_back(self):
        identity = self.read("TIERS")
        os.unlink(self.db + "/TIERS")
        self.check(problems=1)
        self.repair("repaired")
        self.assertEqual(self.read("TIERS"), identity)
        for damage in (self.db + "/TIERS",
                       os.path.dirname(self.a_file_in("slow")["path"]) + "/OWNER"):
            with open(damage, "r+b") as file:
                file.seek(30)
                file.write(b"?")
            self.check(problems=1)
            self.repair("repaired")
        self.assertEqual(self.read("TIERS"), identity)
        self.assert_as_before()

    def test_a_copy_of_the_directory_is_told(self):
        shutil.copytree(self.db, self.folder + "/copy")
        self.check()
        db, self.db = self.db, self.folder + "/copy"
        found = self.check("--repair", problems=2)
        self.assertIn("is a copy of " + db, found[0]["what"])
        for argv in (["evacuate"], ["drain", "fast"]):
            self.refused(tier(argv[0], self.uri, self.db, *argv[1:]), "is a copy of " + db)
        self.db = db
        self.assert_as_before()

    def test_an_earlier_state_is_adopted_by_force(self):
        shutil.copytree(self.db, self.folder + "/copy")
        self.write("--use_existing_db", "--benchmarks=overwrite,waitforcompaction")
        shutil.rmtree(self.db)
        os.rename(self.folder + "/copy", self.db)
        self.refused(tier("evacuate", self.uri, self.db), "rocktier tier adopt")
        told = tier("adopt", self.uri, self.db)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("is not there: ", told.stdout)
        self.assertIn("nothing was changed", told.stdout)
        self.refused(tier("evacuate", self.uri, self.db), "rocktier tier adopt")
        self.refused(tier("evacuate", self.uri, self.db, "--dry-run"), "rocktier tier adopt")
        for force in [], ["--force"]:
            would = self.dry("adopt", *force, status=1)
            self.assertTrue(would["missing"])
            self.assertFalse(would["adopted"])
        adopted = self.answer("adopt", self.uri, self.db, "--force")
        self.assertEqual((adopted["adopted"], adopted["missing"]), (True, would["missing"]))
        self.refused(tier("evacuate", self.uri, self.db), "rocktier tier check")

    def test_a_tier_that_cannot_be_adopted_is_told(self):
        shutil.copytree(self.db, self.folder + "/copy")
        self.write("--use_existing_db", "--benchmarks=readrandom", "--reads=10")
        shutil.rmtree(self.db)
        os.rename(self.folder + "/copy", self.db)
        folder, = os.listdir(self.folder + "/fast")
        blocked = self.folder + "/fast/" + folder + "/OWNER.tiers-tmp"
        os.mkdir(blocked)  # nothing can be written in the place of it
        for _ in range(2):
            self.refused(tier("adopt", self.uri, self.db, "--force"),
                         "has not adopted", "tier fast (")
        os.rmdir(blocked)
        self.assertTrue(self.answer("adopt", self.uri, self.db, "--force")["adopted"])

    def test_a_directory_that_was_moved_is_its_own(self):
        os.rename(self.db, self.folder + "/moved")
        self.db = self.folder + "/moved"
        self.assertEqual([one["state"] for one in self.check()], ["harmless", "harmless"])
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=" + self.uri,
                         "--use_existing_db", "--benchmarks=readrandom", "--reads=10"))
        self.assert_as_before()

    def test_folders_of_databases_that_are_gone_are_told(self):
        os.rename(self.db, self.folder + "/gone")
        shutil.rmtree(self.folder + "/gone")
        self.write()
        found = self.repair("harmless", "harmless")
        self.assertTrue(all("was of " + self.db in one["what"] for one in found), found)
        for name in {os.path.basename(one["path"]) for one in found}:
            self.assertEqual(self.dry("purge", "--folder=" + name)["folders"], [name])
            self.succeed(tier("purge", self.uri, self.db, "--folder=" + name))
        self.assertFalse(any(os.path.exists(one["path"]) for one in found), found)
        self.assertEqual(self.check(), [])


if __name__ == "__main__":
    sharded.main()
