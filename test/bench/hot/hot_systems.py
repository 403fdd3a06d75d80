"""The arrangements that the benchmark of hot_promotion compares, and how one is run."""

import dataclasses
import json
import os
import shutil

from cache import cache_systems
from common import grounds
from hot import twitter

# Reads a second as in HotRAP's table 1.
FAST = {"read_iops": 83_000}
SLOW_US = 300
SLOW = {"read_iops": 10_000, "write_iops": 10_000, "read_bps": 500 << 20, "write_bps": 500 << 20}

SYSTEMS = ("fat", "row_cache", "2q_file", "all_cache", "hot", "fast")
PEERS = ("hotrap",)  # it has the bytes and the memory of "fat", and does with them what it likes
# Percent of the data on the fast device: the path of "fat"; the path of the others, and what is not
# for SSTs (row_cache: that is in memory). "all_cache" has a cache in all that "fat" has. What there
# really is on it is measured.
FAT, UPPER, EXTRA = 10, 4.3, 7.8
# By L1, of which L2 is ten times. L0 is empty when a load is done: "fat" has L1 and L2 in its
# bytes, the others have L1 in half of UPPER. RocksDB wants room for an L0 as large as L1 besides.
FAT_LEVELS, LEVELS = 1 + 10, 1 + 1
FAT_ROOM = (1 + FAT_LEVELS) / FAT_LEVELS
# Bytes of the access table for each record that hot_promotion's store has room for.
ACCESS = 60
# What it has in memory besides the promotion cache: of the table's bytes, of the store's, and for
# each record that the store has room for: ten bits of a filter in the store, twenty in the table.
RALT_BUFFER = 1 / 16
KNOWN = 0.017
FILTERS = 30 / 8
# A hot record is read twice from the slow device before it is promoted; then there is as much
# time again.
SECONDS_PER_HOT_RECORD = 4 / SLOW["read_iops"]
# The sizes of the driver's files are for so much data.
WHOLE_MEGABYTES = 2000
MEMTABLE_BYTES, FILE_BYTES = 16 << 20, 8 << 20
LEAST_BYTES = 256 << 10  # of these, and of what is in memory: for some MB of data


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much data there is, and how long it is used."""

    megabytes: int
    value_size: int
    seconds: float
    threads: int
    cluster: twitter.Cluster | None = None  # whose records these are

    @property
    def record_size(self):
        return self.value_size + (self.cluster.key if self.cluster else 16)

    @property
    def records(self):
        return self.megabytes * 10**6 // self.record_size

    def share(self, percent):
        return int(self.megabytes * 10**6 * percent / 100)

    def run_seconds(self, stages=1):
        return stages * max(self.seconds, self.records * 0.05 * SECONDS_PER_HOT_RECORD)

    @property
    def name(self):
        if self.cluster:
            return self.cluster.name
        return f"{self.megabytes / 1000:g} GB of {self.value_size} B"

    @property
    def ground(self):
        """Clusters of the same size have one: none needs its database when the next one begins."""
        return f"{self.megabytes / 1000:g} GB of Twitter" if self.cluster else self.name


class Place:
    """A fast and a slow folder. Both are on the same file system if `devices` is empty.

    `slow_us`: what a read of an SST in the slow one takes longer; 0: nothing waits there.
    """

    def __init__(self, fast, slow, devices, slow_us=SLOW_US):
        self.fast, self.slow, self.devices, self.slow_us = fast, slow, devices, slow_us


def place(context, scale):
    """Made when it is first asked for: with throttled devices where there can be some."""
    if context.no_throttle(in_memory=True):
        return on_one_device(context, SLOW_US, "slow")
    name = f"hot-ground-{scale.ground}"

    def make():
        data = scale.megabytes * 10**6
        # All systems' databases, and what is inserted and compactions need besides. There may be
        # room for some of them only.
        room = int(0.8 * shutil.disk_usage(context.path()).free)
        sizes = {"fast": (1 << 30) + 4 * data, "slow": min((1 << 30) + 8 * data, room)}
        ground = grounds.Ground(context, sizes, {"fast": FAST, "slow": SLOW}, in_memory=("fast",))
        return Place(ground.points["fast"], ground.points["slow"], ground.counters()), ground.close

    return context.resource(name, make)


def on_one_device(context, slow_us, name):
    """In the page cache: nothing waits but for `slow_us`."""
    folders = [context.path("hot-fast"), context.path("hot-slow")]
    for folder in folders:
        os.makedirs(folder, exist_ok=True)
    if slow_us:
        context.grounds.note_emulated(name, folders[1], slow_us)
    return Place(*folders, "", slow_us)


def flags(where, scale, system):
    db, slow = f"{where.fast}/db-{system}", f"{where.slow}/{system}"
    extra = f"{where.fast}/extra-{system}"
    os.makedirs(slow, exist_ok=True)
    os.makedirs(extra, exist_ok=True)
    result = [
        f"--db={db}", f"--records={scale.records}", f"--value_size={scale.value_size}",
        f"--threads={scale.threads}", f"--fast_folders={db},{extra}",
        f"--cache_bytes={cache_bytes(scale) + more_cache_bytes(scale, system)}",
    ]
    if scale.cluster:
        result += [scale.cluster.flag, sizes_of_files(scale)]
    if where.devices:
        result.append(f"--devices={where.devices}")
    if where.slow_us:
        result += [f"--slow={where.slow}", f"--slow_us={where.slow_us}",
                   f"--direct={str(bool(where.devices)).lower()}"]
    if system in ("fast", "fat", "all_cache", *PEERS):
        fast, levels = scale.share(FAT), FAT_LEVELS
    else:
        fast, levels = scale.share(UPPER), LEVELS
    result.append(f"--level_base_bytes={fast // levels}")
    if system == "fast":
        return result
    room = int(fast * FAT_ROOM) if system == "fat" else fast
    first = "" if system == "all_cache" else f"{db}={room};"
    result.append(f"--db_paths={first}{slow}={1 << 50}")
    more = scale.share(EXTRA)
    if system in PEERS:
        result.append(f"--extra={extra}")
    elif system == "row_cache":
        result.append(f"--row_cache_bytes={more}")
    elif system == "2q_file":
        result.append(secondary_cache(extra, more))
    elif system == "all_cache":
        result.append(secondary_cache(extra, fast))
    elif system == "hot":
        options = hot_options(scale, extra, slow, bool(where.devices))
        result.append("--hot=" + ";".join(f"{name}={value}" for name, value in options.items()))
    return result


def sizes_of_files(scale):
    """A flag: memtables and SSTs that are as large, by the data, as in a large database."""
    def scaled(size):
        return max(LEAST_BYTES, size * scale.megabytes // WHOLE_MEGABYTES)

    return (f"--options=write_buffer_size={scaled(MEMTABLE_BYTES)};"
            f"target_file_size_base={scaled(FILE_BYTES)}")


def hot_options(scale, folder, slow, direct):
    """Of a HotPromotionTable; store and access table are in the folder."""
    store = store_bytes(scale)
    return {"path": f"{folder}/hot", "budget": store, "ralt_bytes": scale.share(EXTRA) - store,
            "slow": slow, "promotion_cache": promotion_cache(scale),
            "direct_io": str(direct).lower()}


def secondary_cache(folder, file_bytes):
    return (f"--secondary_cache=id=TwoQSecondaryCache;storage=file;path={folder}/cache;"
            f"capacity={cache_systems.in_file_of(file_bytes)}")


def cache_bytes(scale):
    """A hundredth of the data is about what indexes and a few blocks need."""
    return max(LEAST_BYTES, scale.share(1))


def store_bytes(scale):
    return scale.share(EXTRA) * scale.record_size // (scale.record_size + ACCESS)


def promotion_cache(scale):
    return max(LEAST_BYTES, scale.share(1) // 2)


def more_cache_bytes(scale, system):
    """Block cache in the place of what "hot" has in memory, less the index of a cache file."""
    if system in ("fat", *PEERS):
        return memory_of_hot(scale)
    if system == "all_cache":
        return max(0, memory_of_hot(scale) - cache_systems.index_bytes(scale.share(FAT)))
    return 0


def memory_of_hot(scale):
    """Of the promotion cache, the access table and the store's filters."""
    table = scale.share(EXTRA) - store_bytes(scale)
    buffer = min(max(int(table * RALT_BUFFER), 256 << 10), 16 << 20)
    filters = store_bytes(scale) * (KNOWN + FILTERS / scale.record_size)
    return promotion_cache(scale) + buffer + int(filters)


