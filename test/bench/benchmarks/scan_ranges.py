"""The share of what scans read of slow SSTs that had been read by a scan a short time before.

That is what hot_promotion could gain, if copies could serve scans.
"""

import functools

from common import mixgraph
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from hot import scan_systems

WORKLOADS = ("mixgraph_prefix", "ycsb_e")
HOT_SYSTEMS = ("hot", "cache_7.8", *scan_systems.STORES)
# Eight million keys of mixgraph. db_bench takes kind, key range and length of an operation from one
# random number; with a million keys nearly all long scans are in the hottest key range.
DATA_MB, QUICK_MB = 728, 8
WORTH = 2 / 3  # of the bytes: then a third is left to be read slowly
OFF = 5  # percent: trace and statistics

METRICS = (
    Metric("repeated_share", "repeated %", "ratio", "{:.1f}", 100),
    Metric("served_share", "served %", "ratio", "{:.1f}", 100),
    Metric("slow_bytes_per_scan", "slow KB/scan", "bytes/scan", "{:.1f}", 1e-3, show_ratio=True),
    Metric("scans_of_asked", "scans, % of asked", "ratio", "{:.1f}", 100),
    Metric("scans_of_read", "scans, % of read", "ratio", "{:.1f}", 100),
    Metric("read_twice", "blocks twice %", "ratio", "{:.1f}", 100),
    Metric("renewed_share", "renewed %", "ratio", "{:.2f}", 100),
    Metric("turnovers", "turnovers", "count", "{:.0f}"),
    Metric("control_bytes", "bytes off %", "percent", "{:.2f}"),
    Metric("control_reads", "reads off %", "percent", "{:.2f}"),
)

PANELS = (
    Panel("repeated_share", "Bytes of slow SSTs that scans had read a short time before, share"),
    Panel("slow_bytes_per_scan", "Bytes that a scan reads of the slow device (less is better)"),
)


def add_arguments(group):
    group.add_argument("--scan-data-mb", type=int,
                       help=f"of records (default {DATA_MB}; quick: {QUICK_MB})")
    group.add_argument("--scan-most", type=int, default=mixgraph.MOST_SCANNED,
                       help="records of a scan of mixgraph, at most (default %(default)s)")


def cases(args):
    data = 10**6 * (args.scan_data_mb or (QUICK_MB if args.quick else DATA_MB))
    trees = [scan_systems.Tree("hot", data)]
    if not args.quick:
        trees.append(scan_systems.Tree("fat", data))
    return [Case(workload.name, HOT_SYSTEMS if tree.system == "hot" else (tree.system,),
                 functools.partial(measure, workload, tree))
            for workload in (scan_systems.Mixgraph(args.scan_most), scan_systems.YcsbE())
            for tree in trees]


def measure(workload, tree, context, number):
    return scan_systems.figures(context, workload, tree, 42 + number)


def gates(results):
    judge = Judge(results)
    store = f"store_{scan_systems.STORE:g}"
    for workload in WORKLOADS:
        yield judge.figure(f"{workload}: of slow bytes scanned, repeated within the store's",
                           workload, "repeated_share", store, WORTH, True)
        yield judge.ratio(f"{workload}: slow bytes of a scan, {store} / fat", workload,
                          "slow_bytes_per_scan", store, ("fat",), 1 / 3)
        yield from controls(judge, workload, ("hot", "fat"))


def controls(judge, workload, trees):
    for tree in trees:
        for what in ("bytes", "reads"):
            yield judge.worst(f"{workload}, {tree}: percent that {what} in the trace are off "
                              "RocksDB's own count", (workload,), f"control_{what}", tree, OFF)


def quick_gates(results):
    """That there is something to count, and that it is all there."""
    judge = Judge(results)
    for workload in WORKLOADS:
        yield judge.worst(f"{workload}: bytes scanned, by the store's", (workload,), "turnovers",
                          "hot", 2, True)
        yield from controls(judge, workload, ("hot",))


BENCHMARK = Benchmark(
    title="ranges of slow SSTs that scans read twice",
    ground=(
        "Counts of traces of real databases; no device is slow. L0 and L1 are counted as fast, "
        "with fat L2 as well. One client thread, no readahead."
    ),
    baseline="fat",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    counts_only=True,
)
