"""tiered_env's rules of column families against its levels and RocksDB's cf_paths: one is hot."""

import functools
import os

from benchmarks import tiered_env
from common import grounds
from common.gates import INTERVAL, WORST, Judge
from common.harness import Benchmark, Case, Metric, Panel
from common.results import share
from tier import tier_systems

RECORDS, QUICK_RECORDS = tiered_env.RECORDS, 60_000
VALUE_SIZE, RATE = tiered_env.VALUE_SIZE, tiered_env.RATE
FAST_PERCENT = tiered_env.FAST_PERCENT  # bytes of the fast device, of those of all records
SECONDS, QUICK_SECONDS = tiered_env.SECONDS, 2
FAMILIES = 10  # f0 to f9, with equal parts of the records
HOT, NEXT = "f0", "f1"  # the hot one, and that which gets its rule
HOT_SHARE = 0.9  # of the operations
LOWER = range(3, 7)  # levels that a rule of levels has on the slow device
HOT_ROOM = 1.2  # bytes that are left to f0, by those of its records
REST = 1 << 50  # of a path: all

LOAD = f"load, {RATE} a second"
READS, MIXED = "reads, 90% in f0", "half reads, half updates, 90% in f0"
MOVED = "the rule of f0 becomes that of f1"
MIXES = {READS: "c", MIXED: "a"}
STOCK = ("cf_paths", "cf_paths_levels")
SYSTEMS = ("db_paths", *STOCK, "levels", "families")
QUICK_SYSTEMS = ("cf_paths", "levels", "families")
TIERED = ("levels", "families")  # what has a budget
LEAST_GAIN, LEAST_RATE = 1.5, 0.98

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}", show_ratio=True),
    Metric("fast_share", "fast %", "1", "{:.1f}", scale=100),
    Metric("fast_reads", "fast reads", "count", "{:.0f}"),
    Metric("slow_reads", "slow reads", "count", "{:.0f}"),
    Metric("fast_files_bytes", "MB fast", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_peak_bytes", "MB fast, most", "bytes", "{:.0f}", scale=1e-6),
    Metric("fast_peak_by_budget", "most/budget", "1", "{:.2f}"),
    Metric("settled_s", "settled s", "s", "{:.1f}"),
    Metric("must_move_bytes", "MB to move", "bytes", "{:.1f}", scale=1e-6),
    Metric("moved_bytes", "MB moved", "bytes", "{:.1f}", scale=1e-6),
    Metric("moved_by_must", "moved/to move", "1", "{:.3f}"),
)

PANELS = (
    Panel("ops_per_s", "Operations per second (more is better)", log=True),
    Panel("fast_share", "Reads that the fast device served (more is better)"),
)


def add_arguments(group):
    group.add_argument("--families-records", type=int, default=RECORDS, help="default %(default)s")
    group.add_argument("--families-systems", default=",".join(SYSTEMS), help="default: all")


def cases(args):
    """Each system fills a database, which the others use in turn."""
    reason = grounds.missing(emulate=args.emulate)
    if reason:
        print(f"No throttled device, so the slow one is emulated: {reason}")
    records = QUICK_RECORDS if args.quick else args.families_records
    seconds = QUICK_SECONDS if args.quick else SECONDS
    systems = args.families_systems.split(",")
    if args.quick:
        systems = [system for system in systems if system in QUICK_SYSTEMS]

    def of_all(name, run, *more):
        return [Case(name, (system,), functools.partial(run, system, records, *more))
                for system in systems]

    moved = [case for case in of_all(MOVED, run_moved) if case.systems == ("families",)]
    return [*of_all(LOAD, load), *of_all(READS, run_mix, MIXES[READS], seconds), *moved,
            *of_all(MIXED, run_mix, MIXES[MIXED], seconds)]


