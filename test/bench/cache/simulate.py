#!/usr/bin/env python3
"""Replays a trace of block accesses on cache policies of libCacheSim, with its authors' defaults.

Prints one JSON object: the hits of each policy, after the warm-up. Needs the package libcachesim.
Capacities are bytes of blocks: what a policy would need for its own book-keeping is free.
"""

import argparse
import array
import json
import os
import struct

import libcachesim

# Names of results -> classes of libcachesim.
POLICIES = {
    "sim_lru": "LRU",
    "sim_2q": "TwoQ",
    "sim_s3fifo": "S3FIFO",
    "sim_sieve": "Sieve",
    "sim_wtinylfu": "WTinyLFU",
    "sim_arc": "ARC",
    "sim_clock2qplus": "Clock2QPlus",
    "sim_belady": "Belady",
}
NEVER = (1 << 63) - 1
TICK = 1000  # accesses


def read(path):
    """(blocks, sizes) of a file as block_trace.h has it."""
    words = array.array("Q")
    with open(path, "rb") as file:
        words.frombytes(file.read())
    return words[0::2], words[1::2]


def next_accesses(blocks):
    """When each block is asked for next: what Belady's policy knows."""
    result, seen = array.array("q", bytes(8 * len(blocks))), {}
    for i in range(len(blocks) - 1, -1, -1):
        result[i] = seen.get(blocks[i], NEVER)
        seen[blocks[i]] = i
    return result


def convert(source, target):
    """Writes libCacheSim's own binary form; returns the number of accesses."""
    blocks, sizes = read(source)
    record = struct.Struct("<IQIq")
    with open(target, "wb") as file:
        for i, (block, size, later) in enumerate(zip(blocks, sizes, next_accesses(blocks))):
            file.write(record.pack(i // TICK, block, size, later))
    return len(blocks)


def hits_of(policy, trace, accesses, warmup, capacity):
    reader = libcachesim.TraceReader(trace, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    cache = getattr(libcachesim, policy)(cache_size=capacity)
    if warmup:
        cache.process_trace(reader, start_req=0, max_req=warmup)
        reader.reset()
    missed, _ = cache.process_trace(reader, start_req=warmup)
    return round((1 - missed) * (accesses - warmup))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", required=True)
    parser.add_argument("--warmup", type=int, default=0, help="accesses before the counted ones")
    parser.add_argument("--capacity", type=int, required=True, help="bytes")
    arguments = parser.parse_args()
    converted = arguments.trace + ".oracle"
    try:
        accesses = convert(arguments.trace, converted)
        print(json.dumps({name: hits_of(policy, converted, accesses, arguments.warmup,
                                        arguments.capacity) for name, policy in POLICIES.items()}))
    finally:
        os.unlink(converted)


if __name__ == "__main__":
    main()
