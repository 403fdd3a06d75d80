#!/usr/bin/env python3
"""Limits of devices by both versions of control groups, in trees that are none, and what a results
file says of the ground.

TEST_TMPDIR: an empty folder.
"""

import os
import subprocess
import sys
import unittest

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from common import cgroups, grounds, harness  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
DEVICE = os.makedev(7, 3)
LIMITS = {"read_iops": 3000, "write_bps": 120 << 20}


def put(path, text=""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def version1(name):
    root = os.path.join(TMP, name)
    for what in cgroups.V2_NAMES:
        put(f"{root}/blkio/blkio.throttle.{what}_device")
    os.makedirs(f"{root}/memory")
    return root


def version2(name, controllers="cpuset cpu io memory pids", folder=""):
    """(its root, where it is mounted, a file that says which group this process is in)."""
    root = os.path.join(TMP, name)
    mounted = f"{root}{folder}"
    put(f"{mounted}/cgroup.controllers", controllers)
    put(f"{mounted}/cgroup.subtree_control")
    put(f"{mounted}/user.slice/cgroup.procs")
    put(f"{root}.self", "0::/user.slice\n")
    return root, mounted, f"{root}.self"


def group_of(mounted):
    return [name for name in os.listdir(mounted) if name.startswith("rocktier-bench-")]


class Version1Test(unittest.TestCase):
    def test_limits_are_set_and_read_back(self):
        root = version1("v1")
        control = cgroups.opened(root)
        self.assertEqual(control.name, "blkio.throttle of cgroup v1")
        control.hold(DEVICE, LIMITS)
        with open(f"{root}/blkio/blkio.throttle.read_iops_device", encoding="ascii") as file:
            self.assertEqual(file.read(), "7:3 3000")
        self.assertEqual(control.limits(DEVICE), LIMITS)
        self.assertEqual(control.limits(os.makedev(7, 4)), {})
        control.release(DEVICE, LIMITS)
        self.assertEqual(control.limits(DEVICE), {})

    def test_memory(self):
        root = version1("v1-memory")
        control = cgroups.opened(root)
        words = control.memory_group(1 << 20)
        with open(f"{words[-1]}/memory.limit_in_bytes", encoding="ascii") as file:
            self.assertEqual(file.read(), str(1 << 20))
        self.assertTrue(words[-1].startswith(f"{root}/memory/"))


class Version2Test(unittest.TestCase):
    def test_limits_are_set_and_read_back(self):
        root, mounted, processes = version2("v2")
        control = cgroups.opened(root, processes)
        self.assertEqual(control.name, "io.max of cgroup v2")
        group = f"{mounted}/{group_of(mounted)[0]}"
        self.assertEqual(cgroups.read(f"{mounted}/cgroup.subtree_control"), "+io +memory")
        self.assertEqual(cgroups.read(f"{group}/all/cgroup.procs"), str(os.getpid()))
        control.hold(DEVICE, LIMITS)
        self.assertEqual(cgroups.read(f"{group}/io.max"), f"7:3 riops=3000 wbps={120 << 20}")
        self.assertEqual(control.limits(DEVICE), LIMITS)
        control.release(DEVICE, LIMITS)
        self.assertEqual(control.limits(DEVICE), {})
        control.close()
        self.assertEqual(cgroups.read(f"{mounted}/user.slice/cgroup.procs"), str(os.getpid()))

    def test_the_kernels_line(self):
        root, mounted, processes = version2("v2-line")
        control = cgroups.opened(root, processes)
        put(f"{mounted}/{group_of(mounted)[0]}/io.max",
            "7:2 rbps=1 wbps=max riops=max wiops=max\n7:3 rbps=max wbps=5 riops=6 wiops=max\n")
        self.assertEqual(control.limits(DEVICE), {"write_bps": 5, "read_iops": 6})

    def test_beside_version_1(self):
        root, mounted, processes = version2("hybrid", folder="/unified")
        cgroups.opened(root, processes)
        self.assertEqual(len(group_of(mounted)), 1)

    def test_memory_is_held_within_the_limits_of_devices(self):
        root, mounted, processes = version2("v2-memory")
        words = cgroups.opened(root, processes).memory_group(1 << 20)
        self.assertEqual(os.path.dirname(words[-1]), f"{mounted}/{group_of(mounted)[0]}")
        self.assertEqual(cgroups.read(f"{words[-1]}/memory.max"), str(1 << 20))


class NeitherTest(unittest.TestCase):
    def test_why(self):
        self.assertRegex(cgroups.missing(os.path.join(TMP, "nothing")),
                         "no blkio.throttle of cgroup v1; no io.max of cgroup v2")

    def test_no_controller(self):
        root, _, processes = version2("v2-no-io", controllers="cpu memory")
        with self.assertRaises(cgroups.NotPossible):
            cgroups.opened(root, processes)


class GroundTest(unittest.TestCase):
    def test_what_is_emulated_is_not_said_to_be_throttled(self):
        context = harness.Context(TMP, TMP, emulate=True)
        try:
            self.assertEqual(context.no_throttle(), "--emulate")
            context.grounds.note_emulated("slow", context.path(), 300)
            text = "\n".join(context.grounds.texts())
        finally:
            context.close()
        self.assertIn("slow: emulated", text)
        self.assertIn("300 us", text)
        self.assertNotIn("held to", text)
        self.assertEqual(text.count("not throttled"), 2)

    def test_limits_are_told_as_the_kernel_has_them(self):
        self.assertEqual(grounds.limits_text({"read_iops": 3000}, "it"),
                         "held to 3,000 reads/s by it")
        self.assertEqual(grounds.limits_text({}, "it"), "not throttled")

    def test_a_device_that_is_throttled(self):
        """As root, where the kernel can: what is mounted and its limits."""
        reason = grounds.missing()
        if reason:
            self.skipTest(reason)
        context = harness.Context(TMP, TMP)
        try:
            made = grounds.Ground(context, {"slow": 32 << 20}, {"slow": LIMITS})
            beside = grounds.Ground(context, {"slow": 32 << 20}, {})
            texts = context.grounds.texts()
            self.assertNotEqual(made.points["slow"], beside.points["slow"])
            beside.close()
            made.close()
        finally:
            context.close()
        self.assertRegex(texts[-1], "slow-2: ext4 .*, not throttled")
        self.assertRegex(texts[-2], "slow: ext4 on a loop device with(out)? direct I/O over a file "
                         "on .*, held to 3,000 reads/s, 125,829,120 B/s of writes by ")


class SignalsTest(unittest.TestCase):
    def test_a_second_kill_does_not_cut_off_the_clean_up(self):
        program = ("import os, signal\nfrom common import harness\nharness.stop_on_signals()\n"
                   "try:\n    os.kill(os.getpid(), signal.SIGTERM)\n"
                   "except KeyboardInterrupt:\n    os.kill(os.getpid(), signal.SIGTERM)\n"
                   "    os.kill(os.getpid(), signal.SIGINT)\n    print('cleaned up')\n")
        result = subprocess.run([sys.executable, "-c", program], cwd=BENCH, text=True, check=True,
                                stdout=subprocess.PIPE)
        self.assertEqual(result.stdout, "cleaned up\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
