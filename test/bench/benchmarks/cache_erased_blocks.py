"""The share of misses that are of blocks which were erased with their SST, by a compaction.

And what a cache has of it whose blocks survive compactions.
"""

import functools

from benchmarks import secondary_cache_2q
from cache import cache_systems
from common.gates import WORST, Judge
from common.harness import Benchmark, Case, Metric, Panel

WORKLOADS = ("overwrite", "overwrite_30")
ERASED = ("2q", "2q_file")  # what their blocks are at a compaction
CARRIED = cache_systems.CARRY
SYSTEMS = (*ERASED, CARRIED)
# Of the last workload, without its writes: nothing compacts.
READS = "overwrite_30_reads"
OPS = 1200  # thousands per GB of data
MOST_READS = 1.05  # device reads, by those without any compaction
MOST_COPIES = 1.2  # bytes copied into the cache, by those of the cache that does not carry
WORTH = 0.05  # share of the misses above which a cache that survives compactions is worth building

METRICS = (
    Metric("erased_share", "erased %", "ratio", "{:.2f}", 100),
    Metric("perhaps_erased_share", "erased % at most", "ratio", "{:.2f}", 100),
    Metric("hit_rate", "hit %", "ratio", "{:.1f}", 100),
    Metric("device_reads_per_op", "device reads/op", "reads/op", "{:.4f}", show_ratio=True),
    Metric("copied_bytes_per_op", "copied B/op", "bytes/op", "{:.0f}", show_ratio=True),
    Metric("compacted_files", "compacted SSTs", "files", "{:.0f}"),
)

PANELS = (Panel("erased_share", "Misses of blocks that were erased with their SST, share"),)


def add_arguments(group):
    group.add_argument("--erased-data-mb", type=int, help="of values (default 1000; quick: 125)")


def cases(args):
    data_mb = secondary_cache_2q.megabytes(args.erased_data_mb, args)
    return [Case(workload, (system,), functools.partial(run_case, data_mb, system, workload))
            for workload in (*WORKLOADS, READS) for system in SYSTEMS
            if workload != READS or system == CARRIED]


def run_case(data_mb, system, workload, context, number):
    is_file = system in cache_systems.IN_FILE
    warmup = secondary_cache_2q.WARMUP_OPS * (secondary_cache_2q.FILE_WARMUP if is_file else 1)
    scale = cache_systems.Scale(data_mb, 1024, secondary_cache_2q.COLD_OPS * data_mb,
                                warmup * data_mb, OPS * data_mb)
    times = cache_systems.FILE_FACTOR if is_file else 1
    turnover = scale.share(cache_systems.PRIMARY) + scale.share(cache_systems.SECONDARY) * times
    return {system: cache_systems.run(context, scale, system, workload, seed=42 + number,
                                      extra=(f"--turnover_bytes={turnover}",))}


def gates(results):
    judge = Judge(results)
    for workload in WORKLOADS:
        for system in ERASED:
            yield judge.figure(f"{workload}, {system}: share of misses of erased blocks", workload,
                               "erased_share", system, WORTH, True)
    most_writes, reads = WORKLOADS[-1], "device_reads_per_op"
    yield judge.after(f"{most_writes}, {CARRIED}: device reads / without writes",
                      (most_writes, reads), (READS, reads), CARRIED, MOST_READS)
    yield judge.ratio(f"{most_writes}, {CARRIED}: copied bytes / {ERASED[-1]}", most_writes,
                      "copied_bytes_per_op", CARRIED, ERASED[-1:], MOST_COPIES)


def quick_gates(results):
    """That there is something to count; at this size 5% writes fill no memtable."""
    judge = Judge(results)
    yield judge.worst("overwrite_30: compacted SSTs", ("overwrite_30",), "compacted_files", "2q", 1,
                      True)
    yield judge.ratio(f"overwrite_30: device reads, {CARRIED} / {ERASED[-1]}", "overwrite_30",
                      "device_reads_per_op", CARRIED, ERASED[-1:], 1.0, by=WORST)


BENCHMARK = Benchmark(
    title="misses of blocks that a compaction has erased with their SST",
    ground=(
        "Emulated device: every read of a table file from the page cache takes 80 us more. "
        "Primary cache 2% of the data, secondary 9%, or a file of 45%; 4 threads."
    ),
    baseline="2q",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    counts_only=True,
)
