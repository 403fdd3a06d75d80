"""mixgraph on a slow device, with caches of equal memory and with one in a file."""

import dataclasses

from cache import cache_systems
from common import grounds, mixgraph
from common.options_file import Options
from tier import tier_systems

SYSTEMS = ("stock", "csc", "2q", "2q_file")
GATES = (("2q", ("stock", "csc")), ("2q_file", ("stock", "csc")))


def missing(emulate):
    return grounds.missing(emulate=emulate)


def ways(scale):
    return {"": dataclasses.replace(scale, warm_ups=cache_systems.WARM_UPS)}


def arranged(context, scale, system):
    """SSTs are on the slow device of tiered_env's ground, the cache file is on the fast one."""
    place = tier_systems.ground(context, scale.keys, scale.record)
    fast, slow = (f"{place.points[name]}/mixgraph-cache-{system}" for name in ("fast", "slow"))
    listener = "TwoQSecondaryCacheListener" if system.startswith("2q") else ""
    database = {**mixgraph.database(direct=True, listener=listener), "wal_dir": fast}
    options = Options(database, mixgraph.tree(scale), {"filter_policy": "bloomfilter:10"})
    return mixgraph.Arrangement(slow, options, flags(scale, system, f"{fast}/cache"), fast=(fast,),
                                others=(slow,), caches=(f"{fast}/cache",), devices=place.points)


def flags(scale, system, folder):
    """All have the same memory; "stock" has all of it in the block cache."""
    if system == "stock":
        share = cache_systems.PRIMARY + cache_systems.SECONDARY
        return (f"--cache_size={scale.share(share)}",)
    capacity = scale.share(cache_systems.SECONDARY)
    uri = cache_systems.secondary_uri(system, capacity, f"{folder}/file")
    return (f"--cache_size={scale.share(cache_systems.PRIMARY)}", f"--secondary_cache_uri={uri}")
