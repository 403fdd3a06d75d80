"""How much of what scans read of slow SSTs a scan has read a short time before.

A trace is RocksDB's own (DB::StartBlockCacheTrace(), db_bench --block_cache_trace_file): a record
of each look-up of a block in the block cache, with caller and level. Blocks are told apart by their
keys in the block cache, so one that a compaction has written anew is another block.
"""

import array
import collections
import dataclasses
import datetime
import math
import mmap
import re
import struct

MAGIC = b"feedcafedeadbeef"
# Of RocksDB: trace_record.h, table_reader_caller.h.
DATA_BLOCK = 9
GET, MULTI_GET, ITERATOR = 1, 2, 3
UNKNOWN_LEVEL = 0xffffffff

_HEAD = struct.Struct("<QBI")  # microseconds, what it is of, bytes that follow
_SIZE = struct.Struct("<QQB")  # of the block; column family, and the length of its name
_PLACE = struct.Struct("<IQBBB")  # level, SST, caller, was in the cache, not for the cache
# A compaction that moves an SST does not write it anew. Its tables' records have the old level.
_MOVED = re.compile(r"Original Log Time (\S+)\).* Moving #(\d+) to level-(\d+) ")


@dataclasses.dataclass
class Trace:
    """Look-ups of data blocks by clients, in their order: columns of one length."""

    blocks: array.array = dataclasses.field(default_factory=lambda: array.array("Q"))
    sizes: array.array = dataclasses.field(default_factory=lambda: array.array("Q"))
    levels: array.array = dataclasses.field(default_factory=lambda: array.array("I"))
    ssts: array.array = dataclasses.field(default_factory=lambda: array.array("Q"))
    scans: bytearray = dataclasses.field(default_factory=bytearray)  # 1: by an iterator
    cached: bytearray = dataclasses.field(default_factory=bytearray)  # 1: in the block cache

    def __len__(self):
        return len(self.blocks)

    def rows(self):
        return zip(self.blocks, self.sizes, self.levels, self.ssts, self.scans, self.cached)

    def read(self, scans_only):
        """(look-ups, bytes) that were not in the block cache."""
        sizes = [size for _, size, _, _, scan, cached in self.rows()
                 if not cached and (scan or not scans_only)]
        return len(sizes), sum(sizes)


def records(data):
    """(microseconds, block, size, level, SST, caller, cached) of each look-up of a data block."""
    at = _skip_header(data)
    while at < len(data):
        if at + _HEAD.size > len(data):
            raise ValueError("the trace ends early")
        time, what, length = _HEAD.unpack_from(data, at)
        start = at + _HEAD.size
        at = start + length
        if at > len(data):
            raise ValueError("the trace ends early")
        if what != DATA_BLOCK:
            continue
        place = start + 1 + data[start]
        size, _, name_length = _SIZE.unpack_from(data, place)
        level, sst, caller, cached, _ = _PLACE.unpack_from(data, place + _SIZE.size + name_length)
        yield time, data[start + 1:place], size, level, sst, caller, cached


def _skip_header(data):
    if len(data) < _HEAD.size:
        raise ValueError("the trace ends early")
    end = _HEAD.size + _HEAD.unpack_from(data)[2]
    if data[_HEAD.size + 1:_HEAD.size + 1 + len(MAGIC)] != MAGIC:
        raise ValueError("this is no trace of RocksDB")
    return end


def read(path, moves=None):
    """The Trace in a file; `moves`: see moves_of()."""
    moves, trace, numbers = moves or {}, Trace(), {}
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for time, block, size, level, sst, caller, cached in records(data):
            if caller not in (GET, MULTI_GET, ITERATOR):
                continue
            for moved, target in moves.get(sst, ()):
                level = target if time >= moved else level
            if level == UNKNOWN_LEVEL:
                raise ValueError(f"the trace does not say in which level SST {sst} is")
            trace.blocks.append(numbers.setdefault(block, len(numbers)))
            trace.sizes.append(size)
            trace.levels.append(level)
            trace.ssts.append(sst)
            trace.scans.append(caller == ITERATOR)
            trace.cached.append(cached)
    return trace


