#!/usr/bin/env python3
"""Replays a trace of puts on a model of blob_hybrid, and on policies that know when values die.

Prints one JSON object: figures of the run of each system, the load left out. A trace is a file as
write_trace.h has it.
"""

import argparse
import itertools
import json
import math
import multiprocessing
import os
import struct
import sys
from bisect import bisect_left, bisect_right

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from blob import hybrid_model, lsm_model  # noqa: E402

WRITE = struct.Struct("=QII")
LOAD, RUN = 0, 1
SOON = 0.2  # of a write of each record
FEW = 0.5  # of a file's live bytes
SCAN = 50  # records
DIED = 0.5  # the rest of what rests


class Today:
    """What blob_hybrid does. The others say what is different."""

    moves_a_part = False  # of the values of a victim; the file rests afterwards
    sorts_young = False  # compactions of level 0 move old_ones() of what was flushed
    collects_all_in_need = False  # also what may_collect() spares, if there is nothing else

    def __init__(self, writes):
        self.writes = writes

    def files(self, puts, _now):
        """The values, as far as each blob file has them together."""
        return [puts]

    def may_collect(self, _blob, _now):
        """Tells whether a file may be collected that has enough garbage."""
        return True

    def moves(self, puts, _tree):
        """Which of these values of victims are moved."""
        return puts


