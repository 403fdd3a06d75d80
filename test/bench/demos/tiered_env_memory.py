"""The upper levels of a database in memory, without losing what a reboot takes.

The disk is emulated.
"""

import os
import shutil

from tier import pmem_systems, volatile_figures, volatile_systems

TITLE = "the upper levels in memory, rebuilt of write-ahead logs after a crash"

SHAPE = volatile_systems.Shape(
    records=150_000, value_size=1024, file_bytes=2 << 20, level_base=10 << 20, multiplier=10
)
EMULATE = "bandwidth=60M"
PLACEMENT = "0..2=memory"
THREADS = 4


def run(context):
    reason = volatile_systems.no_memory()
    if reason:
        print(f"Not shown: {reason}")
        return "Nothing was compared."
    print(
        f"Filling databases with {SHAPE.data // 1_000_000} MB in random order by {THREADS} threads "
        f"(1 KB values, uncompressed), until nothing compacts.\nThe disk is emulated: {EMULATE}.\n",
        flush=True,
    )
    print(f"{'':44}{'fill s':>8}{'writes/s':>10}{'p99.9 us':>10}{'MB written':>12}")
    figures = {}
    for system, label in (
        ("direct", "all on disk"),
        ("ours", f"TieredFileSystem, {PLACEMENT}"),
    ):
        figures[system] = measure(context, system)
        print(row(label, figures[system]), flush=True)
    rebuilt = recover(context)
    print(f"\nThe tier in memory was deleted: {rebuilt['rebuilt_files']:.0f} SSTs, "
          f"{rebuilt['rebuilt_bytes'] / 1e6:.0f} MB, were rebuilt in "
          f"{rebuilt['recovery_micros'] / 1e6:.2f} s.")
    ratio = figures["direct"]["settled_s"] / figures["ours"]["settled_s"]
    written = figures["ours"]["written_bytes"] / figures["direct"]["written_bytes"]
    return (
        f"With all levels but the last one in memory the fill took {ratio:.2f} times less long and "
        f"wrote {written * 100:.0f}% of the bytes to the disk. Every SST in memory has a recipe on "
        "the disk, by which it is rebuilt of the write-ahead logs, byte for byte, before RocksDB "
        "opens the database."
    )


def memory(context):
    folder = context.resource("tmpfs", pmem_systems.memory_folder)
    return f"{folder}/demo"


def uri(context, system):
    tiers = f"home={{emulate={{{EMULATE}}}}}"
    if system == "direct":
        return f"id=TieredFileSystem;tiers={{{tiers}}}"
    return (
        f"id=TieredFileSystem;tiers={{memory={{kind=memory;path={memory(context)}}};{tiers}}};"
        f"placement={{{PLACEMENT}}}"
    )


def db_bench(context, system, *argv):
    options = context.path(f"{system}.ini")
    with open(options, "w", encoding="utf-8") as file:
        file.write(volatile_systems.options_text(None, system, SHAPE))
    return context.child([
        context.program("db_bench"), f"--db={context.path('db-' + system)}",
        f"--options_file={options}", f"--fs_uri={uri(context, system)}", f"--num={SHAPE.records}",
        f"--value_size={SHAPE.value_size}", "--bloom_bits=10", "--histogram=1", "--statistics=1",
        *argv,
    ])


def read_log(context, system):
    with open(f"{context.path('db-' + system)}/LOG", encoding="utf-8", errors="replace") as file:
        return file.read()


def measure(context, system):
    text = db_bench(context, system, "--benchmarks=fillrandom,waitforcompaction",
                    f"--threads={THREADS}", f"--writes={SHAPE.records // THREADS}", "--seed=42")
    log = read_log(context, system)
    done, seconds = volatile_figures.rate(text, "fillrandom")
    settled = volatile_figures.seconds_until_settled(log, seconds)
    kinds = ("wal.bytes", "flush.write.bytes", "compact.write.bytes")
    written = sum(volatile_figures.ticker(text, f"rocksdb.{kind}") for kind in kinds)
    if system == "ours":
        counts = volatile_figures.volatile(log)
        written += (counts["recipe_log_written_bytes"] + counts["archived_bytes"] -
                    counts["table_bytes"])
        written += volatile_figures.moved_bytes(log, "home")
    return {
        "settled_s": settled,
        "ops_per_s": done / settled,
        "p999_us": volatile_figures.latencies(text, "write")["write_p999_us"],
        "written_bytes": written,
    }


def recover(context):
    db_bench(context, "ours", "--benchmarks=readrandom", "--reads=1000", "--use_existing_db")
    shutil.rmtree(memory(context))
    os.makedirs(memory(context))
    db_bench(context, "ours", "--benchmarks=readrandom,verifychecksum", "--reads=10000",
             "--use_existing_db")
    return volatile_figures.volatile(read_log(context, "ours"))


def row(label, f):
    return (
        f"{label:44}{f['settled_s']:8.1f}{f['ops_per_s']:10.0f}{f['p999_us']:10.0f}"
        f"{f['written_bytes'] / 1e6:12.0f}"
    )