def moves_of(log):
    """{SST: [(microseconds, level)]} of those that were moved to another level, as a LOG has it."""
    result = {}
    with open(log, encoding="utf-8", errors="replace") as file:
        for time, sst, level in _MOVED.findall(file.read()):
            moved = datetime.datetime.strptime(time, "%Y/%m/%d-%H:%M:%S.%f").timestamp()
            result.setdefault(int(sst), []).append((round(moved * 1e6), int(level)))
    return result


class Recent:
    """The blocks that were read last, as many as have room; an LRU list.

    A block is in it if and only if the bytes of the different blocks since it was read, with its
    own, are not more than there is room for: its stack distance.
    """

    def __init__(self, room):
        self._room, self._bytes, self._sizes = room, 0, collections.OrderedDict()

    def read(self, block, size):
        """Whether it was in it; now it is the last one."""
        if block in self._sizes:
            self._sizes.move_to_end(block)
            return True
        self._sizes[block] = size
        self._bytes += size
        while self._bytes > self._room:
            self._bytes -= self._sizes.popitem(last=False)[1]
        return False


@dataclasses.dataclass
class Found:
    """Bytes of blocks of slow SSTs that scans asked for, in the second half of a trace."""

    asked: int = 0
    repeated: int = 0  # of these, read a short time before
    read: int = 0  # of asked, not in the block cache
    served: int = 0  # of these, read a short time before
    renewed: int = 0  # of asked, never read before, in an SST that was made after the start

    def shares(self):
        return {"repeated_share": _share(self.repeated, self.asked),
                "served_share": _share(self.served, self.read)}


def find(trace, slow, room=math.inf, newest=math.inf, of_all=False):
    """What scans find again of levels from `slow` on; the first half of the trace fills the room.

    `newest`: number of the newest SST when the trace began. `of_all`: point reads and the other
    levels take room as well, as in a block cache.
    """
    found, recent, start = Found(), Recent(room), len(trace) // 2
    for number, (block, size, level, sst, scan, cached) in enumerate(trace.rows()):
        of_slow = scan and level >= slow
        if not of_slow and not of_all:
            continue
        again = recent.read(block, size)
        if number < start or not of_slow:
            continue
        found.asked += size
        found.repeated += size * again
        found.read += size * (not cached)
        found.served += size * (again and not cached)
        found.renewed += size * (not again and sst > newest)
    return found


def scans_among_reads(trace, slow):
    """Of the bytes of slow SSTs that clients ask for, and of those they read, what is for scans."""
    bytes_of = collections.Counter()
    for _, size, level, _, scan, cached in trace.rows():
        if level >= slow:
            bytes_of["asked", scan] += size
            bytes_of["read", scan] += size * (not cached)
    return {f"scans_of_{what}": _share(bytes_of[what, 1], bytes_of[what, 0] + bytes_of[what, 1])
            for what in ("asked", "read")}


def read_twice(trace, slow):
    """Of the slow blocks that were scanned, the share that was scanned twice or more, in bytes.

    An iterator looks each block up once, so two look-ups are two scans.
    """
    times, size_of = collections.Counter(), {}
    for block, size, level, _, scan, _ in trace.rows():
        if scan and level >= slow:
            times[block] += 1
            size_of[block] = size
    twice = sum(size for block, size in size_of.items() if times[block] > 1)
    return _share(twice, sum(size_of.values()))


def counted_part(trace):
    """What part of all look-ups by scans is in the second half."""
    start = len(trace) // 2
    return _share(sum(trace.scans[start:]), sum(trace.scans))


def _share(part, whole):
    return part / whole if whole else 0.0
