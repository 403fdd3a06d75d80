"""blob_hybrid against values in place and RocksDB's own BlobDB.

The mixes and workloads are those of the Parallax paper.
"""

import dataclasses
import functools

from blob import blob_systems
from common import grounds, slice_cases
from common.gates import INTERVAL, WORST, Judge
from common.harness import Benchmark, Case, Metric, Panel

QUICK_MEGABYTES = 8
MOST_RECORDS = 1_500_000  # of small ones
OVERWRITES = 2.0  # times the records, by Run A
FLOOR_SHARE = 0.25  # of the data: the floor of live bytes for space amplification
TOLERANCE = 1.05  # of space
# "folder": in the place of "direct" and "sectors" where there is no throttled device.
GROUNDS = ("direct", "sectors", "folder", "buffered")
DEFAULT_GROUNDS = ("direct", "buffered")
# Name: (mix of blob_driver, keys are alike, operations per record; None: as many as it takes for
# --blob-overwrites). In the order of YCSB.
WORKLOADS = {
    "Load A": None,
    "Run A": ("a", False, None),
    "Run A, uniform": ("a", True, None),
    "Run B": ("b", False, 0.2),
    "Run C": ("c", False, 0.2),
    "Run F": ("f", False, 0.2),
    "Run D": ("d", False, 0.2),
    "Run E": ("e", False, 0.01),
    "scans of 50": ("scan", True, 0.01),
}
RUNS = tuple(name for name in WORKLOADS if name.startswith("Run "))
UPDATES = ("Run A", "Run A, uniform")
# I/O by that of BlobDB, prepared, though it takes more space: (mix of sizes, workload). Else 1.
AHEAD = {("SD", "Run A"): 0.8, ("MD", "Run A"): 0.8, ("LD", "Run A"): 0.7}
# The same, of operations: (ground, workload).
LEAST_OPS = {("buffered", "Run A"): 0.95}
# Of 50 records, by what they take in place.
SCANS = {"L": 1.2, "LD": 1.2, "M": 1.5, "S": 1.03}
QUICK_WORKLOADS = ("Load A", "Run A")
QUICK_SIZES = ("S", "L", "LD")
QUICK_SYSTEMS = ("in_place", "blob_large", "ours", *blob_systems.PEERS)
THING = "blob_hybrid"  # of the demo

METRICS = (
    Metric("settled_per_s", "ops/s until settled", "ops/s", "{:.0f}", show_ratio=True),
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}"),
    Metric("io_amp", "I/O amp.", "1", "{:.2f}", show_ratio=True),
    Metric("read_amp", "read", "1", "{:.2f}"),
    Metric("write_amp", "written", "1", "{:.2f}"),
    Metric("space_max", "space, most", "1", "{:.2f}"),
    Metric("space_mean", "mean", "1", "{:.2f}"),
    Metric("space_end", "end", "1", "{:.2f}"),
    Metric("cpu_us", "CPU us/op", "us", "{:.1f}"),
    Metric("memory_bytes", "MB of memory", "bytes", "{:.0f}", scale=1e-6),
    Metric("get_p50_us", "Get us", "us", "{:.0f}"),
    Metric("get_p99_us", "p99", "us", "{:.0f}"),
    Metric("put_p99_us", "Put p99 us", "us", "{:.0f}"),
    Metric("scan_p50_us", "scan us", "us", "{:.0f}", show_ratio=True),
    Metric("levels", "levels", "count", "{:.0f}"),
    *(Metric(name, "", "bytes", in_table=False) for name in (
        "user_read_bytes", "user_written_bytes", "read_bytes", "written_bytes", "wal_bytes",
        "flush_bytes", "compact_read_bytes", "compact_written_bytes", "blob_read_bytes",
        "blob_written_bytes", "sst_bytes", "blob_bytes", "live_bytes", "hybrid_moved_bytes",
        "hybrid_job_bytes")),
    *(Metric(f"space_{tenth}0", "", "1", in_table=False) for tenth in range(1, 11)),
    Metric("put_p50_us", "", "us", in_table=False),
    Metric("scan_p99_us", "", "us", in_table=False),
    Metric("stall_us", "", "us", in_table=False),
    Metric("hybrid_jobs", "", "count", in_table=False),
    Metric("hybrid_flush_wait_micros", "", "us", in_table=False),
    Metric("hybrid_bound_missed", "", "count", in_table=False),
)

