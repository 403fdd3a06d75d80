#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs RocksDB's own db_stress over a TwoQSecondaryCache, kills it with SIGKILL and reopens.

As in RocksDB's db_crashtest.py one database and one folder of expected values live through many
processes, and db_stress checks all its keys each time it starts. A history is one database: some
rounds that are killed, then one that ends by itself and must have had hits in the secondary cache.
Caches are small against the data, so that blocks are evicted all the time. Options are drawn from
the seed, some for a history, most for each round. With ROCKTIER_CRASH_FAULTS calls to the
FileSystem fail at random, too, in rounds that are killed.

Anything but our own SIGKILL that ends db_stress, and anything it says on stderr, fails the test.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import time

SLOW = int(os.environ.get("ROCKTIER_SLOW") or 1)  # times as slow, with a sanitizer
KILL_AFTER = (2.0 * SLOW, 7.0 * SLOW)  # seconds
VERIFY_TIMEOUT = 900 * SLOW  # seconds for the round that ends by itself
MOST_HISTORIES = 10  # until the cache has had a hit
OUTPUT_SHOWN = 20000  # characters of a failed round's output


class Failure(Exception):
    """db_stress did what it must not."""


def cache_uri(rng, storage, path):
    """The URI of our cache: all policies, compressions and ways of I/O."""
    options = {
        "policy": rng.choice(["2q", "2q", "2q_paper", "lru"]),
        "exclusive": rng.choice(["false", "true"]),
        "compression": rng.choice(["none", "none", "lz4", "zstd"]),
        "ghost_ratio": rng.choice(["-1", "-1", "0", "4"]),
    }
    if storage == "dram":
        options["capacity"] = rng.choice(["256K", "1M", "4M"])
        options["num_shard_bits"] = rng.choice(["-1", "0", "2"])
    else:
        # Seldom another capacity or number of shards: both format the file anew.
        options.update(
            storage="file",
            path=path,
            capacity=rng.choice(["4M", "4M", "4M", "6M"]),
            num_shard_bits=rng.choice(["1", "1", "1", "2"]),
            io=rng.choice(["auto", "pread", "pread", "pmem"]),
            direct_io=rng.choice(["true", "false"]),
            write_buffer_size=rng.choice(["64K", "16M"]),
            carry=rng.choice(["true", "false"]),
        )
    pairs = [f"{name}={value}" for name, value in options.items()]
    return ";".join(["id=TwoQSecondaryCache"] + pairs)


def fault_options(rng, fails):
    """One of so many calls that fails, as db_crashtest.py draws it; 0: none."""
    one_in = {
        "metadata_read": (0, 32, 1000),
        "metadata_write": (0, 128, 1000),
        "open_metadata_read": (0, 0, 8),
        "open_metadata_write": (0, 0, 8),
        "open_read": (0, 0, 32),
        "open_write": (0, 0, 16),
        "read": (0, 32, 1000),
        "write": (0, 128, 1000),
    }
    return {f"{name}_fault_one_in": rng.choice(numbers) if fails else 0
            for name, numbers in one_in.items()}


def history_options(rng):
    """What must stay the same as long as a database lives."""
    options = {
        "column_families": rng.choice([1, 2]),
        "compaction_style": rng.choice([0, 0, 1]),
        "max_key": rng.choice([30000, 100000]),
        "nooverwritepercent": 1,
        "seed": rng.randrange(1, 1 << 30),
        "test_batches_snapshots": 0,
        "use_put_entity_one_in": rng.choice([0, 0, 5]),
        "value_size_mult": 33,
    }
    if rng.random() < 0.25:
        options.update(enable_blob_files=1, min_blob_size=50, use_blob_cache=1,
                       use_shared_block_and_blob_cache=1)
    return options


