"""tiered_env on two devices, against all on the slow one, and RocksDB's own db_paths."""

import functools
import shutil

from common.harness import Benchmark, Case, Gate, Metric, Panel
from tier import tier_systems

RECORDS, VALUE_SIZE = 1_000_000, 1024
QUICK_RECORDS = 150_000
FAST_PERCENT = 35  # bytes of the fast device, of those of the records
SECONDS = 20
MIXES = ("a", "b", "c", "d", "e", "f", "overwrite")
# Writes a second, in the load and of overwrites: what compactions keep up with, so that the systems
# have equal bytes of the fast device, and trees of the same shape.
RATE = 20_000
OVERHEAD_RECORDS = 1_000_000

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("fast_share", "fast %", "1", "{:.1f}", scale=100),
    Metric("fast_reads", "fast reads", "count", "{:.0f}"),
    Metric("slow_reads", "slow reads", "count", "{:.0f}"),
    Metric("fast_files_bytes", "MB fast", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_peak_bytes", "MB fast, most", "bytes", "{:.0f}", scale=1e-6),
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

LOAD = "load"
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
    return f"overwrite, uniform, {RATE} a second" if mix == "overwrite" else f"YCSB {mix.upper()}"


def cases(args):
    return level_cases(args) + overhead_cases(args)


def level_cases(args):
    """Each system fills a database, which the mixes then use in turn."""
    reason = tier_systems.missing()
    if reason:
        print(f"No throttled device, so only the overhead is measured: {reason}")
        return []
    records = min(args.tier_records, QUICK_RECORDS) if args.quick else args.tier_records
    seconds = min(2, args.seconds_per_mix) if args.quick else args.seconds_per_mix
    size = (records, int(records * VALUE_SIZE * args.fast_percent / 100))
    systems, mixes = args.tier_systems.split(","), args.mixes.split(",")
    result = [Case(LOAD, (system,), functools.partial(load, system, *size)) for system in systems]
    for mix in mixes:
        for system in systems:
            run = functools.partial(run_mix, system, *size, mix, seconds, mix == mixes[-1])
            result.append(Case(mix_name(mix), (system,), run))
    return result


def load(system, records, fast_bytes, context, number):
    place = tier_systems.ground(context, records, VALUE_SIZE)
    if number == 0 and system == "slow":
        print(f"slow device: {tier_systems.SLOW}")
    clear(place, system)
    return {system: tier_systems.run(context, place, system, fast_bytes, "--mode=fill",
                                     f"--records={records}", f"--rate={RATE}",
                                     f"--seed={42 + number}")}


def clear(place, system):
    for point in place.points.values():
        for folder in (system, f"db-{system}"):
            shutil.rmtree(f"{point}/{folder}", ignore_errors=True)


def run_mix(system, records, fast_bytes, mix, seconds, last, context, number):
    place = tier_systems.ground(context, records, VALUE_SIZE)
    rate = RATE if mix == "overwrite" else 0
    figures = tier_systems.run(context, place, system, fast_bytes, f"--mix={mix}",
                               f"--seconds={seconds}", f"--records={records}",
                               f"--seed={142 + number}", f"--rate={rate}")
    if last:
        clear(place, system)
    return {system: figures}


def overhead_cases(args):
    num = 100_000 if args.quick else OVERHEAD_RECORDS
    result = []
    for name in (FILL_OVERHEAD, READ_OVERHEAD):
        for system in tier_systems.OVERHEAD_SYSTEMS:
            run = functools.partial(run_overhead, system, name.rpartition(" ")[2], num)
            result.append(Case(name, (system,), run))
    return result


def run_overhead(system, benchmark, num, context, number):
    return {system: tier_systems.overhead(context, system, benchmark, 42 + number, num)}


def gates(results):
    mixes = [name for name in dict.fromkeys(b for b, _ in results.keys())
             if name.startswith(("YCSB", "overwrite"))]
    for name in mixes or [mix_name("c")]:
        reads = () if name.startswith("overwrite") else (("fast_share", "reads served fast"),)
        for metric, text in (*reads, ("ops_per_s", "ops/s")):
            yield Gate(f"{name}: {text}, fill / db_paths",
                       results.ratio(name, metric, "fill", "db_paths"), 0.98, True)
    for name in (FILL_OVERHEAD, READ_OVERHEAD):
        yield Gate(f"{name}: ops/s, tiers / stock",
                   results.ratio(name, "ops_per_s", "tiers", "stock"), 0.98, True)


BENCHMARK = Benchmark(
    title="levels on a fast and a slow device",
    ground="loop devices with direct I/O, the slow one throttled by the kernel to "
    f"{tier_systems.SLOW['read_iops']} reads and as many writes a second and "
    f"{tier_systems.SLOW['read_bps'] >> 20} MiB/s; overhead: one path, in the page cache.",
    baseline="slow",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
)
