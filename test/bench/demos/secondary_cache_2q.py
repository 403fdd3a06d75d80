"""Point reads disturbed by full scans, with the same memory in four arrangements; then db_bench."""

import re

from cache import cache_systems

TITLE = "a secondary cache that scans cannot flush"

SCALE = cache_systems.Scale(
    data_mb=250, value_size=1024, cold_ops=0, warmup_ops=150_000, ops=150_000
)
SYSTEMS = (
    ("dram", "stock: all memory in the block cache"),
    ("csc", "stock: CompressedSecondaryCache"),
    ("2q", "TwoQSecondaryCache in memory"),
    ("2q_file", "TwoQSecondaryCache in a file of 5x"),
)


def run(context):
    print(
        f"Filling a database of {SCALE.data_mb} MB (1 KB values, uncompressed), then "
        f"{SCALE.ops:,} Zipf reads by\n"
        "4 threads with full scans in between. Memory for blocks: 11% of the data. A read of a "
        "table\nfile costs 80 us more than it does on this machine.\n",
        flush=True,
    )
    print(f"{'':36}{'hit %':>8}{'device reads/op':>18}{'copied B/op':>14}{'ops/s':>10}")
    figures = {}
    for system, label in SYSTEMS:
        figures[system] = cache_systems.run(context, SCALE, system, "zipf_scan")
        print(row(label, figures[system]), flush=True)
    print(f"\n{db_bench(context)}")
    return conclusion(figures)


def row(label, f):
    return (
        f"{label:36}{f['hit_rate'] * 100:8.1f}{f['device_reads_per_op']:18.3f}"
        f"{f['copied_bytes_per_op']:14.0f}{f['ops_per_s']:10.0f}"
    )


def conclusion(figures):
    def of_csc(system, metric):
        return figures[system][metric] / figures["csc"][metric] * 100

    return (
        "With the same memory, the plugin read the slow device "
        f"{of_csc('2q', 'device_reads_per_op'):.0f}% as often as CompressedSecondaryCache and "
        f"copied {of_csc('2q', 'copied_bytes_per_op'):.0f}% of its bytes into the cache, although "
        "scans kept passing by. With its blocks in a file on this disk, five times as many, it "
        f"read the slow device {of_csc('2q_file', 'device_reads_per_op'):.0f}% as often."
    )


def db_bench(context):
    """Stock db_bench needs nothing but the URI."""
    uri = "id=TwoQSecondaryCache;capacity=32M"
    flags = [
        "--benchmarks=fillseq,readrandom",
        "--num=100000",
        "--value_size=1024",
        "--reads=200000",
        "--compression_type=none",
        "--cache_size=4194304",
        "--statistics",
    ]
    out = context.child(
        [
            context.program("db_bench"),
            f"--db={context.path('db_bench')}",
            *flags,
            f"--secondary_cache_uri={uri}",
        ]
    )
    hits = ticker(out, "rocksdb.secondary.cache.hits")
    if hits == 0:
        raise RuntimeError("db_bench reports no hits in the secondary cache")
    return (
        f"$ db_bench {' '.join(flags)} \\\n    --secondary_cache_uri='{uri}'\n"
        f"rocksdb.secondary.cache.hits COUNT : {hits}"
    )


def ticker(out, name):
    found = re.search(rf"^{re.escape(name)} COUNT : (\d+)", out, re.MULTILINE)
    return int(found.group(1)) if found else 0
