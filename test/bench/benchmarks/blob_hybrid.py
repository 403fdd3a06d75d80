"""blob_hybrid against values in place and RocksDB's own BlobDB.

The mixes and workloads are those of the Parallax paper.
"""

import functools

from blob import blob_systems
from common.harness import Benchmark, Case, Gate, Metric, Panel
from tier import tier_systems

MEGABYTES, QUICK_MEGABYTES = 64, 8  # of keys and values that a database is filled with
MOST_RECORDS = 1_500_000  # of small ones
OVERWRITES = 2.0  # times the records, by Run A
FLOOR_SHARE = 0.25  # of the data: the floor of live bytes for space amplification
TOLERANCE = 1.05  # of space
GROUNDS = ("direct", "sectors", "buffered")
DEFAULT_GROUNDS = ("direct",)
# Name: (mix of blob_driver, keys are alike, operations per record; None: as many as it takes for
# --blob-overwrites). In the order of YCSB.
WORKLOADS = {
    "Load A": None,
    "Run A": ("a", False, None),
    "Run A, uniform": ("a", True, None),
    "Run B": ("b", False, 0.2),
    "Run C": ("c", False, 0.2),
    "Run F": ("f", False, 0.2),
    "Run D": ("d", False, 0.2),
    "Run E": ("e", False, 0.01),
    "scans of 50": ("scan", True, 0.01),
}
DEFAULT_WORKLOADS = ("Load A", "Run A", "Run A, uniform", "scans of 50")

METRICS = (
    Metric("settled_per_s", "ops/s until settled", "ops/s", "{:.0f}", show_ratio=True),
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}"),
    Metric("io_amp", "I/O amp.", "1", "{:.2f}", show_ratio=True),
    Metric("read_amp", "read", "1", "{:.2f}"),
    Metric("write_amp", "written", "1", "{:.2f}"),
    Metric("space_max", "space, most", "1", "{:.2f}"),
    Metric("space_mean", "mean", "1", "{:.2f}"),
    Metric("space_end", "end", "1", "{:.2f}"),
    Metric("cpu_us", "CPU us/op", "us", "{:.1f}"),
    Metric("get_p50_us", "Get us", "us", "{:.0f}"),
    Metric("get_p99_us", "p99", "us", "{:.0f}"),
    Metric("put_p99_us", "Put p99 us", "us", "{:.0f}"),
    Metric("scan_p50_us", "scan us", "us", "{:.0f}", show_ratio=True),
    Metric("levels", "levels", "count", "{:.0f}"),
    *(Metric(name, "", "bytes", in_table=False) for name in (
        "user_read_bytes", "user_written_bytes", "read_bytes", "written_bytes", "wal_bytes",
        "flush_bytes", "compact_read_bytes", "compact_written_bytes", "blob_read_bytes",
        "blob_written_bytes", "sst_bytes", "blob_bytes", "live_bytes", "hybrid_moved_bytes",
        "hybrid_job_bytes")),
    *(Metric(f"space_{tenth}0", "", "1", in_table=False) for tenth in range(1, 11)),
    Metric("put_p50_us", "", "us", in_table=False),
    Metric("scan_p99_us", "", "us", in_table=False),
    Metric("stall_us", "", "us", in_table=False),
    Metric("hybrid_jobs", "", "count", in_table=False),
    Metric("hybrid_flush_wait_micros", "", "us", in_table=False),
    Metric("hybrid_bound_missed", "", "count", in_table=False),
)

PANELS = (
    Panel("settled_per_s", "Operations per second until nothing compacts (more is better)",
          log=True),
    Panel("io_amp", "Bytes read and written for each byte of the user (less is better)"),
    Panel("space_max", "Bytes of files for each live byte, at most (less is better)"),
)


def add_arguments(group):
    group.add_argument("--blob-megabytes", type=int, default=MEGABYTES,
                       help="of keys and values in a database (default %(default)s)")
    group.add_argument("--blob-overwrites", type=float, default=OVERWRITES,
                       help="of each record in Run A, on average (default %(default)s)")
    group.add_argument("--blob-sizes", default=",".join(blob_systems.SIZES),
                       help="mixes of sizes (default: all)")
    group.add_argument("--blob-systems", default=",".join(blob_systems.SYSTEMS),
                       help="default: all")
    group.add_argument("--blob-workloads", default=";".join(DEFAULT_WORKLOADS),
                       help='separated by semicolons, of "' + ";".join(WORKLOADS) +
                       '" (default: "%(default)s")')
    group.add_argument("--blob-grounds", default=",".join(DEFAULT_GROUNDS),
                       help=f"of {', '.join(GROUNDS)} (default %(default)s)")
    group.add_argument("--blob-options", action="append", default=[],
                       metavar="SYSTEM:NAME=VALUE;...",
                       help="further options of RocksDB for one system")


def title(ground, sizes, workload):
    return f"{ground}: {sizes}, {workload}"