def round_options(rng):
    """What may change whenever the database is opened.

    Where db_stress has a default of its own that does not go with the rest, it is given here.
    """
    index_type = rng.choice([0, 0, 2])  # 2: partitioned
    iterators = rng.choice([5, 10])
    return {
        "async_io": rng.randint(0, 1),
        "avoid_flush_during_recovery": rng.randint(0, 1),
        "backup_one_in": rng.choice([2000, 20000]),
        "block_protection_bytes_per_key": rng.choice([0, 8]),
        "block_size": rng.choice([1024, 4096, 16384]),
        "bloom_bits": rng.choice([0, 10]),
        "bottommost_compression_type": "disable",
        "cache_index_and_filter_blocks": rng.randint(0, 1),
        "cache_numshardbits": rng.choice([0, 2]),
        "cache_size": rng.choice([262144, 1048576]),
        "cache_type": rng.choice(["lru_cache", "lru_cache", "auto_hyper_clock_cache"]),
        "clear_column_family_one_in": 0,
        "checkpoint_one_in": rng.choice([2000, 20000]),
        "compact_files_one_in": 2000,
        "compact_range_one_in": 2000,
        "compression_type": rng.choice(["none", "lz4", "zstd"]),
        "data_block_index_type": rng.randint(0, 1),
        "delpercent": 4,
        "delrangepercent": 1,
        "destroy_db_initially": 0,
        "fill_cache": rng.choice([1, 1, 0]),
        "flush_one_in": 1000,
        "format_version": rng.choice([5, 6]),
        "get_live_files_apis_one_in": 10000,
        "index_type": index_type,
        "ingest_external_file_one_in": 2000,
        "iterpercent": iterators,
        "level_compaction_dynamic_level_bytes": rng.randint(0, 1),
        "max_background_compactions": 2,
        "max_bytes_for_level_base": 4 << 20,
        "mmap_read": rng.choice([0, 0, 0, 1]),
        "open_files": rng.choice([-1, -1, 100]),
        "optimize_multiget_for_io": rng.randint(0, 1),
        "paranoid_file_checks": rng.randint(0, 1),
        "partition_filters": rng.randint(0, 1) if index_type == 2 else 0,
        "prefix_size": -1,
        "prefixpercent": 0,
        "prepopulate_block_cache": rng.randint(0, 1),
        "readpercent": 60 - iterators,
        "secondary_cache_fault_one_in": rng.choice([0, 0, 0, 32]),
        "subcompactions": rng.choice([1, 2]),
        "target_file_size_base": rng.choice([256 << 10, 1 << 20]),
        "threads": 4,
        "uncache_aggressiveness": rng.choice([0, 0, 100]),
        "use_get_entity": rng.choice([0, 0, 1]),
        "use_multiget": rng.randint(0, 1),
        "verify_checksum_one_in": 10000,
        "verify_sst_unique_id_in_manifest": 1,
        "write_buffer_size": rng.choice([256 << 10, 1 << 20]),
        "writepercent": 35,
    }


# What only some versions of db_stress know.
OF_SOME_VERSIONS = {
    "remote_compaction_worker_threads": 0,  # RocksDB 11; its workers abort compactions at random
}


def known_options(program):
    """Names of the flags that this db_stress has."""
    text = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True).stdout
    return set(re.findall(r"^ +-(\w+) \(", text, re.MULTILINE))


def consistent(options):
    """RocksDB's rules, as in db_crashtest.py, of what goes together."""
    if options["mmap_read"]:
        options["use_direct_reads"] = 0
    if options["bloom_bits"] == 0:
        options["partition_filters"] = 0
    if options["write_fault_one_in"]:
        options["max_write_buffer_number"] = 10  # nothing is flushed while the DB resumes
    return options


def complaints(stderr):
    """What db_stress said on stderr, without its warnings."""
    return [line for line in stderr.splitlines() if line and not line.startswith("WARNING")]