def arrangement(place, system, records, fast_bytes, hot):
    """(directory of the database, flags). The directory is on the fast device."""
    db, slow = f"{place.points['fast']}/db-{system}", f"{place.points['slow']}/{system}"
    os.makedirs(slow, exist_ok=True)
    if system == "db_paths":  # RocksDB gives each family as many bytes of a path
        return db, [f"--db_paths={db}={fast_bytes // FAMILIES};{slow}={REST}"]
    if system == "cf_paths":
        return db, [f"--hot_paths={db}={REST}", f"--cold_paths={slow}={REST}"]
    if system == "cf_paths_levels":
        of_hot = HOT_ROOM * records * VALUE_SIZE / FAMILIES
        of_other = int((fast_bytes - of_hot) / (FAMILIES - 1))
        return db, [f"--hot_paths={db}={REST}", f"--cold_paths={db}={of_other};{slow}={REST}"]
    rules = "0..=home" if system == "levels" else f"cf:{hot}=home;{LOWER[0]}..=slow"
    return db, [tier_systems.fs_uri(slow, fast_bytes, rules), "--listener=true"]


def tree(records):
    """Flags: that of each family is as that of tiered_env, with a tenth of the records."""
    of_family = functools.partial(tier_systems.scaled, records=records // FAMILIES)
    return [
        f"--records={records}", f"--value_size={VALUE_SIZE}", f"--families={FAMILIES}",
        f"--hot_share={HOT_SHARE}", f"--cache_bytes={tier_systems.scaled(16, records)}",
        # SSTs of 2 MB, so that no more files are open than a process may have.
        f"--options=write_buffer_size={of_family(16)};target_file_size_base={of_family(20)};"
        f"max_bytes_for_level_base={of_family(32)}",
    ]


def measured(context, system, records, *more, hot=HOT):
    place = tier_systems.ground(context, records, VALUE_SIZE)
    fast_bytes = int(records * VALUE_SIZE * FAST_PERCENT / 100)
    return tier_systems.measured(context, place, system, fast_bytes,
                                 *arrangement(place, system, records, fast_bytes, hot),
                                 *tree(records), *more)


def load(system, records, context, number):
    tier_systems.clear(tier_systems.ground(context, records, VALUE_SIZE), system)
    return {system: measured(context, system, records, "--mode=fill", f"--rate={RATE}",
                             f"--seed={42 + number}")}


def run_mix(system, records, mix, seconds, context, number):
    return {system: measured(context, system, records, f"--mix={mix}", f"--seconds={seconds}",
                             f"--seed={142 + number}")}


def run_moved(system, records, context, _number):
    """Until nothing moves any more; nothing compacts, since nothing was written before."""
    figures = measured(context, system, records, "--mix=c", "--seconds=0", hot=NEXT)
    must = sum(figures.get(f"{family}_level{level}_bytes", 0)
               for family in (HOT, NEXT) for level in LOWER)
    moved = figures["tier_home_moved_bytes"] + figures["tier_slow_moved_bytes"]
    names = ("fast_files_bytes", "fast_peak_bytes", "fast_peak_by_budget")
    return {system: {**{name: figures[name] for name in names}, "must_move_bytes": must,
                     "moved_bytes": moved, "moved_by_must": share(moved, must)}}


def gates(results):
    judge = Judge(results)
    for name in MIXES:
        yield fast_gate(judge, name)
        yield judge.ratio(f"{name}: ops/s, families / the better one of cf_paths", name,
                          "ops_per_s", "families", STOCK, LEAST_RATE, True)
    yield from gates_of_bytes(judge)


def quick_gates(results):
    judge = Judge(results)
    yield fast_gate(judge, READS, WORST)
    yield from gates_of_bytes(judge)


def fast_gate(judge, name, by=INTERVAL):
    return judge.ratio(f"{name}: reads served fast, families / levels", name, "fast_share",
                       "families", ("levels",), LEAST_GAIN, True, by)


def gates_of_bytes(judge):
    for system in TIERED:
        yield judge.worst(f"bytes of SSTs on the fast device at any time / budget, {system}",
                          (LOAD, READS, MOVED, MIXED), "fast_peak_by_budget", system,
                          tiered_env.BUDGET_TOLERANCE)
    for text, at_least in (("nothing else", False), ("all of it", True)):
        yield judge.worst(f"{MOVED}: bytes moved / bytes that must move, {text}", (MOVED,),
                          "moved_by_must", "families", 1.0, at_least)


BENCHMARK = Benchmark(
    title=f"{FAMILIES} column families, one of them hot, on a fast and a slow device",
    ground="a fast and a slow device with direct I/O, or emulated, as for tiered_env.",
    baseline="db_paths",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
)
