"""Reads of few hot records on a slow device: more levels on the fast one, or copies of these."""

from common import grounds
from common.demo import OURS, STOCK, Part, System
from common.pairs import Measure
from hot import hot_systems

THING = "hot records"
PLUGIN = "hot_promotion"
PROGRAMS = ("hot_driver", "rocktier")

SCALE = hot_systems.Scale(megabytes=80, value_size=1000, seconds=0, threads=16)
QUICK_SCALE = hot_systems.Scale(megabytes=16, value_size=1000, seconds=0, threads=4)
WARM_ROUNDS = 5  # until the store has what is hot

MEASURES = (
    Measure("reads/s", "reads", "seconds", True),
    Measure("slow reads per read", "slow_reads", "reads", False, "{:.3f}"),
    Measure("MB on the fast device", "fast_bytes", "looks", False, "{:.0f}", 1e-6),
)


def part(setup):
    context = setup.context
    scale = QUICK_SCALE if setup.quick else SCALE
    reason = setup.no_throttle(in_memory=True)
    where = emulated(setup) if reason else throttled(context, scale)

    def system(name, label, of_benchmark):
        return System(name, label, (
            context.program("hot_driver"), "--mode=slices", "--mix=ro", "--keys=hotspot",
            *hot_systems.flags(where, scale, of_benchmark), *sizes(scale, of_benchmark),
            f"--direct={str(not reason).lower()}"))

    return Part(
        ground=f"emulated: {hot_systems.SLOW_US} us more a read" if reason else
        f"throttled: {hot_systems.SLOW['read_iops']:,} reads/s",
        about=f"{scale.megabytes} MB of 1 KB values; 95% of the reads, by {scale.threads} threads, "
        f"go to 5% of the records. The fast device has {hot_systems.FAT}% of the data: levels for "
        "stock, levels and a hot store for the plugin. "
        + (f"The slow device is emulated, since there is no throttled one: {reason}." if reason
           else "Both devices are in memory and throttled by the kernel; reads of the slow one "
           f"take {hot_systems.SLOW_US} us more."),
        systems=(
            system(STOCK, "stock with db_paths", "fat"),
            system(OURS, "hot_promotion", "hot"),
        ),
        measures=MEASURES,
        effect="with copies of hot records on the fast device RocksDB does {plugin} reads a "
        "second, and {stock} with more levels there",
        slice_seconds=1.5,
        warm_rounds=1 if setup.quick else WARM_ROUNDS,
    )


def emulated(setup):
    folders = [setup.emulated_device(name) for name in ("fast", "slow")]
    return hot_systems.Place(*folders, "")


def throttled(context, scale):
    """Both in memory: nothing but the kernel's limits and the wait holds them up."""
    limits = {"fast": hot_systems.FAST, "slow": hot_systems.SLOW}
    size = (1 << 30) + 8 * scale.megabytes * 10**6

    def make():
        made = grounds.Ground(context, {name: size for name in limits}, limits,
                              in_memory=tuple(limits))
        return hot_systems.Place(made.points["fast"], made.points["slow"], ""), made.close

    return context.resource("hot-ground", make)


def sizes(scale, system):
    """Of files and of the block cache, for so much data."""
    memory = hot_systems.memory_of_hot(scale) if system == "fat" else 0
    # The benchmark's cache, a hundredth of the data, would be a tenth here at its least size.
    return [f"--cache_bytes={scale.share(1) + memory}", hot_systems.sizes_of_files(scale)]
