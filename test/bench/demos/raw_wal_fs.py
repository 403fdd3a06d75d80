"""Synchronous writes of stock RocksDB and with the plugin, alone and beside compactions."""

from wal import wal_systems

TITLE = "synchronous writes that wait for one device write"

SECONDS = 5
SYSTEMS = (
    ("stock", "stock: log in the file system"),
    ("recycled", "stock: recycle_log_file_num=4"),
    ("file", "raw_wal_fs on a file"),
)
GROUNDS = ((False, "alone"), (True, "beside a database that compacts"))
FLAGS = (
    "--benchmarks=fillrandom",
    "--num=1000000",
    f"--duration={SECONDS}",
    "--sync=1",
    "--value_size=200",
    "--threads=1",
)


def run(context):
    print(
        f"db_bench fillrandom, 200 bytes per write, each with sync, one thread, {SECONDS} s; "
        "the first run of\neach system makes its files. All on the disk of the data folder.\n",
        flush=True,
    )
    figures = {}
    for neighbour, ground in GROUNDS:
        print(f"{ground:36}{'writes/s':>10}{'p50 us':>10}{'p99 us':>10}")
        for system, label in SYSTEMS:
            figures[system, neighbour] = wal_systems.run(context, system, FLAGS, neighbour)
            print(row(label, figures[system, neighbour]), flush=True)
        print()
    flags = "".join(f" {flag}" for flag in FLAGS if flag != "--threads=1")
    print(f"$ db_bench{flags} \\\n    --fs_uri='id=RawWalFileSystem;device=/tmp/wal;size=2G'")
    return conclusion(figures)


def row(label, f):
    return f"  {label:34}{f['ops_per_s']:10.0f}{f['p50_us']:10.0f}{f['p99_us']:10.0f}"


def conclusion(figures):
    def times(neighbour, other):
        file, base = figures["file", neighbour], figures[other, neighbour]
        return f"{file['ops_per_s'] / base['ops_per_s']:.2f} times"

    def p99(neighbour):
        return figures["file", neighbour]["p99_us"] / figures["stock", neighbour]["p99_us"] * 100

    return (
        f"With its log past the file system the database did {times(False, 'stock')} the "
        f"synchronous writes of stock RocksDB, and {times(False, 'recycled')} those with recycled "
        f"logs; beside a neighbour that compacts {times(True, 'stock')} and "
        f"{times(True, 'recycled')}, its 99th percentile there being {p99(True):.0f}% of stock's. "
        f"Writes without sync gain nothing. These are single runs of {SECONDS} seconds; "
        "make bench NAME=raw_wal_fs has more."
    )
