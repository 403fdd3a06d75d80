"""Reads of a database that is larger than the fast disk: db_paths, and tiers."""

from common import grounds
from common.demo import OURS, STOCK, Part, System
from common.pairs import Measure
from tier import tier_systems
from tier.tier_systems import scaled

THING = "levels on two disks"
PLUGIN = "tiered_env"
PROGRAMS = ("tier_driver", "rocktier")

RECORDS, QUICK_RECORDS, VALUE_SIZE = 100_000, 4_000, 1024
FAST_PERCENT = 35
# A pace that compactions keep up with: db_paths then keeps to its bytes.
LOAD_SECONDS, QUICK_LOAD_SECONDS = 8, 1
EMULATED_US = 300

MEASURES = (
    Measure("reads/s", "ops", "seconds", True),
    Measure("slow reads per read", "slow_reads", "ops", False, "{:.3f}"),
)


def part(setup):
    context = setup.context
    records = QUICK_RECORDS if setup.quick else RECORDS
    fast_bytes = records * VALUE_SIZE * FAST_PERCENT // 100
    rate = records // (QUICK_LOAD_SECONDS if setup.quick else LOAD_SECONDS)
    reason = setup.no_throttle(in_memory=True)
    place = Emulated(setup) if reason else throttled(context, records)
    driver = (
        context.program("tier_driver"), "--mode=slices", "--mix=c", "--dynamic_levels=false",
        f"--records={records}", f"--value_size={VALUE_SIZE}",
        f"--cache_bytes={scaled(16, records)}", f"--rate={rate}", f"--slow={place.points['slow']}",
        f"--slow_us={EMULATED_US if reason else 0}", f"--direct={str(not reason).lower()}",
        f"--options=write_buffer_size={scaled(16, records)};"
        f"target_file_size_base={scaled(8, records)};"
        f"max_bytes_for_level_base={scaled(32, records)}",
    )

    def system(name, label, of_benchmark):
        db, flags = tier_systems.flags(place, of_benchmark, fast_bytes)
        return System(name, label, (*driver, f"--db={db}", *flags))

    slow = tier_systems.SLOW
    return Part(
        ground=f"emulated: {EMULATED_US} us more a read" if reason else
        f"throttled: {slow['read_iops']:,} reads/s",
        about=f"{records * VALUE_SIZE // 1_000_000} MB of 1 KB values, {FAST_PERCENT}% of these "
        "bytes on the fast disk for either; reads of Zipf 0.99 by 4 threads. "
        + (f"The slow disk is emulated, since there is no throttled one: {reason}." if reason else
           "Both disks are devices in memory with direct I/O, the slow one throttled by the "
           "kernel."),
        systems=(
            system(STOCK, "stock with db_paths", "db_paths"),
            system(OURS, "tiered_env with a budget", "fill"),
        ),
        measures=MEASURES,
        effect="with as many bytes on the fast disk RocksDB does {plugin} reads a second by tiers, "
        "and {stock} by db_paths",
        slice_seconds=2,
    )


class Emulated:
    """Folders that take the places of devices."""

    def __init__(self, setup):
        self.points = {name: setup.emulated_device(name) for name in ("fast", "slow")}


def throttled(context, records):
    """In memory, so that the kernel's limits alone hold reads up, and no neighbour on a disk."""
    size = (1 << 30) + 8 * records * VALUE_SIZE

    def make():
        made = grounds.Ground(context, {"fast": size, "slow": size},
                                   {"slow": tier_systems.SLOW}, in_memory=("fast", "slow"))
        return made, made.close

    return context.resource("disks-ground", make)
