"""db_bench's mixgraph: operations, keys and sizes as in ZippyDB at Facebook.

Cao et al., "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook"
(FAST'20). A system is an Arrangement: where its database is, and how db_bench is told so.
"""

import dataclasses
import math
import os
import re
import shutil
import time

from common import cgroups, db_bench
from common.options_file import Options

KEY, VALUE = 48, 43  # bytes of a record when it is loaded, as in the paper
MOST_SCANNED = 10_000  # records of a scan; db_bench's own default
VALUE_SIGMA, MOST_VALUE = 25.45, 1024
KEYS = {"key_dist_a": 0.002312, "key_dist_b": 0.3467}
RANGES = {
    "keyrange_num": 30, "keyrange_dist_a": 14.18, "keyrange_dist_b": -2.917,
    "keyrange_dist_c": 0.0164, "keyrange_dist_d": -0.08082,
}
MIX = {
    "mix_get_ratio": 0.83, "mix_put_ratio": 0.14, "mix_seek_ratio": 0.03, "value_k": 0.2615,
    "iter_k": 2.517, "iter_sigma": 14.236,
}
DISTRIBUTIONS = {"All_dist": {**MIX, **KEYS}, "Prefix_dist": {**MIX, **KEYS, **RANGES}}
OVERWRITTEN = 0.3  # of the keys, after the load: a tree as overwrites leave it
LOAD_SEED = 42
# Of each client's operations, between two looks at the time. By default it is 1000, which take
# many of them long.
OPERATIONS_OF_LOOK = 10
SECTOR = 512  # bytes, in the kernel's counts and rusage's

RUN = re.compile(r"^mixgraph +: .* (\d+) ops/sec .* seconds (\d+) operations;", re.MULTILINE)
KINDS = {"get": "read", "put": "write", "scan": "seek"}
KIND = (r"^Microseconds per {}:\nCount: (\d+) .*\n.*\n"
        r"Percentiles: P50: ([\d.]+) .*P99: ([\d.]+) P99\.9: ([\d.]+)")


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much data there is, and how it is used."""

    data: int = 0  # bytes of keys and values that are loaded
    seconds: float = 1  # of a run
    warm_ups: int = 1  # runs before it
    most_scanned: int = MOST_SCANNED
    threads: int = 4
    value_factor: int = 1  # values are so many times as large as in the paper
    flags: tuple = ()  # of db_bench, for the operations

    @property
    def record(self):
        return KEY + VALUE * self.value_factor

    @property
    def keys(self):
        return self.data // self.record

    def share(self, percent):
        return int(self.data * percent / 100)


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """A system's database, and what there is besides."""

    db: str
    options: Options
    flags: tuple = ()  # of db_bench
    fast: tuple = ()  # folders of its own there; the bytes of their files are told
    others: tuple = ()  # further folders
    caches: tuple = ()  # of these folders, those that are empty when the operations begin
    devices: dict = dataclasses.field(default_factory=dict)  # name: a folder on one of its own

    @property
    def folders(self):
        return (self.db, *self.fast, *self.others, *self.caches)


def tree(scale, memtable=1.6, sst=0.8, base=3.2, factor=5):
    """Options of a family: shares of the data, in percent. By default three levels below L0."""
    return {
        "compression": "kNoCompression",
        "write_buffer_size": max(64 << 10, scale.share(memtable)),
        "target_file_size_base": max(64 << 10, scale.share(sst)),
        "max_bytes_for_level_base": max(64 << 10, scale.share(base)),
        "max_bytes_for_level_multiplier": factor,
        "level_compaction_dynamic_level_bytes": "false",
    }


def database(direct, listener="", jobs=3):
    """Options of one."""
    text = str(direct).lower()
    options = {"max_background_jobs": jobs, "use_direct_reads": text,
               "use_direct_io_for_flush_and_compaction": text}
    return {**options, "listeners": listener} if listener else options


