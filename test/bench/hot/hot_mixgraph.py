"""mixgraph over a slow device whose hot records have copies on a fast one.

db_bench has no db_paths. Levels are placed by tiered_env for all systems, as db_paths would place
them; it makes each read of the slow device take longer, too.
"""

import dataclasses

from cache import cache_systems
from common import mixgraph
from common.options_file import Options
from hot import hot_systems

SYSTEMS = ("stock", "hot", "all_cache")
GATES = (("hot", ("stock",)), ("hot", ("all_cache",)))
THREADS = 16
MORE_SECONDS = 5  # times as long: it takes that to know what is hot
# The first level on the slow device, and what the same is called in the benchmark of hot_promotion.
SLOW_FROM = {"stock": 3, "hot": 2, "all_cache": 0}
NAMES = {"stock": "fat"}
MEMTABLE, SST = 0.2, 0.4  # percent of the data


def missing(emulate):
    return ""


def ways(scale):
    return {"": dataclasses.replace(scale, threads=THREADS, seconds=MORE_SECONDS * scale.seconds)}


def hot_scale(scale):
    """The same data, for hot_systems: its keys have 16 bytes."""
    return hot_systems.Scale(scale.data // 10**6, scale.record - 16, scale.seconds, scale.threads)


def arranged(context, scale, system):
    hot = hot_scale(scale)
    place = hot_systems.place(context, hot)
    db, slow = f"{place.fast}/mixgraph-{system}", f"{place.slow}/mixgraph-{system}"
    extra = f"{place.fast}/mixgraph-extra-{system}"
    direct = bool(place.devices)
    listeners = ":".join(("TieredEnvListener", "TwoQSecondaryCacheListener")
                         if system == "all_cache" else ("TieredEnvListener",))
    return mixgraph.Arrangement(
        db, Options(mixgraph.database(direct, listeners), tree(scale, system),
                    *table(hot, system, extra, direct)),
        flags(hot, system, extra, slow), fast=(db, extra), others=(slow,), caches=(extra,),
        devices={"fast": place.fast, "slow": place.slow} if direct else {})


def tree(scale, system):
    share, levels = hot_systems.UPPER, hot_systems.LEVELS
    if system != "hot":
        share, levels = hot_systems.FAT, hot_systems.FAT_LEVELS
    return mixgraph.tree(scale, MEMTABLE, SST, share / levels, 10)


def table(hot, system, extra, direct):
    """Options of the tables, and what these are."""
    options = {"filter_policy": "bloomfilter:10"}
    if system != "hot":
        return options, "BlockBasedTable"
    return {**hot_systems.hot_options(hot, extra, "temperature:cold", direct),
            **options}, "HotPromotionTable"


def flags(hot, system, extra, slow):
    name = NAMES.get(system, system)
    memory = hot_systems.cache_bytes(hot) + hot_systems.more_cache_bytes(hot, name)
    wait = f"temperature=cold;emulate={{read_latency_us={hot_systems.SLOW_US}}}"
    result = (f"--cache_size={memory}",
              f"--fs_uri=id=TieredFileSystem;tiers={{home={{}};slow={{path={slow};{wait}}}}};"
              f"placement={{{SLOW_FROM[system]}..=slow}}")
    if system == "all_cache":
        result += cache_systems.file_flags(extra, hot.share(hot_systems.FAT))
    return result
