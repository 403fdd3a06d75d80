"""Hit ratios of secondary_cache_2q and RocksDB's caches beside those of cache policies.

Each workload writes a trace of its block accesses. The caches get it, and the policies of
libCacheSim, all with as many bytes.
"""

import contextlib
import functools
import os
import statistics

from benchmarks import secondary_cache_2q
from cache import cache_systems, policy_systems, public_traces, scan_trace
from common.gates import INTERVAL, WORST, Gate, Judge
from common.harness import Benchmark, Case, Metric, Panel

OURS = "2q"
MATCHED = 1.01  # of the best policy's misses
SHARE = 10  # percent of a public trace's blocks that the caches have room for
SCANS = "scans of YCSB E"
SCANS_OF_KEY = 0.2  # as many, with as many before them to fill the caches
QUICK_WORKLOADS = ("zipf", "zipf_scan")
# A scan's look-ups are in the trace, and not in what the database's clients count.
POINT_READS = ("zipf", "80_20", "drift_slow", "drift_fast", "uniform", "overwrite")
ALL = (*policy_systems.REPLAYED, *policy_systems.SIMULATED)

METRICS = (
    Metric("hit_ratio", "hit %", "ratio", "{:.2f}", 100),
    Metric("misses_of_belady", "misses / Belady's", "ratio", "{:.3f}"),
    Metric("miss_ratio", "miss %", "ratio", "{:.2f}", 100, in_table=False),
    Metric("control_points", "points off RocksDB", "points", "{:.2f}", in_table=False),
    Metric("copied_bytes_per_lookup", "copied B/look-up", "bytes/look-up", "{:.0f}"),
)

PANELS = (
    Panel("misses_of_belady", "Misses for each of Belady's (fewer is better; 1 is the least)"),
)


def add_arguments(group):
    group.add_argument("--policy-data-mb", type=int, default=None,
                       help="of values (default 1000; quick: 125)")
    group.add_argument("--no-public-traces", action="store_true",
                       help="leave out those that Maven downloads")


def workloads(args):
    return QUICK_WORKLOADS if args.quick else tuple(secondary_cache_2q.WORKLOADS)


def cases(args):
    data_mb = secondary_cache_2q.megabytes(args.policy_data_mb, args)
    result = []
    for workload in workloads(args):
        scale = cache_systems.Scale(data_mb, 1024, secondary_cache_2q.COLD_OPS * data_mb,
                                    secondary_cache_2q.WARMUP_OPS * data_mb,
                                    secondary_cache_2q.WORKLOADS[workload] * data_mb)
        systems = (*ALL, policy_systems.IN_ROCKSDB) if workload in POINT_READS else ALL
        result.append(Case(workload, systems,
                           functools.partial(run_workload, scale, workload)))
    result.append(Case(SCANS, ALL, functools.partial(run_scans, data_mb * 10**6 // 1024)))
    if args.quick or args.no_public_traces:
        return result
    reason = public_traces.missing()
    if reason:
        print(f"public traces are not measured here: {reason}")
        return result
    # They have no seed: a second round would give the same figures.
    return result + [Case(name, ALL, functools.partial(run_public, name), rounds=1)
                     for name in public_traces.TRACES]


@contextlib.contextmanager
def trace_file(context):
    """The path of a trace, which is removed afterwards: it may be large."""
    path = context.path("trace")
    try:
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def run_workload(scale, workload, context, number):
    with trace_file(context) as trace:
        measured = cache_systems.run(context, scale, OURS, workload, read_latency_us=0,
                                     seed=42 + number, extra=(f"--trace={trace}",))
        figures = policy_systems.over(context, trace, measured["traced_warmup"],
                                      scale.share(policy_systems.WHOLE))
    if workload in POINT_READS:
        real = measured["hit_rate"]
        figures[policy_systems.IN_ROCKSDB] = {"hit_ratio": real}
        figures[OURS]["control_points"] = 100 * abs(figures[OURS]["hit_ratio"] - real)
    return figures


def run_scans(keys, context, number):
    scans = int(2 * SCANS_OF_KEY * keys)
    with trace_file(context) as trace:
        blocks, accesses = scan_trace.write(trace, keys, scans, seed=42 + number)
        return policy_systems.over(context, trace, accesses // 2,
                                   blocks * scan_trace.BLOCK * policy_systems.WHOLE // 100)


def run_public(name, context, _number):
    with trace_file(context) as trace:
        blocks = public_traces.write(context, name, trace)
        return policy_systems.over(context, trace, 0, blocks * public_traces.BLOCK * SHARE // 100)


def gates(results):
    """Misses of ours: not more than with all of the memory in RocksDB's LRU block cache, nor than
    of the best policy that does not know the future."""
    judge = Judge(results)
    for workload in (*secondary_cache_2q.WORKLOADS, SCANS):
        yield judge.ratio(f"{workload}: misses, 2q / all memory in LRU", workload, "miss_ratio",
                          OURS, ("dram",), 1.0)
        yield judge.ratio(f"{workload}: misses, 2q / best policy", workload, "miss_ratio", OURS,
                          policy_systems.ONLINE, 1.0)
        if workload in POINT_READS:
            yield control(judge, workload)
    for name in public_traces.TRACES:  # no seed, so one round is all
        yield judge.ratio(f"{name}: misses, 2q / best policy", name, "miss_ratio", OURS,
                          policy_systems.ONLINE, MATCHED, by=WORST)
    yield mean_gate(results, "RocksDB's traces", (*secondary_cache_2q.WORKLOADS, SCANS), 1.0)
    yield mean_gate(results, "public traces", tuple(public_traces.TRACES), MATCHED, by=WORST)


def mean_gate(results, text, names, target, by=INTERVAL):
    """Against one policy for all of these traces: that of the least mean."""
    means = {system: mean_misses(results, names, system)
             for system in (OURS, *policy_systems.ONLINE)}
    samples = ()
    if all(means.values()):
        best = min(policy_systems.ONLINE, key=lambda one: statistics.median(means[one].values()))
        samples = tuple(value / means[best][number] for number, value in means[OURS].items()
                        if number in means[best])
    return Gate(f"{text}: misses, geometric mean, 2q / best policy for all", samples, target, by=by)


def mean_misses(results, names, system):
    """{round: geometric mean}, of the rounds that have all of the traces."""
    of_names = [results.by_round(name, system, "miss_ratio") for name in names]
    return {number: statistics.geometric_mean(one[number] for one in of_names)
            for number in sorted(set.intersection(*map(set, of_names)))}


def control(judge, workload):
    return judge.worst(f"{workload}: 2q replayed is 2q in RocksDB (points of hit ratio)",
                       (workload,), "control_points", OURS, 1.0)


def quick_gates(results):
    judge = Judge(results)
    yield control(judge, "zipf")
    yield judge.worst("zipf: misses, 2q / Belady's", ("zipf",), "misses_of_belady", OURS, 1.6)


BENCHMARK = Benchmark(
    title="hit ratios of block caches and of cache policies over the same accesses",
    ground=(
        "Traces of data blocks, replayed. All have 11% of the data, RocksDB's caches with their "
        "book-keeping in it, policies without any. Public traces: 10% of their blocks."
    ),
    baseline="dram",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    counts_only=True,
)