def fill(context, where, scale, system):
    clear(where, system)
    return run_driver(context, system, [*flags(where, scale, system), "--mode=fill"])


def trace(context, scale):
    """A file with a synthetic trace, made when it is first asked for."""
    name = f"hot-trace-{scale.name}"

    def make():
        path = context.path("hot-trace.csv")
        context.child([
            context.program("hot_driver"), "--mode=trace", f"--trace={path}",
            f"--records={scale.records}", f"--value_size={scale.value_size}",
            f"--trace_operations={4 * scale.records}",
        ])
        return path, lambda: os.unlink(path)

    return context.resource(name, make)


def forget(where, system):
    """Copies and cached blocks."""
    shutil.rmtree(f"{where.fast}/extra-{system}", ignore_errors=True)


def clear(where, system):
    forget(where, system)
    for folder in (f"{where.fast}/db-{system}", f"{where.slow}/{system}"):
        shutil.rmtree(folder, ignore_errors=True)


def run(context, where, scale, system, seconds, seed, *more, kill=False):
    return run_driver(context, system, [
        *flags(where, scale, system), f"--seed={seed}", f"--seconds={seconds}",
        f"--kill={str(kill).lower()}", *more,
    ], kill)


def run_driver(context, system, arguments, killed=False):
    program = context.peer(system) if system in PEERS else context.program("hot_driver")
    argv = [program, *arguments]
    if killed:  # by itself, when it has told its figures
        argv = ["sh", "-c", '"$@"; [ $? -eq 137 ]', "sh", *argv]
    return json.loads(context.child(argv).splitlines()[0])
