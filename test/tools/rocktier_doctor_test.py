#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""rocktier doctor: what it says of this machine, and that it leaves nothing behind.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import time
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.path.realpath(os.environ["TEST_TMPDIR"])
GIB = 1 << 30
PRESETS = ["cache-only", "large-values", "nvme+hdd", "nvme+network-volume", "pmem", "ram+ssd",
           "wal-only"]
LATENCIES = ("sync", "device_sync", "read")


def run(*argv, files=1 << 16, **flags):
    def limit():
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        wanted = files if most == resource.RLIM_INFINITY else min(files, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return subprocess.run(argv, capture_output=True, text=True, preexec_fn=limit, **flags)


def doctor(*arguments, **flags):
    return run(BIN + "/rocktier", "doctor", *arguments, **flags)


def skip(test, why):
    print("skipped:", why)
    test.skipTest(why)


def free_at(directory):
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


class Doctor(unittest.TestCase):

    def setUp(self):
        self.folder = "%s/%s" % (TMP, self._testMethodName)
        os.makedirs(self.folder)

    def look(self, *arguments, status=None, **flags):
        """The answer, of which --json and the text say the same."""
        result = doctor(*arguments, "--json", **flags)
        self.assertEqual("", result.stderr)
        answer = json.loads(result.stdout)
        self.assertEqual(1 if answer["mend"] else 0, result.returncode)
        if status is not None:
            self.assertEqual(status, result.returncode, answer["mend"])
        self.assertEqual(PRESETS, sorted(each["preset"] for each in answer["presets"]))
        return answer

    def only(self, answer):
        self.assertEqual(1, len(answer["directories"]))
        return answer["directories"][0]

    def test_without_a_probe(self):
        answer = self.look("--no-probe", self.folder)
        place = self.only(answer)
        self.assertEqual(self.folder, place["directory"])
        self.assertTrue(place["writable"])
        self.assertFalse(place["probed"])
        self.assertEqual("--no-probe", place["not_probed"])
        self.assertFalse(any(name in place for name in LATENCIES))
        self.assertFalse(any("gain" in preset for preset in answer["presets"]))
        self.assertTrue(self.folder.startswith(place["mount_point"]))
        self.assertEqual(os.statvfs(self.folder).f_blocks * os.statvfs(self.folder).f_frsize,
                         place["size_bytes"])
        self.assertEqual([], os.listdir(self.folder))

    def test_the_machine(self):
        machine = self.look("--no-probe", self.folder, files=123)["machine"]
        self.assertEqual(len(os.sched_getaffinity(0)), machine["cpus"])
        self.assertEqual(123, machine["open_files"])
        with open("/proc/meminfo", encoding="utf-8") as file:
            total = int(re.search(r"^MemTotal: +(\d+) kB", file.read(), re.MULTILINE).group(1))
        self.assertEqual(total * 1024, machine["memory_bytes"])
        self.assertLessEqual(machine["available_memory_bytes"], total * 1024)
        self.assertEqual(machine["io_uring"], machine["io_uring_error"] == "")

    def test_text_and_json_say_the_same(self):
        answer = self.look("--no-probe", self.folder)
        text = doctor("--no-probe", self.folder).stdout
        for preset in answer["presets"]:
            if preset["fits"]:
                self.assertIn("%s: fits: " % preset["preset"], text)
                self.assertIn("  command: rocktier preset %s " % preset["preset"], text)
            else:
                self.assertIn("%s: missing: " % preset["preset"], text)
        self.assertEqual(len(answer["mend"]), text.count("\nmend: "))
        self.assertIn("\nopen_files: %d\n" % answer["machine"]["open_files"], text)
        self.assertIn("GiB)", doctor("--no-probe", self.folder, "--human").stdout)

    def test_without_directories_all_local_file_systems_are_taken(self):
        result = doctor("--no-probe", "--json")
        answer = json.loads(result.stdout)
        if result.returncode == 2:
            self.assertIn("no local file system", answer["error"])
            skip(self, "there is no local file system")
        self.assertEqual(len({place["mount_point"] for place in answer["directories"]}),
                         len(answer["directories"]))
        for place in answer["directories"]:
            self.assertTrue(place["writable"])
            self.assertNotIn(place["kind"], ("memory", "network"))
            self.assertNotIn(place["file_system"], ("overlay", "proc", "sysfs"))

    def test_the_probe_leaves_nothing(self):
        if free_at(self.folder) < GIB + (100 << 20):
            skip(self, "less than 1G is free")
        process = subprocess.Popen([BIN + "/rocktier", "doctor", self.folder, "--json"],
                                   stdout=subprocess.PIPE, text=True)
        seen = set()
        while process.poll() is None:
            seen.update(os.listdir(self.folder))
            time.sleep(0.01)
        answer = json.loads(process.communicate()[0])
        # Where there are no files without a name, one is seen for a moment.
        self.assertTrue(all(name.startswith(".rocktier-doctor-") for name in seen), seen)
        place = self.only(answer)
        if place["kind"] == "memory":
            skip(self, "the folder of the tests is in memory")
        self.assertTrue(place["probed"], place)
        for name in LATENCIES:
            if name in place:
                latency = place[name]
                self.assertGreater(latency["count"], 4)
                self.assertLessEqual(latency["low_micros"], latency["median_micros"])
                self.assertLessEqual(latency["median_micros"], latency["high_micros"])
                self.assertGreater(latency["high_micros"], 0)
        self.assertEqual([], os.listdir(self.folder))

    def test_progress_on_a_terminal(self):
        if free_at(self.folder) < GIB + (100 << 20):
            skip(self, "less than 1G is free")
        # So many that it takes more than a second on a fast disk, too.
        folders = ["%s/%d" % (self.folder, number) for number in range(3)]
        for folder in folders:
            os.mkdir(folder)
        leader, follower = os.openpty()
        subprocess.run([BIN + "/rocktier", "doctor", *folders], stdout=subprocess.DEVNULL,
                       stderr=follower, check=False)
        os.close(follower)
        shown = b""
        try:
            while True:
                piece = os.read(leader, 4096)
                if not piece:
                    break
                shown += piece
        except OSError:
            pass  # the end of a terminal
        os.close(leader)
        if self.only(self.look("--no-probe", self.folder))["kind"] == "memory":
            skip(self, "the folder of the tests is in memory")
        self.assertRegex(shown, rb"rocktier doctor: \[#")

    def test_commands_work(self):
        """Each command that is printed makes a file: the machine is as it was."""
        answer = self.look("--no-probe", self.folder)
        for preset in answer["presets"]:
            if preset["fits"]:
                argv = shlex.split(preset["command"])
                self.assertEqual("rocktier", argv[0])
                result = run(BIN + "/rocktier", *argv[1:])
                self.assertEqual((0, ""), (result.returncode, result.stderr), preset)
                self.assertIn("Preset %s of rocktier" % preset["preset"], result.stdout)

    def test_flags_of_the_load(self):
        answer = self.look("--no-probe", self.folder, "--data=100M", "--value=300")
        self.assertFalse(answer["assumed_data"])
        presets = {preset["preset"]: preset for preset in answer["presets"]}
        # 512 bytes are the least in blob files.
        self.assertFalse(presets["large-values"]["fits"])
        self.assertIn("512", presets["large-values"]["missing"])
        if presets["cache-only"]["fits"]:
            self.assertIn("--data=100M", presets["cache-only"]["command"])

    def test_too_few_open_files(self):
        size = os.statvfs(self.folder).f_blocks * os.statvfs(self.folder).f_frsize
        place = self.only(self.look("--no-probe", self.folder))
        if size < 17 * (64 << 20) or place["kind"] == "memory":
            skip(self, "the folder of the tests is small, or in memory")
        answer = self.look("--no-probe", self.folder, files=16, status=1)
        self.assertTrue(any("ulimit -n is 16" in mend for mend in answer["mend"]), answer["mend"])

    def test_memory_is_named_so(self):
        if not os.access("/dev/shm", os.W_OK):
            skip(self, "there is no /dev/shm")
        place = self.only(self.look("/dev/shm"))
        self.assertEqual(("memory", "tmpfs"), (place["kind"], place["file_system"]))
        self.assertEqual((False, "it is memory"), (place["probed"], place["not_probed"]))

    def test_what_is_given_twice_is_looked_at_once(self):
        os.symlink(self.folder, self.folder + "-link")
        self.only(self.look("--no-probe", self.folder, self.folder + "/", self.folder + "-link"))

    def test_a_directory_that_is_missing(self):
        with open(self.folder + "/file", "w", encoding="utf-8"):
            pass
        for path, why in ((self.folder + "/none", "No such file or directory"),
                          (self.folder + "/file", "Not a directory"), ("", "No such file")):
            for flags in [], ["--json"]:
                result = doctor("--no-probe", self.folder, path, *flags)
                self.assertEqual(2, result.returncode)
                self.assertIn(why, result.stderr)
            self.assertIn(why, json.loads(result.stdout)["error"])

    def test_a_directory_that_is_read_only(self):
        if os.geteuid() == 0:
            # Root may write anywhere but on a file system that is mounted so.
            self.mount("-o", "bind,ro", self.folder, self.folder)
        else:
            os.chmod(self.folder, 0o500)
            self.addCleanup(os.chmod, self.folder, 0o700)
        answer = self.look(self.folder, status=1)
        place = self.only(answer)
        self.assertEqual((False, False), (place["writable"], place["probed"]))
        self.assertIn("%s cannot be written to: mount it read-write, or give rights" % self.folder,
                      answer["mend"])
        self.assertFalse(any(preset["fits"] for preset in answer["presets"]))

    def mount(self, *arguments):
        result = run("mount", *arguments)
        if result.returncode != 0:
            skip(self, "mount: " + result.stderr.strip())
        self.addCleanup(run, "umount", arguments[-1])
        options = arguments[1]
        if "bind" in options:
            # Kernels before 5.12 heed ro in a second call only.
            run("mount", "-o", "remount," + options, arguments[-1])

    def test_a_disk_of_its_own(self):
        if os.geteuid() != 0 or shutil.which("mkfs.ext4") is None:
            skip(self, "a loop device needs root and mkfs.ext4")
        if free_at(self.folder) < 2 * GIB:
            skip(self, "less than 2G are free")
        image, point = self.folder + "/image", self.folder + "/point"
        os.mkdir(point)
        with open(image, "wb") as file:
            file.truncate(2 * GIB)
        made = run("mkfs.ext4", "-q", "-m0", image)
        self.assertEqual(0, made.returncode, made.stderr)
        self.mount("-o", "loop,noatime", image, point)
        answer = self.look(point, status=0)
        place = self.only(answer)
        self.assertEqual(("ext4", point), (place["file_system"], place["mount_point"]))
        self.assertIn("noatime", place["mount_options"].split(","))
        self.assertTrue(place["device"].startswith("loop"), place)
        self.assertTrue(place["probed"], place)
        for name in LATENCIES:
            self.assertGreater(place[name]["count"], 4)
        self.assertEqual(["lost+found"], os.listdir(point))
        # Little is free: it is said, and not probed.
        with open(point + "/full", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, GIB + (512 << 20))
        answer = self.look(point, status=1)
        place = self.only(answer)
        self.assertEqual("less than 1G is free", place["not_probed"])
        self.assertTrue(any("free of" in mend for mend in answer["mend"]), answer["mend"])

    def test_wrong_usage(self):
        for arguments, message in ((["--probe"], "takes no --probe"),
                                   (["--no-probe=1"], "no-probe: takes no value"),
                                   (["--hot=0%"], "--hot: no such value: 0%"),
                                   (["--value=0"], "--value: no such value: 0"),
                                   (["--data=1Q"], "--data: no such value: 1Q")):
            result = doctor(self.folder, *arguments)
            self.assertEqual(2, result.returncode)
            self.assertEqual("", result.stdout)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
