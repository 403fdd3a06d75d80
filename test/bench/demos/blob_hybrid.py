"""Updates of records of several sizes: BlobDB, and blob files that are collected by garbage."""

from blob import blob_systems
from common import machine
from common.demo import OURS, STOCK, Part, System
from common.pairs import Measure

THING = "blob files' space"
PLUGIN = "blob_hybrid"
PROGRAMS = ("blob_driver", "rocktier")

SIZES = "LD"  # 60% of the values have 1004 bytes, 20% have 104, and 20% have 9
MEGABYTES, QUICK_MEGABYTES = 48, 2
SLICE_SHARE = 0.25  # operations of a slice, by records
WARM_ROUNDS = 8  # each record is updated once on average
FLOOR_SHARE = 0.25  # of the data: the floor of live bytes for space amplification

MEASURES = (
    Measure("file bytes per live byte", "space_sum", "space_samples", False, "{:.2f}"),
    Measure("I/O bytes per user byte", "file_bytes", "user_bytes", False, "{:.2f}"),
    Measure("ops/s until settled", "ops", "seconds", True),
)


def part(setup):
    context = setup.context
    megabytes = QUICK_MEGABYTES if setup.quick else MEGABYTES
    records = megabytes * 10**6 // blob_systems.SIZES[SIZES]
    data = records * blob_systems.SIZES[SIZES]
    floor = int(data * FLOOR_SHARE)
    reason = setup.no_throttle(in_memory=True)
    ground = "buffered" if reason else "direct"

    def system(name, label, of_benchmark):
        return System(name, label, (
            context.program("blob_driver"), "--mode=slices", "--mix=a",
            f"--db={blob_systems.path(context, ground, SIZES, of_benchmark)}",
            f"--options={blob_systems.options(of_benchmark, SIZES, {}, floor)}",
            f"--sizes={SIZES}", f"--records={records}", f"--space_floor={floor}",
            f"--cache_bytes={int(data * blob_systems.CACHE_SHARES[SIZES])}",
            f"--operations={int(records * SLICE_SHARE)}", f"--direct={str(not reason).lower()}"))

    disk = blob_systems.DISK
    return Part(
        ground=machine.disk_kind(context.scratch) if reason else
        f"throttled: {disk['write_bps'] // 10**6} MB/s of writes",
        about=f"{megabytes} MB of values, most of 1 KB; half of the operations are updates, by "
        "Zipf 0.99 and 4 threads, until nothing compacts. Both have the options of "
        "PrepareForBlobs(); the bound of blob_hybrid is "
        f"{blob_systems.bound('ours', SIZES)}. "
        + (f"There is no throttled device, so through the page cache: {reason}." if reason else
           "The device is in memory, throttled by the kernel."),
        systems=(
            system(STOCK, "stock BlobDB", "blob_large_prepared"),
            system(OURS, "blob_hybrid", "ours"),
        ),
        measures=MEASURES,
        effect="with its garbage bounded RocksDB has {plugin} bytes of files for each live byte, "
        "and {stock} with BlobDB's own collection",
        slice_seconds=3,
        warm_rounds=1 if setup.quick else WARM_ROUNDS,
    )