PANELS = (
    Panel("settled_per_s", "Operations per second until nothing compacts (more is better)",
          log=True),
    Panel("io_amp", "Bytes read and written for each byte of the user (less is better)"),
    Panel("space_max", "Bytes of files for each live byte, at most (less is better)"),
)


SMALL = (
    ("io_amp", "I/O amplification", 1.03, False, INTERVAL),
    ("settled_per_s", "ops/s until settled", 0.97, True, INTERVAL),
    ("cpu_us", "CPU", 1.03, False, INTERVAL),
    ("get_p99_us", "p99 of a Get", 1.03, False, INTERVAL),
    ("put_p99_us", "p99 of a Put", 1.03, False, INTERVAL),
    ("memory_bytes", "memory", 1.03, False, WORST),
    ("space_max", "space amplification", 1.03, False, WORST),
)
NOT_IN = {"get_p99_us": ("Load A", "Run E"), "put_p99_us": ("Run C",)}  # no such operations
# Workload, mix of values, other system, target, at the size of a quick run: when the few
# compactions come makes a fifth of the bytes there.
QUICK_IO = (
    ("Load A", "L", "blob_large", 1.0), ("Load A", "S", "in_place", 1.1),
    ("Run A", "L", "blob_large", 0.8), ("Run A", "S", "in_place", 1.1),
)
QUICK_TOLERANCE = 1.2  # a memtable is a sixteenth of the data there


def add_arguments(group):
    group.add_argument("--blob-megabytes", type=int, default=blob_systems.MEGABYTES,
                       help="of keys and values in a database (default %(default)s)")
    group.add_argument("--blob-overwrites", type=float, default=OVERWRITES,
                       help="of each record in Run A, on average (default %(default)s)")
    group.add_argument("--blob-sizes", default=",".join(blob_systems.SIZES),
                       help="mixes of sizes (default: all)")
    group.add_argument("--blob-systems", default=",".join(blob_systems.SYSTEMS),
                       help="default: all")
    group.add_argument("--blob-workloads", default=";".join(WORKLOADS),
                       help='separated by semicolons (default: "%(default)s")')
    group.add_argument("--blob-grounds", default=",".join(DEFAULT_GROUNDS),
                       help=f"of {', '.join(GROUNDS)} (default %(default)s)")
    group.add_argument("--blob-options", action="append", default=[],
                       metavar="SYSTEM:NAME=VALUE;...",
                       help="further options of RocksDB for one system")


