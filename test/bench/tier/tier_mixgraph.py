"""mixgraph over levels on two devices.

db_bench has no db_paths. "levels" is in their place: it has the same levels on the fast device.
"""

import dataclasses

from cache import cache_systems
from common import grounds, mixgraph
from common.options_file import Options
from tier import tier_systems

SYSTEMS = ("stock", "levels", "fill", "all_cache")
GATES = (("fill", ("stock", "levels")), ("fill", ("all_cache",)))
FAST, CACHE = 35, 1.6  # percent of the data, as in the benchmark of tiered_env
LISTENERS = {"levels": "{id=TieredEnvListener}", "fill": "{id=TieredEnvListener}",
             "all_cache": "TwoQSecondaryCacheListener"}


def missing(emulate):
    return grounds.missing(emulate=emulate)


def ways(scale):
    return {"": dataclasses.replace(scale, warm_ups=cache_systems.WARM_UPS)}


def arranged(context, scale, system):
    """Logs are on the fast device for all."""
    place = tier_systems.ground(context, scale.keys, scale.record)
    fast, slow = (f"{place.points[name]}/mixgraph-{system}" for name in ("fast", "slow"))
    tiered = system in ("levels", "fill")
    database = mixgraph.database(direct=True, listener=LISTENERS.get(system, ""))
    if not tiered:
        database["wal_dir"] = fast
    options = Options(database, mixgraph.tree(scale), {"filter_policy": "bloomfilter:10"})
    return mixgraph.Arrangement(
        fast if tiered else slow, options,
        (f"--cache_size={scale.share(CACHE)}", *flags(scale, system, fast, slow)),
        fast=(fast,), others=(slow,), caches=(f"{fast}/cache",) if system == "all_cache" else (),
        devices=place.points)


def flags(scale, system, fast, slow):
    if system == "stock":
        return ()
    if system == "all_cache":
        return cache_systems.file_flags(f"{fast}/cache", scale.share(FAST))
    return (tier_systems.fs_uri(slow, scale.share(FAST), "3..=slow" if system == "levels" else ""),)
