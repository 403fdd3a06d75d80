"""What blob_hybrid costs where there are many families and blob files.

Beside it, a plain BlobDB has the same load.
"""

import functools
import json
import shutil

from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel

FAMILIES = (300, 1)
BLOB_FILES, QUICK_BLOB_FILES = 10_000, 1_000
SECONDS, QUICK_SECONDS = 30, 3
PUTS_PER_S = 1500
SYSTEMS = ("blobdb", "ours")
BOUND, TOLERANCE, QUICK_TOLERANCE = 1.5, 1.05, 1.1  # of space
MOST_CPU = 0.1  # of a core, besides what the same load takes without the plugin

METRICS = (
    Metric("cpu_share", "CPU, of a core", "1", "{:.3f}"),
    Metric("space_end", "space, end", "1", "{:.2f}"),
    Metric("puts_per_s", "puts/s", "ops/s", "{:.0f}"),
    Metric("sst_files", "SSTs", "count", "{:.0f}"),
    Metric("blob_files", "blob files", "count", "{:.0f}"),
    Metric("jobs", "jobs", "count", "{:.0f}"),
    Metric("flush_wait_s", "flushes waited s", "s", "{:.2f}"),
)

PANELS = (
    Panel("cpu_share", "CPU time for each second (less is better)"),
    Panel("space_end", "Bytes of files for each live byte (less is better)"),
)


def add_arguments(group):
    group.add_argument("--many-blob-files", type=int, default=BLOB_FILES,
                       help="default %(default)s")
    group.add_argument("--many-seconds", type=int, default=SECONDS,
                       help="of overwriting (default %(default)s)")


def name_of(families):
    return "one family" if families == 1 else f"{families} families"


def cases(args):
    blob_files = min(args.many_blob_files, QUICK_BLOB_FILES) if args.quick else args.many_blob_files
    seconds = min(args.many_seconds, QUICK_SECONDS) if args.quick else args.many_seconds
    return [Case(name_of(families), (system,),
                 functools.partial(run_one, families, system, blob_files, seconds))
            for families in FAMILIES for system in SYSTEMS]


def run_one(families, system, blob_files, seconds, context, number):
    db = context.path("many-blobs")
    figures = json.loads(context.child([
        context.program("many_blobs_driver"), f"--db={db}",
        f"--hybrid={str(system == 'ours').lower()}", f"--families={families}",
        f"--blob_files={blob_files}", f"--seconds={seconds}", f"--puts_per_s={PUTS_PER_S}",
        f"--seed={42 + number}",
    ]))
    shutil.rmtree(db)
    return {system: figures}


def gates(results):
    judge = Judge(results)
    for name in map(name_of, FAMILIES):
        yield judge.difference(f"{name}: CPU of a core, ours - blobdb", name, "cpu_share", "ours",
                               "blobdb", MOST_CPU)
    yield space_gate(judge)


def quick_gates(results):
    yield space_gate(Judge(results), QUICK_TOLERANCE)


def space_gate(judge, tolerance=TOLERANCE):
    return judge.worst("space amplification at the end", map(name_of, FAMILIES), "space_end",
                       "ours", BOUND * tolerance)


BENCHMARK = Benchmark(
    title="many families and blob files, overwritten at a rate",
    ground="The data folder, through the page cache. Blob files of four values of 1000 bytes; "
    f"{PUTS_PER_S} puts a second to random keys.",
    baseline="blobdb",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
)
