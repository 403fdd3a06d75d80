"""mixgraph with values in place, in BlobDB's files and in those of blob_hybrid."""

import dataclasses

from blob import blob_systems
from common import grounds, mixgraph, options_file

# Name: that of blob_systems. None has values in blob files in the first way.
PLACEMENTS = {"stock": "in_place", "in_place_prepared": "in_place_prepared",
              "blob_large_prepared": "blob_large_prepared", "ours": "ours"}
SYSTEMS = tuple(PLACEMENTS)
GATES = (("ours", ("stock", "in_place_prepared", "blob_large_prepared")),)
FACTOR = 30
LARGE_VALUES = f"values x {FACTOR}"
# The mix of blob_systems that is most like each way.
SIZES = {1: "S", FACTOR: "LD"}
FLOOR_SHARE = 0.25  # of the data
BLOB_CACHE = 0.2  # of the cache, where there are values in blob files
MEMTABLE, SST, FACTOR_OF_LEVELS = 0.8, 0.4, 4
# blob_systems has these bytes for a database of so much data.
SIZED = ("blob_file_size", "max_bytes_for_level_base")
DATA = blob_systems.MEGABYTES * 10**6


def missing(emulate):
    return ""


def ways(scale):
    """The paper's values are small; with larger ones there is something to place."""
    return {"": scale, LARGE_VALUES: dataclasses.replace(scale, value_factor=FACTOR)}


def arranged(context, scale, system):
    throttled = not context.no_throttle(in_memory=True)
    ground = "direct" if throttled else "folder"
    db = blob_systems.path(context, ground, f"mixgraph-{scale.value_factor}", system)
    sizes = SIZES[scale.value_factor]
    cache = int(scale.data * blob_systems.CACHE_SHARES[sizes])
    options, for_blobs = options_of(scale, system, sizes, throttled, cache)
    return mixgraph.Arrangement(
        db, options, (f"--cache_size={cache - for_blobs}",),
        devices={"slow": blob_systems.folder(context, ground)} if throttled else {})


def options_of(scale, system, sizes, direct, cache):
    """(Options, bytes of the cache that are for values of blob files)."""
    found = options_file.of_text(blob_systems.options(
        PLACEMENTS[system], sizes, {}, int(scale.data * FLOOR_SHARE)))
    family = {**found.family, **{name: int(found.family[name]) * scale.data // DATA
                                 for name in SIZED if name in found.family}}
    has_blobs = "enable_blob_files" in family and scale.value_factor > 1
    for_blobs = int(cache * BLOB_CACHE) if has_blobs else 0
    if for_blobs:
        family["blob_cache"] = for_blobs
    base = mixgraph.tree(scale, MEMTABLE, SST, MEMTABLE, FACTOR_OF_LEVELS)
    del base["level_compaction_dynamic_level_bytes"]
    return options_file.Options(
        {**mixgraph.database(direct, jobs=4), **found.db}, {**base, **family},
        {**found.table, "filter_policy": "bloomfilter:10"}, found.table_name), for_blobs
