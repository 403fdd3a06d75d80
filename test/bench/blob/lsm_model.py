"""A model of RocksDB's tree with blob files: which bytes are where, and what compactions do.

A put has a number. Known of it are the place of its key in the order of keys, the size of its value
and the number of the put that overwrites it. Everything is done one after the other: a flush, then
the compactions that RocksDB picks by itself, then those of somebody else.
"""

import collections
import dataclasses
import itertools
import random
from bisect import bisect_left, bisect_right

# As blob_driver and PrepareForBlobs() set them.
MEMTABLE = 512 << 10
ARENA_BLOCK = MEMTABLE // 8
SST_BYTES = 256 << 10
BASE = 2 << 20
FACTOR = 4
LEVELS = 7
LEVEL0_FILES = 16
LARGE = 512  # bytes of a value from which on it is in a blob file always

KEY = 24
HEADER = 32  # of a value in a blob file, which has its key as well
BLOB_FILE = 30 + 32  # header and footer of a file
REFERENCE = 9  # in the place of a value
# As measured in the files of blob_driver: of an entry besides its value, in a memtable and in a
# block, where keys have much in common; of a block; of an SST's properties.
IN_MEMTABLE, IN_BLOCK = 59, 26
BLOCK, OF_BLOCK = 4096, 25
PROPERTIES, OF_REFERENCE, OF_ENTRY = 1230, 10, 1.6

NEVER = 1 << 62  # the number of a put
BITS = 32  # an entry of an SST is a number: the key's place, and in these bits the put
PUT = (1 << BITS) - 1


class Writes:
    """The puts of a trace, in lists by number: `keys`, `sizes` of the values, and `deaths`."""

    def __init__(self, records, sizes, loaded):
        self.sizes, self.loaded = sizes, loaded  # so many of them are the load
        self.records = max(records) + 1
        places = list(range(self.records))
        random.Random(1).shuffle(places)
        self.keys = [places[record] for record in records]
        self.deaths = [NEVER] * len(records)
        self.before = [None] * len(records)  # the put that each one overwrites
        newest = {}
        for put, record in enumerate(records):
            self.before[put] = newest.get(record)
            if record in newest:
                self.deaths[newest[record]] = put
            newest[record] = put

    def stored(self, put):
        """Bytes of its value in a blob file."""
        return HEADER + KEY + self.sizes[put]


class Blob:
    def __init__(self, number, values, size, flushed=False):
        self.number, self.values, self.bytes, self.garbage = number, values, size, 0
        self.young = flushed  # no compaction has sorted its values yet
        self.rest = None  # live bytes when what lives long was moved out of it

    @property
    def file_bytes(self):
        return self.bytes + BLOB_FILE

    @property
    def live(self):
        """Bytes that SSTs refer to: all that RocksDB knows."""
        return self.bytes - self.garbage

    def let_rest(self):
        self.young, self.rest = False, max(self.live, 1)


@dataclasses.dataclass
class Sst:
    number: int
    level: int
    entries: list  # by key
    bytes: int
    user_bytes: int
    references: dict  # bytes by blob file
    medium_bytes: int  # of these, those of medium values

    @property
    def smallest(self):
        return self.entries[0] >> BITS

    @property
    def largest(self):
        return self.entries[-1] >> BITS


@dataclasses.dataclass
class Entries:
    """Sums over entries of SSTs."""

    blobs: int = 0  # whose value is in a blob file
    blob_bytes: int = 0
    inline: int = 0  # the others
    inline_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Aim:
    """What a compaction moves: values of some blob files, and medium ones to SSTs."""

    victims: frozenset = frozenset()
    medium: bool = False  # also those of the victims
    merge_level: int = LEVELS  # and all of them from this output level on
    young: bool = False  # what the policy says of files of which the values were never sorted


