"""The pmem tier of tiered_env against file systems (Figure 6 and Table 1 of the pmemenv paper)."""

import functools

from common import slice_cases
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from tier import pmem_systems

THING = "tiered_env_pmem"  # of the demo
SECONDS, QUICK_SECONDS = 3, 0.5
GROUPS = (1, 10, 100, 1000)

METRICS = (
    Metric("records_per_s", "records/s", "records/s", "{:.0f}", show_ratio=True),
    Metric("mean_us", "mean us", "us", "{:.2f}", show_ratio=True),
    Metric("stddev_us", "std dev", "us", "{:.2f}"),
    Metric("p50_us", "p50 us", "us", "{:.2f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.2f}", show_ratio=True),
    Metric("p999_us", "p99.9 us", "us", "{:.1f}"),
)

PANELS = (
    Panel("records_per_s", "Records made durable per second (more is better)", log=True),
    Panel("mean_us", "Latency of a record, mean in microseconds (less is better)", log=True),
)


def add_arguments(group):
    group.add_argument(
        "--pmem-seconds", type=float, default=SECONDS, help="of a run (default %(default)s)"
    )


def name_of(group, through):
    return f"{through}, groups of {group}"


def cases(args):
    seconds = QUICK_SECONDS if args.quick else args.pmem_seconds
    result = []
    for through in ("file", "db"):
        for group in GROUPS:
            for system in pmem_systems.systems():
                run = functools.partial(run_pmem, system, group, seconds, through)
                result.append(Case(name_of(group, through), (system,), run))
    return result


def run_pmem(system, group, seconds, through, context, _number):
    return {system: pmem_systems.run(context, system, group, seconds, through)}


def gates(results):
    judge = Judge(results)
    for through in ("file", "db"):
        name = name_of(1, through)
        yield judge.ratio(f"{name}: records/s, pmem / disk", name, "records_per_s", "pmem",
                          ("disk",), 5, True)
    name = name_of(1, "file")
    yield judge.ratio(f"{name}: standard deviation, pmem / disk", name, "stddev_us", "pmem",
                      ("disk",), 1)


def quick_gates(results):
    yield slice_cases.gate(Judge(results), THING, "writes/s", 5, True)


BENCHMARK = Benchmark(
    title="records of 16 + 112 bytes, made durable in groups",
    ground="pmem is memory (a tmpfs) that counts as persistent, without the latency of real pmem: "
    "what is measured is the path to it; disk is the data folder's file system, xfs one on a loop "
    "device there.",
    baseline="disk",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
