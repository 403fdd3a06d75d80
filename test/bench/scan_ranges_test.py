#!/usr/bin/env python3
"""What scans find again in a trace is what one finds by hand.

Traces are written here, in RocksDB's format.
"""

import os
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hot import scan_ranges  # noqa: E402

SEED = 5
COMPACTION, INDEX_BLOCK = 10, 7
SLOW = 2  # the first slow level
HEADER = struct.pack("<QBI", 1, 1, 25) + b"\x10" + scan_ranges.MAGIC + struct.pack("<II", 9, 10)


def record(block, size=10, level=3, sst=7, caller=scan_ranges.ITERATOR, cached=0, time=100,
           what=scan_ranges.DATA_BLOCK):
    """As BlockCacheTraceWriterImpl::WriteBlockAccess() writes one."""
    key = block.encode()
    payload = struct.pack("<B", len(key)) + key + struct.pack("<QQB", size, 0, 7) + b"default"
    payload += struct.pack("<IQBBB", level, sst, caller, cached, 0)
    if caller == scan_ranges.GET:
        payload += struct.pack("<QBB", 1, 0, 3) + b"key" + struct.pack("<QQB", 5, 4, 1)
    return struct.pack("<QBI", time, what, len(payload)) + payload


def distance(before, block):
    """Bytes of the different blocks since it was read, with its own; None if it never was."""
    seen = {}
    for other, size in reversed(before):
        seen[other] = size
        if other == block:
            return sum(seen.values())
    return None


class ScanRangesTest(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile(delete=False) as file:
            self.path = file.name
        self.addCleanup(os.unlink, self.path)

    def trace(self, *some, moves=None):
        with open(self.path, "wb") as file:
            file.write(HEADER + b"".join(some))
        return scan_ranges.read(self.path, moves)

    def scans(self, text, **more):
        return [record(block, **more) for block in text]

    def test_what_is_repeated_by_room(self):
        # The first half is not counted. In the second: c after b, a (30 bytes with its own); d
        # never before; a after c, d (30); a at once (10); x never before.
        trace = self.trace(*self.scans("abcba"), *self.scans("cdaax"))
        for room, blocks in ((9, 0), (10, 1), (29, 1), (30, 3), (1000, 3)):
            found = scan_ranges.find(trace, SLOW, room)
            self.assertEqual((found.asked, found.repeated), (50, 10 * blocks), room)

    def test_what_the_block_cache_had_is_not_read(self):
        trace = self.trace(*self.scans("ab"), record("a", cached=1), record("b"))
        found = scan_ranges.find(trace, SLOW)
        self.assertEqual((found.asked, found.repeated, found.read, found.served), (20, 20, 10, 10))
        self.assertEqual(found.shares(), {"repeated_share": 1, "served_share": 1})
        self.assertEqual(trace.read(scans_only=True), (3, 30))

    def test_fast_levels_and_point_reads(self):
        get = scan_ranges.GET
        some = [record("a"), record("b"), record("c"), *self.scans("xyz", level=1),
                record("p", caller=get), record("q", caller=get, cached=1), record("a"),
                record("y", level=1)]
        trace = self.trace(*some)
        # Alone: a after b, c. With all: after seven others.
        for room, of_all, repeated in ((30, False, 10), (29, False, 0), (80, True, 10),
                                       (79, True, 0)):
            found = scan_ranges.find(trace, SLOW, room, of_all=of_all)
            self.assertEqual((found.asked, found.repeated), (10, repeated), (room, of_all))
        self.assertEqual(scan_ranges.scans_among_reads(trace, SLOW),
                         {"scans_of_asked": 40 / 60, "scans_of_read": 40 / 50})
        self.assertEqual(scan_ranges.counted_part(trace), 3 / 8)

    def test_other_callers_and_blocks_are_left_out(self):
        trace = self.trace(record("a", caller=COMPACTION), record("i", what=INDEX_BLOCK),
                           record("a"))
        self.assertEqual(list(trace.rows()), [(0, 10, 3, 7, 1, 0)])

    def test_blocks_that_are_scanned_twice(self):
        trace = self.trace(record("a", size=30), record("b"), record("a", size=30),
                           record("c", level=1), record("c", level=1),
                           record("b", caller=scan_ranges.GET))
        self.assertEqual(scan_ranges.read_twice(trace, SLOW), 30 / 40)

    def test_blocks_that_a_compaction_has_made(self):
        # e and f are new, f in an SST that was there before; e is read again.
        trace = self.trace(*self.scans("abcd"), record("a"), record("e", sst=8), record("f"),
                           record("e", sst=8))
        found = scan_ranges.find(trace, SLOW, newest=7)
        self.assertEqual((found.asked, found.repeated, found.renewed), (40, 20, 10))

    def test_an_sst_that_was_moved(self):
        log = ("2026/01/02-03:04:05.000009 12 (Original Log Time 2026/01/02-03:04:05.000006) "
               "[db/x.cc:3831] [default] Moving #7 to level-2 209469 bytes\n")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(log + log.replace("Moving #7 to", "Moved #1 files to"))
        moves = scan_ranges.moves_of(self.path)
        (moved, level), = moves.pop(7)
        self.assertEqual((moved % 10**6, level, moves), (6, 2, {}))
        trace = self.trace(record("a", level=1, time=moved - 1), record("a", level=1, time=moved),
                           record("b", level=1, sst=8, time=moved), moves={7: [(moved, level)]})
        self.assertEqual(list(trace.levels), [1, 2, 1])

    def test_room_is_the_stack_distance(self):
        print(f"seed {SEED}")
        rng = random.Random(SEED)
        size_of = {block: rng.randint(1, 50) for block in "abcdefghijklmnopqrst"}
        blocks = [min(rng.choices(list(size_of), k=2)) for _ in range(400)]
        accesses = [(block, size_of[block]) for block in blocks]
        trace = self.trace(*(record(block, size=size) for block, size in accesses))
        for room in (1, 40, 100, 200, 400, 1000):
            expected = 0
            for number in range(len(accesses) // 2, len(accesses)):
                block, size = accesses[number]
                away = distance(accesses[:number], block)
                expected += size if away is not None and away <= room else 0
            self.assertEqual(scan_ranges.find(trace, SLOW, room).repeated, expected, room)

    def test_what_is_no_whole_trace_is_refused(self):
        with self.assertRaisesRegex(ValueError, "level"):
            self.trace(record("a", level=scan_ranges.UNKNOWN_LEVEL))
        for end in (1, 13, 30):
            with self.assertRaisesRegex(ValueError, "ends early"):
                self.trace(record("a"), record("b")[:-end])
        with open(self.path, "wb") as file:
            file.write(HEADER.replace(b"feed", b"food"))
        with self.assertRaisesRegex(ValueError, "no trace"):
            scan_ranges.read(self.path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
