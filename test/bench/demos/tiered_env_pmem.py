"""Writes with sync: the log on the disk, and in a tier of kind pmem."""

from common import machine
from common.demo import OURS, STOCK, Part, System
from common.drivers import NotShown
from demos import raw_wal_fs
from tier import pmem_systems, volatile_systems

THING = "log in persistent memory"
PLUGIN = "tiered_env"
PROGRAMS = ("sync_driver", "rocktier")

MEASURES = (raw_wal_fs.WRITES,)


def part(setup):
    context = setup.context
    reason = volatile_systems.no_memory()
    if reason:
        raise NotShown(f"no memory that could count as persistent: {reason}")
    memory = context.resource("tmpfs", pmem_systems.memory_folder)

    def system(name, label, more, *flags):
        return System(name, label, (
            context.program("sync_driver"), f"--db={context.path(name)}",
            f"--options=write_buffer_size={raw_wal_fs.MEMTABLE_BYTES}{more}", *flags),
            {"PMEM_IS_PMEM_FORCE": "1"})

    disk = machine.disk_kind(context.scratch)
    tiers = f"tiers={{pmem={{kind=pmem;path={memory}}}}}"
    return Part(
        ground="emulated: a tmpfs as pmem",
        about="Values of 200 bytes, each written with sync, one thread. Persistent memory is "
        "emulated: libpmem writes to a tmpfs, without the latency of a real device. Stock has its "
        f"log on {disk}, or in the same memory, where its sync does nothing.",
        systems=(
            system(STOCK, "stock: log on the disk", ""),
            system("memory", "stock with its log in the same memory", f";wal_dir={memory}/wal"),
            system(OURS, "tiered_env, placement={wal=pmem}", "",
                   f"--fs_uri=id=TieredFileSystem;{tiers};placement={{wal=pmem}}"),
        ),
        measures=MEASURES,
        effect="with its log in a tier of kind pmem, emulated here, RocksDB makes {plugin} writes "
        "with sync a second, and {stock} with the log on the disk",
        slice_seconds=0.5,
    )
