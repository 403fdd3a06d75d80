#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier wal as a user calls it, on a file and, as root, on a loop device.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import fcntl
import hashlib
import json
import os
import shutil
import struct
import subprocess
import time
import unittest

import sharded
import units

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]


def run(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wal(*argv):
    return run(BIN + "/rocktier", "wal", *argv)


def write(db, device, *flags):
    """Writes 2000 records with sync and leaves their log on the device."""
    result = run(BIN + "/db_bench", "--db=" + db, "--fs_uri=id=RawWalFileSystem;device=" + device,
                 "--benchmarks=fillseq", "--num=2000", "--sync=1", "--value_size=200", *flags)
    return result


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def masked_crc(data):
    """The CRC-32C as RocksDB stores it."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def header_in_standby(usage, log, directory, name):
    """The first bytes of a log's file in the standby, see plugin/raw_wal_fs/format.h."""
    text = (directory + "/" + name).encode()
    inode = os.stat(directory).st_ino if os.path.exists(directory) else 1
    header = struct.pack("<4sIIQQQ16sQQIHHQQQ", b"RSG2", 1, 0, *log, (1 << 64) - 1,
                         bytes.fromhex(usage["uuid"]), usage["segment_size"], usage["segments"],
                         usage["block_size"], len(text), 0, 0, inode, usage["epoch"]) + text
    header = header.ljust(508, b"\0")
    return struct.pack("<I", masked_crc(header)) + header


class OnAFile(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(TMP, self.id().replace(".", "-"))
        os.makedirs(self.folder)
        self.device = self.make_device()
        self.db = self.folder + "/db"

    def make_device(self):
        return self.folder + "/device"

    def format(self, *flags):
        if os.path.exists(self.device):  # it has a size
            flags = [flag for flag in flags if not flag.startswith("--size")]
        return wal("format", self.device, "--segment-size=256K", *flags)

    def succeed(self, result):
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        return result.stdout

    def test_a_device_goes_through_its_life(self):
        self.succeed(self.format("--size=64M"))
        usage = json.loads(self.succeed(wal("df", self.device, "--json")))
        self.assertEqual(usage["segments_used"], 0)
        self.assertEqual(usage["segments_free"], usage["segments"])
        self.succeed(write(self.db, self.device))

        logs = json.loads(self.succeed(wal("ls", self.device, "--json")))
        self.assertEqual(len(logs), 1)
        self.assertGreater(logs[0]["bytes"], 2000 * 200)
        self.assertTrue(logs[0]["name"].startswith(self.db + "/"))
        self.assertIn(self.db, self.succeed(wal("ls", self.device)))
        frames = self.succeed(wal("dump", self.device, "--log=" + logs[0]["id"])).splitlines()
        checked = json.loads(self.succeed(wal("check", self.device, "--json")))
        self.assertEqual(checked["problems"], 0)
        self.assertEqual(checked["frames"], len(frames) - 2)

        # Without the plugin the database does not open, until its logs are plain files.
        scan = [BIN + "/ldb", "--db=" + self.db, "scan", "--max_keys=1", "--hex"]
        self.assertNotEqual(run(*scan).returncode, 0)
        self.assertIn("1 logs", self.succeed(wal("export", self.device, self.db)))
        self.assertIn("0x", self.succeed(run(*scan)))
        self.assertEqual(json.loads(self.succeed(wal("ls", self.device, "--json"))), [])

    def test_a_short_uri(self):
        self.succeed(self.format("--size=64M"))
        self.succeed(run(BIN + "/db_bench", "--db=" + self.db, "--fs_uri=raw_wal://" + self.device,
                         "--benchmarks=fillrandom", "--num=100", "--sync=1"))
        logs = json.loads(self.succeed(wal("ls", self.device, "--json")))
        self.assertTrue(any(log["name"].startswith(self.db + "/") for log in logs), logs)

    def test_what_is_there_is_not_overwritten(self):
        self.succeed(self.format("--size=8M"))
        again = self.format()
        self.assertEqual(again.returncode, 2)
        self.assertIn("is a log device already", again.stderr)
        self.succeed(self.format("--force"))

    def test_other_contents_are_named(self):
        if os.path.exists(self.device):
            made = run("mkfs.xfs", "-f", self.device)
        else:
            run("truncate", "-s", "400M", self.device)
            made = run("mkfs.xfs", "-f", self.device)
        self.assertEqual(made.returncode, 0, made.stderr)
        refused = self.format()
        self.assertEqual(refused.returncode, 2)
        self.assertIn("xfs", refused.stderr)
        opened = write(self.db, self.device)
        self.assertNotEqual(opened.returncode, 0)
        self.assertIn("xfs", opened.stderr + opened.stdout)
        self.assertEqual(
            run("xfs_db", "-r", "-c", "sb 0", "-c", "p magicnum", self.device).stdout.strip(),
            "magicnum = 0x58465342", "the file system was harmed")

        # A file system that is not mounted: nothing makes it a log device.
        made = run("mkfs.ext4", "-q", "-F", self.device)
        self.assertEqual(made.returncode, 0, made.stderr)
        before = digest(self.device)
        other = self.folder + "/other"
        self.succeed(write(self.db, other + ";size=8M"))
        for verb in ("export", "adopt"):
            for flags in ([], ["--force"]):
                self.refused(wal(verb, self.device, self.db, *flags), "ext4", self.device)
                self.assertEqual(digest(self.device), before, verb)
        self.assertIn("1 logs", self.succeed(wal("export", other, self.db)))

    def test_a_copy_with_the_wal_dir_of_the_original(self):
        self.succeed(self.format("--size=64M"))
        place = "--wal_dir=" + self.folder + "/wal"
        self.succeed(write(self.db, self.device, place))
        copy = self.folder + "/copy"
        shutil.copytree(self.db, copy)
        names = os.listdir(self.folder + "/wal")
        opened = write(copy, self.device, place, "--use_existing_db=1", "--benchmarks=readrandom")
        self.assertNotEqual(opened.returncode, 0)
        self.assertIn("is a copy of " + self.db, opened.stderr + opened.stdout)
        self.refused(wal("export", self.device, copy, "--force"), "is a copy of " + self.db)
        self.assertEqual(os.listdir(self.folder + "/wal"), names)
        said = wal("adopt", self.device, copy)
        self.assertEqual(said.returncode, 1, said.stderr)
        self.assertIn("loses its log to this database: " + self.db, said.stdout)
        self.assertIn("1 logs adopted", self.succeed(wal("adopt", self.device, copy, "--force")))
        self.refused(wal("export", self.device, self.db), "is a copy of " + copy)
        self.assertIn("1 logs", self.succeed(wal("export", self.device, copy)))

    def test_damage_is_found(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        first = self.succeed(wal("dump", self.device)).splitlines()[2].split()
        with open(self.device, "r+b") as file:
            file.seek(int(first[0]) + 100)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))
        checked = wal("check", self.device)
        self.assertEqual(checked.returncode, 1, checked.stdout)
        self.assertIn("damaged", checked.stdout)

    def logs(self):
        return json.loads(self.succeed(wal("ls", self.device, "--json")))

    def refused(self, result, *words):
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_logs_of_a_lost_directory_are_removed(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        self.succeed(write(self.folder + "/kept", self.device))
        lost, kept = sorted(self.logs(), key=lambda log: log["name"])
        self.assertFalse(lost["missing"] or kept["missing"])
        of_lost = lambda: next(log for log in self.logs() if log["id"] == lost["id"])
        self.assertEqual(os.path.dirname(lost["file"]), self.db)
        self.refused(wal("rm", self.device, "--log=" + lost["id"]), "in use", lost["file"])
        self.refused(wal("rm", self.device, "--log=7:7"), "no log 7:7")

        # Renamed and archived logs are still known.
        archive = self.db + "/archive"
        os.makedirs(archive, exist_ok=True)
        for name in (lost["file"] + ".trash", archive + "/000077.log",
                     archive + "/000078.log.trash"):
            os.rename(of_lost()["file"], name)
            self.assertEqual(of_lost()["file"], name)
            self.assertNotIn("no file", self.succeed(wal("ls", self.device)))
            self.refused(wal("rm", self.device, "--log=" + lost["id"]), "in use", name)

        # Its file system may not be mounted.
        os.rename(self.db, self.db + "-elsewhere")
        self.assertEqual([log["missing"] for log in self.logs()], [False, False])
        self.assertIn("not mounted", of_lost()["unknown"])
        # Then its mount point is another directory.
        os.makedirs(self.db)
        self.assertIn("not mounted", of_lost()["unknown"])
        self.refused(wal("rm", self.device, "--log=" + lost["id"]), "may be in use", "not mounted")
        os.rmdir(self.db)
        self.refused(wal("rm", self.device, "--log=" + lost["id"]), "may be in use", "not mounted")
        os.rename(self.db + "-elsewhere", self.db)

        os.remove(of_lost()["file"])
        self.assertTrue(of_lost()["missing"])
        self.assertFalse(next(log for log in self.logs() if log["id"] == kept["id"])["missing"])
        marked = [line for line in self.succeed(wal("ls", self.device)).splitlines()
                  if "no file" in line]
        self.assertEqual([line.split()[0] for line in marked], [lost["id"]])
        # One that is in use: none is removed.
        self.refused(wal("rm", self.device, "--log=" + lost["id"], "--log=" + kept["id"]),
                     kept["file"])
        self.assertEqual(len(self.logs()), 2)

        used = json.loads(self.succeed(wal("df", self.device, "--json")))["segments_used"]
        freed = self.succeed(wal("rm", self.device, "--log=" + lost["id"]))
        self.assertIn(lost["id"], freed)
        self.assertIn(str(lost["segments"]) + " segments", freed)
        self.assertEqual([log["id"] for log in self.logs()], [kept["id"]])
        usage = json.loads(self.succeed(wal("df", self.device, "--json")))
        self.assertEqual(usage["segments_used"], used - lost["segments"])
        self.succeed(wal("check", self.device))

        # By force: the database that needs it does not open without a word.
        self.succeed(wal("rm", self.device, "--log=" + kept["id"], "--force"))
        self.assertEqual(self.logs(), [])
        opened = run(BIN + "/ldb", "--db=" + self.folder + "/kept",
                     "--fs_uri=id=RawWalFileSystem;device=" + self.device, "scan", "--max_keys=1")
        self.assertNotEqual(opened.returncode, 0)

    def leave(self, standby, directory):
        """A file in the standby of a log that was created in a directory, and has nothing else."""
        log = struct.unpack("<QQ", os.urandom(16))
        log = (log[0] | 1, log[1])
        usage = json.loads(self.succeed(wal("df", self.device, "--json")))
        name = "%016x%016x" % log
        with open("%s/%s.frames" % (standby, name), "wb") as file:
            file.write(header_in_standby(usage, log, directory, "000077.log").ljust(8192, b"\0"))
        return name

    def test_a_mirror_is_exported_without_one_of_the_two(self):
        self.succeed(self.format("--size=64M"))
        standby = self.folder + "/standby"
        os.makedirs(standby)
        uri = self.device + ";failover_latency=60000;durable=both;standby=" + standby
        for name, device, flags, text in (
                ("a", self.folder + "/gone", ("--standby=" + standby,), "does not exist"),
                ("b", self.device, (), "give its directory as standby=")):
            db = self.folder + "/" + name
            self.succeed(write(db, uri))
            self.refused(wal("export", device, db, *flags), text)
            exported = self.succeed(wal("export", device, db, *flags, "--force"))
            self.assertIn("1 logs", exported)
            self.assertIn("0x", self.succeed(
                run(BIN + "/ldb", "--db=" + db, "scan", "--max_keys=1", "--hex")))

    def test_what_is_left_in_the_standby_is_listed_and_removed(self):
        self.succeed(self.format("--size=8M"))
        standby = self.folder + "/standby"
        os.makedirs(standby)
        flag = "--standby=" + standby
        for verb in "ls", "df", "check":
            self.refused(wal(verb, self.device, flag), "has no file STANDBY")
        self.refused(wal("rm", self.device, flag, "--log=7:7"), "has no file STANDBY")
        self.assertEqual(os.listdir(standby), [])

        uri = self.device + ";failover_latency=60000;standby=" + standby
        self.succeed(write(self.db, uri))
        self.assertEqual(sorted(os.listdir(standby)), ["STANDBY", "STANDBY.lock"])
        kept = self.logs()
        left = self.leave(standby, self.db)
        gone = self.leave(standby, self.folder + "/gone")
        empty = "f" * 32
        path = lambda log: "%s/%s.frames" % (standby, log)
        open(path(empty), "w").close()
        days_ago = time.time() - 3 * 86400 - 60
        os.utime(path(left), (days_ago, days_ago))
        self.assertEqual(self.logs(), kept, "the device only")

        logs = {log["id"]: log for log in json.loads(self.succeed(wal("ls", self.device, flag,
                                                                      "--json")))}
        self.assertEqual(set(logs), {left, gone, empty, *(log["id"] for log in kept)})
        self.assertEqual([logs[log["id"]] for log in kept], kept)
        self.assertTrue(logs[left]["missing"])
        self.assertEqual((logs[left]["name"], logs[left]["segments"], logs[left]["standby_bytes"]),
                         (self.db + "/000077.log", 0, 8192))
        self.assertGreater(logs[left]["standby_age"], 3 * 86400)
        self.assertIn("there is no " + self.folder + "/gone", logs[gone]["unknown"])
        self.assertIn("does not say whose it is", logs[empty]["unknown"])
        line = next(line for line in self.succeed(wal("ls", self.device, flag)).splitlines()
                    if left in line)
        self.assertIn("standby: 8192 bytes, written 3 days ago  no file", line)
        checked = self.succeed(wal("check", self.device, flag))
        self.assertIn("left in the standby: log %s, created as %s/000077.log" % (left, self.db),
                      checked)
        for verb in "check", "df":
            answer = self.answer(wal(verb, self.device, flag, "--json"))
            self.assertEqual({log["log"] for log in answer["left_in_standby"]}, {left, gone, empty})
        self.assertEqual((answer["standby_files"], answer["standby_bytes"], answer["logs"]),
                         (3, 2 * 8192, len(kept)))
        self.assertIn("standby files 3\n  bytes       16384 (16 KiB)\nleft in the standby: log ",
                      self.succeed(wal("df", self.device, flag, "--human")))

        # What is damaged is a problem.
        with open(path(empty), "w", encoding="utf-8") as file:
            file.write("x" * 512)
        checked = wal("check", self.device, flag)
        self.assertEqual(checked.returncode, 1)
        self.assertIn("log " + empty + ": Corruption: " + path(empty) + ": has a damaged header",
                      checked.stdout)

        rm = lambda log, *flags: wal("rm", self.device, "--log=" + log, *flags)
        self.refused(rm(left), "has no log " + left)
        self.refused(rm(gone, flag), "may be in use", "not mounted")
        self.refused(rm(empty, flag), "may be in use", "does not say whose it is")
        self.refused(wal("rm", self.device, flag, "--log=" + left, "--log=" + gone), gone)
        with open(standby + "/STANDBY.lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for more in [], ["--dry-run"]:
                self.refused(rm(left, flag, *more), "standby=" + standby, "in another process")
        self.assertIn("would free log " + left, self.succeed(rm(left, flag, "--dry-run")))
        self.assertEqual(len(os.listdir(standby)), 5)
        freed = self.answer(rm(left, flag, "--json"))["freed"]
        self.assertEqual(freed, [{"id": left, "name": self.db + "/000077.log", "segments": 0,
                                  "standby_bytes": 8192}])
        for log in gone, empty:
            self.assertIn("bytes in the standby", self.succeed(rm(log, flag, "--force")))
        self.assertEqual(sorted(os.listdir(standby)), ["STANDBY", "STANDBY.lock"])
        self.assertEqual(self.logs(), kept)
        scan = run(BIN + "/ldb", "--db=" + self.db, "--fs_uri=id=RawWalFileSystem;device=" + uri,
                   "scan", "--hex")
        self.assertEqual(len(self.succeed(scan).splitlines()), 2000)

    def test_a_log_whose_place_is_not_known_is_removed_by_force_only(self):
        self.succeed(self.format("--size=8M"))
        for db in (self.folder + "/" + "/".join(["d" * 100] * 5),
                   os.path.relpath(self.folder + "/r")):
            os.makedirs(db)
            self.succeed(write(db, self.device))
            shutil.rmtree(db)
        self.assertNotIn("", [log["unknown"] for log in self.logs()])
        for log in self.logs():
            self.assertFalse(log["missing"])
            self.refused(wal("rm", self.device, "--log=" + log["id"]), "may be in use")
            self.succeed(wal("rm", self.device, "--log=" + log["id"], "--force"))
        self.assertEqual(self.logs(), [])

    def test_nothing_is_removed_while_the_device_is_in_use(self):
        self.succeed(self.format("--size=32M"))
        self.succeed(write(self.db, self.device))
        shutil.rmtree(self.db)
        log = self.logs()[0]
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.folder + "/other", "--benchmarks=fillseq",
             "--fs_uri=id=RawWalFileSystem;device=" + self.device, "--sync=1", "--num=1000000000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while len(self.logs()) < 2:
                self.assertIsNone(writer.poll())
                time.sleep(0.1)
            self.refused(wal("rm", self.device, "--log=" + log["id"], "--force"), "busy")
        finally:
            writer.kill()
            writer.wait()
        self.succeed(wal("rm", self.device, "--log=" + log["id"], "--force"))

    def test_flags_that_an_action_has_no_use_for_are_refused(self):
        self.succeed(self.format("--size=8M"))
        for argv in (["dump", self.device, "--force"], ["ls", self.device, "--force"],
                     ["ls", "--size", "--force", "--log", self.device],
                     ["check", self.device, "--size=1M"],
                     ["import", "--force", self.device, self.db],
                     ["import", self.device, self.db, "--size=8M"],
                     ["rm", self.device, "--size=1M"]):
            self.refused(wal(*argv), "takes no --")
        before = wal("df", self.device).stdout
        exists = wal("format", self.device, "--force", "--size=64M")
        self.refused(exists, "exists")
        self.assertEqual(wal("df", self.device).stdout, before)

    def answer(self, result, status=0):
        """The one JSON object of an answer."""
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        return json.loads(result.stdout)

    def contents(self):
        """What is on the device, and all bytes of the databases beside it."""
        found = {"device": self.head()}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = folder + "/" + name
                if path != self.device and name != "disk":  # which is behind a loop device
                    with open(path, "rb") as file:
                        found[path] = file.read()
        return found

    def dry(self, *argv, status=0):
        """What a dry run says it would do; nothing is changed."""
        before = self.contents()
        text = wal(*argv, "--dry-run")
        self.assertEqual(text.returncode, status, text.stderr)
        self.assertEqual(text.stdout.splitlines()[-1], "dry run: nothing was changed")
        answer = self.answer(wal(*argv, "--dry-run", "--json"), status)
        self.assertTrue(answer.pop("dry_run"))
        self.assertEqual(self.contents(), before)
        return answer

    def test_a_dry_run_changes_nothing(self):
        other = self.folder + "/other"
        would = self.answer(wal("format", other, "--size=8M", "--segment-size=256K", "--dry-run",
                                "--json"))
        self.assertFalse(os.path.exists(other))
        made = self.answer(wal("format", other, "--size=8MiB", "--segment-size=256KiB", "--json"))
        for key in "segments", "segment_size", "block_size":
            self.assertEqual(would[key], made[key])
        self.assertEqual((made["segments"], made["segment_size"]), (28, 256 << 10))
        self.assertEqual(made["uuid"], json.loads(wal("df", other, "--json").stdout)["uuid"])

        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        log = self.logs()[0]
        self.refused(wal("format", self.device, "--dry-run"), "is a log device already")
        self.assertGreater(self.dry("format", self.device, "--force")["segments"], 0)
        self.refused(wal("rm", self.device, "--log=" + log["id"], "--dry-run"), "in use")
        self.assertEqual(self.dry("rm", self.device, "--log=" + log["id"], "--force"), {"freed": [
            {"id": log["id"], "name": log["name"], "segments": log["segments"]}]})
        self.assertEqual(self.dry("export", self.device, self.db), {"logs": 1})
        self.assertEqual(self.dry("import", self.device, self.db), {"logs": 0})
        run("cp", "-a", self.db, self.folder + "/copied")
        for force in [], ["--force"]:
            found = self.dry("adopt", self.device, self.folder + "/copied", *force, status=1)
            self.assertEqual((len(found["foreign"]), len(found["losers"]), found["adopted"]),
                             (1, 1, 0))
        self.assertEqual(self.answer(wal("export", self.device, self.db, "--json")), {"logs": 1})
        self.assertEqual(self.dry("import", self.device, self.db), {"logs": 1})
        self.assertEqual(self.answer(wal("import", self.device, self.db, "--json")), {"logs": 1})
        self.wipe(0, 1 << 20)
        for force in [], ["--force"]:
            found = self.dry("recover", self.device, *force)
            self.assertFalse(found["written"])
        found = self.answer(wal("recover", self.device, "--force", "--json"))
        self.assertTrue(found["written"])
        self.assertEqual(len(self.records(self.db)), 2000)

    def test_a_dry_run_is_refused_while_the_device_is_in_use(self):
        self.succeed(self.format("--size=32M"))
        self.succeed(write(self.db, self.device))
        log = self.logs()[0]["id"]
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.folder + "/other", "--benchmarks=fillseq",
             "--fs_uri=id=RawWalFileSystem;device=" + self.device, "--sync=1", "--num=1000000000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while len(self.logs()) < 2:
                self.assertIsNone(writer.poll())
                time.sleep(0.1)
            self.refused(wal("rm", self.device, "--log=" + log, "--force", "--dry-run"), "busy")
            self.refused(wal("format", self.device, "--force", "--dry-run"), "busy")
            self.refused(wal("adopt", self.device, self.db, "--dry-run"), "busy")
        finally:
            writer.kill()
            writer.wait()

    def test_answers_as_json(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        log = self.logs()[0]
        dumped = self.answer(wal("dump", self.device, "--json"))
        self.assertEqual(dumped, self.answer(wal("dump", self.device, "--log=" + log["id"],
                                                 "--json")))
        self.assertEqual([one["id"] for one in dumped["logs"]], [log["id"]])
        frames = dumped["logs"][0]["frames"]
        self.assertEqual(max(frame["offset"] + frame["length"] for frame in frames), log["bytes"])
        text = self.succeed(wal("dump", self.device)).splitlines()
        self.assertEqual([line.split() for line in text[2:]],
                         [[str(frame[key]) for key in ("position", "offset", "length", "durable")]
                          for frame in frames])
        self.assertEqual(self.answer(wal("dump", self.device, "--log=7:7", "--json"), 2), {
            "error": "NotFound: device=%s: has no log 7:7; 'rocktier wal ls' has them" % self.device
        })
        run("cp", "-a", self.db, self.folder + "/copied")
        shutil.rmtree(self.db)
        found = self.answer(wal("adopt", self.device, self.folder + "/copied", "--json"), 1)
        self.assertEqual(set(found), {"foreign", "losers", "missing", "unnamed", "adopted"})
        found = self.answer(wal("adopt", self.device, self.folder + "/copied", "--force", "--json"))
        self.assertEqual(found["adopted"], 1)
        frame = frames[0]["position"]
        with open(self.device, "r+b") as file:
            file.seek(frame + 100)
            file.write(b"damage")
        checked = self.answer(wal("check", self.device, "--json"), 1)
        self.assertEqual(checked["problems"], 1)
        self.assertEqual([one["log"] for one in checked["list"]], [log["id"]])
        freed = self.answer(wal("rm", self.device, "--log=" + log["id"], "--force", "--json"))
        self.assertEqual([one["id"] for one in freed["freed"]], [log["id"]])

    def test_bytes_in_larger_units(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        log = self.logs()[0]
        self.assertIn("segment_size  262144 (256 KiB)\n",
                      self.succeed(wal("df", self.device, "--human")))
        self.assertIn("segment_size  262144\n", self.succeed(wal("df", self.device)))
        self.assertIn(units.human(log["bytes"]),
                      self.succeed(wal("ls", self.device, "--human")))

    def test_numbers_that_are_none_are_refused(self):
        other = self.folder + "/other"
        for size in ("16777217T", "-1", "+5", " 5M", "5MB", "5Ki", "5iB", "5kiB", "0x10M",
                     "18446744073709551616"):
            self.refused(wal("format", other, "--size=" + size), "--size: no such value: " + size)
        self.refused(wal("format", other, "--size="), "--size: exactly one value")
        self.refused(wal("format", other, "--size=8M", "--block-size=4T"), "no such value")
        self.assertFalse(os.path.exists(other))
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        for log in ("4294967297:1", "1:4294967297", "1:-1", "1", "1:", ":1", "1:1x"):
            self.refused(wal("dump", self.device, "--log=" + log), "no log " + log)
            self.refused(wal("rm", self.device, "--log=" + log), "no id of a log")
        self.refused(wal("dump", self.device, "--log=77:77"), "no log 77:77")

    def test_names_give_no_orders_to_the_terminal(self):
        self.succeed(self.format("--size=8M"))
        db = self.folder + "/\x1b]0;owned\x07\n1:1 x\x9b1mé"
        self.succeed(write(db, self.device))
        log = self.logs()[0]["id"]
        for result in (wal("ls", self.device), wal("dump", self.device),
                       wal("rm", self.device, "--log=" + log)):
            self.assertNotRegex(result.stdout + result.stderr, "[\x1b\x07\x9b]")
            self.assertIn("\\x1b]0;owned\\x07\\x0a1:1 x", result.stdout + result.stderr)
            self.assertIn("\\xc2\\x9b1mé", result.stdout + result.stderr)
        self.assertEqual(len(wal("ls", self.device).stdout.splitlines()), 2)

    def blank(self):
        if not os.path.exists(self.device):
            run("truncate", "-s", "16M", self.device)

    def head(self, size=8 << 20):
        with open(self.device, "rb") as file:
            return file.read(size)

    def wipe(self, begin, size):
        with open(self.device, "r+b") as file:
            file.seek(begin)
            file.write(bytes(size))

    def test_nothing_but_a_file_that_is_missing_is_formatted_by_itself(self):
        self.blank()
        before = self.head()
        for uri in ("", ";size=16M"):
            opened = write(self.db, self.device + uri)
            self.assertNotEqual(opened.returncode, 0)
            self.assertIn("rocktier wal format", opened.stderr + opened.stdout)
        os.makedirs(self.db)
        open(self.db + "/CURRENT", "w").close()
        self.refused(wal("export", self.device, self.db), "rocktier wal format")
        self.refused(wal("export", self.device, self.db, "--force"), "rocktier wal format")
        self.refused(wal("adopt", self.device, self.db, "--force"), "rocktier wal format")
        self.refused(wal("import", self.device, self.db), "rocktier wal format")
        self.assertEqual(self.head(), before)
        self.refused(wal("rm", self.device, "--log=1:1"), "rocktier wal format")
        shutil.rmtree(self.db)
        self.succeed(self.format())
        self.succeed(write(self.db, self.device))

    def test_a_device_without_superblocks_is_not_taken_for_blank(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        self.wipe(0, 1 << 20)
        before = self.head()
        self.refused(self.format(), "wal recover")
        self.refused(wal("ls", self.device), "wal recover")
        opened = write(self.db, self.device + ";size=8M")
        self.assertNotEqual(opened.returncode, 0)
        self.assertIn("wal recover", opened.stderr + opened.stdout)
        self.assertIn("nothing was written", self.succeed(wal("recover", self.device)))
        self.assertEqual(self.head(), before)
        self.assertIn("superblocks written", self.succeed(wal("recover", self.device, "--force")))
        self.refused(wal("recover", self.device, "--force"), "nothing to recover")
        self.succeed(wal("check", self.device))
        self.assertEqual(len(self.records(self.db)), 2000)

    def records(self, db):
        return self.succeed(run(BIN + "/ldb", "--db=" + db,
                                "--fs_uri=id=RawWalFileSystem;device=" + self.device,
                                "scan", "--hex")).splitlines()

    def test_there_is_nothing_to_recover_where_nothing_was(self):
        self.blank()
        self.refused(wal("recover", self.device), "no segments")
        self.refused(wal("recover", self.device, "--force"), "no segments")

    def test_the_copy_of_a_partition_table_is_seen(self):
        self.blank()
        with open(self.device, "r+b") as file:
            file.seek(-512, os.SEEK_END)
            file.write(b"EFI PART" + bytes(504))
        self.refused(self.format(), "partition table")
        self.assertNotEqual(write(self.db, self.device).returncode, 0)
        with open(self.device, "r+b") as file:
            file.seek(-5000, os.SEEK_END)
            file.write(b"the end of something" + bytes(4980))
        self.refused(self.format(), "not blank")

    def test_logs_are_moved_of_a_database_not_of_a_folder(self):
        self.succeed(self.format("--size=8M"))
        wal_dir = self.folder + "/wal #1:x"
        self.succeed(write(self.db, self.device, "--wal_dir=" + wal_dir))
        for action in ("export", "import"):
            self.refused(wal(action, self.device, wal_dir), "holds no database")
            self.refused(wal(action, self.device, self.folder + "/none"), "holds no database")
        self.assertFalse(os.path.exists(wal_dir + "/LOCK"))
        self.assertIn("1 logs", self.succeed(wal("export", self.device, self.db)))
        self.assertEqual(self.logs(), [])
        self.assertIn("1 logs", self.succeed(wal("import", self.device, self.db)))
        self.assertEqual(len(self.logs()), 1)
        self.assertIn("1 logs", self.succeed(wal("export", self.device, self.db)))
        os.rename(wal_dir, wal_dir + "-elsewhere")
        self.refused(wal("import", self.device, self.db), "wal_dir=" + wal_dir)
        for name in os.listdir(wal_dir + "-elsewhere"):
            shutil.copy(wal_dir + "-elsewhere/" + name, self.db)
        plain = run(BIN + "/ldb", "--db=" + self.db, "scan", "--hex")
        self.assertEqual(len(self.succeed(plain).splitlines()), 2000)

    def test_logs_of_other_databases_stay_on_the_device(self):
        self.succeed(self.format("--size=8M"))
        other = self.folder + "/other"
        for db in self.db, other:
            self.succeed(write(db, self.device))
        self.assertIn("1 logs", self.succeed(wal("export", self.device, self.db)))
        listed = self.succeed(wal("ls", self.device))
        self.assertIn(other + "/", listed)
        self.assertNotIn(self.db + "/", listed)
        self.assertIn("1 logs", self.succeed(wal("export", self.device, other)))
        self.assertEqual(self.logs(), [])
        for db in self.db, other:
            plain = run(BIN + "/ldb", "--db=" + db, "scan", "--hex")
            self.assertEqual(len(self.succeed(plain).splitlines()), 2000)

    def test_logs_of_an_open_database_stay_where_they_are(self):
        self.succeed(self.format("--size=32M"))
        wal_dir = self.folder + "/wal"
        other = self.folder + "/other"
        self.succeed(wal("format", other, "--size=8M"))
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.db, "--benchmarks=fillseq", "--wal_dir=" + wal_dir,
             "--fs_uri=id=RawWalFileSystem;device=" + self.device, "--sync=1", "--num=1000000000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not self.logs():
                self.assertIsNone(writer.poll())
                time.sleep(0.1)
            for device in (self.device, other):
                for action in ("export", "import"):
                    self.assertEqual(wal(action, device, self.db).returncode, 2)
                    self.assertEqual(wal(action, device, wal_dir).returncode, 2)
            self.assertIsNone(writer.poll())
            self.assertEqual(json.loads(self.succeed(wal("ls", other, "--json"))), [])
        finally:
            writer.kill()
            writer.wait()

    def test_a_file_of_the_system_is_no_device(self):
        path = self.folder + "/passwd"
        shutil.copyfile("/etc/passwd", path)
        with open(path, "rb") as file:
            before = file.read()
        self.refused(wal("format", path), "not blank")
        self.refused(wal("format", path, "--force"), "has no room")
        for action in (["df", path], ["ls", path], ["check", path], ["rm", path, "--log=1:1"],
                       ["export", path, self.folder], ["import", path, self.folder]):
            self.refused(wal(*action), "log device")
        self.assertNotEqual(write(self.db, path).returncode, 0)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_live_device_is_not_taken_for_damaged(self):
        self.succeed(self.format("--size=32M"))
        writer = subprocess.Popen(
            [BIN + "/db_bench", "--db=" + self.db, "--benchmarks=fillseq",
             "--write_buffer_size=262144", "--fs_uri=id=RawWalFileSystem;device=" + self.device,
             "--sync=1", "--num=1000000000"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(40):
                checked = wal("check", self.device)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
            self.assertIsNone(writer.poll())
        finally:
            writer.kill()
            writer.wait()

    def test_a_copy_is_adopted(self):
        self.succeed(self.format("--size=8M"))
        self.succeed(write(self.db, self.device))
        copied = self.folder + "/copied"
        run("cp", "-a", self.db, copied)
        uri = "--fs_uri=id=RawWalFileSystem;device=" + self.device

        def count(db):
            scan = run(BIN + "/ldb", "--db=" + db, uri, "scan", "--hex")
            return len(self.succeed(scan).splitlines())

        def opens(db):
            return run(BIN + "/ldb", "--db=" + db, uri, "put", "key", "value").returncode == 0

        # While the original is there it says which one loses the log.
        for _ in range(2):
            said = wal("adopt", self.device, copied)
            self.assertEqual(said.returncode, 1, said.stderr)
            self.assertIn("loses its log to this database: " + self.db + "/", said.stdout)
            self.assertIn("nothing was changed", said.stdout)
        self.assertFalse(opens(copied))
        shutil.rmtree(self.db)
        os.rename(copied, self.db)  # where it was, and another directory
        self.assertFalse(opens(self.db))
        self.assertEqual(wal("adopt", self.device, self.db).returncode, 1)
        self.assertIn("1 logs adopted", self.succeed(wal("adopt", self.device, self.db, "--force")))
        self.assertIn("0 logs adopted", self.succeed(wal("adopt", self.device, self.db)))
        self.assertEqual([log["name"].rsplit("/", 1)[0] for log in self.logs()], [self.db])
        self.assertEqual(count(self.db), 2000)
        self.assertTrue(opens(self.db))
        self.assertEqual(count(self.db), 2001)
        self.refused(wal("adopt", self.device, self.folder, "--force"), "no database")
        self.refused(wal("adopt", self.device), "DATABASE is missing")

    def test_wrong_usage_is_told(self):
        for argv in ([], ["fly"], ["ls"], ["ls", "a", "b"], ["format", "x", "--size=1Q"],
                     ["export", "x"], ["dump", "x", "--log=7"], ["df", "--what", "x"], ["rm", "x"]):
            result = wal(*argv)
            self.assertEqual(result.returncode, 2, argv)
            self.assertIn("rocktier wal", result.stderr)
        missing = wal("ls", self.folder + "/none")
        self.assertEqual(missing.returncode, 2)
        self.assertIn(self.folder + "/none", missing.stderr)
        self.assertIn("Usage", self.succeed(wal("--help")))


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/loop-control"),
                     "not root, or no loop devices")
class OnALoopDevice(OnAFile):
    def test_the_file_behind_it_is_the_same_device(self):
        self.succeed(self.format())
        behind = self.folder + "/disk"
        for first, second in ((self.device, behind), (behind, self.device)):
            writer = subprocess.Popen(
                [BIN + "/db_bench", "--db=" + self.folder + "/first", "--benchmarks=fillseq",
                 "--fs_uri=id=RawWalFileSystem;device=" + first, "--sync=1", "--num=1000000000"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                while not json.loads(self.succeed(wal("ls", first, "--json"))):
                    self.assertIsNone(writer.poll())
                    time.sleep(0.1)
                opened = write(self.folder + "/second", second)
                self.assertNotEqual(opened.returncode, 0)
                self.assertIn("is open for writing in another process",
                              opened.stderr + opened.stdout)
            finally:
                writer.kill()
                writer.wait()
            shutil.rmtree(self.folder + "/first")
            for log in self.logs():
                self.succeed(wal("rm", self.device, "--log=" + log["id"], "--force"))

    def make_device(self):
        path = self.folder + "/disk"
        subprocess.run(["truncate", "-s", "400M", path], check=True)
        name = subprocess.run(["losetup", "--find", "--show", path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", name], check=False)
        return name


class OfVersion1(unittest.TestCase):
    """A device and its databases, one closed, one killed, that version 1 of the format has left."""

    SCANS = {"clean": (1500, "2ca5cff7c75edf1e08811e1f780b90846fce18128fcb31515b0b67a62b197b45"),
             "killed": (1137, "8bda2234918c47396b906fb8f8d1f80b97cd9a270c42f097b92844ae04f6ba66")}

    def setUp(self):
        self.folder = os.path.join(TMP, self.id().replace(".", "-"))
        os.makedirs(self.folder)
        data = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            "../raw_wal_fs/data/v1.tar.xz")
        run("tar", "-xf", data, "-C", self.folder)
        self.device = self.folder + "/device"
        self.uri = "--fs_uri=id=RawWalFileSystem;device=" + self.device

    def check(self, name, uri):
        result = run(BIN + "/ldb", "--db=" + self.folder + "/" + name, *uri, "scan", "--hex")
        self.assertEqual(result.returncode, 0, result.stderr)
        digest = hashlib.sha256(result.stdout.encode()).hexdigest()
        self.assertEqual((len(result.stdout.splitlines()), digest), self.SCANS[name])

    def test_it_opens(self):
        checked = wal("check", self.device)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        names = [log["id"] for log in json.loads(wal("ls", self.device, "--json").stdout)]
        self.assertEqual(names, ["1:2", "4:2"])
        for name in self.SCANS:
            self.check(name, [self.uri])
        # And is written to.
        for name in self.SCANS:
            db = self.folder + "/" + name
            put = run(BIN + "/ldb", "--db=" + db, self.uri, "put", "zzz", "new")
            self.assertEqual(put.returncode, 0, put.stdout + put.stderr)
            got = run(BIN + "/ldb", "--db=" + db, self.uri, "get", "zzz")
            self.assertEqual(got.stdout.strip(), "new", got.stderr)
            deleted = run(BIN + "/ldb", "--db=" + db, self.uri, "delete", "zzz")
            self.assertEqual(deleted.returncode, 0)
            self.check(name, [self.uri])
        self.assertNotIn("1:2",
                         [log["id"] for log in json.loads(wal("ls", self.device, "--json").stdout)])

    def test_its_logs_are_exported(self):
        for name in self.SCANS:
            result = wal("export", self.device, self.folder + "/" + name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.check(name, [])
        self.assertEqual(json.loads(wal("ls", self.device, "--json").stdout), [])


@unittest.skipUnless(os.geteuid() == 0 and os.path.exists("/dev/loop-control"),
                     "not root, or no loop devices")
class OnBlocksOf4096Bytes(unittest.TestCase):
    """Files of a file system whose device knows no smaller blocks."""

    FILE_SYSTEMS = {"xfs": ["mkfs.xfs", "-q"], "ext4": ["mkfs.ext4", "-q"]}

    def mount(self, kind):
        folder = os.path.join(TMP, self.id().replace(".", "-") + "-" + kind)
        os.makedirs(folder + "/mnt")
        run("truncate", "-s", "400M", folder + "/disk")
        made = run("losetup", "--find", "--show", "--sector-size=4096", folder + "/disk")
        if made.returncode != 0:
            self.skipTest("no loop device with blocks of 4096 bytes: " + made.stderr)
        device = made.stdout.strip()
        self.addCleanup(run, "losetup", "--detach", device)
        if shutil.which(self.FILE_SYSTEMS[kind][0]) is None:
            self.skipTest("there is no " + self.FILE_SYSTEMS[kind][0])
        for argv in ([*self.FILE_SYSTEMS[kind], device], ["mount", device, folder + "/mnt"]):
            result = run(*argv)
            if result.returncode != 0:
                self.skipTest(" ".join(argv) + ": " + result.stderr)
        self.addCleanup(run, "umount", folder + "/mnt")
        return folder + "/mnt"

    def refuse(self, result, *words):
        self.assertNotEqual(result.returncode, 0)
        for word in words:
            self.assertIn(word, result.stderr + result.stdout)

    def check(self, kind):
        folder = self.mount(kind)
        device = folder + "/device"
        small = wal("format", device, "--size=16M", "--segment-size=256K", "--block-size=512")
        self.refuse(small, "block_size=512", "4096", device)
        self.assertEqual([name for name in os.listdir(folder) if name != "lost+found"], [])
        run("fallocate", "-l", "16M", device)
        self.refuse(wal("format", device, "--block-size=512"), "block_size=512", "4096", device)
        os.unlink(device)

        # Formatted where it was possible.
        elsewhere = os.path.join(TMP, self.id() + "-" + kind + "-elsewhere")
        if wal("format", elsewhere, "--size=16M", "--segment-size=256K",
               "--block-size=512").returncode == 0:
            shutil.copyfile(elsewhere, device)
            self.refuse(wal("ls", device), "block_size=512", "4096", device)
            self.refuse(write(folder + "/db", device), "block_size=512", "4096", device)
            os.unlink(device)

        result = wal("format", device, "--size=16M", "--segment-size=256K")
        self.assertEqual(result.returncode, 0, result.stderr)
        result = write(folder + "/db", device)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(wal("check", device).returncode, 0)

    def test_small_blocks_are_refused_on_xfs(self):
        self.check("xfs")

    def test_small_blocks_are_refused_on_ext4(self):
        self.check("ext4")


if __name__ == "__main__":
    sharded.main()
