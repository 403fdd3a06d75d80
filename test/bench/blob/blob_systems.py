"""The placements of values that the benchmark of blob_hybrid compares, and how one is run."""

import json
import os
import shutil

from common import grounds

# Bytes a second for two hardware threads, of the device (2.4 and 2.0 GB/s) and the 24 threads
# of the paper.
DISK = {"read_bps": 200_000_000, "write_bps": 167_000_000}
DISK_BYTES = 16 << 30  # it takes memory as files do
# max_space_amplification. Of L as much as RocksDB's own collection takes at most.
BOUNDS = {"S": 1.5, "M": 1.5, "L": 2.4, "SD": 1.5, "MD": 1.5, "LD": 1.5}
# Bytes of a key and a value, of which a record of each mix has so much on average.
SIZES = {"S": 33, "M": 128, "L": 1028, "SD": 251, "MD": 289, "LD": 649}
# The block cache's share of these bytes: table 1 of the paper.
CACHE_SHARES = {
    "S": 2 / 10, "M": 4 / 26, "L": 16 / 100,
    "SD": 4 / 22.5, "MD": 4 / 25.5, "LD": 4 / 62.5,
}
LARGE = 512  # values from here on are large
MEDIUM = 64  # and from here on medium, where the mix has such
MIXES_WITH_MEDIUM = ("M", "SD", "MD", "LD")

READAHEAD = 32 << 10
MEGABYTES = 64  # of keys and values that a database is filled with
BLOB_FILE_BYTES = 4 << 20
BLOBS = (f"enable_blob_files=true;blob_compaction_readahead_size={READAHEAD};"
         f"blob_file_size={BLOB_FILE_BYTES}")
STOCK_COLLECTION = ("enable_blob_garbage_collection=true;"
                    "blob_garbage_collection_age_cutoff={cutoff};"
                    "blob_garbage_collection_force_threshold={force}")
OPTIONS = {
    "in_place": "",
    "universal": "compaction_style=kCompactionStyleUniversal",
    "blob_all": f"{BLOBS};min_blob_size=0;{STOCK_COLLECTION.format(cutoff=0.3, force=1.0)}",
    "blob_large": f"{BLOBS};min_blob_size={LARGE};{STOCK_COLLECTION.format(cutoff=0.3, force=0.3)}",
    "blob_tight": f"{BLOBS};min_blob_size={LARGE};{STOCK_COLLECTION.format(cutoff=1.0, force=0.2)}",
    "blob_uncollected": f"{BLOBS};min_blob_size={LARGE}",
    "ours": (f"{BLOBS};min_blob_size={LARGE};listeners={{id=BlobHybridListener}};"
             "compaction_filter_factory={id=BlobHybrid;max_space_amplification={bound};"
             "space_floor={floor};gc_bytes_per_second=0;"
             f"readahead_size={READAHEAD}{{medium}}}};table_factory={{id=BlobHybridTable{{table}}}}"),
}
# What PrepareForBlobs() sets. Ours has it but with small values alone, which the plugin leaves as
# they are. To tell what of it is the family's options, and what the plugin: others with the same.
PREPARED_FAMILY = ("level0_file_num_compaction_trigger=16;level0_slowdown_writes_trigger=32;"
                   "level0_stop_writes_trigger=48;max_bytes_for_level_base=2097152;"
                   "compaction_pri=kRoundRobin")
PREPARED_TABLE = "block_align=true"
PREPARED = {"in_place_prepared": "in_place", "blob_large_prepared": "blob_large",
            "blob_uncollected_prepared": "blob_uncollected"}
