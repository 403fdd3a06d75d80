"""Volatile upper levels in memory against stock RocksDB, and against all SSTs in memory."""

import dataclasses
import functools

from common.harness import Benchmark, Case, Gate, Metric, Panel
from tier import tier_systems, volatile_systems
from tier.volatile_systems import MAIN_SYSTEMS, ONCE_SYSTEMS, PLAIN, THROTTLED, Place, Shape

THREADS = 8
SHAPE = Shape(records=1_500_000, value_size=1024, file_bytes=16 << 20, level_base=80 << 20,
              multiplier=10)
SMALL_RECORDS, SMALL_VALUE = 5_000_000, 100
QUICK = 10  # times less data, in a tree of the same shape
QUICK_SYSTEMS = ("direct", "ours")  # of all but the first workload
QUICK_PLAIN = ("bound", "ours")
OVERWRITES = 5  # times the data
SECONDS = 30
MIX_SECONDS = 15
MIXES, QUICK_MIXES = "abcdef", "ae"
COMPRESSIONS = ("none", "lz4", "zstd")

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
    if not args.quick:
        return shape
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


def recovery_name(compression):
    return f"recovery, logs {compression}"


def cases(args):
    reason = volatile_systems.no_memory()
    if reason:
        print(f"No volatile tier here, so nothing is measured: {reason}")
        return []
    reason = tier_systems.missing()
    if reason:
        print(f"No throttled device, so only the plain disk is measured: {reason}")
    grounds = [PLAIN] if reason else [THROTTLED, PLAIN]
    result = []
    for part in args.volatile_parts.split(","):
        result += PARTS[part](args, grounds)
    return result


def fill_cases(args, grounds):
    """Each on an empty database, which is removed."""
    shapes = [(shape_of(args), None), (small_shape_of(args), None)]
    if not args.quick and not args.volatile_only_gates:
        shapes.append((dataclasses.replace(shape_of(args), dynamic=True), 1))
    result = []
    for ground in grounds:
        for shape, rounds in shapes:
            for system in systems_of(args, ground, shape):
                run = functools.partial(run_fill, ground, system, shape, largest(args))
                once = 1 if system in ONCE_SYSTEMS else rounds
                result.append(Case(fill_name(ground, shape), (system,), run, once))
    return result


def systems_of(args, ground, shape):
    chosen = args.volatile_systems.split(",")
    main = ground == THROTTLED and shape.value_size != SMALL_VALUE and not shape.dynamic
    if args.quick:
        wanted = QUICK_PLAIN if ground == PLAIN else MAIN_SYSTEMS[:4] if main else QUICK_SYSTEMS
        return [name for name in chosen if name in wanted]
    if main and not args.volatile_only_gates:
        chosen += ONCE_SYSTEMS
    return chosen


def used_systems(args):
    """Ours first: stock gets as much memory as that has used."""
    chosen = sorted(args.volatile_systems.split(","), key=lambda name: name != "ours")
    return [name for name in chosen if name in QUICK_SYSTEMS] if args.quick else chosen


def use_cases(args, grounds):
    """One database after the other: it is filled, used by all workloads in turn, then removed."""
    if THROTTLED not in grounds:
        return []
    seconds = min(2, args.volatile_use_seconds) if args.quick else args.volatile_use_seconds
    result = []
    for system in used_systems(args):
        steps = [(READ, (READ, seconds)),
                 (MIXED, ("readrandomwriterandom", seconds, "--readwritepercent=70"))]
        for name, how in steps:
            run = functools.partial(run_use, system, shape_of(args), largest(args), *how)
            result.append(Case(title(THROTTLED, name), (system,), run))
        run = functools.partial(run_overwrite, system, shape_of(args), largest(args))
        result.append(Case(title(THROTTLED, OVERWRITE), (system,), run))
    return result


def mix_cases(args, grounds):
    if THROTTLED not in grounds or args.volatile_only_gates:
        return []
    seconds = min(1, args.mix_seconds) if args.quick else args.mix_seconds
    mixes = QUICK_MIXES if args.quick else MIXES
    result = []
    for system in used_systems(args):
        if system == "untrimmed":
            continue
        shape, data = shape_of(args), largest(args)
        result.append(Case(title(THROTTLED, LOAD), (system,),
                           functools.partial(run_load, system, shape, data)))
        for uniform in (False,) if args.quick else (False, True):
            for mix in mixes:
                name = f"YCSB {mix.upper()}, {'uniform' if uniform else 'Zipf 0.99'}"
                last = (uniform or args.quick) and mix == mixes[-1]
                run = functools.partial(run_mix, system, shape, data, mix, uniform, seconds, last)
                result.append(Case(title(THROTTLED, name), (system,), run))
    return result


def recovery_cases(args, grounds):
    """On the plain disk: logs are in the page cache, so that the rebuilding is what is measured."""
    if "ours" not in args.volatile_systems.split(","):
        return []
    result = []
    for compression in COMPRESSIONS[:2] if args.quick else COMPRESSIONS:
        run = functools.partial(run_recovery, shape_of(args), largest(args), compression)
        result.append(Case(title(PLAIN, recovery_name(compression)), ("ours",), run))
    return result


