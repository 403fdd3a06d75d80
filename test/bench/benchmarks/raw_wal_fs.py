"""raw_wal_fs against stock RocksDB, with recycled logs or not, and against the device itself."""

import functools

from common import grounds, slice_cases
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from wal import wal_systems

THING = "raw_wal_fs"  # of the demo
SECONDS = 5
VALUE_SIZES = (16, 200, 1024, 4096, 16384)

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("p50_us", "p50 us", "us", "{:.1f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("p999_us", "p99.9 us", "us", "{:.0f}"),
    Metric("sync_p50_us", "sync p50", "us", "{:.1f}"),
    Metric("sync_p99_us", "sync p99", "us", "{:.0f}"),
    Metric("recovery_s", "recovery s", "s", "{:.2f}"),
)

PANELS = (
    Panel("ops_per_s", "Operations per second (more is better)"),
    Panel("p99_us", "99th percentile of a write in microseconds (less is better)", log=True),
)

IDLE = "sync, 200 B, 1 thread"
BUSY = "sync, 200 B, 1 thread, neighbour"
MANY = "sync, 200 B, 64 threads"
ASYNC = "no sync, 200 B, 1 thread"
JOURNAL = "ext4 with a journal, sync, 200 B, 1 thread"
JOURNAL_MANY = "ext4 with a journal, sync, 200 B, 64 threads"
# Logs of 1 GiB, as flags of wal_recovery: written in frames of a block, as small syncs do, and
# in large ones.
RECOVERIES = {
    "recovery, small frames": ("--append=3000", "--each"),
    "recovery, large frames": ("--append=32768",),
}


def add_arguments(group):
    group.add_argument("--seconds", type=int, default=SECONDS,
                       help="of a run (default %(default)s)")
    group.add_argument("--only-gates", action="store_true", help="just what the gates need")
    group.add_argument("--wal-systems", default=",".join(wal_systems.SYSTEMS), help="default: all")


def cases(args):
    seconds = 1 if args.quick else args.seconds
    systems = [name for name in args.wal_systems.split(",")
               if name != "loop" or grounds.can_loop() and not args.quick]
    result = []

    def add(name, rounds=None, neighbour=False, journal=False, floor=False, **flags):
        for system in systems:
            if journal and system == "loop":
                continue
            run = functools.partial(run_case, system, seconds, neighbour, journal, flags)
            result.append(Case(name, (system,), run, rounds))
        if floor:
            run = functools.partial(run_floor, seconds, neighbour)
            result.append(Case(name, ("floor",), run, rounds))

    add(IDLE, floor=True, sync=1)
    if not args.quick:
        add(BUSY, floor=True, neighbour=True, sync=1)
    add(MANY, sync=1, threads=64)
    add(ASYNC, sync=0)
    if grounds.can_loop() and not args.quick:
        add(JOURNAL, journal=True, sync=1)
        add(JOURNAL_MANY, journal=True, sync=1, threads=64)
    for name, flags in RECOVERIES.items():
        run = functools.partial(run_recovery, name, flags, 128 if args.quick else 1024)
        result.append(Case(name, ("floor", "file"), run))
    if args.quick or args.only_gates:
        return result
    for size in VALUE_SIZES:
        for threads in (1, 64):
            if size != 200:
                name = f"sync, {size} B, {threads} thread{'s' if threads > 1 else ''}"
                add(name, rounds=1, sync=1, value_size=size, threads=threads)
    for benchmark in ("fillseq", "overwrite"):
        add(f"{benchmark}, sync, 200 B, 1 thread", rounds=1, sync=1, benchmarks=benchmark)
    return result


def run_case(system, seconds, neighbour, journal, flags, context, number):
    values = {
        "benchmarks": "fillrandom",
        "num": 1_000_000,
        "value_size": 200,
        "threads": 1,
        "duration": seconds,
        "seed": 42 + number,
        **flags,
    }
    if values["benchmarks"] == "fillseq":  # which knows no duration
        values["num"] = int(5000 * seconds)
    argv = [f"--{name}={value}" for name, value in values.items()]
    return {system: wal_systems.run(context, system, argv, neighbour, journal)}


def run_floor(seconds, neighbour, context, number):
    return {"floor": wal_systems.floor(context, seconds, neighbour)}


def run_recovery(name, flags, mib, context, number):
    return wal_systems.recovery(context, name, (f"--mib={mib}", *flags))


def gates(results):
    judge = Judge(results)

    def ratio(benchmark, metric, other, target, at_least, text):
        return judge.ratio(f"{benchmark}: {text}, file / {other}", benchmark, metric, "file",
                           (other,), target, at_least)

    yield ratio(IDLE, "ops_per_s", "stock", 1.2, True, "ops/s")
    yield ratio(IDLE, "ops_per_s", "recycled", 1.0, True, "ops/s")
    yield ratio(IDLE, "sync_p50_us", "floor", 1.1, False, "p50 of a sync")
    yield ratio(BUSY, "ops_per_s", "stock", 1.3, True, "ops/s")
    yield ratio(BUSY, "p99_us", "stock", 0.5, False, "p99")
    for name in (MANY, JOURNAL_MANY):
        yield ratio(name, "ops_per_s", "stock", 1.15, True, "ops/s")
        yield ratio(name, "p99_us", "stock", 1.0, False, "p99")
    yield ratio(JOURNAL, "ops_per_s", "stock", 1.2, True, "ops/s")
    yield ratio(ASYNC, "ops_per_s", "stock", 0.98, True, "ops/s")
    for name in RECOVERIES:
        yield ratio(name, "recovery_s", "floor", 2.0, False, "time")


def quick_gates(results):
    yield slice_cases.gate(Judge(results), THING, "writes/s", 1.0, True)


BENCHMARK = Benchmark(
    title="synchronous and asynchronous writes, with the log in a file system and past it",
    ground="db_bench fillrandom on an empty database in the data folder; all on one disk.",
    baseline="stock",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