class Split(Today):
    """Files of values that die at about the same time: as many bytes in each class."""

    def __init__(self, writes, classes):
        super().__init__(writes)
        self._classes = classes

    def remaining(self, put, now):
        return self.writes.deaths[put] - now

    def files(self, puts, now):
        puts = sorted(puts, key=lambda put: self.remaining(put, now))
        total, done = sum(map(self.writes.stored, puts)), 0
        groups = [[] for _ in range(self._classes)]
        for put in puts:
            groups[done * self._classes // total].append(put)
            done += self.writes.stored(put)
        return [group for group in groups if group]


class SplitRun(Split):
    """Split that knows nothing while the database is loaded."""

    def files(self, puts, now):
        return super().files(puts, now) if now > self.writes.loaded else [puts]


class SplitRates(Split):
    """Split that knows how often a record is written in all of the trace, and not when."""

    def __init__(self, writes, classes):
        super().__init__(writes, classes)
        self._counts = [0] * writes.records
        for key in writes.keys:
            self._counts[key] += 1

    def remaining(self, put, _now):
        return 1 / self._counts[self.writes.keys[put]]


class SplitPast(Split):
    """Split that knows the past alone: a value lives as long as the one before it did; one that has
    lived longer, twice as long as it has."""

    def remaining(self, put, now):
        before = self.writes.before[put]
        left = lsm_model.NEVER if before is None else put + (put - before) - now
        return left if left > 0 else now - put


class Pick(Split):
    """Blob files are left alone of whose live values most die soon. With classes it splits, too."""

    def __init__(self, writes, classes=1):
        super().__init__(writes, classes)
        self._soon = int(SOON * writes.records)
        self._deaths = {}  # of a file: of its values, and what is alive then

    def may_collect(self, blob, now):
        if blob.number not in self._deaths:
            self._deaths[blob.number] = self._deaths_of(blob)
        deaths, alive = self._deaths[blob.number]
        return alive[bisect_right(deaths, now + self._soon)] > FEW * blob.live

    def _deaths_of(self, blob):
        values = sorted(blob.values, key=self.writes.deaths.__getitem__)
        alive = [blob.bytes]
        for put in values:
            alive.append(alive[-1] - self.writes.stored(put))
        return [self.writes.deaths[put] for put in values], alive


class OneStream:
    """As RocksDB is: what a flush or a compaction writes to blob files it writes in one stream. A
    file rests when what lives longest was moved out of it, until most of the rest has died."""

    collects_all_in_need = True
    files = Today.files

    def may_collect(self, blob, _now):
        return blob.rest is None or blob.live <= DIED * blob.rest

    def old_ones(self, puts, tree):
        """Half of the bytes: those that live longest."""
        puts = sorted(puts, key=lambda put: -self.remaining(put, tree.now))
        ends = list(itertools.accumulate(map(self.writes.stored, puts)))
        return puts[:bisect_left(ends, ends[-1] / 2) + 1] if puts else []


class PartMixin(OneStream):
    """A job moves half of the values of a victim that it takes for the first time."""

    moves_a_part = True

    def moves(self, puts, tree):
        first = [put for put in puts if tree.blobs[tree.place[put]].rest is None]
        left = set(first).difference(self.old_ones(first, tree))
        return [put for put in puts if put not in left]


class YoungMixin(OneStream):
    """Half of what was flushed is moved when RocksDB compacts level 0 anyway, near the bound."""

    sorts_young = True


class PartDeaths(PartMixin, Split):
    pass


class PartRates(PartMixin, SplitRates):
    pass


class PartPast(PartMixin, SplitPast):
    pass


class YoungDeaths(YoungMixin, Split):
    pass


class YoungRates(YoungMixin, SplitRates):
    pass


class YoungPast(YoungMixin, SplitPast):
    pass


# Name: (policy of the puts, the job keeps up with the writers).
SYSTEMS = {
    "sim_today": (Today, False),
    "sim_today_early": (Today, True),
    "sim_split2": (lambda writes: Split(writes, 2), False),
    "sim_split4": (lambda writes: Split(writes, 4), False),
    "sim_split8": (lambda writes: Split(writes, 8), False),
    "sim_pick": (Pick, False),
    "sim_both8": (lambda writes: Pick(writes, 8), False),
    "sim_run4": (lambda writes: SplitRun(writes, 4), False),
    "sim_rates4": (lambda writes: SplitRates(writes, 4), False),
    "sim_past4": (lambda writes: SplitPast(writes, 4), False),
    "sim_part_deaths": (lambda writes: PartDeaths(writes, 2), False),
    "sim_part_rates": (lambda writes: PartRates(writes, 2), False),
    "sim_part_past": (lambda writes: PartPast(writes, 2), False),
    "sim_young_deaths": (lambda writes: YoungDeaths(writes, 2), False),
    "sim_young_rates": (lambda writes: YoungRates(writes, 2), False),
    "sim_young_past": (lambda writes: YoungPast(writes, 2), False),
}


class Database:
    """Puts go to a memtable, which is flushed when it is full."""

    def __init__(self, writes, policy, options, blob_file_bytes, early):
        self._writes, self._policy, self._options, self._early = writes, policy, options, early
        self._tree = lsm_model.Tree(writes, policy, blob_file_bytes, self._look)
        self._job = hybrid_model.Job(self._tree, options, policy)
        self._memtable, self._memtable_bytes = [], 0
        self._live, self._sizes = 0, [0] * writes.records  # of the latest versions
        self._updates, self._spaces, self._counted = 0, [], {}

    def put(self, put):
        key, size = self._writes.keys[put], self._writes.sizes[put]
        self._live += size - self._sizes[key] + (0 if self._sizes[key] else lsm_model.KEY)
        self._sizes[key] = size
        self._updates += lsm_model.KEY + size
        self._memtable.append(put)
        self._memtable_bytes += lsm_model.IN_MEMTABLE + size
        if self._memtable_bytes >= lsm_model.MEMTABLE - lsm_model.ARENA_BLOCK // 4:
            self._flush()

    def settle(self):
        if self._memtable:
            self._flush()
        self._job.settle()

    def reopen(self):
        """What is counted begins here."""
        self._job = hybrid_model.Job(self._tree, self._options, self._policy)
        self._counted = dict(self._tree.counters)
        self._updates, self._spaces = 0, []
        self._look()

    def figures(self):
        in_blobs, apart = self._tree.scan_shares()
        counters = {name: count - self._counted.get(name, 0)
                    for name, count in self._tree.counters.items()}
        return {
            **dict.fromkeys(("moved_bytes", "moved_dead_bytes", "moved_blob_bytes",
                             "merged_bytes"), 0),
            **counters, "jobs": self._job.counters["jobs"], "update_bytes": self._updates,
            "space_max": max(self._spaces),
            "space_mean": math.fsum(self._spaces) / len(self._spaces),
            "space_end": self._spaces[-1], "blob_files": len(self._tree.blobs),
            "scan_values": SCAN * in_blobs, "scan_reads": SCAN * apart,
            "sst_bytes": self._tree.sst_bytes, "blob_bytes": self._tree.blob_file_bytes,
        }

    def _flush(self):
        if not self._early:
            self._job.wait_for_room()
        separated = self._options.medium or lsm_model.LARGE
        self._tree.flush(self._memtable, lsm_model.LARGE if self._job.crowded else separated)
        self._memtable, self._memtable_bytes = [], 0
        picked = self._tree.next_compaction()
        while picked is not None:
            self._job.compact(*picked)
            picked = self._tree.next_compaction()
        self._job.look()
        if self._early:
            self._job.work()

    def _look(self):
        live = max(self._live, self._options.floor)
        self._spaces.append(self._tree.disk_bytes / live)


def read(path):
    """The writes of a trace: a load, and a run after it."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) % WRITE.size:
        raise RuntimeError(f"{path}: ends early")
    records, sizes, phases = zip(*WRITE.iter_unpack(data))
    loaded = phases.count(LOAD)
    if not 0 < loaded < len(phases) or RUN in phases[:loaded]:
        raise RuntimeError(f"{path}: is not a load and a run after it")
    return lsm_model.Writes(records, sizes, loaded)


def simulate(system, writes, options, blob_file_bytes):
    """The figures of a system."""
    policy, early = SYSTEMS[system]
    database = Database(writes, policy(writes), options, blob_file_bytes, early)
    for put in range(writes.loaded):
        database.put(put)
    database.settle()
    database.reopen()
    for put in range(writes.loaded, len(writes.sizes)):
        database.put(put)
    database.settle()
    return database.figures()


def in_processes(systems, figures_of):
    """{system: figures}, by as many processes as there are CPUs. They end without this one, too."""
    fork, parent = multiprocessing.get_context("fork"), os.getpid()
    taken, (receiver, sender) = fork.Value("i", 0), fork.Pipe(duplex=False)

    def work():
        while os.getppid() == parent:
            with taken.get_lock():
                index = taken.value
                taken.value += 1
            if index >= len(systems):
                return
            figures = figures_of(systems[index])
            with taken.get_lock():
                sender.send((systems[index], figures))

    workers = [fork.Process(target=work) for _ in range(os.cpu_count())]
    for worker in workers:
        worker.start()
    sender.close()
    found = dict(receiver.recv() for _ in systems)
    return {system: found[system] for system in systems}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", required=True)
    parser.add_argument("--bound", type=float, required=True, help="max_space_amplification")
    parser.add_argument("--floor", type=int, required=True, help="space_floor")
    parser.add_argument("--medium", type=int, default=0,
                        help="medium_value_size (default: no medium class)")
    parser.add_argument("--blob-file-bytes", type=int, default=4 << 20)
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="default: all")
    arguments = parser.parse_args()
    writes = read(arguments.trace)
    options = hybrid_model.Options(arguments.bound, arguments.floor, arguments.medium)
    print(json.dumps(in_processes(
        arguments.systems.split(","),
        lambda system: simulate(system, writes, options, arguments.blob_file_bytes))))


if __name__ == "__main__":
    main()