PARTS = {"fill": fill_cases, "use": use_cases, "mixes": mix_cases, "recovery": recovery_cases}


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


def run_use(system, shape, data, benchmark, seconds, *more):
    context, number = more[-2:]
    place = Place(context, THROTTLED, system, data)
    if benchmark == READ:  # the first of the workloads
        place.clear()
        volatile_systems.write(context, place, system, shape, "fillrandom", shape.records, THREADS,
                               42 + number)
    return {system: volatile_systems.use(context, place, system, shape, benchmark, seconds, THREADS,
                                         142 + number, *more[:-2])}


def run_overwrite(system, shape, data, context, number):
    place = Place(context, THROTTLED, system, data)
    try:
        return {system: volatile_systems.write(context, place, system, shape, "overwrite",
                                               OVERWRITES * shape.records, THREADS, 242 + number)}
    finally:
        place.clear()


def run_load(system, shape, data, context, number):
    place = Place(context, THROTTLED, system, data)
    place.clear()
    return {system: volatile_systems.drive(context, place, system, shape, "load", "--mode=fill",
                                           f"--seed={42 + number}")}


def run_mix(system, shape, data, mix, uniform, seconds, last, context, number):
    place = Place(context, THROTTLED, system, data)
    figures = volatile_systems.drive(
        context, place, system, shape, f"{mix}, {uniform}", f"--mix={mix}",
        f"--uniform={str(uniform).lower()}", f"--seconds={seconds}", f"--threads={THREADS}",
        f"--seed={142 + number}",
    )
    if last:
        place.clear()
    return {system: figures}


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


def smallest(*values):
    """None if one was not measured."""
    return None if None in values else min(values)


def share(value, base):
    """None if one was not measured; 0 of 0 is nothing."""
    if value is None or base is None:
        return None
    return value / base if base else 0.0 if value == 0 else float("inf")


def gates(results):
    fill, overwrite = title(THROTTLED, FILL), title(THROTTLED, OVERWRITE)

    def median(benchmark, system, metric):
        return results.median(benchmark, system, metric)

    def ratio(benchmark, metric, other, target, at_least=False):
        """Ours to another system.

        "stock": to the higher one of the two, where more is better, else to the lower one.
        """
        values = [median(benchmark, name, metric)
                  for name in (("buffered", "direct") if other == "stock" else (other,))]
        base = None if None in values else (max if at_least else min)(values)
        return Gate(f"{benchmark}: {metric}, ours / {other}",
                    share(median(benchmark, "ours", metric), base), target, at_least)

    yield ratio(fill, "settled_per_s", "buffered", 2.0, True)
    yield ratio(fill, "settled_per_s", "direct", 1.4, True)
    yield ratio(fill, "stall_s", "stock", 0.2)
    # Nothing is faster than the device is with these bytes, nor than the processors are with all
    # SSTs in memory.
    by_bandwidth = share(median(fill, "ours", "settled_s"), median(fill, "ours", "bandwidth_s"))
    yield Gate(f"{fill}: settled_s, ours / the longer of bytes written / bandwidth and bound",
               smallest(by_bandwidth, results.paired_ratio(fill, "settled_s", "ours", "bound")),
               1.15)
    # With 8 writers on few processors it is a matter of these, and as long with all SSTs in memory.
    yield ratio(fill, "write_p999_us", "bound", 1.1)
    yield ratio(fill, "write_max_us", "buffered", 0.5)
    yield ratio(overwrite, "settled_per_s", "stock", 1.3, True)
    # Stock with direct I/O has as much memory as ours there; buffered, it has all of the machine.
    yield ratio(title(THROTTLED, MIXED), "ops_per_s", "direct", 1.3, True)
    name = title(PLAIN, FILL)
    yield Gate(f"{name}: settled_per_s, ours / bound in each round",
               results.paired_ratio(name, "settled_per_s", "ours", "bound"), 0.9, True)
    yield ratio(fill, "written_bytes", "buffered", 0.40)
    yield ratio(fill, "written_bytes", "direct", 0.48)
    yield ratio(title(THROTTLED, SMALL_FILL), "written_bytes", "buffered", 0.40)
    for name in (fill, overwrite):
        yield Gate(f"{name}: peak of retained logs / peak of the tier",
                   median(name, "ours", "peak_per_peak"), 1.8)
    for compression in COMPRESSIONS:
        name = title(PLAIN, recovery_name(compression))
        yield Gate(f"{name}: keys lost", median(name, "ours", "lost_keys"), 0)
        if compression == "none":
            yield Gate(f"{name}: GB/s", median(name, "ours", "recovery_gb_per_s"), 0.5, True)
    name = title(PLAIN, SMALL_FILL)
    yield Gate(f"{name}: cpu_s, ours / buffered in each round",
               results.paired_ratio(name, "cpu_s", "ours", "buffered"), 1.25)


BENCHMARK = Benchmark(
    title="volatile levels in memory, recoverable from write-ahead logs",
    ground="throttled: ext4 on a loop device with direct I/O,"
    f" {volatile_systems.LIMITS['write_bps'] // 10**6} MB/s of writes and"
    f" {volatile_systems.LIMITS['read_bps'] // 10**6} MB/s of reads;"
    " plain: the data folder's file system.",
    baseline="buffered",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
)
