"""Volatile upper levels in memory against stock RocksDB, and against all SSTs in memory."""

import dataclasses
import functools

from common import grounds, slice_cases
from common.gates import INTERVAL, WORST, Judge
from common.harness import Benchmark, Case, Metric, Panel
from tier import volatile_systems
from tier.volatile_systems import (EMULATED, MAIN_SYSTEMS, ONCE_SYSTEMS, PLAIN, THROTTLED, Place,
                                   Shape)

THREADS = 8
SHAPE = Shape(records=1_500_000, value_size=1024, file_bytes=16 << 20, level_base=80 << 20,
              multiplier=10)
SMALL_RECORDS, SMALL_VALUE = 5_000_000, 100
LARGE_SHAPE = dataclasses.replace(SHAPE, records=10_000_000, file_bytes=64 << 20,
                                  level_base=800 << 20)
QUICK = 10  # times less data, in a tree of the same shape
QUICK_SYSTEMS = ("direct", "ours")  # of all but the first workload
QUICK_PLAIN = ("bound", "ours")
QUICK_MAIN = ("buffered", "direct", "ours")
OVERWRITES = 5  # times the data
SECONDS = 30
MIX_SECONDS = 15
MIXES = "abcdef"
THING = "tiered_env_memory"  # of the demo
COMPRESSIONS = ("none", "lz4", "zstd")
QUICK_COMPRESSIONS = COMPRESSIONS[:2]

