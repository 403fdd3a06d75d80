"""RocksDB's block caches and the policies of libCacheSim over one trace of block accesses."""

import json
import os
import subprocess

from cache import cache_systems

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
SIMULATOR = ("libcachesim", "0.3.5")

REPLAYED = ("dram", "csc", "lru", "2q", "2q_paper")
ONLINE = ("sim_lru", "sim_2q", "sim_s3fifo", "sim_sieve", "sim_wtinylfu", "sim_arc",
          "sim_clock2qplus")
BELADY = "sim_belady"  # knows the future
IN_ROCKSDB = "2q_db"  # what the run that wrote the trace has measured
SIMULATED = (*ONLINE, BELADY)
WHOLE = cache_systems.PRIMARY + cache_systems.SECONDARY


def over(context, trace, warmup, capacity):
    """{system: figures} of all caches and policies with this capacity, in bytes."""
    hits = {system: replay(context, trace, warmup, capacity, system) for system in REPLAYED}
    lookups = hits[REPLAYED[0]]["lookups"]
    for system, count in simulate(context, trace, warmup, capacity).items():
        hits[system] = {"hits": count}
    best = lookups - hits[BELADY]["hits"]
    return {system: {**figures, **shares(figures["hits"], lookups, best)}
            for system, figures in hits.items()}


def shares(hits, lookups, best):
    misses = lookups - hits
    return {"hit_ratio": hits / lookups, "misses_of_belady": misses / best if best else 1.0,
            "miss_ratio": misses / lookups}


def replay(context, trace, warmup, capacity, system):
    primary = capacity if system == "dram" else capacity * cache_systems.PRIMARY // WHOLE
    argv = [context.program("cache_replay"), f"--trace={trace}", f"--warmup={warmup}",
            f"--primary_bytes={primary}"]
    if system != "dram":
        argv.append(f"--secondary={cache_systems.secondary_uri(system, capacity - primary)}")
    return json.loads(context.child(argv))


def simulate(context, trace, warmup, capacity):
    """{policy: hits}"""
    python = context.resource("simulator", _simulator)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "simulate.py")
    return json.loads(context.child([python, script, f"--trace={trace}", f"--warmup={warmup}",
                                     f"--capacity={capacity}"]))


def _simulator():
    script = os.path.join(ROOT, "scripts/python-with")
    path = subprocess.run([script, *SIMULATOR], stdout=subprocess.PIPE, check=True,
                          text=True).stdout.strip()
    return path, lambda: None
