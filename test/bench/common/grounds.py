"""What a benchmark stands on: file systems on devices that are made for it, and what they are.

Grounds notes what was really mounted and what the kernel holds it to, for the results file.
"""

import functools
import itertools
import os
import shutil
import subprocess
import sys

from common import cgroups, machine
from common.cgroups import write

ZRAM = "/sys/class/zram-control"
SECTOR = 512  # bytes, in /sys/block/*/stat, whatever the device has
UNITS = {"read_iops": "{:,} reads/s", "write_iops": "{:,} writes/s",
         "read_bps": "{:,} B/s of reads", "write_bps": "{:,} B/s of writes"}


def can_loop():
    return os.geteuid() == 0 and shutil.which("losetup") is not None and os.path.exists(
        "/dev/loop-control"
    )


@functools.cache
def missing(in_memory=False, emulate=False):
    """Why there is no throttled device here, or none in memory; empty if there can be one."""
    if emulate:
        return "--emulate"
    if in_memory and not os.access(f"{ZRAM}/hot_add", os.R_OK):
        return "no zram, for a device in memory"
    if not can_loop():
        return "loop devices need root"
    if not shutil.which("mkfs.ext4"):
        return "no mkfs.ext4"
    return cgroups.missing()


def control(context):
    def make():
        made = cgroups.opened()
        return made, made.close

    return context.resource("cgroups", make)


class Ground:
    """File systems on loop devices with direct I/O, or on devices in memory.

    Those in memory have sectors of 4 KiB, or of 512 bytes as most SSDs have. Those with `limits`
    are throttled.
    """

    def __init__(self, context, sizes, limits, in_memory=(), with_sectors=()):
        self.points, self.devices, self._limits, self._undo = {}, {}, limits, []
        self._control = control(context)
        called = {name: unused(context, name) for name in sizes}
        try:
            for name, size in sizes.items():
                point = context.path(f"on-{called[name]}")
                if name in in_memory:
                    device = self._memory(size)
                    # Gives the memory of deleted files back.
                    self._mount(device, point, "--options=discard")
                elif name in with_sectors:
                    device = self._sectors(context.path(f"memory-{called[name]}"), size)
                    self._mount(device, point, "--options=discard")
                else:
                    device = self._loop(context.path(f"image-{called[name]}"), size)
                    self._mount(device, point)
                self.points[name], self.devices[name] = point, device
            self._undo.append(self.release)
            self.hold()
        except BaseException:
            self.close()
            raise
        for name, device in self.devices.items():
            context.grounds.note(called[name], f"{machine.filesystem(self.points[name])} on "
                                 f"{kind_of(device)}, {self._limits_of(device)}")

    def _loop(self, image, size):
        with open(image, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
        self._undo.append(lambda: os.unlink(image))
        device = output("losetup", "--find", "--show", "--direct-io=on", image)
        self._undo.append(lambda: output("losetup", "--detach", device))
        return device

    def _memory(self, size):
        """It has as much memory as was written."""
        with open(f"{ZRAM}/hot_add", encoding="ascii") as file:  # makes one
            number = int(file.read())
        self._undo.append(lambda: write(f"{ZRAM}/hot_remove", number))
        write(f"/sys/block/zram{number}/disksize", size)
        return f"/dev/zram{number}"

    def _sectors(self, folder, size):
        """Likewise, but a thread of the kernel serves every request: for bytes, not for time."""
        os.makedirs(folder)
        output("mount", "--types=tmpfs", "--options=size=100%", "tmpfs", folder)
        self._undo.append(lambda: unmount(folder))
        image = os.path.join(folder, "image")
        with open(image, "wb") as file:
            os.truncate(file.fileno(), size)
        device = output("losetup", "--find", "--show", "--sector-size=512", image)
        self._undo.append(lambda: output("losetup", "--detach", device))
        return device

    def _mount(self, device, point, *options):
        # Nothing is left to be initialized in the background while figures are taken.
        output("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", device)
        os.makedirs(point)
        output("mount", *options, device, point)
        self._undo.append(lambda: unmount(point))

    def hold(self):
        """To the limits; it is so from the beginning."""
        for name, limits in self._limits.items():
            self._control.hold(os.stat(self.devices[name]).st_rdev, limits)

    def release(self):
        """For what is not measured."""
        for name, limits in self._limits.items():
            self._control.release(os.stat(self.devices[name]).st_rdev, limits)

    def _limits_of(self, device):
        return limits_text(self._control.limits(os.stat(device).st_rdev), self._control.name)

    def close(self):
        """What cannot be undone does not keep the rest from being undone."""
        while self._undo:
            try:
                self._undo.pop()()
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"left behind: {error}", file=sys.stderr)

    def flags(self):
        """Of a driver: the devices whose requests it counts."""
        return [f"--devices={self.counters()}"]

    def transferred(self):
        """By name: the bytes that the device has read and written since it was made."""
        stats = {name: cgroups.read(f"/sys/block/{os.path.basename(device)}/stat").split()
                 for name, device in self.devices.items()}
        return {name: (int(fields[2]) + int(fields[6])) * SECTOR for name, fields in stats.items()}

    def counters(self):
        return ";".join(f"{name}={os.path.basename(device)}"
                        for name, device in self.devices.items())


class Grounds:
    """What was used, by name: a sentence that is found out, not one that was meant."""

    def __init__(self, data_folder):
        self._notes = {"data folder": f"{machine.disk_kind(data_folder)}, not throttled"}
        if machine.takes_cold_pages():
            self.note("page cache", "the kernel takes cold pages away (DAMON)")

    def note(self, name, text):
        self._notes[name] = text

    def note_emulated(self, name, folder, micros):
        self._notes[name] = (f"emulated: a folder on {machine.disk_kind(folder)}, not throttled; "
                             f"a read of an SST takes {micros} us more")

    def note_all(self, prefix, other):
        for name, text in other._notes.items():
            self.note(f"{prefix}, {name}", text)

    def texts(self):
        return [f"{name}: {text}" for name, text in self._notes.items()]


def unused(context, name):
    """The name, or with a number if another ground has it."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(one for one in names if not os.path.exists(context.path(f"on-{one}")))


def limits_text(limits, by):
    held = ", ".join(UNITS[what].format(limits[what]) for what in UNITS if what in limits)
    return f"held to {held} by {by}" if held else "not throttled"


def kind_of(device):
    """For example "a loop device with direct I/O over a file on ext4 on a virtio disk"."""
    name = os.path.basename(device)
    block = f"/sys/block/{name}"
    sectors = f"sectors of {cgroups.read(f'{block}/queue/logical_block_size').strip()} B"
    if name.startswith("zram"):
        return f"a device in memory (zram), {sectors}"
    backing = cgroups.read(f"{block}/loop/backing_file").strip()
    direct = cgroups.read(f"{block}/loop/dio").strip() == "1"
    return (f"a loop device {'with' if direct else 'without'} direct I/O over a file on "
            f"{machine.disk_kind(backing)}, {sectors}")


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def unmount(point):
    """Also one that is busy: it goes when nobody uses it."""
    if subprocess.run(["umount", point], capture_output=True).returncode != 0:
        output("umount", "--lazy", point)
