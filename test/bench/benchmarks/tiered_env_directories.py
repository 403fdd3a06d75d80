"""A tier of three equal directories against a tier of one, each on a throttled device."""

import functools
import os
import shutil

from common import db_bench, grounds
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from tier import volatile_figures

RECORDS, VALUE_SIZE = 200_000, 1000
QUICK_RECORDS = 40_000
SECONDS, QUICK_SECONDS = 20, 2
# Of each device: so low that the devices are what is waited for, with three of them, too.
LIMITS = {"read_bps": 10 << 20, "write_bps": 10 << 20}
READERS = 64  # of which most wait for a device: with 16, one of three often had nothing to do
# The data are as many files as larger data are of the usual size. The readahead is as much smaller:
# a subcompaction reads a few hundred KB of an SST in level 0, and would read 2 MB ahead.
FILE_BYTES, READAHEAD = 512 << 10, 128 << 10
DIRECTORIES = ("d1", "d2", "d3")
SYSTEMS = {"one": DIRECTORIES[:1], "three": DIRECTORIES}
LOAD, READ = "load", "readrandom"
LEAST_GAIN = 2.5

METRICS = (
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("mb_per_s", "MB/s of the devices", "MB/s", "{:.1f}", show_ratio=True),
    Metric("least_share", "least share of files", "ratio", "{:.2f}"),
    Metric("least_io", "least share of I/O", "ratio", "{:.2f}"),
)

PANELS = (Panel("ops_per_s", "Operations per second (more is better)", log=True),)


def add_arguments(group):
    group.add_argument("--directories-records", type=int, default=RECORDS,
                       help="default %(default)s")


def cases(args):
    reason = grounds.missing(emulate=args.emulate)
    if reason:
        print(f"Nothing is measured here: {reason}")
        return []
    records = QUICK_RECORDS if args.quick else args.directories_records
    seconds = QUICK_SECONDS if args.quick else SECONDS
    return [Case(name, (system,), functools.partial(run, system, records, seconds), turn="all")
            for system in SYSTEMS for run, name in ((run_load, LOAD), (run_read, READ))]


def ground(context, records):
    data = records * VALUE_SIZE

    def make():
        sizes = {name: (1 << 30) + 3 * data for name in DIRECTORIES}
        made = grounds.Ground(context, sizes, dict.fromkeys(DIRECTORIES, LIMITS))
        return made, made.close

    return context.resource("directories-ground", make)


def database(context, system):
    return context.path(f"directories-{system}")


def paths(place, system):
    return [f"{place.points[name]}/{system}" for name in SYSTEMS[system]]


def measured(context, place, system, records, *flags):
    """What db_bench says, and what each device has read and written meanwhile.

    Logs and MANIFEST are on the data folder's disk.
    """
    options = context.path("directories.ini")
    with open(options, "w", encoding="utf-8") as file:
        file.write("[Version]\n  rocksdb_version=9.10.0\n  options_file_version=1.1\n[DBOptions]\n"
                   "  create_if_missing=true\n  max_background_jobs=16\n  max_subcompactions=16\n"
                   f"  compaction_readahead_size={READAHEAD}\n  use_direct_reads=true\n"
                   "  use_direct_io_for_flush_and_compaction=true\n"
                   "  listeners={id=TieredEnvListener}\n"
                   '[CFOptions "default"]\n  compression=kNoCompression\n'
                   "  write_buffer_size=4M\n"
                   f"  target_file_size_base={FILE_BYTES}\n"
                   "  max_bytes_for_level_base=16M\n"
                   '[TableOptions/BlockBasedTable "default"]\n  block_size=65536\n')
    tier = ",".join(paths(place, system))
    before = place.transferred()
    text = context.child([
        context.program("db_bench"), f"--db={database(context, system)}",
        f"--options_file={options}", f"--num={records}", f"--value_size={VALUE_SIZE}",
        "--cache_size=1048576", "--bloom_bits=10",
        f"--fs_uri=id=TieredFileSystem;tiers={{slow={{path={tier}}}}};placement={{0..=slow}}",
        *db_bench.flags(context), *flags,
    ])
    after = place.transferred()
    return text, [after[name] - before[name] for name in SYSTEMS[system]], db_bench.series(context)


def bandwidth(transferred, seconds):
    return {"mb_per_s": sum(transferred) / seconds / 1e6,
            "least_io": min(transferred) / sum(transferred)}


def run_load(system, records, _, context, number):
    """Random writes until nothing compacts any more; the database stays for what follows."""
    place = ground(context, records)
    clear(context, place, system)
    for path in paths(place, system):
        os.makedirs(path)
    text, transferred, series = measured(
        context, place, system, records, f"--seed={42 + number}",
        "--benchmarks=fillrandom,waitforcompaction", "--threads=1")
    done, seconds = volatile_figures.rate(text, "fillrandom")
    with open(f"{database(context, system)}/LOG", encoding="utf-8", errors="replace") as log:
        settled = volatile_figures.seconds_until_settled(log.read(), seconds)
    files = [volatile_figures.sizes(path, volatile_figures.TABLE.fullmatch)
             for path in paths(place, system)]
    return {system: {"ops_per_s": done / settled, **bandwidth(transferred, settled),
                     "least_share": min(files) / sum(files), **series}}


def run_read(system, records, seconds, context, number):
    place = ground(context, records)
    text, transferred, series = measured(
        context, place, system, records, f"--seed={142 + number}", "--benchmarks=readrandom",
        "--use_existing_db", f"--threads={READERS}", f"--duration={seconds}",
        "--ops_between_duration_checks=1")
    done, took = volatile_figures.rate(text, "readrandom")
    return {system: {"ops_per_s": done / took, **bandwidth(transferred, took), **series}}


def clear(context, place, system):
    for path in (database(context, system), *paths(place, system)):
        shutil.rmtree(path, ignore_errors=True)


def gates(results):
    judge = Judge(results)
    for name in (LOAD, READ):
        yield judge.ratio(f"{name}: bandwidth, three directories / one", name, "mb_per_s", "three",
                          ("one",), LEAST_GAIN, True)
        yield judge.ratio(f"{name}: ops/s, three directories / one", name, "ops_per_s", "three",
                          ("one",), LEAST_GAIN, True)


def quick_gates(results):
    """That all directories have files: the device's rate says nothing at this size."""
    yield Judge(results).worst("least share of the files of one of three directories", (LOAD,),
                               "least_share", "three", 0.1, True)


BENCHMARK = Benchmark(
    title="a tier of three directories against one, on devices of the same kind",
    ground="db_bench with direct I/O; logs and MANIFEST on the disk of the data folder.",
    baseline="one",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=add_arguments,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
)
