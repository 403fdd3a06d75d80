"""The systems that the cache benchmark and the cache demo compare, and how one is run."""

import dataclasses
import json
import os
import shutil

# Shares of the data, in percent.
PRIMARY, SECONDARY = 2, 9
# The cache file is this many times as large as the secondary cache in memory.
FILE_FACTOR = 5

BLOCK_BYTES, INDEX_OF_BLOCK = 4096, 24  # at most
WARM_UPS = 5  # runs of mixgraph: the slow device's pace fills a cache in that

SYSTEMS = ("dram", "csc", "lru", "2q", "2q_paper", "2q_file")
# A cache in a file whose blocks survive compactions, where there is the listener.
CARRY = "2q_file_carry"
IN_FILE = ("2q_file", CARRY)


@dataclasses.dataclass(frozen=True)
class Scale:
    """How much data there is, and how many operations a run has."""

    data_mb: int
    value_size: int
    cold_ops: int
    warmup_ops: int
    ops: int

    @property
    def num_keys(self):
        return self.data_mb * 10**6 // self.value_size

    def share(self, percent):
        return self.data_mb * 10**6 * percent // 100


def fill(context, scale):
    """The database of this size; filled once, whatever reads it."""

    def make(folder):
        context.child([context.program("cache_driver"), "--mode=fill", *_data(folder, scale)])

    return context.shared(f"db-{scale.data_mb}-{scale.value_size}", make)


def run(context, scale, system, workload, primary="lru", read_latency_us=80, seed=42, extra=()):
    """Figures of one run over its own copy of the database."""
    copy = context.link_copy(fill(context, scale))
    cache_file = context.path("cache-file")
    try:
        out = context.child(
            [
                context.program("cache_driver"),
                *_data(copy, scale),
                *cache_flags(system, scale, cache_file),
                f"--workload={workload}",
                f"--primary={primary}",
                f"--read_latency_us={read_latency_us}",
                f"--cold_ops={scale.cold_ops}",
                f"--warmup_ops={scale.warmup_ops}",
                f"--ops={scale.ops}",
                f"--seed={seed}",
                *extra,
            ]
        )
    finally:
        shutil.rmtree(copy, ignore_errors=True)
        if os.path.exists(cache_file):
            os.unlink(cache_file)
    return json.loads(out)["figures"]


def cache_flags(system, scale, cache_file):
    """All systems get the same memory; `dram` has all of it in the primary cache."""
    if system == "dram":
        return [f"--primary_bytes={scale.share(PRIMARY + SECONDARY)}"]
    uri = secondary_uri(system, scale.share(SECONDARY), cache_file)
    flags = [f"--primary_bytes={scale.share(PRIMARY)}", f"--secondary={uri}"]
    if system in IN_FILE:
        # Without the slow device's pace blocks would be offered faster than any disk can take them.
        flags.append("--slow_warmup")
    return flags


def secondary_uri(system, capacity, cache_file=None):
    if system == "csc":
        return f"compressed_secondary_cache://capacity={capacity};compression_type=kNoCompression"
    if system in IN_FILE:
        return (
            f"id=TwoQSecondaryCache;capacity={capacity * FILE_FACTOR};policy=2q;"
            f"storage=file;path={cache_file};carry={'true' if system == CARRY else 'false'}"
        )
    return f"id=TwoQSecondaryCache;capacity={capacity};policy={system}"


def in_file_of(file_bytes):
    """The capacity of a cache whose file has so many bytes: it is up to 4% larger than its data."""
    return max(4 << 20, int(file_bytes / 1.05))


def file_flags(folder, file_bytes):
    """Of db_bench: a cache with a file there, of so many bytes."""
    return (f"--secondary_cache_uri=id=TwoQSecondaryCache;storage=file;path={folder}/file;"
            f"capacity={in_file_of(file_bytes)}",)


def index_bytes(file_bytes):
    """Of memory, for all blocks of a cache file."""
    return file_bytes // BLOCK_BYTES * INDEX_OF_BLOCK


def _data(folder, scale):
    return [f"--db={folder}", f"--num_keys={scale.num_keys}", f"--value_size={scale.value_size}"]
