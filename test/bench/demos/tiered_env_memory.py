"""Overwrites, with all levels on the disk, and with the upper ones in memory."""

import dataclasses

from common import grounds
from common.demo import OURS, STOCK, Part, System
from common.drivers import NotShown
from common.pairs import Measure
from tier import pmem_systems, volatile_systems

THING = "levels in memory"
PLUGIN = "tiered_env"
PROGRAMS = ("tier_driver", "rocktier")

PLACEMENT = "0..2=memory"  # of the four levels that there are
MIB = 1 << 20
CACHE_BYTES = 8 * MIB
WRITE_MB, READ_MB = 60, 120  # a second, of the disk


@dataclasses.dataclass(frozen=True)
class Shape:
    records: int
    file_bytes: int  # of a memtable and of an SST
    level_base: int
    multiplier: int
    slice_operations: int


FULL = Shape(60_000, MIB, 4 * MIB, 8, 10_000)
QUICK = Shape(4_000, MIB // 8, MIB // 4, 4, 500)
VALUE_SIZE = 1024

MEASURES = (
    Measure("bytes written per byte", "written_bytes", "user_bytes", False, "{:.2f}"),
    Measure("puts/s until settled", "ops", "seconds", True),
)


def part(setup):
    context = setup.context
    missing = volatile_systems.no_memory()
    if missing:
        raise NotShown(f"no memory for levels: {missing}")
    shape = QUICK if setup.quick else FULL
    data = shape.records * VALUE_SIZE
    reason = setup.no_throttle()
    folder = context.path()
    if not reason:
        folder = throttled(context, data).points["slow"]
    memory = context.resource("tmpfs", pmem_systems.memory_folder)
    home = f"home={{emulate={{bandwidth={WRITE_MB}M}}}}" if reason else "home={}"
    tier = f"memory={{kind=memory;path={memory}}}"
    in_memory = shape.level_base * (1 + 1 + shape.multiplier)  # L0 is as large as L1

    def system(name, label, cache_bytes, options, *flags):
        return System(name, label, (
            context.program("tier_driver"), "--mode=slices", "--mix=overwrite",
            f"--db={folder}/{name}", "--dynamic_levels=false", f"--records={shape.records}",
            f"--value_size={VALUE_SIZE}", f"--slice_operations={shape.slice_operations}",
            f"--direct={str(not reason).lower()}", f"--cache_bytes={cache_bytes}",
            f"--options={options_of(shape)}{options}", *flags))

    stock_fs = [f"--fs_uri=id=TieredFileSystem;tiers={{{home}}}"] if reason else []
    return Part(
        ground=f"emulated: {WRITE_MB} MB/s" if reason else f"throttled: {WRITE_MB} MB/s of writes",
        about=f"{data // 1_000_000} MB of 1 KB values are overwritten by 4 threads, until nothing "
        "compacts or moves any more and all is on the disk; stock has as many bytes of memory as "
        "block cache. "
        + (f"The disk is emulated, since there is no throttled one: {reason}." if reason else
           "The disk is a loop device that the kernel throttles."),
        systems=(
            system(STOCK, "stock: all levels on the disk", CACHE_BYTES + in_memory, "", *stock_fs),
            system(OURS, f"tiered_env, placement={{{PLACEMENT}}}", CACHE_BYTES,
                   ";preserve_internal_time_seconds=3600", "--listener",
                   f"--fs_uri=id=TieredFileSystem;tiers={{{tier};{home}}};"
                   f"placement={{{PLACEMENT}}};mover_bytes_per_second=0"),
        ),
        measures=MEASURES,
        effect="with its upper levels in memory RocksDB writes {plugin} bytes to the disk for each "
        "byte that is put, and {stock} with all levels there",
        slice_seconds=3,
    )


def throttled(context, data):
    def make():
        limits = {"write_bps": WRITE_MB * 10**6, "read_bps": READ_MB * 10**6}
        made = grounds.Ground(context, {"slow": (1 << 30) + 12 * data}, {"slow": limits})
        return made, made.close

    return context.resource("memory-ground", make)


def options_of(shape):
    options = {
        "write_buffer_size": shape.file_bytes,
        "max_write_buffer_number": 4,
        "target_file_size_base": shape.file_bytes,
        "max_bytes_for_level_base": shape.level_base,
        "max_bytes_for_level_multiplier": shape.multiplier,
        "max_background_jobs": 4,
        "bytes_per_sync": MIB,
        "wal_bytes_per_sync": MIB,
    }
    return ";".join(f"{name}={value}" for name, value in options.items())