def title(ground, sizes, workload):
    return f"{ground}: {sizes}, {workload}"


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What the command line asks for."""

    megabytes: int
    sizes: list
    systems: list
    workloads: list
    changes: dict  # further options, by system


def chosen(args):
    systems = [*args.blob_systems.split(","), *(name for name in blob_systems.PEERS
                                                if name in args.peers)]
    result = Chosen(args.blob_megabytes, args.blob_sizes.split(","), systems,
                    args.blob_workloads.split(";"),
                    dict(change.split(":", 1) for change in args.blob_options))
    for unknown in (set(result.workloads) - set(WORKLOADS),
                    set(result.systems) - {*blob_systems.SYSTEMS, *args.peers},
                    set(result.changes) - set(blob_systems.SYSTEMS),
                    set(result.sizes) - set(blob_systems.SIZES)):
        if unknown:
            raise RuntimeError(f"not known: {', '.join(sorted(unknown))}")
    return quick(result) if args.quick else result


def quick(full):
    megabytes = min(full.megabytes, QUICK_MEGABYTES)
    systems = [name for name in full.systems if name in QUICK_SYSTEMS]
    return Chosen(
        megabytes, [name for name in full.sizes if name in QUICK_SIZES], systems,
        [name for name in full.workloads if name in QUICK_WORKLOADS],
        {system: f"{blob_systems.blob_files_of(megabytes)};{full.changes.get(system, '')}"
         for system in systems})


def grounds_of(args):
    chosen_grounds = args.blob_grounds.split(",")
    if args.quick and tuple(chosen_grounds) == DEFAULT_GROUNDS:
        chosen_grounds = chosen_grounds[:1]
    reason = grounds.missing(in_memory=True, emulate=args.emulate)
    if reason and args.blob_grounds != "buffered":
        print(f"No throttled device, so in the data folder: {reason}")
        chosen_grounds = [name if name == "buffered" else "folder" for name in chosen_grounds]
    return list(dict.fromkeys(chosen_grounds))


def cases(args):
    result, of = [], chosen(args)
    for ground in grounds_of(args):
        for sizes in of.sizes:
            for workload in of.workloads:
                last = workload == of.workloads[-1]
                for system in of.systems:
                    if blob_systems.is_measured(system, sizes):
                        run = functools.partial(run_one, ground, sizes, workload, system,
                                                of.megabytes, of.changes, args.blob_overwrites,
                                                last)
                        result.append(Case(title(ground, sizes, workload), (system,), run))
    return result


def run_one(ground, sizes, workload, system, megabytes, changes, overwrites, last, context, number):
    records = min(MOST_RECORDS, megabytes * 10**6 // blob_systems.SIZES[sizes])
    data = records * blob_systems.SIZES[sizes]
    floor, cache = int(data * FLOOR_SHARE), int(data * blob_systems.CACHE_SHARES[sizes])
    if workload == "Load A":
        blob_systems.clear(context, ground, sizes, system)
        more = ["--mode=fill", f"--seed={42 + number}"]
    else:
        mix, uniform, share = WORKLOADS[workload]
        operations = int(records * (share or 2 * overwrites))  # half of them are reads
        more = [f"--mix={mix}", f"--uniform={str(uniform).lower()}", f"--operations={operations}",
                f"--seed={142 + number}"]
    figures = blob_systems.run(context, ground, sizes, system, records, floor, changes, cache,
                               *more)
    if last:
        blob_systems.clear(context, ground, sizes, system)
    return {system: figures}


def gates(results):
    judge = Judge(results)
    grounds_here = {name.split(": ")[0] for name, _ in results.keys()} & set(GROUNDS)
    for ground in sorted(grounds_here, key=GROUNDS.index) or DEFAULT_GROUNDS[:1]:
        named = {}  # what was asked for is before what goes for all mixes
        for gate in GatesOf(judge, results, ground).all():
            named.setdefault(gate.name, gate)
        yield from named.values()
        yield from space_gates(judge, results, ground)
    if "buffered" not in grounds_here:
        yield from GatesOf(judge, results, "buffered").least()


def space_gates(judge, results, ground, tolerance=TOLERANCE):
    for name, system in results.keys():
        if blob_systems.is_ours(system) and name.startswith(f"{ground}:"):
            sizes = name.split(": ")[1].split(",")[0]
            yield judge.worst(f"{name}: space amplification at any time, {system}", (name,),
                              "space_max", system, blob_systems.bound(system, sizes) * tolerance)


def quick_gates(results):
    judge = Judge(results)
    for ground in GROUNDS:
        yield from space_gates(judge, results, ground, QUICK_TOLERANCE)
        for workload, sizes, other, target in QUICK_IO:
            name = title(ground, sizes, workload)
            if (name, "ours") in results.keys():
                yield judge.ratio(f"{name}: I/O amplification, ours / {other}", name, "io_amp",
                                  "ours", (other,), target, by=WORST)
    yield slice_cases.gate(judge, THING, "file bytes per live byte", 1.0)


class GatesOf:
    """Ratios on one ground: of bytes, and of operations until settled."""

    def __init__(self, judge, results, ground):
        self._judge, self._results, self._ground = judge, results, ground

    def all(self):
        for workload in ("Load A", *RUNS):
            loads = workload == "Load A"
            yield from self._small(workload)
            if loads or workload in UPDATES:
                yield from self._as_asked(workload, loads)
            for sizes in blob_systems.SIZES:
                if sizes != "S":
                    yield from self._prepared(sizes, workload)
                    yield from self._peers(sizes, workload)
        for sizes in ("L", *blob_systems.ROOMY_MIXES):
            for other in ("blob_uncollected", "blob_uncollected_prepared"):
                yield from self._both(sizes, "Load A", (other,), 1.0, 1.0)
        for sizes, target in SCANS.items():
            yield self._scans(sizes, "in_place", target)
        yield self._scans("M", "in_place_prepared", SCANS["M"])

    def _peers(self, sizes, workload):
        """Of a peer that was not measured: two workloads stand for all."""
        name = title(self._ground, sizes, workload)
        for peer in blob_systems.PEERS:
            if workload in QUICK_WORKLOADS or (name, peer) in self._results.keys():
                yield from self._both(sizes, workload, (peer,), 1.0, 1.0)
                yield self._judge.ratio(f"{name}: space amplification, ours / {peer}", name,
                                        "space_max", "ours", (peer,), 1.0, by=WORST)

    def least(self):
        """Of a ground that was not measured: what it would be measured for."""
        for sizes in blob_systems.ROOMY_MIXES:
            yield from self._prepared(sizes, "Run A", ("blob_large_prepared",))

    def _prepared(self, sizes, workload, others=("blob_large_prepared", "in_place_prepared")):
        for other in others:
            of_blobs = other == "blob_large_prepared"
            most_io = AHEAD.get((sizes, workload), 1.0) if of_blobs else 1.0
            least_ops = LEAST_OPS.get((self._ground, workload), 1.0) if of_blobs else 1.0
            yield from self._both(sizes, workload, (other,), most_io, least_ops)

    def _scans(self, sizes, other, target):
        name = title(self._ground, sizes, "scans of 50")
        return self._judge.ratio(f"{name}: microseconds, ours / {other}", name, "scan_p50_us",
                                 "ours", (other,), target)

    def _as_asked(self, workload, loads):
        for other in ("blob_large", "blob_large_prepared"):
            for ours in ("ours", *blob_systems.DEFAULT_BOUND):
                yield from self._both("L", workload, (other,), 0.6 if loads else 0.65, 1.15,
                                      ours=ours)
        for other in ("in_place", "in_place_prepared"):
            yield self._io("M", workload, (other,), 0.65 if loads else 0.8)
        for sizes in blob_systems.ROOMY_MIXES:
            most = 1.0 if loads else 0.95
            yield from self._both(sizes, workload, self._others(sizes), most, 1.0, "the best one")
            yield from self._both(sizes, workload, self._within(sizes, workload), most, 1.0,
                                  "the best one with as little space")
            for ours, other in () if loads else blob_systems.AS_ROOMY:
                yield from self._both(sizes, workload, (other,), 0.95, 1.0, ours=ours)

    def _small(self, workload):
        """Within 3% in everything."""
        name = title(self._ground, "S", workload)
        for metric, text, target, at_least, by in SMALL:
            if workload not in NOT_IN.get(metric, ()):
                yield self._judge.ratio(f"{name}: {text}, ours / in_place", name, metric, "ours",
                                        ("in_place",), target, at_least, by)

    def _both(self, sizes, workload, systems, most_io, least_ops, label=None, ours="ours"):
        yield self._io(sizes, workload, systems, most_io, label, ours)
        name = title(self._ground, sizes, workload)
        yield self._judge.ratio(f"{name}: ops/s until settled, {ours} / "
                                f"{label or ' '.join(systems)}", name, "settled_per_s", ours,
                                systems, least_ops, True)

    def _io(self, sizes, workload, systems, target, label=None, ours="ours"):
        name = title(self._ground, sizes, workload)
        return self._judge.ratio(f"{name}: I/O amplification, {ours} / "
                                 f"{label or ' '.join(systems)}", name, "io_amp", ours, systems,
                                 target)

    @staticmethod
    def _others(sizes):
        return tuple(system for system in blob_systems.OTHERS
                     if blob_systems.is_measured(system, sizes))

    def _within(self, sizes, workload):
        """The others that take no more space than ours may."""
        name = title(self._ground, sizes, workload)
        spaces = {system: self._results.median(name, system, "space_max")
                  for system in self._others(sizes)}
        return tuple(system for system, space in spaces.items()
                     if space is not None and space <= blob_systems.BOUNDS[sizes] * TOLERANCE)


BENCHMARK = Benchmark(
    title="large values in blob files that are collected by their garbage",
    ground="direct: direct I/O on a throttled device in memory; sectors: the same with sectors of "
    "512 bytes; folder: direct I/O in the data folder; buffered: there, through the page cache. "
    "Bytes are those that RocksDB reads from and writes to files.",
    baseline="in_place",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
