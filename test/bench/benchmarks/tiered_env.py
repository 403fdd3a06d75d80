"""tiered_env on two devices, against all on the slow one, and RocksDB's own db_paths."""

import functools

from common import grounds, slice_cases
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from tier import tier_systems

RECORDS, VALUE_SIZE = 1_000_000, 1024
QUICK_RECORDS = 150_000
FAST_PERCENT = 35  # bytes of the fast device, of those of the records
SECONDS = 20
MIXES = ("a", "b", "c", "d", "e", "f", "overwrite", "uncapped")
QUICK_SYSTEMS = ("db_paths", "levels", "fill", "all_cache")
QUICK_MIXES = ("c", "overwrite")
# Writes a second, in the load and of overwrites: what compactions keep up with, so that the systems
# have equal bytes of the fast device, and trees of the same shape.
RATE = 20_000
WARM_UP = 5  # times as long as a mix: the slow device's pace fills a cache in that
OVERHEAD_RECORDS, QUICK_OVERHEAD_RECORDS = 1_000_000, 100_000
# The one makes the best of as many bytes of the fast device, the other one has the same levels
# there. What each was asked for.
AGAINST_DB_PATHS = (("fill", 0.98), ("levels", 1.0))
# Of one that has as many bytes of the fast device as a cache, and no SSTs there.
AGAINST_CACHE = (("fill", 1.0),)
BUDGETED = ("fill", "levels", "hints", "all_cache")
BUDGET_TOLERANCE = 1.0  # a budget is hard
THING = "tiered_env_disks"  # of the demo

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("fast_share", "fast %", "1", "{:.1f}", scale=100),
    Metric("fast_reads", "fast reads", "count", "{:.0f}"),
    Metric("slow_reads", "slow reads", "count", "{:.0f}"),
    Metric("fast_files_bytes", "MB fast", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_peak_bytes", "MB fast, most", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_peak_by_budget", "most/budget", "1", "{:.2f}"),
    Metric("slow_files_bytes", "MB slow", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_written_bytes", "fast MB written", "bytes", "{:.0f}", scale=1e-6),
    Metric("slow_written_bytes", "slow MB written", "bytes", "{:.0f}", scale=1e-6),
    Metric("settled_s", "settled s", "s", "{:.1f}"),
    Metric("p50_us", "p50 us", "us", in_table=False),
    Metric("p999_us", "p99.9 us", "us", in_table=False),
    Metric("tier_home_reads", "", "count", in_table=False),
    Metric("tier_slow_reads", "", "count", in_table=False),
    Metric("tier_home_moved_bytes", "", "bytes", in_table=False),
    Metric("tier_slow_moved_bytes", "", "bytes", in_table=False),
)

PANELS = (
    Panel("ops_per_s", "Operations per second (more is better)", log=True),
    Panel("fast_share", "Reads that the fast device served (more is better)"),
    Panel("p99_us", "99th percentile of an operation in microseconds (less is better)", log=True),
)

LOAD = f"load, {RATE} a second"
WARM = "warm-up of the cache, YCSB C"
LOAD_UNCAPPED = "load, as fast as can be"
FILL_OVERHEAD = "overhead: fillrandom"
READ_OVERHEAD = "overhead: readrandom"


def add_arguments(group):
    group.add_argument("--seconds-per-mix", type=float, default=SECONDS, help="default %(default)s")
    group.add_argument("--tier-records", type=int, default=RECORDS, help="default %(default)s")
    group.add_argument("--fast-percent", type=float, default=FAST_PERCENT,
                       help="of the records' bytes that the fast device may have "
                       "(default %(default)s)")
    group.add_argument("--mixes", default=",".join(MIXES), help="default: all")
    group.add_argument("--tier-systems", default=",".join(tier_systems.SYSTEMS),
                       help="default: all")


def mix_name(mix):
    if mix == "overwrite":
        return f"overwrite, uniform, {RATE} a second"
    return "overwrite, uniform, as fast as can be" if mix == "uncapped" else f"YCSB {mix.upper()}"


WRITES = (LOAD_UNCAPPED, mix_name("overwrite"), mix_name("uncapped"))


def cases(args):
    return level_cases(args) + overhead_cases(args)


