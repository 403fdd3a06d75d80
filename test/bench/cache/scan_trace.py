"""A made-up trace of scans: YCSB's workload E, without its inserts.

A scan begins at a key by Zipf's law (0.99; popular keys are spread over the key space, as in YCSB)
and has 1 to 100 keys, all lengths alike. Four keys of 1 KB are in a block.
"""

import array
import random

THETA = 0.99
MOST = 100  # keys of a scan
KEYS_OF_BLOCK = 4
BLOCK = 4096  # bytes


class Zipf:
    """Ranks from 0 (Gray et al., "Quickly generating billion-record synthetic databases")."""

    def __init__(self, count, theta, rng):
        self._count, self._rng = count, rng
        self._half = 1 + 0.5 ** theta
        self._zeta = sum(1 / (rank + 1) ** theta for rank in range(count))
        self._alpha = 1 / (1 - theta)
        self._eta = (1 - (2 / count) ** (1 - theta)) / (1 - self._half / self._zeta)

    def next(self):
        chance = self._rng.random()
        scaled = chance * self._zeta
        if scaled < 1:
            return 0
        if scaled < self._half:
            return 1
        return int(self._count * (self._eta * chance - self._eta + 1) ** self._alpha)


def write(path, keys, scans, seed):
    """Writes the trace as block_trace.h has it; returns (blocks of all keys, accesses)."""
    rng = random.Random(seed)
    zipf = Zipf(keys, THETA, rng)
    places = list(range(keys))
    rng.shuffle(places)
    accesses = array.array("Q")
    for _ in range(scans):
        first = places[min(zipf.next(), keys - 1)]
        last = min(first + rng.randint(1, MOST), keys) - 1
        for block in range(first // KEYS_OF_BLOCK, last // KEYS_OF_BLOCK + 1):
            accesses.extend((block + 1, BLOCK))
    with open(path, "wb") as out:
        accesses.tofile(out)
    return -(-keys // KEYS_OF_BLOCK), len(accesses) // 2
