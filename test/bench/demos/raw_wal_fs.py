"""Writes with sync: the log in the file system, and past it."""

from common import machine
from common.demo import OURS, STOCK, Part, System
from common.drivers import NotShown
from common.pairs import Measure

THING = "sync writes"
PLUGIN = "raw_wal_fs"
PROGRAMS = ("sync_driver", "rocktier")

DEVICE_BYTES = 512 << 20
MEMTABLE_BYTES = 4 << 20  # small: logs are begun, and recycled, several times in a minute
WRITES = Measure("writes/s", "ops", "seconds", True)

MEASURES = (WRITES,)


def part(setup):
    context = setup.context
    if machine.filesystem(context.scratch) == "tmpfs":
        raise NotShown("the data folder is in memory, where a sync does nothing; set TMPDIR to a "
                       "folder on a disk")

    def system(name, label, more="", *flags):
        return System(name, label, (
            context.program("sync_driver"), f"--db={context.path(name)}",
            f"--options=write_buffer_size={MEMTABLE_BYTES}{more}", *flags))

    device = context.path("log-device")
    return Part(
        ground=machine.disk_kind(context.scratch),
        about="Values of 200 bytes, each written with sync, one thread. The log device is a file.",
        systems=(
            system(STOCK, "stock: log in the file system"),
            system("recycled", "stock with recycle_log_file_num=4", ";recycle_log_file_num=4"),
            system(OURS, "raw_wal_fs on a file", "",
                   f"--fs_uri=id=RawWalFileSystem;device={device};size={DEVICE_BYTES}"),
        ),
        measures=MEASURES,
        effect="with its log past the file system RocksDB makes {plugin} writes with sync a "
        "second, and {stock} with the log in it",
        slice_seconds=1,
    )
