"""Trees on a fast and a slow device, whose scans are traced, and what could have served these."""

import contextlib
import dataclasses
import json
import os
import re
import shutil

from common import mixgraph
from hot import hot_systems, scan_ranges

# db_bench tells how often iterators read files with this level of statistics, and what its client
# has read with this one of perf counters.
STATS_LEVEL, PERF_LEVEL = 4, 2
SEED = 42  # of the filling

# Percent of the data.
CACHE = 1
FAT_MORE = 0.5  # what hot_promotion's promotion cache takes is block cache in "fat"
MEMTABLE, SST = 0.2, 0.4
STORE = hot_systems.EXTRA
STORES = {"store_4": 4, "store_7.8": STORE, "unlimited": float("inf")}
# The first level on the slow device; how many of L1's size RocksDB believes to be on the fast one,
# and their size.
SLOW = {"hot": 2, "fat": 3}
FAST_LEVELS = {"hot": hot_systems.LEVELS, "fat": hot_systems.FAT_LEVELS}
FAST = {"hot": hot_systems.UPPER, "fat": hot_systems.FAT}


@dataclasses.dataclass(frozen=True)
class Tree:
    """How large a database is: with the levels of "hot" or of "fat", of so many bytes of data."""

    system: str
    data: int

    def share(self, percent):
        return int(self.data * percent / 100)

    @property
    def cache_bytes(self):
        return self.share(CACHE + (FAT_MORE if self.system == "fat" else 0))

    @property
    def base_bytes(self):
        return self.share(FAST[self.system]) // FAST_LEVELS[self.system]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where one is. The slow folder is empty where no db_paths are used."""

    db: str
    slow: str

    @property
    def newest_sst(self):
        """Its number; 0 if there is none."""
        names = os.listdir(self.db) + os.listdir(self.slow)
        return max((int(name[:-4]) for name in names if name.endswith(".sst")), default=0)


class Mixgraph:
    """Prefix_dist by db_bench."""

    name = "mixgraph_prefix"
    key, value = mixgraph.KEY, mixgraph.VALUE
    ops_of_key, overwrites_of_key = 1 / 8, 0.3

    def __init__(self, most_scanned):
        self._most_scanned = most_scanned

    def fill(self, context, tree, place):
        """All keys; a tree as overwrites leave it. After a load its last level has gaps."""
        self._run(context, tree, place, "fillseq,compact", SEED)
        writes = int(self.overwrites_of_key * self._keys(tree))
        self._run(context, tree, place, "overwrite,flush,waitforcompaction", SEED,
                  "--use_existing_db", f"--writes={writes}")

    def run(self, context, tree, place, trace, seed):
        """What RocksDB has counted of it; the bytes are those of all reads of the client."""
        text = self._run(
            context, tree, place, "mixgraph", seed, "--use_existing_db", "--statistics",
            f"--stats_level={STATS_LEVEL}", f"--perf_level={PERF_LEVEL}",
            f"--reads={int(self.ops_of_key * self._keys(tree))}",
            f"--block_cache_trace_file={trace}",
            *mixgraph.flags("Prefix_dist", self._most_scanned))
        counts = {
            "scans": r"Seek:(\d+)",
            "scan_reads": r"rocksdb\.file\.read\.db\.iterator\.micros .* COUNT : (\d+)",
            "all_read_bytes": r"block_read_byte = (\d+)",
        }
        return {name: int(re.search(pattern, text).group(1)) for name, pattern in counts.items()}

    def _keys(self, tree):
        return tree.data // (self.key + self.value)

    def _run(self, context, tree, place, benchmarks, seed, *more):
        return context.child([
            context.program("db_bench"), f"--db={place.db}", f"--benchmarks={benchmarks}",
            f"--num={self._keys(tree)}", f"--key_size={self.key}", f"--value_size={self.value}",
            f"--seed={seed}", "--threads=1", "--compression_type=none", "--bloom_bits=10",
            "--max_background_jobs=3", f"--cache_size={tree.cache_bytes}",
            f"--write_buffer_size={tree.share(MEMTABLE)}",
            f"--target_file_size_base={tree.share(SST)}",
            f"--max_bytes_for_level_base={tree.base_bytes}",
            "--level_compaction_dynamic_level_bytes=false", "--max_auto_readahead_size=0", *more,
        ])