class Tree:
    """`policy` says which values go to one blob file; `watch` is called when files have changed."""

    def __init__(self, writes, policy, blob_file_bytes, watch):
        self.writes, self.watch = writes, watch
        self._policy, self._blob_file_bytes = policy, blob_file_bytes
        self.now = 0  # puts that have been flushed
        self.levels = [[] for _ in range(LEVELS)]  # but for level 0 by key
        self.blobs = {}  # by number
        self.place = [0] * len(writes.sizes)  # of a value: its blob file, or 0
        self.counters = collections.Counter()
        self.sst_bytes = self.sst_user_bytes = self.medium_bytes = 0
        self.blob_file_bytes = self.value_bytes = self.garbage_bytes = 0
        self.all, self.hidden = Entries(), Entries()  # hidden: by a newer one of another SST
        self._weights = [IN_BLOCK + size for size in writes.sizes]  # of an entry in a block
        self._newest = [None] * writes.records  # put, by key; of SSTs
        self._numbers = itertools.count(1)
        self._cursors = [0] * LEVELS

    @property
    def disk_bytes(self):
        return self.sst_bytes + self.blob_file_bytes

    @property
    def last_level(self):
        return max((n for n in range(LEVELS) if self.levels[n]), default=0)

    def ssts(self):
        return itertools.chain(*self.levels)

    def flush(self, puts, separated):
        """Values from `separated` bytes on go to blob files."""
        self.now = puts[-1] + 1
        latest = {self.writes.keys[put]: put for put in puts}
        entries = sorted(key << BITS | put for key, put in latest.items())
        self._write_values([entry & PUT for entry in entries
                            if self.writes.sizes[entry & PUT] >= separated], "flushed_blob_bytes")
        for entry in entries:
            old = self._newest[entry >> BITS]
            if old is not None:
                self._count(self.hidden, old, 1)
            self._newest[entry >> BITS] = entry & PUT
            self._count(self.all, entry & PUT, 1)
        self._add_ssts(entries, 0)
        self.counters["flushes"] += 1
        self.watch()

    def compact(self, inputs, output_level, aim):
        """With what overlaps with the inputs. Returns the numbers of the outputs."""
        inputs = self._expanded(inputs, output_level)
        entries = sorted(itertools.chain(*(sst.entries for sst in inputs)))
        kept = list({entry >> BITS: entry for entry in entries}.values())
        for entry in set(entries).difference(kept) if len(kept) < len(entries) else ():
            for sums in (self.all, self.hidden):
                self._count(sums, entry & PUT, -1)
            self._drop_value(entry & PUT)
        puts = [entry & PUT for entry in kept]
        self._merge(puts, output_level, aim)
        self._move(puts, aim.victims, aim.young and inputs[0].level == 0)
        for sst in inputs:
            self._remove(sst)
        outputs = self._add_ssts(kept, output_level)
        self._drop_files()
        self.counters["compactions"] += 1
        self.watch()
        return outputs

    def overlapping(self, level, smallest, largest):
        return [sst for sst in self.levels[level]
                if sst.largest >= smallest and sst.smallest <= largest]

    def scan_shares(self):
        """Of all records, those whose value is in a blob file; and those where that does not follow
        the value of the one before."""
        places = {put: (blob.number, i) for blob in self.blobs.values()
                  for i, put in enumerate(blob.values)}
        puts = [put for put in self._newest if put is not None]
        values = [places[put] for put in puts if self.place[put]]
        breaks = sum(value != (before[0], before[1] + 1)
                     for before, value in zip([(0, 0), *values], values))
        return len(values) / len(puts), breaks / len(puts)

    def _expanded(self, inputs, output_level):
        inputs = list(inputs)
        for level in range(inputs[0].level + 1, output_level + 1):
            smallest = min(sst.smallest for sst in inputs)
            largest = max(sst.largest for sst in inputs)
            known = {sst.number for sst in inputs}
            inputs += [sst for sst in self.overlapping(level, smallest, largest)
                       if sst.number not in known]
        return inputs

    def _merge(self, puts, output_level, aim):
        """Puts medium values into SSTs."""
        everywhere = output_level >= aim.merge_level
        if not self.medium_bytes or not (everywhere or aim.medium):
            return
        files = self.blobs if everywhere else aim.victims
        sizes = self.writes.sizes
        for put in [put for put in puts if self.place[put] in files and sizes[put] < LARGE]:
            sums = [self.all]
            if self._newest[self.writes.keys[put]] != put:
                sums.append(self.hidden)
            for one in sums:
                self._count(one, put, -1)
            self._drop_value(put)
            self.place[put], self._weights[put] = 0, IN_BLOCK + sizes[put]
            for one in sums:
                self._count(one, put, 1)
            self.counters["merged_bytes"] += sizes[put]

    def _move(self, puts, victims, sorts_young):
        sizes = self.writes.sizes
        moved = [put for put in puts if self.place[put] in victims and sizes[put] >= LARGE]
        if moved:
            moved = self._policy.moves(moved, self)
        young = {}
        if sorts_young:
            young = {blob.number: blob for blob in self.blobs.values()
                     if blob.young and blob.number not in victims}
            moved = set(moved).union(self._policy.old_ones(
                [put for put in puts if self.place[put] in young and sizes[put] >= LARGE], self))
            moved = [put for put in puts if put in moved]
        for put in moved:
            self._drop_value(put)
            self.counters["moved_bytes"] += sizes[put]
            self.counters["moved_dead_bytes"] += sizes[put] * (self.writes.deaths[put] < self.now)
        for blob in young.values():
            blob.let_rest()
        self._write_values(moved, "moved_blob_bytes")

    def _write_values(self, puts, counter):
        for group in self._policy.files(puts, self.now) if puts else ():
            for values in self._cut_values(group):
                size = sum(map(self.writes.stored, values))
                blob = Blob(next(self._numbers), values, size, counter == "flushed_blob_bytes")
                self.blobs[blob.number] = blob
                for put in values:
                    self.place[put], self._weights[put] = blob.number, IN_BLOCK + REFERENCE
                self.value_bytes += size
                self.blob_file_bytes += blob.file_bytes
                self.counters[counter] += blob.file_bytes
                self.counters["made_blob_files"] += 1

    def _cut_values(self, puts):
        start, size = 0, 0
        for i, put in enumerate(puts):
            size += self.writes.stored(put)
            if size >= self._blob_file_bytes:
                yield puts[start:i + 1]
                start, size = i + 1, 0
        if start < len(puts):
            yield puts[start:]

    def _drop_value(self, put):
        if self.place[put]:
            self.blobs[self.place[put]].garbage += self.writes.stored(put)
            self.garbage_bytes += self.writes.stored(put)

    def _drop_files(self):
        for blob in [blob for blob in self.blobs.values() if blob.garbage == blob.bytes]:
            del self.blobs[blob.number]
            self.value_bytes -= blob.bytes
            self.garbage_bytes -= blob.garbage
            self.blob_file_bytes -= blob.file_bytes

    def _count(self, sums, put, times):
        size = self.writes.sizes[put]
        if self.place[put]:
            sums.blobs += times
            sums.blob_bytes += times * (HEADER + KEY + size)
        else:
            sums.inline += times
            sums.inline_bytes += times * (KEY + size)

    def _add_ssts(self, entries, level):
        if not entries:
            return []
        ends = list(itertools.accumulate([self._weights[entry & PUT] for entry in entries]))
        edges = []  # of SSTs of the level below
        if 0 < level < LEVELS - 1:
            edges = [bisect_left(entries, key << BITS) for sst in self.levels[level + 1]
                     for key in (sst.smallest, sst.largest + 1)]
        start, written, numbers = 0, 0, []
        while start < len(entries):
            stop = cut(ends, edges, start, written) if level else len(entries)
            self._add(self._sst(entries[start:stop], level, ends[stop - 1] - written))
            numbers.append(self.levels[level][-1].number)
            start, written = stop, ends[stop - 1]
        self.levels[level].sort(key=lambda sst: sst.smallest if level else -sst.number)
        return numbers

    def _sst(self, entries, level, data):
        references, medium = {}, 0
        for put in [entry & PUT for entry in entries]:
            number = self.place[put]
            if number:
                size = self.writes.sizes[put]
                references[number] = references.get(number, 0) + HEADER + KEY + size
                medium += HEADER + KEY + size if size < LARGE else 0
        size = int(-(-data // BLOCK) * (BLOCK + OF_BLOCK) + PROPERTIES +
                   OF_REFERENCE * len(references) + OF_ENTRY * len(entries))
        raw = data - (IN_BLOCK - KEY) * len(entries)
        user = min(max(raw, size - size // 10), size)
        return Sst(next(self._numbers), level, entries, size, user, references, medium)

    def _add(self, sst):
        self.levels[sst.level].append(sst)
        self._sum(sst, 1)

    def _remove(self, sst):
        self.levels[sst.level] = [one for one in self.levels[sst.level] if one is not sst]
        self._sum(sst, -1)

    def _sum(self, sst, times):
        self.sst_bytes += times * sst.bytes
        self.sst_user_bytes += times * sst.user_bytes
        self.medium_bytes += times * sst.medium_bytes
        self.counters["written_sst_bytes"] += sst.bytes if times > 0 else 0

    def shape(self):
        """(base level, most bytes of each level, the deepest level that is not needed), as
        VersionStorageInfo::CalculateBaseBytes() has them."""
        totals = self._totals()
        most, filled = [NEVER] * LEVELS, [n for n in range(1, LEVELS) if totals[n]]
        if not filled:
            return LEVELS - 1, most, 0
        size, base, unneeded = max(totals[1:]), filled[0], 0
        for level in range(LEVELS - 2, base - 1, -1):
            size //= FACTOR
            if not unneeded and size <= BASE // FACTOR:
                unneeded = level
        if size <= BASE // FACTOR:
            size = BASE // FACTOR + 1
        else:
            while base > 1 and size > BASE:
                base, size = base - 1, size // FACTOR
            size = min(max(size, 1), BASE)
        for level in range(base, LEVELS):
            most[level] = max(size * FACTOR ** (level - base), BASE)
        return base, most, unneeded

    def next_compaction(self):
        """(inputs, output level) of what RocksDB compacts by itself; None: nothing."""
        base, most, unneeded = self.shape()
        score, level = self._score(base, most, unneeded)
        if score < 1:
            return None
        if level == 0:
            return self.levels[0], base
        return self._next_of(level, self._totals()[level] - most[level]), level + 1

    def _totals(self):
        return [sum(sst.bytes for sst in level) for level in self.levels]

    def _score(self, base, most, unneeded):
        """The best score and its level: VersionStorageInfo::ComputeCompactionScore()."""
        totals = self._totals()
        score = len(self.levels[0]) / LEVEL0_FILES
        if totals[0] >= BASE:
            score = max(score, 1.01)
        if totals[0] > most[base]:
            score = max(score, totals[0] / max(totals[base], most[base]))
        scores, coming = [score * 10 if score > 1 else score], totals[0]
        for level in range(1, LEVELS - 1):
            score = totals[level] / most[level]
            if score >= 1:
                score = totals[level] / (most[level] + coming) * 10
            if totals[level] and level <= unneeded:
                score = max(score, 10 * (1.001 + 0.001 * (unneeded - level)))
            coming += totals[level] if level <= unneeded else max(0, totals[level] - most[level])
            scores.append(score)
        best = max(scores)
        return best, scores.index(best)

    def _next_of(self, level, excess):
        """Round robin: as many as there are too many bytes of."""
        files, cursor = self.levels[level], self._cursors[level]
        start = next((i for i, sst in enumerate(files) if sst.smallest >= cursor), 0)
        stop, taken = start, 0
        while stop < len(files) and (stop == start or taken < excess):
            taken += files[stop].bytes
            stop += 1
        self._cursors[level] = files[stop].smallest if stop < len(files) else 0
        return files[start:stop]


def cut(ends, edges, start, written):
    """Where an SST ends: when it is full, or half full and more at an edge of one below. `ends`:
    bytes to the end of each entry, `written` of them before `start`."""
    full = min(bisect_left(ends, written + SST_BYTES) + 1, len(ends))
    for passed, edge in enumerate(edges[bisect_right(edges, start):], 1):
        if edge >= full:
            break
        if ends[edge - 1] - written >= SST_BYTES * min(90, 50 + 5 * passed) // 100:
            return edge
    return full
