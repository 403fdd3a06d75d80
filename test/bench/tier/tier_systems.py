"""The arrangements that the benchmark of tiered_env compares, and how one is run.

They are on a fast and a slow device.
"""

import json
import os
import re
import shutil
import threading
import time

from cache import cache_systems
from common import db_bench, grounds

SLOW = {"read_iops": 3000, "write_iops": 3000, "read_bps": 120 << 20, "write_bps": 120 << 20}

SYSTEMS = ("slow", "db_paths", "levels", "hints", "fill", "all_cache", "fast")
CACHE_FILE = "cache"  # of all_cache
CACHE_BYTES = 16 << 20  # of the block cache, as tier_driver has it
EMULATED_US = 300
OVERHEAD_SYSTEMS = ("stock", "tiers")


def ground(context, records, value_size):
    """Made when it is first asked for, unmade at the end."""
    data = records * value_size
    # All systems' databases, and what compactions need besides.
    sizes = {"fast": (2 << 30) + 6 * data, "slow": (1 << 30) + 8 * data}

    def make():
        if context.no_throttle():
            return Emulated(context), lambda: None
        made = grounds.Ground(context, sizes, {"slow": SLOW})
        return made, made.close

    return context.resource("tiers-ground", make)


class Emulated:
    """Folders in the places of devices; what is read in the slow one takes longer."""

    def __init__(self, context):
        self.points = {name: context.path(f"emulated-{name}") for name in ("fast", "slow")}
        for point in self.points.values():
            os.makedirs(point)
        context.grounds.note_emulated("slow", self.points["slow"], EMULATED_US)

    def flags(self):
        return [f"--slow={self.points['slow']}", f"--slow_us={EMULATED_US}", "--direct=false"]


class Peak:
    """The most bytes of SSTs that a system had on a device, while something ran.

    Looks ten times a second; `each_second` has the most of each second.
    """

    def __init__(self, point, system):
        self.bytes, self.each_second = 0, []
        self._start = time.monotonic()
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
            now = table_bytes(self._point, self._system)
            self.bytes = max(self.bytes, now)
            missing = int(time.monotonic() - self._start) + 1 - len(self.each_second)
            self.each_second += [0] * missing
            self.each_second[-1] = max(self.each_second[-1], now)


def flags(place, system, fast_bytes):
    """(directory of the database, flags).

    The directory is on the fast device, as are the logs, but for slow.
    """
    rest = 1 << 50
    db = f"{place.points['slow' if system == 'slow' else 'fast']}/db-{system}"
    if system in ("slow", "fast"):
        return db, []
    slow = f"{place.points['slow']}/{system}"
    os.makedirs(slow, exist_ok=True)
    if system == "all_cache":
        file = f"{place.points['fast']}/{system}/{CACHE_FILE}"
        os.makedirs(os.path.dirname(file), exist_ok=True)
        return db, [f"--db_paths={slow}={rest}", f"--options={cache_options(file, fast_bytes)}"]
    if system == "db_paths":
        return db, [f"--db_paths={db}={fast_bytes};{slow}={rest}"]
    # Three levels are what db_paths has on the fast device.
    rules = "" if system == "fill" else "3..=slow"
    return db, [fs_uri(slow, fast_bytes, rules),
                f"--listener={'false' if system == 'hints' else 'true'}"]


def fs_uri(slow, fast_bytes, rules):
    """The flag; home is on the fast device."""
    placement = f"placement={{{rules}}};" if rules else ""
    return (f"--fs_uri=id=TieredFileSystem;tiers={{home={{budget={fast_bytes}}};"
            f"slow={{path={slow}}}}};{placement}"
            f"mover_bytes_per_second={SLOW['write_bps'] // 2}")


def cache_options(file, file_bytes):
    """The block cache of the others, and behind it one in a file of so many bytes."""
    cache = (f"lru+2q://capacity={CACHE_BYTES};secondary_cache={{"
             f"capacity={cache_systems.in_file_of(file_bytes)};storage=file;path={file}}}")
    return (f"listeners=TwoQSecondaryCacheListener;"
            f"block_based_table_factory={{block_cache={{id={{{cache}}}}}}}")


def clear(place, system):
    for point in place.points.values():
        for folder in (system, f"db-{system}"):
            shutil.rmtree(f"{point}/{folder}", ignore_errors=True)


def scaled(mib, records):
    """What is so many MiB of a tree of 1,000,000 records, in a tree of fewer or more."""
    return max(64 << 10, (mib << 20) * records // 1_000_000)


def run(context, place, system, fast_bytes, *more):
    """Figures of one run of tier_driver."""
    return measured(context, place, system, fast_bytes, *flags(place, system, fast_bytes), *more)


def measured(context, place, system, fast_bytes, db, arrangement, *more):
    """The same, with other flags. Levels are static, since db_paths has no others."""
    with Peak(place.points["fast"], system) as peak:
        text = context.child([
            context.program("tier_driver"), f"--db={db}", *place.flags(),
            "--dynamic_levels=false", *arrangement, *more,
        ])
    figures = json.loads(text)
    figures["fast_peak_bytes"] = peak.bytes
    figures["fast bytes, most in each second"] = {"bytes": peak.each_second}
    figures["fast_peak_by_budget"] = peak.bytes / fast_bytes
    reads = figures.get("fast_reads", 0) + figures.get("slow_reads", 0)
    figures["fast_share"] = figures["fast_reads"] / reads if reads else None
    for name, point in place.points.items():
        figures[f"{name}_files_bytes"] = table_bytes(point, system)
    return {name: value for name, value in figures.items() if value is not None}


def table_bytes(point, system):
    """Bytes of a system's SSTs on a device, and of its cache file."""
    total = 0
    for folder in (f"{point}/{system}", f"{point}/db-{system}"):
        for where, _, names in os.walk(folder):
            total += sum(size_of(f"{where}/{name}") for name in names
                         if ".sst" in name or name == CACHE_FILE)
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
    fast = context.path(f"overhead-tier-{system}")
    argv = [
        context.program("db_bench"), f"--db={db}", f"--num={num}", f"--seed={seed}", "--threads=1",
        "--value_size=200", "--compression_type=none", "--cache_size=1048576", "--bloom_bits=10",
        *db_bench.flags(context),
    ]
    if system == "tiers":
        argv.append(f"--fs_uri=id=TieredFileSystem;tiers={{fast={{path={fast}}}}};placement={{0..=fast}}")
    if benchmark == "readrandom":
        argv += ["--use_existing_db", "--benchmarks=readrandom", f"--reads={num}"]
    else:
        for folder in (db, fast):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(fast)
        argv += ["--benchmarks=fillrandom"]
    text = context.child(argv)
    return {"ops_per_s": float(re.search(r"micros/op (\d+) ops/sec", text).group(1)),
            **db_bench.series(context)}
