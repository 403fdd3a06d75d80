"""The arrangements that the benchmark of tiered_env compares, and how one is run.

They are on a fast and a slow device.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import threading

from wal import wal_systems

BLKIO = "/sys/fs/cgroup/blkio/blkio.throttle."
ZRAM = "/sys/class/zram-control"
SLOW = {"read_iops": 3000, "write_iops": 3000, "read_bps": 120 << 20, "write_bps": 120 << 20}

SYSTEMS = ("slow", "db_paths", "levels", "hints", "fill", "fast")
OVERHEAD_SYSTEMS = ("stock", "tiers")


def missing(in_memory=False):
    """Why there is no throttled device here, or none in memory; empty if there can be one."""
    if in_memory and not os.access(f"{ZRAM}/hot_add", os.R_OK):
        return "no zram, for a device in memory"
    if not wal_systems.can_loop():
        return "loop devices need root"
    if not shutil.which("mkfs.ext4"):
        return "no mkfs.ext4"
    if not os.access(f"{BLKIO}read_iops_device", os.W_OK):
        return "no blkio.throttle of cgroup v1"
    return ""


class Ground:
    """File systems on loop devices with direct I/O, or on devices in memory.

    Those in memory have sectors of 4 KiB, or of 512 bytes as most SSDs have. Those with `limits`
    are throttled.
    """

    def __init__(self, context, sizes, limits, in_memory=(), with_sectors=()):
        self.points, self.devices, self._undo = {}, {}, []
        try:
            for name, size in sizes.items():
                point = context.path(f"on-{name}")
                if name in in_memory:
                    device = self._memory(size)
                    # Gives the memory of deleted files back.
                    self._mount(device, point, "--options=discard")
                elif name in with_sectors:
                    device = self._sectors(context.path(f"memory-{name}"), size)
                    self._mount(device, point, "--options=discard")
                else:
                    device = self._loop(context.path(f"image-{name}"), size)
                    self._mount(device, point)
                self.points[name], self.devices[name] = point, device
            for name, limit in limits.items():
                self._throttle(self.devices[name], limit)
        except BaseException:
            self.close()
            raise

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

    def _throttle(self, device, limits):
        number = os.stat(device).st_rdev
        for what, limit in limits.items():
            path = f"{BLKIO}{what}_device"
            set_limit(path, number, limit)
            self._undo.append(lambda path=path: set_limit(path, number, 0))

    def close(self):
        """What cannot be undone does not keep the rest from being undone."""
        while self._undo:
            try:
                self._undo.pop()()
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"left behind: {error}", file=sys.stderr)

    def counters(self):
        return ";".join(f"{name}={os.path.basename(device)}"
                        for name, device in self.devices.items())


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def unmount(point):
    """Also one that is busy: it goes when nobody uses it."""
    if subprocess.run(["umount", point], capture_output=True).returncode != 0:
        output("umount", "--lazy", point)


def set_limit(path, number, limit):
    write(path, f"{os.major(number)}:{os.minor(number)} {limit}")


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def ground(context, records, value_size):
    """Made when it is first asked for, unmade at the end."""
    data = records * value_size
    # All systems' databases, and what compactions need besides.
    sizes = {"fast": (2 << 30) + 6 * data, "slow": (1 << 30) + 8 * data}

    def make():
        made = Ground(context, sizes, {"slow": SLOW})
        return made, made.close

    return context.resource("tiers-ground", make)


class Peak:
    """The most bytes of SSTs that a system had on a device, while something ran."""

    def __init__(self, point, system):
        self.bytes = 0
        self._point, self._system, self._stop = point, system, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _look(self):
        while not self._stop.wait(0.1):
            self.bytes = max(self.bytes, table_bytes(self._point, self._system))


def flags(place, system, fast_bytes):
    """(directory of the database, flags).

    The directory is on the fast device, as are the logs, but for slow.
    """
    db = f"{place.points['slow' if system == 'slow' else 'fast']}/db-{system}"
    if system in ("slow", "fast"):
        return db, []
    slow = f"{place.points['slow']}/{system}"
    os.makedirs(slow, exist_ok=True)
    if system == "db_paths":
        rest = 1 << 50
        return db, [f"--db_paths={db}={fast_bytes};{slow}={rest}"]
    # Three levels are what db_paths has on the fast device.
    placement = "" if system == "fill" else "placement={3..=slow};"
    uri = (
        f"id=TieredFileSystem;tiers={{home={{budget={fast_bytes}}};slow={{path={slow}}}}};{placement}"
        f"mover_bytes_per_second={SLOW['write_bps'] // 2}"
    )
    return db, [f"--fs_uri={uri}", f"--listener={'false' if system == 'hints' else 'true'}"]


def run(context, place, system, fast_bytes, *more):
    """Figures of one run of tier_driver. Levels are static, since db_paths has no others."""
    db, arrangement = flags(place, system, fast_bytes)
    with Peak(place.points["fast"], system) as peak:
        text = context.child([
            context.program("tier_driver"), f"--db={db}", f"--devices={place.counters()}",
            "--dynamic_levels=false", *arrangement, *more,
        ])
    figures = json.loads(text)
    figures["fast_peak_bytes"] = peak.bytes
    reads = figures["fast_reads"] + figures["slow_reads"]
    figures["fast_share"] = figures["fast_reads"] / reads if reads else None
    for name, point in place.points.items():
        figures[f"{name}_files_bytes"] = table_bytes(point, system)
    return {name: value for name, value in figures.items() if value is not None}


def table_bytes(point, system):
    """Bytes of a system's SSTs on a device."""
    total = 0
    for folder in (f"{point}/{system}", f"{point}/db-{system}"):
        for where, _, names in os.walk(folder):
            total += sum(size_of(f"{where}/{name}") for name in names if ".sst" in name)
    return total


def size_of(path):
    """0 of a stub and of what vanishes meanwhile."""
    try:
        size = os.path.getsize(path)
    except FileNotFoundError:
        return 0
    return size if size != 2048 else 0


def overhead(context, system, benchmark, seed, num):
    """db_bench on one path, in the page cache: what the FileSystem itself costs."""
    db = context.path(f"overhead-{system}")
    fast = context.path("overhead-tier")
    os.makedirs(fast, exist_ok=True)
    argv = [
        context.program("db_bench"), f"--db={db}", f"--num={num}", f"--seed={seed}", "--threads=1",
        "--value_size=200", "--compression_type=none", "--cache_size=1048576", "--bloom_bits=10",
    ]
    if system == "tiers":
        argv.append(f"--fs_uri=id=TieredFileSystem;tiers={{fast={{path={fast}}}}};placement={{0..=fast}}")
    if benchmark == "readrandom":
        argv += ["--use_existing_db", "--benchmarks=readrandom", f"--reads={num}"]
    else:
        shutil.rmtree(db, ignore_errors=True)
        shutil.rmtree(fast, ignore_errors=True)
        os.makedirs(fast)
        argv += ["--benchmarks=fillrandom"]
    text = context.child(argv)
    return {"ops_per_s": float(re.search(r"micros/op (\d+) ops/sec", text).group(1))}
