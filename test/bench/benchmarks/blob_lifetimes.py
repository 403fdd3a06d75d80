"""What blob_hybrid would gain if it knew when each value dies: bytes that are moved in Run A.

The driver of blob_hybrid's benchmark writes a trace of its puts. A model of the plugin replays it,
and the same with policies that know the future, or some of it.
"""

import functools
import json
import os
import sys

from benchmarks import blob_hybrid
from blob import blob_systems, lifetimes
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel

MIXES = ("L", "LD", "MD", "SD")
QUICK_MIXES = ("LD",)
QUICK_MEGABYTES = 16
REAL, MODEL = "blob_hybrid", "sim_today"
ORACLES = ("sim_split2", "sim_split4", "sim_split8", "sim_pick", "sim_both8")
PAST = "sim_past4"
# What RocksDB's flushes and compactions can do, with one stream of values each.
FEASIBLE = ("sim_part_deaths", "sim_young_deaths")
FEASIBLE_PAST = ("sim_part_past", "sim_young_past")
QUICK_SYSTEMS = (MODEL, "sim_split4", "sim_both8", PAST)
WORTH = 0.15  # of the bytes: what has to be gained for it to be worth building
CLOSE = 0.2  # of the real plugin's moved bytes
QUICK_CLOSE = 0.5  # there are few jobs
GROUND = "buffered"
SCRIPT = os.path.abspath(lifetimes.__file__)

METRICS = (
    Metric("moved", "moved B/B", "bytes/byte of updates", "{:.3f}"),
    Metric("gained", "gained %", "ratio", "{:.1f}", 100),
    Metric("control", "off the real one %", "ratio", "{:.1f}", 100),
    Metric("blob_written", "to blob files B/B", "bytes/byte of updates", "{:.3f}"),
    Metric("written", "all written B/B", "bytes/byte of updates", "{:.2f}"),
    Metric("written_gained", "written gained %", "ratio", "{:.1f}", 100),
    Metric("space_max", "space, most", "1", "{:.2f}"),
    Metric("space_mean", "mean", "1", "{:.2f}"),
    Metric("blob_files", "blob files", "count", "{:.0f}"),
    Metric("jobs", "jobs", "count", "{:.0f}"),
    Metric("scan_values", "values of 50", "count", "{:.1f}"),
    Metric("scan_reads", "reads of 50", "count", "{:.1f}"),
    *(Metric(name, "", "bytes", in_table=False) for name in (
        "moved_bytes", "moved_dead_bytes", "moved_blob_bytes", "merged_bytes",
        "flushed_blob_bytes", "written_sst_bytes", "update_bytes", "sst_bytes", "blob_bytes")),
    Metric("space_end", "", "1", in_table=False),
)

PANELS = (
    Panel("moved", "Bytes moved for each byte of updates (less is better)"),
    Panel("written", "Bytes written to files for each byte of updates (less is better)"),
)


def add_arguments(group):
    group.add_argument("--lifetimes-megabytes", type=int, default=blob_systems.MEGABYTES,
                       help="of keys and values in a database (default %(default)s; quick: "
                       f"{QUICK_MEGABYTES} at most)")
    group.add_argument("--lifetimes-overwrites", type=float, default=blob_hybrid.OVERWRITES,
                       help="of each record, on average (default %(default)s)")
    group.add_argument("--lifetimes-sizes", default=",".join(MIXES),
                       help="mixes of sizes (default %(default)s)")
    group.add_argument("--lifetimes-systems", default=",".join(lifetimes.SYSTEMS),
                       help="models, sim_today among them (default: all)")


def cases(args):
    megabytes = args.lifetimes_megabytes
    mixes, simulated = args.lifetimes_sizes.split(","), args.lifetimes_systems.split(",")
    if set(mixes) - set(MIXES):
        raise RuntimeError(f"not known: {', '.join(sorted(set(mixes) - set(MIXES)))}")
    if MODEL not in simulated or set(simulated) - set(lifetimes.SYSTEMS):
        raise RuntimeError(f"--lifetimes-systems: {MODEL}, and some of "
                           f"{', '.join(lifetimes.SYSTEMS)}")
    if args.quick:
        megabytes, simulated = min(megabytes, QUICK_MEGABYTES), QUICK_SYSTEMS
        mixes = [sizes for sizes in mixes if sizes in QUICK_MIXES]
    return [Case(sizes, (REAL, *simulated),
                 functools.partial(run_mix, sizes, megabytes, args.lifetimes_overwrites, simulated))
            for sizes in mixes]


