"""Where the benchmark of the pmem tier makes records durable, and how that is measured."""

import json
import os
import shutil
import subprocess
import tempfile

from common import grounds, machine
from wal import wal_systems

MEMORY = "/dev/shm"
FIGURES = ("records_per_s", "mean_us", "stddev_us", "p50_us", "p99_us", "p999_us", "each second")


def systems():
    """Those that can be had here; "disk" is where the data folder is."""
    result = ["disk"]
    if grounds.can_loop() and shutil.which("mkfs.xfs"):
        result.append("xfs")
    if os.path.isdir(MEMORY) and machine.filesystem(MEMORY) == "tmpfs":
        result += ["tmpfs", "pmem"]
    return result


def run(context, system, group, seconds, through="file"):
    """Figures of one run of append_probe."""
    # "pmem" is the tmpfs, too: memory counts as persistent.
    probe = context.program("append_probe")
    kind = "pmem" if system == "pmem" else "file"
    figures = json.loads(
        context.child([
            "env", "PMEM_IS_PMEM_FORCE=1", probe, f"--folder={folder(context, system)}",
            f"--system={kind}", f"--through={through}", f"--group={group}", f"--seconds={seconds}",
        ])
    )
    return {name: figures[name] for name in FIGURES}


def folder(context, system):
    if system in ("tmpfs", "pmem"):
        return context.resource("tmpfs", memory_folder)
    if system == "disk":
        return context.scratch
    return context.resource("xfs", lambda: xfs_folder(context))


def memory_folder():
    made = tempfile.mkdtemp(prefix="rocktier-bench-", dir=MEMORY)
    return made, lambda: shutil.rmtree(made, ignore_errors=True)


def xfs_folder(context):
    """(mount point, undo): XFS on a loop device."""
    device = context.resource(
        "pmem-xfs-device", lambda: wal_systems.loop_device(context.path("xfs-image"))
    )
    subprocess.run(["mkfs.xfs", "-q", "-f", device], check=True)
    point = context.path("xfs")
    os.makedirs(point)
    subprocess.run(["mount", device, point], check=True)
    return point, lambda: subprocess.run(["umount", point], check=False)