def cases(args):
    result = []
    reason = tier_systems.missing(in_memory=True)
    if reason and args.blob_grounds != "buffered":
        print(f"No throttled device, so in the data folder: {reason}")
    changes = dict(change.split(":", 1) for change in args.blob_options)
    workloads = args.blob_workloads.split(";")
    systems = args.blob_systems.split(",")
    for unknown in (set(workloads) - set(WORKLOADS), set(systems) - set(blob_systems.SYSTEMS),
                    set(changes) - set(blob_systems.SYSTEMS),
                    set(args.blob_sizes.split(",")) - set(blob_systems.SIZES)):
        if unknown:
            raise RuntimeError(f"not known: {', '.join(sorted(unknown))}")
    megabytes = min(args.blob_megabytes, QUICK_MEGABYTES) if args.quick else args.blob_megabytes
    for ground in args.blob_grounds.split(","):
        for sizes in args.blob_sizes.split(","):
            for workload in workloads:
                for system in systems:
                    if not blob_systems.is_measured(system, sizes):
                        continue
                    run = functools.partial(run_one, ground, sizes, workload, system, megabytes,
                                            changes, args.blob_overwrites,
                                            workload == workloads[-1])
                    result.append(Case(title(ground, sizes, workload), (system,), run))
    return result


def run_one(ground, sizes, workload, system, megabytes, changes, overwrites, last, context, number):
    records = min(MOST_RECORDS, megabytes * 10**6 // blob_systems.SIZES[sizes])
    data = records * blob_systems.SIZES[sizes]
    floor, cache = int(data * FLOOR_SHARE), int(data * blob_systems.CACHE_SHARES[sizes])
    if workload == "Load A":
        blob_systems.clear(context, ground, sizes, system)
        more = ["--mode=fill", f"--seed={42 + number}"]
    else:
        mix, uniform, share = WORKLOADS[workload]
        operations = int(records * (share or 2 * overwrites))  # half of them are reads
        more = [f"--mix={mix}", f"--uniform={str(uniform).lower()}", f"--operations={operations}",
                f"--seed={142 + number}"]
    figures = blob_systems.run(context, ground, sizes, system, records, floor, changes, cache,
                               *more)
    if last:
        blob_systems.clear(context, ground, sizes, system)
    return {system: figures}


def gates(results):
    grounds = {name.split(": ")[0] for name, _ in results.keys()}
    return [gate for ground in GROUNDS if ground in grounds for gate in gates_of(ground, results)]


def gates_of(ground, results):
    def share(sizes, workload, metric, systems, best, ours="ours"):
        """Ours to the best one of others."""
        name = title(ground, sizes, workload)
        values = [results.median(name, system, metric) for system in systems]
        mine = results.median(name, ours, metric)
        return None if None in (mine, *values) or not values else mine / best(values)

    def at_most(sizes, workload, systems, target, label=None, ours="ours"):
        return Gate(f"{title(ground, sizes, workload)}: I/O amplification, {ours} / "
                    f"{label or ' '.join(systems)}",
                    share(sizes, workload, "io_amp", systems, min, ours), target)

    def at_least(sizes, workload, systems, target, label=None, ours="ours"):
        return Gate(f"{title(ground, sizes, workload)}: ops/s until settled, {ours} / "
                    f"{label or ' '.join(systems)}",
                    share(sizes, workload, "settled_per_s", systems, max, ours), target, True)

    def within(sizes, workload):
        """The others that take no more space than ours may."""
        spaces = {system: results.median(title(ground, sizes, workload), system, "space_max")
                  for system in blob_systems.OTHERS}
        return tuple(system for system, space in spaces.items()
                     if space is not None and space <= blob_systems.BOUNDS[sizes] * TOLERANCE)

    runs = ("Run A", "Run A, uniform")
    for workload in ("Load A", *runs):
        loads = workload == "Load A"
        yield at_most("L", workload, ("blob_large",), 0.6 if loads else 0.65)
        yield at_least("L", workload, ("blob_large",), 1.15)
        for sizes in blob_systems.ROOMY_MIXES:
            for systems, label in ((blob_systems.OTHERS, "the best one"),
                                   (within(sizes, workload), "the best one with as little space")):
                yield at_most(sizes, workload, systems, 1.0 if loads else 0.95, label)
                yield at_least(sizes, workload, systems, 1.0, label)
            for ours, other in () if loads else blob_systems.AS_ROOMY:
                yield at_most(sizes, workload, (other,), 0.95, ours=ours)
                yield at_least(sizes, workload, (other,), 1.0, ours=ours)
        yield at_most("M", workload, ("in_place",), 0.65 if loads else 0.8)
        yield at_most("S", workload, ("in_place",), 1.03)
        yield at_least("S", workload, ("in_place",), 0.97)
    yield Gate(f"{title(ground, 'M', 'scans of 50')}: microseconds, ours / in_place",
               share("M", "scans of 50", "scan_p50_us", ("in_place",), min), 1.5)
    for name, system in results.keys():
        if blob_systems.is_ours(system) and name.startswith(f"{ground}:"):
            sizes = name.split(": ")[1].split(",")[0]
            yield Gate(f"{name}: space amplification, {system}",
                       results.median(name, system, "space_max"),
                       blob_systems.bound(system, sizes) * TOLERANCE)


BENCHMARK = Benchmark(
    title="large values in blob files that are collected by their garbage",
    ground="direct: direct I/O on a device in memory, throttled to "
    f"{blob_systems.DISK['read_bps'] // 10**6} MB/s of reads and "
    f"{blob_systems.DISK['write_bps'] // 10**6} MB/s of writes, with sectors of 4 KiB; "
    "sectors: of 512 bytes; buffered: in the data folder, through the page cache. "
    "Bytes are those that RocksDB reads from and writes to files.",
    baseline="in_place",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=gates,
)
