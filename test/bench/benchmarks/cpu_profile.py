"""Where the CPU of 64 writers goes, and that of a recovery of levels in memory."""

import dataclasses
import functools

from benchmarks import wal_assisted_tiering
from common import perf
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from tier import volatile_figures, volatile_systems
from wal import wal_systems

THREADS = 64
WRITERS = "64 threads, sync"
WAL_SYSTEMS = ("stock", "recycled", "file")
CODECS = ("none", "lz4")
MOST_REST = 0.1  # of the samples, of which nothing is known

# Kind: what its functions have in their names. The first that fits counts.
INTERRUPTS = r"^(handle_softirqs|asm_common_interrupt|asm_sysvec_\w+)$"
SYSTEM_WRITE = r"^(vfs_\w*write\w*|vfs_fsync\w*|ksys_\w*write\w*|do_pwritev|do_fsync)$"
WRITING = {
    "device": SYSTEM_WRITE,
    "log": r"raw_wal_fs::|log::Writer|WritableFileWriter|PosixWritableFile|crc32c",
    "waits": r"futex|pthread_(cond|mutex)|lll_lock|sched_yield|AwaitState|SetState",
    "groups": r"WriteThread::|WriteToWAL|MergeBatch|WriteBatch::|WriteImpl",
    "memtable": r"MemTable|InlineSkipList|SkipListRep|Arena",
    "db_bench": r"Benchmark::|RandomGenerator|Random::|HistogramImpl|db_bench_tool|DestroyDB",
    "interrupts": INTERRUPTS,
}
REBUILDING = {
    "pages": r"^(clear_page\w*|do_anonymous_page|do_fault|handle_mm_fault|exc_page_fault|"
             r"unmap_\w+|vms_\w+|exit_mmap|__tlb_\w+)$",
    "tmpfs": SYSTEM_WRITE,
    "reading": r"^(vfs_\w*read\w*|ksys_\w*read\w*|filemap_read)$",
    "checksums": r"crc32c|XXH3|XXH64|Checksum",
    "codec": r"LZ4|ZSTD",
    "entries": r"SegmentLoader|LogReader|ReadLog|ParseBatch|Segment::|EntryArena|Archive",
    "recipes": r"TableFinder|RecipeLog|Recipe|ForEachReference|TakeRefer",
    "blocks": r"tiered_env::(Rebuild|TableWriter|.*Block)",
    "stock": r"MemTable|InlineSkipList|log::Reader|WriteBatch|BuildTable|BlockBasedTable|DBImpl::",
    "interrupted": INTERRUPTS,
}


def metrics_of(kinds, unit, form):
    return [Metric(kind, f"{kind}, {unit}", unit, form) for kind in kinds]


METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}"),
    Metric("cpu_us_per_op", "CPU us/op", "us", "{:.1f}"),
    *metrics_of(WRITING, "us/op", "{:.2f}"),
    Metric("recovery_s", "recovery s", "s"),
    Metric("recovery_gb_per_s", "GB/s", "GB/s"),
    Metric("cpu_s_per_gb", "CPU s/GB", "s/GB"),
    *metrics_of(REBUILDING, "s/GB", "{:.3f}"),
    Metric("rest_share", "rest %", "ratio", "{:.1f}", 100),
)

PANELS = (
    Panel("cpu_us_per_op", "CPU time of a write in microseconds (less is better)"),
    Panel("cpu_s_per_gb", "CPU time of a recovery in seconds for each GB (less is better)"),
)


def add_arguments(group):
    group.add_argument("--profile-seconds", type=int, default=10,
                       help="of a run (default %(default)s)")
    group.add_argument("--profile-records", type=int, default=1_500_000,
                       help="of 1 KB, before the recovery (default %(default)s)")


def cases(args):
    reason = perf.missing()
    if reason:
        print(f"Nothing is measured here: {reason}")
        return []
    seconds = 2 if args.quick else args.profile_seconds
    result = [Case(WRITERS, (system,), functools.partial(run_writers, system, seconds))
              for system in WAL_SYSTEMS]
    reason = volatile_systems.no_memory()
    if reason:
        print(f"No levels in memory, so no recovery is measured: {reason}")
        return result
    shape = dataclasses.replace(wal_assisted_tiering.SHAPE, records=args.profile_records)
    if args.quick:
        shape = wal_assisted_tiering.smaller(shape)
    return result + [Case(recovery_name(codec), ("ours",),
                          functools.partial(run_recovery, shape, codec)) for codec in CODECS]


def recovery_name(codec):
    return f"recovery, logs {codec}"


def run_writers(system, seconds, context, number):
    flags = ["--benchmarks=fillrandom", "--num=1000000", "--value_size=200", "--sync=1",
             f"--threads={THREADS}", f"--duration={seconds}", f"--seed={42 + number}"]
    figures = wal_systems.run(context, system, flags, before=perf.words(context))
    operations = figures["ops_per_s"] * seconds
    spent = perf.seconds(perf.stacks(context), WRITING)
    figures["cpu_us_per_op"] = sum(spent.values()) * 1e6 / operations
    return {system: {**figures, **by_kind(spent, operations / 1e6)}}


def run_recovery(shape, codec, context, number):
    """The opening of a database whose levels in memory are gone; its logs are in the page cache."""
    place = volatile_systems.Place(context, volatile_systems.PLAIN, "ours", shape.data)
    place.clear()
    try:
        volatile_systems.write(context, place, "ours", shape, "fillrandom", shape.records,
                               wal_assisted_tiering.THREADS, 42 + number, codec, settle=False)
        volatile_systems.compress_logs(context, place, "ours", shape, codec)
        place.lose_memory()
        volatile_systems.read_logs(place)
        volatile_systems.db_bench(
            context, place, "ours", shape, "readrandom", ["--reads=1", "--use_existing_db"], codec,
            compacts=False, before=perf.words(context))
        counts = volatile_figures.volatile(place.read_log())
    finally:
        place.clear()
    gigabytes = counts["rebuilt_bytes"] / 1e9
    spent = perf.seconds(perf.stacks(context), REBUILDING)
    return {"ours": {
        "recovery_s": counts["recovery_seconds"],
        "recovery_gb_per_s": gigabytes / counts["recovery_seconds"],
        "cpu_s_per_gb": sum(spent.values()) / gigabytes,
        **by_kind(spent, gigabytes),
    }}


def by_kind(spent, units):
    figures = {kind: seconds / units for kind, seconds in spent.items()}
    return {**figures, "rest_share": figures.pop(perf.REST) * units / sum(spent.values())}


def gates(results):
    """Of control: what a sample is for is known."""
    judge = Judge(results)
    for system in WAL_SYSTEMS:
        yield judge.worst(f"{WRITERS}, {system}: share of CPU of which nothing is known",
                          (WRITERS,), "rest_share", system, MOST_REST)
    names = tuple(map(recovery_name, CODECS))
    yield judge.worst("recovery: share of CPU of which nothing is known", names, "rest_share",
                      "ours", MOST_REST)


BENCHMARK = Benchmark(
    title="where the CPU of 64 writers goes, and that of a recovery of levels in memory",
    ground="db_bench, sampled by perf; all on the disk of the data folder, levels 0 to 2 in memory "
           "for the recovery.",
    baseline="stock",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(gates(results)),
)