class YcsbE:
    """Scans of 1 to 100 records and inserts by tier_driver."""

    name = "ycsb_e"
    key, value = 16, 1024
    ops_of_key, overwrites_of_key = 0.06, 0.3

    def fill(self, context, tree, place):
        self._run(context, tree, place, SEED, "--mode=fill")
        writes = int(self.overwrites_of_key * self._records(tree))
        self._run(context, tree, place, SEED, "--mix=overwrite", f"--slice_operations={writes}")

    def run(self, context, tree, place, trace, seed):
        counts = self._run(
            context, tree, place, seed, "--mix=e", f"--trace={trace}",
            f"--slice_operations={int(self.ops_of_key * self._records(tree))}")
        return {name: counts[name] for name in ("scans", "scan_reads", "scan_read_bytes")}

    def _records(self, tree):
        return tree.data // (self.key + self.value)

    def _run(self, context, tree, place, seed, *more):
        options = {
            "write_buffer_size": tree.share(MEMTABLE), "target_file_size_base": tree.share(SST),
            "max_bytes_for_level_base": tree.base_bytes, "max_bytes_for_level_multiplier": 10,
            "block_based_table_factory": "{max_auto_readahead_size=0}",
        }
        fast = tree.base_bytes * FAST_LEVELS[tree.system]
        return json.loads(context.child([
            context.program("tier_driver"), f"--db={place.db}",
            f"--db_paths={place.db}={fast};{place.slow}={1 << 50}", "--dynamic_levels=false",
            "--direct=false", "--threads=1", f"--seconds={1 << 20}",
            f"--records={self._records(tree)}", f"--value_size={self.value}",
            f"--cache_bytes={tree.cache_bytes}", f"--seed={seed}",
            "--options=" + ";".join(f"{name}={value}" for name, value in options.items()), *more,
        ]))


def figures(context, workload, tree, seed):
    """{system: figures} of one tree: of itself, and of "hot" what could serve its scans."""
    with filled(context, workload, tree) as place:
        newest, trace = place.newest_sst, f"{place.db}/trace"
        counts = workload.run(context, tree, place, trace, seed)
        read = scan_ranges.read(trace, scan_ranges.moves_of(f"{place.db}/LOG"))
    slow = SLOW[tree.system]
    scans = counts["scans"] * scan_ranges.counted_part(read)
    result = {tree.system: of_tree(tree, read, slow, newest, scans)}
    result[tree.system].update(controls(read, counts))
    if tree.system == "hot":
        for name, found in candidates(tree, read, slow).items():
            left = (found.read - found.served) / scans
            result[name] = {**found.shares(), "slow_bytes_per_scan": left}
    return result


def of_tree(tree, trace, slow, newest, scans):
    found = scan_ranges.find(trace, slow, newest=newest)
    return {
        "slow_bytes_per_scan": found.read / scans, **scan_ranges.scans_among_reads(trace, slow),
        "read_twice": scan_ranges.read_twice(trace, slow),
        "renewed_share": found.renewed / max(1, found.asked),
        "turnovers": found.asked / tree.share(STORE),
    }


def candidates(tree, trace, slow):
    """Stores of several sizes that serve scans only, and a larger block cache."""
    result = {name: scan_ranges.find(trace, slow, tree.data * percent / 100)
              for name, percent in STORES.items()}
    result["cache_7.8"] = scan_ranges.find(trace, slow, tree.share(CACHE + STORE), of_all=True)
    return result


def controls(trace, counts):
    """By how many percent the trace is off what RocksDB has counted, of all of the run."""
    scan_reads, scan_bytes = trace.read(scans_only=True)
    if "all_read_bytes" in counts:
        off = apart(trace.read(scans_only=False)[1], counts["all_read_bytes"])
    else:
        off = apart(scan_bytes, counts["scan_read_bytes"])
    return {"control_bytes": off, "control_reads": apart(scan_reads, counts["scan_reads"])}


def apart(one, other):
    return 100 * abs(one - other) / max(1, other)


@contextlib.contextmanager
def filled(context, workload, tree):
    """A copy of a database that is filled when it is first asked for."""

    def make(folder):
        place = Place(f"{folder}/db", f"{folder}/slow")
        os.makedirs(place.db)
        os.makedirs(place.slow)
        workload.fill(context, tree, place)

    source = context.shared(f"scans-{workload.name}-{tree.system}", make)
    place = Place(context.link_copy(f"{source}/db"), context.link_copy(f"{source}/slow"))
    try:
        yield place
    finally:
        shutil.rmtree(place.db)
        shutil.rmtree(place.slow)