OTHERS = (*(system for system in OPTIONS if system != "ours"), *PREPARED)
# Ours with another max_space_amplification: as much as others take, whatever that is.
ROOMY = {"ours_1.8": 1.8, "ours_3": 3.0}
ROOMY_MIXES = ("SD", "MD", "LD")
# Ours with the default bound, for L alone.
DEFAULT_BOUND = {"ours_1.5": 1.5}
# After updates.
AS_ROOMY = (("ours", "blob_tight"), ("ours_1.8", "blob_large"), ("ours_3", "blob_all"))
SYSTEMS = (*OPTIONS, *ROOMY, *DEFAULT_BOUND, *PREPARED)
PEERS = ("titan", "parallax")
# Of the filter, besides, for one mix: as PrepareForMediumValues() sets it.
MEDIUM_PRESET = {"M": ";merge_level=last-1"}


def folder(context, ground):
    """Of the databases: the data folder, or a device that is made when it is first asked for."""
    if ground in ("buffered", "folder"):
        return context.path()

    def make():
        kind = {"in_memory" if ground == "direct" else "with_sectors": (ground,)}
        disk = grounds.Ground(context, {ground: DISK_BYTES}, {ground: DISK}, **kind)
        return disk.points[ground], disk.close

    return context.resource(f"blob-{ground}", make)


def path(context, ground, sizes, system):
    return os.path.join(folder(context, ground), f"blob-{ground}-{sizes}-{system}")


def blob_files_of(megabytes):
    """An option: as many blob files as the full size has."""
    return f"blob_file_size={max(64 << 10, BLOB_FILE_BYTES * megabytes // MEGABYTES)}"


def is_ours(system):
    return system == "ours" or system in ROOMY or system in DEFAULT_BOUND


def is_measured(system, sizes):
    """Some are of interest with some mixes only."""
    if system in ROOMY:
        return sizes in ROOMY_MIXES
    if system in DEFAULT_BOUND:
        return sizes == "L"
    if system.startswith("blob_uncollected"):  # which has no blob files with smaller values
        return sizes not in ("S", "M")
    if system in PEERS:
        return sizes != "S"
    return system not in PREPARED or sizes != "S"


def bound(system, sizes):
    """Of a system that is ours."""
    return {**ROOMY, **DEFAULT_BOUND}.get(system, BOUNDS[sizes])


def options(system, sizes, changes, floor):
    """Those of the system, and what the command line has for it."""
    ours = is_ours(system)
    prepared = system in PREPARED or ours and sizes != "S"
    text = OPTIONS["ours" if ours else PREPARED.get(system, system)]
    if ours:
        medium = ""
        if sizes in MIXES_WITH_MEDIUM:
            medium = f";medium_value_size={MEDIUM}{MEDIUM_PRESET.get(sizes, '')}"
        text = text.replace("{floor}", str(floor))
        text = text.replace("{bound}", str(bound(system, sizes)))
        text = text.replace("{medium}", medium)
        text = text.replace("{table}", f";{PREPARED_TABLE}" if prepared else "")
    family = PREPARED_FAMILY if prepared else ""
    table = f"block_based_table_factory={{{PREPARED_TABLE}}}" if system in PREPARED else ""
    return ";".join(part for part in (text, family, table, changes.get(system, "")) if part)


def run(context, ground, sizes, system, records, floor, changes, cache_bytes, *more):
    """Figures of one run of blob_driver; then every record is read and checked."""
    db = path(context, ground, sizes, system)
    if system in PEERS:
        first = [context.peer(system), f"--bound={BOUNDS[sizes]}"]
    else:
        first = [context.program("blob_driver"),
                 f"--options={options(system, sizes, changes, floor)}"]
    common = [*first, f"--db={db}", f"--sizes={sizes}", f"--records={records}",
              f"--cache_bytes={cache_bytes}"]
    text, usage = context.measured_child([
        *common, f"--direct={str(ground != 'buffered').lower()}", f"--space_floor={floor}", *more,
    ])
    figures = {**json.loads(text), "memory_bytes": usage.memory_bytes}
    context.child([*common, "--mode=check", "--direct=false"])
    return figures


def clear(context, ground, sizes, system):
    db = path(context, ground, sizes, system)
    shutil.rmtree(db, ignore_errors=True)
    if os.path.exists(f"{db}.oracle"):
        os.unlink(f"{db}.oracle")