METRICS = (
    Metric("settled_per_s", "ops/s until settled", "ops/s", "{:.0f}", show_ratio=True),
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("settled_s", "settled s", "s", "{:.1f}"),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("p999_us", "p99.9 us", "us", "{:.0f}", show_ratio=True),
    Metric("max_us", "longest ms", "us", "{:.0f}", scale=1e-3),
    Metric("read_p99_us", "read p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("write_p99_us", "write p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("write_p999_us", "write p99.9 us", "us", "{:.0f}", show_ratio=True),
    Metric("write_max_us", "longest write ms", "us", "{:.0f}", scale=1e-3, show_ratio=True),
    Metric("stall_s", "stalled s", "s", "{:.1f}", show_ratio=True),
    Metric("written_bytes", "MB written", "bytes", "{:.0f}", scale=1e-6, show_ratio=True),
    Metric("device_written_bytes", "MB, device", "bytes", "{:.0f}", scale=1e-6),
    Metric("wal_bytes", "MB of logs", "bytes", "{:.0f}", scale=1e-6),
    Metric("durable_table_bytes", "MB of SSTs", "bytes", "{:.0f}", scale=1e-6),
    Metric("recipe_bytes", "MB of recipes", "bytes", "{:.0f}", scale=1e-6),
    Metric("archived_bytes", "MB of archives", "bytes", "{:.0f}", scale=1e-6),
    Metric("tier_peak_bytes", "tier MB", "bytes", "{:.0f}", scale=1e-6),
    Metric("retained_peak_bytes", "retained MB", "bytes", "{:.0f}", scale=1e-6),
    Metric("peak_per_peak", "retained/tier", "1"),
    Metric("worst_amplification", "lambda", "1"),
    Metric("cpu_s", "CPU s", "s", "{:.1f}", show_ratio=True),
    Metric("process_bytes", "MB of the process", "bytes", "{:.0f}", scale=1e-6),
    Metric("recovery_s", "recovery s", "s"),
    Metric("recovery_gb_per_s", "GB/s", "GB/s"),
    Metric("recovery_s_per_gb", "s/GB", "s/GB"),
    Metric("rebuilt_bytes", "MB rebuilt", "bytes", "{:.0f}", scale=1e-6),
    Metric("retained_bytes", "retained MB", "bytes", "{:.0f}", scale=1e-6),
    Metric("lost_keys", "keys lost", "count", "{:.0f}"),
    Metric("table_bytes", "", "bytes", in_table=False),
    Metric("moved_bytes", "", "bytes", in_table=False),
    Metric("trims", "", "count", in_table=False),
    Metric("literal_share", "", "1", in_table=False),
    Metric("end_amplification", "", "1", in_table=False),
    Metric("bandwidth_s", "", "s", in_table=False),
    Metric("device_read_bytes", "", "bytes", in_table=False),
    Metric("p50_us", "", "us", in_table=False),
    Metric("read_p50_us", "", "us", in_table=False),
    Metric("read_p999_us", "", "us", in_table=False),
    Metric("read_max_us", "", "us", in_table=False),
    Metric("write_p50_us", "", "us", in_table=False),
    *(Metric(f"lambda_{tenth * 10}", "", "1", in_table=False) for tenth in range(1, 11)),
)

PANELS = (
    Panel("settled_per_s", "Writes per second until nothing compacts (more is better)"),
    Panel("ops_per_s", "Operations per second (more is better)", log=True),
    Panel("written_bytes", "Bytes written to durable storage (less is better)", log=True),
    Panel("write_p999_us", "99.9th percentile of a write in microseconds (less is better)",
          log=True),
)


def add_arguments(group):
    group.add_argument("--volatile-only-gates", action="store_true",
                       help="just what the gates need")
    group.add_argument("--volatile-systems", default=",".join(MAIN_SYSTEMS),
                       help="default: %(default)s")
    group.add_argument("--volatile-records", type=int, default=SHAPE.records,
                       help="default %(default)s")
    group.add_argument("--small-records", type=int, default=SMALL_RECORDS,
                       help="of 100 bytes (default %(default)s)")
    group.add_argument("--volatile-file-bytes", type=int, default=SHAPE.file_bytes,
                       help="of a memtable and of an SST (default %(default)s)")
    group.add_argument("--volatile-level-base", type=int, default=SHAPE.level_base,
                       help="bytes of L1 (default %(default)s)")
    group.add_argument("--volatile-level-multiplier", type=int, default=SHAPE.multiplier,
                       help="default %(default)s")
    group.add_argument("--volatile-use-seconds", type=int, default=SECONDS,
                       help="of a run (default %(default)s)")
    group.add_argument("--mix-seconds", type=float, default=MIX_SECONDS,
                       help="of one of YCSB's mixes (default %(default)s)")
    group.add_argument("--volatile-parts", default=",".join(PARTS), help="default: %(default)s")


def shape_of(args):
    shape = dataclasses.replace(
        SHAPE, records=args.volatile_records, file_bytes=args.volatile_file_bytes,
        level_base=args.volatile_level_base, multiplier=args.volatile_level_multiplier,
    )
    return smaller(shape) if args.quick else shape


def smaller(shape):
    """The same tree of less data, for a quick run."""
    return dataclasses.replace(
        shape, records=shape.records // QUICK, file_bytes=shape.file_bytes // QUICK,
        level_base=shape.level_base // QUICK,
    )


def small_shape_of(args):
    records = args.small_records // QUICK if args.quick else args.small_records
    return dataclasses.replace(shape_of(args), records=records, value_size=SMALL_VALUE)


def title(ground, what):
    return f"{ground}: {what}"


def fill_name(ground, shape):
    return title(ground, f"fillrandom, {'100 B' if shape.value_size == SMALL_VALUE else '1 KB'}"
                         f"{', dynamic levels' if shape.dynamic else ''}")


FILL, SMALL_FILL = "fillrandom, 1 KB", "fillrandom, 100 B"
READ, MIXED = "readrandom", "reads 70 / writes 30"
OVERWRITE, LOAD = "overwrite, 5x the data", "YCSB load"
LARGE_RECOVERY = "recovery of 10 GB"
STOCK = ("buffered", "direct")
PACED = "overwrite, half the rate that saturates stock"


def recovery_name(compression):
    return f"recovery, logs {compression}"


def cases(args):
    reason = volatile_systems.no_memory()
    if reason:
        print(f"No volatile tier here, so nothing is measured: {reason}")
        return []
    reason = grounds.missing(emulate=args.emulate)
    if reason:
        print(f"No throttled device, so it is emulated: {reason}")
    device = EMULATED if reason else THROTTLED
    result = []
    for part in args.volatile_parts.split(","):
        result += PARTS[part](args, device)
    return result


def fill_cases(args, device):
    """Each on an empty database, which is removed."""
    shapes = [(shape_of(args), None), (small_shape_of(args), None)]
    if not args.quick and not args.volatile_only_gates:
        shapes.append((dataclasses.replace(shape_of(args), dynamic=True), 1))
    result = []
    for ground in (device, PLAIN):
        for shape, rounds in shapes:
            for system in systems_of(args, ground, shape):
                run = functools.partial(run_fill, ground, system, shape, largest(args))
                once = 1 if system in ONCE_SYSTEMS else rounds
                result.append(Case(fill_name(ground, shape), (system,), run, once))
    return result


def systems_of(args, ground, shape):
    chosen = [name for name in args.volatile_systems.split(",")
              if not volatile_systems.SYSTEMS[name].held]
    main = ground != PLAIN and shape.value_size != SMALL_VALUE and not shape.dynamic
    if args.quick:
        wanted = QUICK_PLAIN if ground == PLAIN else QUICK_MAIN
        return [name for name in chosen if name in wanted]
    if ground == EMULATED:  # by tiered_env, which "bound" has not
        chosen = [name for name in chosen if name != "bound"]
    if main and not args.volatile_only_gates:
        chosen += ONCE_SYSTEMS
    return chosen


def used_systems(args, device):
    """Ours first, in the first round: stock gets as much memory as that has used."""
    chosen = sorted(args.volatile_systems.split(","), key=lambda name: name != "ours")
    if device == EMULATED:  # nothing is held to its memory there
        chosen = [name for name in chosen if name not in ("held", "bound")]
    return [name for name in chosen if name in QUICK_SYSTEMS] if args.quick else chosen


def use_cases(args, device):
    """One database after the other: it is filled, used by all workloads in turn, then removed."""
    seconds = min(2, args.volatile_use_seconds) if args.quick else args.volatile_use_seconds
    result = []
    for system in used_systems(args, device):
        steps = [(READ, (READ, seconds)),
                 (MIXED, ("readrandomwriterandom", seconds, "--readwritepercent=70"))]
        for name, how in steps:
            run = functools.partial(run_use, device, system, shape_of(args), largest(args), *how)
            result.append(Case(title(device, name), (system,), run, turn="use"))
        if not args.quick:
            run = functools.partial(run_overwrite, device, system, shape_of(args), largest(args))
            result.append(Case(title(device, OVERWRITE), (system,), run, turn="use"))
    return result


def mix_cases(args, device):
    """The last one is what comes at a pace that none of them has to hurry for."""
    seconds = min(1, args.mix_seconds) if args.quick else args.mix_seconds
    mixes = "" if args.quick or args.volatile_only_gates else MIXES
    result = []
    for system in used_systems(args, device):
        if system == "untrimmed":
            continue
        of_system = (device, system, shape_of(args), largest(args))
        steps = [(LOAD, functools.partial(run_load, *of_system))]
        steps += [(f"YCSB {mix.upper()}, {'uniform' if uniform else 'Zipf 0.99'}",
                   functools.partial(run_mix, *of_system, mix, uniform, seconds))
                  for uniform in (False, True) for mix in mixes]
        steps.append((PACED, functools.partial(run_paced, *of_system, 2 * seconds)))
        result += [Case(title(device, name), (system,), run, turn="mixes") for name, run in steps]
    return result


def recovery_cases(args, _device):
    """On the plain disk: logs are in the page cache, so that the rebuilding is what is measured."""
    if "ours" not in args.volatile_systems.split(","):
        return []
    result = []
    for compression in QUICK_COMPRESSIONS if args.quick else COMPRESSIONS:
        run = functools.partial(run_recovery, shape_of(args), largest(args), compression)
        result.append(Case(title(PLAIN, recovery_name(compression)), ("ours",), run))
    return result


def large_cases(args, _device):
    """Once: a tier of 10 GB, which all levels are in."""
    if args.quick or "ours" not in args.volatile_systems.split(","):
        return []
    run = functools.partial(run_recovery, LARGE_SHAPE, LARGE_SHAPE.data, "none")
    return [Case(title(PLAIN, LARGE_RECOVERY), ("ours",), run, rounds=1)]


PARTS = {"fill": fill_cases, "use": use_cases, "mixes": mix_cases, "recovery": recovery_cases,
         "large": large_cases}


def largest(args):
    return max(shape_of(args).data, small_shape_of(args).data)


def run_fill(ground, system, shape, data, context, number):
    place = Place(context, ground, system, data)
    place.clear()
    try:
        return {system: volatile_systems.write(context, place, system, shape, "fillrandom",
                                               shape.records, THREADS, 42 + number)}
    finally:
        place.clear()


def run_use(ground, system, shape, data, benchmark, seconds, *more):
    context, number = more[-2:]
    place = Place(context, ground, system, data)
    if benchmark == READ:  # the first of the workloads
        place.clear()
        volatile_systems.write(context, place, system, shape, "fillrandom", shape.records, THREADS,
                               42 + number)
    return {system: volatile_systems.use(context, place, system, shape, benchmark, seconds, THREADS,
                                         142 + number, *more[:-2])}


def run_overwrite(ground, system, shape, data, context, number):
    place = Place(context, ground, system, data)
    try:
        return {system: volatile_systems.write(context, place, system, shape, "overwrite",
                                               OVERWRITES * shape.records, THREADS, 242 + number)}
    finally:
        place.clear()


def run_load(ground, system, shape, data, context, number):
    place = Place(context, ground, system, data)
    place.clear()
    return {system: volatile_systems.drive(context, place, system, shape, "load", "--mode=fill",
                                           f"--seed={42 + number}")}


def run_mix(ground, system, shape, data, mix, uniform, seconds, context, number):
    place = Place(context, ground, system, data)
    return {system: volatile_systems.drive(
        context, place, system, shape, f"{mix}, {uniform}", f"--mix={mix}",
        f"--uniform={str(uniform).lower()}", f"--seconds={seconds}", f"--threads={THREADS}",
        f"--seed={142 + number}",
    )}


def run_paced(ground, system, shape, data, seconds, context, number):
    place = Place(context, ground, system, data)
    rate = volatile_systems.pace_of(context, ground, shape, data)
    try:
        return {system: volatile_systems.drive(
            context, place, system, shape, PACED, "--mix=overwrite", f"--rate={rate}",
            f"--seconds={seconds}", f"--threads={THREADS}", f"--seed={342 + number}",
        )}
    finally:
        place.clear()


def run_recovery(shape, data, compression, context, number):
    place = Place(context, PLAIN, "ours", data)
    place.clear()
    try:
        volatile_systems.write(context, place, "ours", shape, "fillrandom", shape.records, THREADS,
                               42 + number, compression, settle=False)
        return {"ours": volatile_systems.recover(context, place, "ours", shape, compression,
                                                 shape.records // 10)}
    finally:
        place.clear()


def gates(results):
    device = device_of(results)
    fill, overwrite = title(device, FILL), title(device, OVERWRITE)
    judge = Judge(results)

    def ratio(benchmark, metric, other, target, at_least=False):
        """Ours to another system, or to the better one of stock's two."""
        others = STOCK if other == "stock" else (other,)
        return judge.ratio(f"{benchmark}: {metric}, ours / {other}", benchmark, metric, "ours",
                           others, target, at_least)

    yield ratio(fill, "settled_per_s", "buffered", 2.0, True)
    yield ratio(fill, "settled_per_s", "direct", 1.4, True)
    yield ratio(fill, "stall_s", "stock", 0.2)
    yield judge.after(f"{fill}: settled_s / (bytes written / bandwidth), ours",
                      (fill, "settled_s"), (fill, "bandwidth_s"), "ours", 1.15)
    yield ratio(fill, "write_p999_us", "buffered", 0.5)
    yield ratio(fill, "write_p999_us", "bound", 1.1)
    yield ratio(fill, "write_max_us", "buffered", 0.5)
    yield ratio(title(device, PACED), "p999_us", "stock", 0.5)
    yield ratio(overwrite, "settled_per_s", "stock", 1.3, True)
    # Each has as much memory as ours there: as block cache, or as it likes.
    for other in ("direct", "held"):
        yield ratio(title(device, MIXED), "ops_per_s", other, 1.3, True)
    yield ratio(title(PLAIN, FILL), "settled_per_s", "bound", 0.9, True)
    yield from written_gates(judge, device)
    name = title(PLAIN, recovery_name("none"))
    yield judge.figure(f"{name}: GB/s", name, "recovery_gb_per_s", "ours", 0.5, True)
    for recovery in (name, title(PLAIN, LARGE_RECOVERY)):
        yield judge.worst(f"{recovery}: GB/s, the slowest round", (recovery,), "recovery_gb_per_s",
                          "ours", 1.0, True)
    yield ratio(title(PLAIN, SMALL_FILL), "cpu_s", "buffered", 1.25)
    yield from safety_gates(judge, (fill, overwrite, title(PLAIN, FILL), title(PLAIN, SMALL_FILL)),
                            COMPRESSIONS, (LARGE_RECOVERY,))


def quick_gates(results):
    judge, device = Judge(results), device_of(results)
    yield from safety_gates(judge, (title(device, FILL),), QUICK_COMPRESSIONS)
    yield from written_gates(judge, device, WORST)
    yield slice_cases.gate(judge, THING, "bytes written per byte", 0.6)
    yield slice_cases.gate(judge, THING, "puts/s until settled", 1.0, True)


def device_of(results):
    """What was measured beside the plain disk."""
    names = {name.partition(":")[0] for name, _ in results.keys()}
    return EMULATED if EMULATED in names else THROTTLED


def written_gates(judge, device, by=INTERVAL):
    for name, other, target in ((FILL, "buffered", 0.40), (FILL, "direct", 0.48),
                                (SMALL_FILL, "buffered", 0.40)):
        name = title(device, name)
        yield judge.ratio(f"{name}: written_bytes, ours / {other}", name, "written_bytes", "ours",
                          (other,), target, by=by)


def safety_gates(judge, names, compressions, more_recoveries=()):
    for name in names:
        yield judge.worst(f"{name}: peak of retained logs / peak of the tier", (name,),
                          "peak_per_peak", "ours", 1.8)
    for recovery in (*map(recovery_name, compressions), *more_recoveries):
        name = title(PLAIN, recovery)
        yield judge.worst(f"{name}: keys lost", (name,), "lost_keys", "ours", 0)


BENCHMARK = Benchmark(
    title="volatile levels in memory, recoverable from write-ahead logs",
    ground="throttled: a loop device that the kernel holds to limits; emulated: tiered_env makes "
    "the data folder slow, for all systems; plain: the data folder's file system.",
    baseline="buffered",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    things=(THING,),
)
