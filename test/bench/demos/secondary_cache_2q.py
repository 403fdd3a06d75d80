"""Reads of a slow device: a secondary cache in memory, and one in a file that is larger."""

from cache import cache_systems
from common import machine
from common.demo import OURS, STOCK, Part, System
from common.drivers import NotShown
from common.pairs import Measure

THING = "block cache in a file"
PLUGIN = "secondary_cache_2q"
PROGRAMS = ("cache_driver", "rocktier")

MEGABYTES, QUICK_MEGABYTES, VALUE_SIZE = 60, 12, 1024
WARMUP_OPS = 450  # per MB of data; for the file so many times as many as it is larger
SLOW_US = 300
LABELS = (
    (STOCK, "csc", "stock: CompressedSecondaryCache in memory"),
    (OURS, "2q_file", f"TwoQSecondaryCache in a file of {cache_systems.FILE_FACTOR}x"),
)

MEASURES = (
    Measure("slow reads per read", "slow_reads", "ops", False, "{:.3f}"),
    Measure("reads/s", "ops", "seconds", True),
)


def part(setup):
    context = setup.context
    if machine.filesystem(context.scratch) == "tmpfs":
        raise NotShown("the data folder is in memory, so a cache file would be, too; set TMPDIR to "
                       "a folder on a disk")
    megabytes = QUICK_MEGABYTES if setup.quick else MEGABYTES
    scale = cache_systems.Scale(megabytes, VALUE_SIZE, 0, WARMUP_OPS * megabytes, 0)
    filled = cache_systems.fill(context, scale)

    def system(name, of_benchmark, label):
        factor = cache_systems.FILE_FACTOR if of_benchmark == "2q_file" else 1
        copy = context.link_copy(filled)
        return System(name, label, (
            context.program("cache_driver"), "--mode=slices", f"--db={copy}",
            f"--num_keys={scale.num_keys}", f"--value_size={VALUE_SIZE}", "--workload=zipf",
            f"--read_latency_us={SLOW_US}", f"--warmup_ops={scale.warmup_ops * factor}",
            *cache_systems.cache_flags(of_benchmark, scale, context.path("cache-file"))))

    return Part(
        ground=f"emulated: {SLOW_US} us more a read",
        about=f"{megabytes} MB of 1 KB values, reads of Zipf 0.99 by 4 threads. Memory for blocks: "
        f"{cache_systems.PRIMARY + cache_systems.SECONDARY}% of the data for stock; less for the "
        "plugin, whose second part is in a file on this disk, past the page cache. The slow device "
        "is emulated: the page cache, and a wait.",
        systems=tuple(system(*one) for one in LABELS),
        measures=MEASURES,
        effect="with a second cache in a file RocksDB reads the slow device {plugin} times for "
        "each read, and {stock} times with one in memory",
        slice_seconds=1.5,
    )
