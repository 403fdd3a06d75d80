"""Reads of ten column families, of which one is hot: levels on the fast disk, or that family."""

from benchmarks import tiered_env_families as families
from common.demo import OURS, STOCK, Part, System
from demos import tiered_env_disks as disks
from tier import tier_systems

THING = "column families on two disks"
PLUGIN = "tiered_env"
PROGRAMS = ("tier_driver", "rocktier")

RECORDS, QUICK_RECORDS = 15_000, 10_000
LOAD_SECONDS, QUICK_LOAD_SECONDS = 2, 1  # a pace that compactions keep up with

# Which disk is read leads: it hardly depends on what else the machine does.
MEASURES = tuple(reversed(disks.MEASURES))


def part(setup):
    context = setup.context
    records = QUICK_RECORDS if setup.quick else RECORDS
    fast_bytes = records * families.VALUE_SIZE * families.FAST_PERCENT // 100
    rate = records // (QUICK_LOAD_SECONDS if setup.quick else LOAD_SECONDS)
    reason = setup.no_throttle(in_memory=True)
    place = disks.Emulated(setup) if reason else disks.throttled(context, records)
    driver = (
        context.program("tier_driver"), "--mode=slices", "--mix=c", "--dynamic_levels=false",
        f"--rate={rate}", f"--slow={place.points['slow']}",
        f"--slow_us={disks.EMULATED_US if reason else 0}", f"--direct={str(not reason).lower()}",
        *families.tree(records),
    )

    def system(name, label, of_benchmark):
        db, flags = families.arrangement(place, of_benchmark, records, fast_bytes, families.HOT)
        return System(name, label, (*driver, f"--db={db}", *flags))

    return Part(
        ground=f"emulated: {disks.EMULATED_US} us more a read" if reason else
        f"throttled: {tier_systems.SLOW['read_iops']:,} reads/s",
        about=f"{records * families.VALUE_SIZE // 1_000_000} MB of 1 KB values in "
        f"{families.FAMILIES} column families; {families.HOT_SHARE:.0%} of the reads, by 4 "
        f"threads, go to one of them. {families.FAST_PERCENT}% of the bytes have room on the fast "
        "disk: by level the upper levels of each family are there, by family all of the hot one, "
        "and the upper levels of the others. With cf_paths stock RocksDB can do the latter, too, "
        "for files that it writes; it moves none. "
        + (f"The slow disk is emulated, since there is no throttled one: {reason}." if reason else
           "Both disks are devices in memory with direct I/O, the slow one throttled by the "
           "kernel."),
        systems=(
            system(STOCK, "stock with db_paths, by level", "db_paths"),
            system("cf_paths", "stock with cf_paths, by family", "cf_paths_levels"),
            system(OURS, "tiered_env, placement={cf:f0=home;3..=slow}", "families"),
        ),
        measures=MEASURES,
        effect="with a rule for the hot one of ten column families RocksDB reads the slow disk "
        "{plugin} times for each read, and {stock} times by level",
        slice_seconds=0.4,
    )
