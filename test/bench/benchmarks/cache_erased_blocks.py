"""The share of misses that are of blocks which were erased with their SST, by a compaction."""

import functools

from benchmarks import secondary_cache_2q
from cache import cache_systems
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel

WORKLOADS = ("overwrite", "overwrite_30")
SYSTEMS = ("2q", "2q_file")
# Of the last one, without its writes: nothing compacts. Of the file alone.
READS, OF_FILE = "overwrite_30_reads", "2q_file"
OPS = 1200  # thousands per GB of data
# Device reads of what survives all compactions, by those without any.
MOST_READS = 1.05
WORTH = 0.05  # share of the misses above which a cache that survives compactions is worth building

METRICS = (
    Metric("erased_share", "erased %", "ratio", "{:.2f}", 100),
    Metric("perhaps_erased_share", "erased % at most", "ratio", "{:.2f}", 100),
    Metric("hit_rate", "hit %", "ratio", "{:.1f}", 100),
    Metric("device_reads_per_op", "device reads/op", "reads/op", "{:.4f}"),
    Metric("compacted_files", "compacted SSTs", "files", "{:.0f}"),
)

PANELS = (Panel("erased_share", "Misses of blocks that were erased with their SST, share"),)


def add_arguments(group):
    group.add_argument("--erased-data-mb", type=int, help="of values (default 1000; quick: 125)")


def cases(args):
    data_mb = secondary_cache_2q.megabytes(args.erased_data_mb, args)
    return [Case(workload, (system,), functools.partial(run_case, data_mb, system, workload))
            for workload in (*WORKLOADS, READS) for system in SYSTEMS
            if workload != READS or system == OF_FILE]


def run_case(data_mb, system, workload, context, number):
    warmup = secondary_cache_2q.WARMUP_OPS * (secondary_cache_2q.FILE_WARMUP
                                              if system == "2q_file" else 1)
    scale = cache_systems.Scale(data_mb, 1024, secondary_cache_2q.COLD_OPS * data_mb,
                                warmup * data_mb, OPS * data_mb)
    times = cache_systems.FILE_FACTOR if system == "2q_file" else 1
    turnover = scale.share(cache_systems.PRIMARY) + scale.share(cache_systems.SECONDARY) * times
    return {system: cache_systems.run(context, scale, system, workload, seed=42 + number,
                                      extra=(f"--turnover_bytes={turnover}",))}


def gates(results):
    judge = Judge(results)
    for workload in WORKLOADS:
        for system in SYSTEMS:
            yield judge.figure(f"{workload}, {system}: share of misses of erased blocks", workload,
                               "erased_share", system, WORTH, True)
    reads = "device_reads_per_op"
    yield judge.after(f"{WORKLOADS[-1]}, {OF_FILE}: device reads / without writes",
                      (WORKLOADS[-1], reads), (READS, reads), OF_FILE, MOST_READS)


def quick_gates(results):
    """That there is something to count; at this size 5% writes fill no memtable."""
    yield Judge(results).worst("overwrite_30: compacted SSTs", ("overwrite_30",), "compacted_files",
                               "2q", 1, True)


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