def run_mix(sizes, megabytes, overwrites, simulated, context, number):
    records = megabytes * 10**6 // blob_systems.SIZES[sizes]
    floor = int(records * blob_systems.SIZES[sizes] * blob_hybrid.FLOOR_SHARE)
    trace = context.path("trace")
    try:
        real = run_real(context, sizes, megabytes, records, floor, overwrites, number, trace)
        models = json.loads(context.child([
            sys.executable, SCRIPT, f"--trace={trace}",
            f"--bound={blob_systems.bound('ours', sizes)}", f"--floor={floor}",
            f"--medium={blob_systems.MEDIUM if sizes in blob_systems.MIXES_WITH_MEDIUM else 0}",
            f"--blob-file-bytes={blob_file_bytes(megabytes)}", f"--systems={','.join(simulated)}",
        ]))
    finally:
        if os.path.exists(trace):
            os.unlink(trace)
    if models[MODEL]["update_bytes"] != real["user_written_bytes"]:
        raise RuntimeError("the trace has not what the clients have written")
    return {REAL: figures_of_real(real),
            **{system: figures_of_model(figures, models[MODEL],
                                        real["hybrid_moved_bytes"] if system == MODEL else None)
               for system, figures in models.items()}}


def blob_file_bytes(megabytes):
    return int(blob_systems.blob_files_of(megabytes).split("=")[1])


def run_real(context, sizes, megabytes, records, floor, overwrites, number, trace):
    """Loads a database and runs Run A. Figures of the latter."""
    run = functools.partial(
        blob_systems.run, context, GROUND, sizes, "ours", records, floor,
        {"ours": blob_systems.blob_files_of(megabytes)},
        int(records * blob_systems.SIZES[sizes] * blob_systems.CACHE_SHARES[sizes]),
        f"--write_trace={trace}")
    try:
        run("--mode=fill", f"--seed={42 + number}")
        return run("--mix=a", f"--operations={int(records * 2 * overwrites)}",
                   f"--seed={142 + number}")
    finally:
        blob_systems.clear(context, GROUND, sizes, "ours")


def figures_of_real(real):
    updates = real["user_written_bytes"]
    return {
        "moved": real["hybrid_moved_bytes"] / updates,
        "blob_written": real["blob_written_bytes"] / updates,
        "written": (real["flush_bytes"] + real["compact_written_bytes"]) / updates,
        "jobs": real["hybrid_jobs"], "moved_bytes": real["hybrid_moved_bytes"],
        "merged_bytes": real["hybrid_merged_bytes"], "update_bytes": updates,
        **{name: real[name] for name in ("space_max", "space_mean", "space_end", "blob_files",
                                         "sst_bytes", "blob_bytes")},
    }


def figures_of_model(figures, today, real):
    """`today`: what the model of the plugin does; `real`: bytes that this one is to move."""
    updates, moved = figures["update_bytes"], figures["moved_bytes"]
    return {
        **figures, "moved": moved / updates, "blob_written": blobs_by(figures) / updates,
        "written": written_by(figures) / updates,
        "gained": 1 - moved / today["moved_bytes"] if today["moved_bytes"] else 0.0,
        "written_gained": 1 - written_by(figures) / written_by(today),
        "control": abs(moved / real - 1) if real else None,
    }


def blobs_by(figures):
    return figures["flushed_blob_bytes"] + figures["moved_blob_bytes"]


def written_by(figures):
    return blobs_by(figures) + figures["written_sst_bytes"]


def gates(results):
    """Is the model like the plugin; and is it worth building, for an oracle and without one."""
    judge = Judge(results)
    for sizes in MIXES:
        yield judge.figure(f"{sizes}: {MODEL} moves as much as {REAL} (share off)", sizes,
                           "control", MODEL, CLOSE)
        yield best_gained(judge, results, f"{sizes}: share of moved bytes gained, best oracle",
                          sizes, "gained", ORACLES)
        yield best_gained(judge, results, f"{sizes}: share of moved bytes gained, {PAST}", sizes,
                          "gained", (PAST,))
        for known, systems in ("deaths", FEASIBLE), ("the past", FEASIBLE_PAST):
            yield best_gained(judge, results,
                              f"{sizes}: share of written bytes gained, one stream, {known} known",
                              sizes, "written_gained", systems)


def best_gained(judge, results, name, sizes, metric, systems):
    best = results.best(sizes, metric, systems, True) or systems[0]
    return judge.figure(name, sizes, metric, best, WORTH, True)


def quick_gates(results):
    judge = Judge(results)
    for sizes in QUICK_MIXES:
        yield judge.worst(f"{sizes}: {MODEL} moves as much as {REAL} (share off, few jobs)",
                          (sizes,), "control", MODEL, QUICK_CLOSE)
        yield judge.worst(f"{sizes}: share of moved bytes gained, sim_split4", (sizes,), "gained",
                          "sim_split4", WORTH, True)


BENCHMARK = Benchmark(
    title="bytes that blob_hybrid moves, and would move if it knew when values die",
    ground="blob_hybrid: the plugin, in the data folder, through the page cache. sim_...: a model "
    "of it that replays the same puts. Run A of Zipf 0.99 after a load; settled at the end.",
    baseline=MODEL,
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
    counts_only=True,
)