class Stress:
    def __init__(self, arguments):
        self.arguments = arguments
        self.rng = random.Random(arguments.seed)
        self.folder = os.path.join(os.environ.get("TEST_TMPDIR", "."), "stress")
        self.rounds = self.kills = self.hits = self.histories = 0
        self.program = os.path.join(arguments.bin, "db_stress")
        known = known_options(self.program)
        self.of_this_version = {k: v for k, v in OF_SOME_VERSIONS.items() if k in known}

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, history, fails=False, **more):
        fails = fails and bool(os.environ.get("ROCKTIER_CRASH_FAULTS"))
        options = consistent(
            {**history, **round_options(self.rng), **fault_options(self.rng, fails),
             **self.of_this_version, **more}
        )
        options["db"] = self.path("db")
        options["expected_values_dir"] = self.path("expected")
        options["secondary_cache_uri"] = cache_uri(
            self.rng, self.arguments.storage, self.path("cache")
        )
        return [self.program] + [f"--{name}={value}" for name, value in sorted(options.items())]

    def run(self, command, seconds):
        """Runs db_stress; returns (killed, stdout). Raises Failure with the output."""
        self.rounds += 1
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=seconds)
                killed = False
            except subprocess.TimeoutExpired:
                process.kill()
                stdout, stderr = process.communicate()
                killed = process.returncode == -9
            if complaints(stderr) or not (killed or process.returncode == 0):
                raise Failure(
                    f"exit status {process.returncode}\n{' '.join(command)}\n"
                    f"--- stdout\n{stdout[-OUTPUT_SHOWN:]}\n--- stderr\n{stderr[-OUTPUT_SHOWN:]}"
                )
        return killed, stdout

    def kill_round(self, history):
        command = self.command(history, fails=True, ops_per_thread=100000000, reopen=0)
        seconds = self.rng.uniform(*KILL_AFTER)
        killed, stdout = self.run(command, seconds)
        if not killed:
            raise Failure(f"ended before it was killed\n{' '.join(command)}\n{stdout}")
        self.kills += 1

    def last_round(self, history):
        """Ends by itself, with a reopen on the way, and shows whether the cache was of use."""
        command = self.command(
            history, ops_per_thread=2000, reopen=1, statistics=1, secondary_cache_fault_one_in=0
        )
        killed, stdout = self.run(command, VERIFY_TIMEOUT)
        if killed:
            raise Failure(f"hangs: killed after {VERIFY_TIMEOUT} s\n{' '.join(command)}\n{stdout}")
        hits = [int(n)
                for n in re.findall(r"rocksdb\.secondary\.cache\.hits COUNT : (\d+)", stdout)]
        if not hits:
            raise Failure(f"no statistics\n{' '.join(command)}\n{stdout}")
        self.hits += max(hits)
        return max(hits)

    def history(self, deadline):
        self.histories += 1
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.path("expected"))
        options = history_options(self.rng)
        for _ in range(self.rng.choice([2, 3, 6])):
            self.kill_round(options)
            if time.monotonic() > deadline:
                break
        hits = self.last_round(options)
        print(f"history: {options}; {self.rounds} rounds so far; hits in the last: {hits}",
              flush=True)

    def main(self):
        deadline = time.monotonic() + self.arguments.seconds
        # On a slow machine the first history takes all the time, and chance may draw for it that
        # all blocks fit into the cache before.
        while time.monotonic() < deadline or (self.hits == 0 and self.histories < MOST_HISTORIES):
            self.history(deadline)
        print(f"{self.kills} kills, {self.hits} hits in the runs that were not killed")
        if self.hits == 0:
            raise Failure("the secondary cache never had a hit")
        shutil.rmtree(self.folder)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default=os.environ.get("ROCKTIER_BIN"), help="where db_stress is")
    parser.add_argument("--storage", choices=["dram", "file"], required=True)
    parser.add_argument(
        "--seconds", type=float,
        default=float(os.environ.get("ROCKTIER_CRASH_SECONDS") or 40 * SLOW)
    )
    parser.add_argument(
        "--seed", type=int, default=int(os.environ.get("ROCKTIER_SEED") or time.time_ns() % 1000000)
    )
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    print(f"seed {arguments.seed} (--seed, ROCKTIER_SEED)", flush=True)
    try:
        Stress(arguments).main()
    except Failure as failure:
        print(f"FAILED with seed {arguments.seed}: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