def level_cases(args):
    """Each system fills a database, which the mixes then use in turn; then as fast as it can."""
    reason = grounds.missing(emulate=args.emulate)
    if reason:
        print(f"No throttled device, so the slow one is emulated: {reason}")
    records = min(args.tier_records, QUICK_RECORDS) if args.quick else args.tier_records
    seconds = min(2, args.seconds_per_mix) if args.quick else args.seconds_per_mix
    size = (records, int(records * VALUE_SIZE * args.fast_percent / 100))
    systems, mixes = args.tier_systems.split(","), args.mixes.split(",")
    if args.quick:
        systems = [system for system in systems if system in QUICK_SYSTEMS]
        mixes = [mix for mix in mixes if mix in QUICK_MIXES]
    result = [Case(LOAD, (system,), functools.partial(load, system, *size, RATE))
              for system in systems]
    if "all_cache" in systems:
        warm_up = functools.partial(run_mix, "all_cache", *size, "c", WARM_UP * seconds)
        result.append(Case(WARM, ("all_cache",), warm_up))
    for mix in mixes:
        for system in systems:
            run = functools.partial(run_mix, system, *size, mix, seconds)
            result.append(Case(mix_name(mix), (system,), run))
    return result + [Case(LOAD_UNCAPPED, (system,),
                          functools.partial(load, system, *size, 0, clears=True))
                     for system in systems]


def load(system, records, fast_bytes, rate, context, number, clears=False):
    place = tier_systems.ground(context, records, VALUE_SIZE)
    tier_systems.clear(place, system)
    try:
        return {system: tier_systems.run(context, place, system, fast_bytes, "--mode=fill",
                                         f"--records={records}", f"--rate={rate}",
                                         f"--seed={42 + number}")}
    finally:
        if clears:
            tier_systems.clear(place, system)


def run_mix(system, records, fast_bytes, mix, seconds, context, number):
    place = tier_systems.ground(context, records, VALUE_SIZE)
    rate = RATE if mix == "overwrite" else 0
    name = "overwrite" if mix == "uncapped" else mix
    return {system: tier_systems.run(context, place, system, fast_bytes, f"--mix={name}",
                                     f"--seconds={seconds}", f"--records={records}",
                                     f"--seed={142 + number}", f"--rate={rate}")}


def overhead_cases(args):
    num = QUICK_OVERHEAD_RECORDS if args.quick else OVERHEAD_RECORDS
    result = []
    for name in (FILL_OVERHEAD, READ_OVERHEAD):
        for system in tier_systems.OVERHEAD_SYSTEMS:
            run = functools.partial(run_overhead, system, name.rpartition(" ")[2], num)
            result.append(Case(name, (system,), run))
    return result


def run_overhead(system, benchmark, num, context, number):
    return {system: tier_systems.overhead(context, system, benchmark, 42 + number, num)}


def gates(results):
    judge = Judge(results)
    for name in [LOAD_UNCAPPED, *map(mix_name, MIXES)]:
        is_write = name in WRITES
        for system, target in AGAINST_DB_PATHS:
            for metric, text in (("fast_share", "reads served fast"), ("ops_per_s", "ops/s")):
                if metric == "ops_per_s" or not is_write:
                    yield judge.ratio(f"{name}: {text}, {system} / db_paths", name, metric, system,
                                      ("db_paths",), target, True)
        for system, target in AGAINST_CACHE:
            if not is_write:
                yield judge.ratio(f"{name}: ops/s, {system} / all_cache", name, "ops_per_s", system,
                                  ("all_cache",), target, True)
    for system in BUDGETED:
        yield budget_gate(judge, results, system)
    for name in (FILL_OVERHEAD, READ_OVERHEAD):
        yield judge.ratio(f"{name}: ops/s, tiers / stock", name, "ops_per_s", "tiers", ("stock",),
                          0.98, True)


def quick_gates(results):
    judge = Judge(results)
    yield budget_gate(judge, results, "fill")
    yield slice_cases.gate(judge, THING, "slow reads per read", 1.0)
    yield slice_cases.gate(judge, THING, "reads/s", 1.0, True)


def budget_gate(judge, results, system):
    names = dict.fromkeys(name for name, one in results.keys() if one == system)
    return judge.worst(f"bytes of SSTs on the fast device at any time / budget, {system}", names,
                       "fast_peak_by_budget", system, BUDGET_TOLERANCE)


BENCHMARK = Benchmark(
    title="levels on a fast and a slow device",
    ground="a fast and a slow device with direct I/O, or emulated; overhead: one path, in the page "
    "cache.",
    baseline="slow",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