def load(context, arrangement, scale):
    """All keys in order, then some of them again."""
    clear(arrangement)
    for folder in arrangement.folders:
        os.makedirs(folder, exist_ok=True)
    start = time.monotonic()
    child(context, arrangement, scale, "fillseq,compact", LOAD_SEED, "--threads=1")
    child(context, arrangement, scale, "overwrite,flush,waitforcompaction", LOAD_SEED,
          "--threads=1", "--use_existing_db", f"--writes={max(1, int(OVERWRITTEN * scale.keys))}")
    return {"load_s": time.monotonic() - start, "fast_bytes": file_bytes(arrangement.fast)}


def run(context, arrangement, scale, distribution, seed):
    """Figures of the last run; of bytes, of all runs until nothing compacts."""
    empty(arrangement.caches)
    before = transferred(arrangement)
    text, usage = child(
        context, arrangement, scale,
        ",".join((*["mixgraph"] * (1 + scale.warm_ups), "flush", "waitforcompaction")), seed,
        "--use_existing_db", "--histogram=1", *db_bench.flags(context),
        f"--threads={scale.threads}", f"--duration={math.ceil(scale.seconds)}",
        f"--ops_between_duration_checks={OPERATIONS_OF_LOOK}",
        *flags(distribution, scale.most_scanned, scale.value_factor), *scale.flags)
    figures = {**figures_of(text), **db_bench.series(context),
               "fast_bytes": file_bytes(arrangement.fast)}
    after = transferred(arrangement)
    for name in after:
        figures[f"{name}_read_per_op"] = (after[name] - before[name]) / figures["all_operations"]
    if figures["all_puts"]:
        figures["written_per_put"] = usage.written_blocks * SECTOR / figures["all_puts"]
    return figures


def flags(distribution, most_scanned, value_factor=1):
    """Of db_bench: what the operations are."""
    values = {
        **DISTRIBUTIONS[distribution], "mix_max_scan_len": most_scanned,
        "value_sigma": VALUE_SIGMA * value_factor, "mix_max_value_size": MOST_VALUE * value_factor,
    }
    return [f"--{name}={value}" for name, value in values.items()]


def child(context, arrangement, scale, benchmarks, seed, *more):
    """(what db_bench printed, Usage)."""
    return context.measured_child([
        context.program("db_bench"), f"--db={arrangement.db}",
        f"--options_file={arrangement.options.write(context.path('mixgraph.ini'))}",
        f"--benchmarks={benchmarks}", f"--num={scale.keys}", f"--key_size={KEY}",
        f"--value_size={VALUE * scale.value_factor}", f"--seed={seed}", *arrangement.flags, *more,
    ])


def figures_of(text):
    """Of what db_bench says: rates and times of the last run, counts of all."""
    runs = list(RUN.finditer(text))
    figures = {"ops_per_s": float(runs[-1].group(1)),
               "all_operations": sum(int(one.group(2)) for one in runs), "all_puts": 0}
    for kind, name in KINDS.items():
        pattern = re.compile(KIND.format(name), re.MULTILINE)
        found = pattern.search(text, runs[-1].end())
        if found:
            figures.update({f"{kind}_{what}_us": float(value) for what, value in
                            zip(("p50", "p99", "p999"), found.groups()[1:])})
        if kind == "put":
            figures["all_puts"] = sum(int(one.group(1)) for one in pattern.finditer(text))
    return figures


def transferred(arrangement):
    """{name: bytes read} of the devices, as the kernel counts them."""
    return {name: read_bytes(folder) for name, folder in arrangement.devices.items()}


def read_bytes(folder):
    device = cgroups.of_device(os.stat(folder).st_dev)
    return int(cgroups.read(f"/sys/dev/block/{device}/stat").split()[2]) * SECTOR


def file_bytes(folders):
    """That files in these take on the device, without logs and what is small."""
    return sum(allocated(os.path.join(where, name)) for folder in folders
               for where, _, names in os.walk(folder) for name in names
               if not name.endswith(".log") and not name.startswith(("LOG", "MANIFEST", "OPTIONS")))


def allocated(path):
    """0 of what vanishes meanwhile."""
    try:
        return os.stat(path).st_blocks * SECTOR
    except FileNotFoundError:
        return 0


def empty(folders):
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)


def clear(arrangement):
    for folder in arrangement.folders:
        shutil.rmtree(folder, ignore_errors=True)
