"""The placements of values that the benchmark of blob_hybrid compares, and how one is run."""

import json
import os
import shutil

BOUND = 1.5
# Bytes of a key and a value, of which a record of each mix has so much on average.
SIZES = {"S": 33, "M": 128, "L": 1028, "SD": 251, "MD": 289, "LD": 649}
LARGE = 512  # values from here on are large
MEDIUM = 64  # and from here on medium, where the mix has such
MIXES_WITH_MEDIUM = ("M", "SD", "MD", "LD")

READAHEAD = 32 << 10
BLOBS = f"enable_blob_files=true;blob_compaction_readahead_size={READAHEAD};blob_file_size={4 << 20}"
STOCK_COLLECTION = "enable_blob_garbage_collection=true;blob_garbage_collection_age_cutoff={cutoff}" \
    ";blob_garbage_collection_force_threshold={force}"
OPTIONS = {
    "in_place": "",
    "universal": "compaction_style=kCompactionStyleUniversal",
    "blob_all": f"{BLOBS};min_blob_size=0;{STOCK_COLLECTION.format(cutoff=0.3, force=1.0)}",
    "blob_large": f"{BLOBS};min_blob_size={LARGE};{STOCK_COLLECTION.format(cutoff=0.3, force=0.3)}",
    "blob_tight": f"{BLOBS};min_blob_size={LARGE};{STOCK_COLLECTION.format(cutoff=1.0, force=0.2)}",
    "ours": f"{BLOBS};min_blob_size={LARGE};listeners={{id=BlobHybridListener}};compaction_filter_factory="
    f"{{id=BlobHybrid;max_space_amplification={BOUND};space_floor={{floor}};readahead_size={READAHEAD}{{medium}}}};table_factory={{id=BlobHybridTable}}",
}
SYSTEMS = tuple(OPTIONS)
OTHERS = tuple(system for system in SYSTEMS if system != "ours")


def path(context, ground, sizes, system):
    return context.path(f"blob-{ground}-{sizes}-{system}")


def options(system, sizes, changes, floor):
    """Those of the system, and what the command line has for it."""
    has_medium = sizes in MIXES_WITH_MEDIUM
    text = OPTIONS[system].replace("{floor}", str(floor))
    text = text.replace("{medium}", f";medium_value_size={MEDIUM}" if has_medium else "")
    return ";".join(part for part in (text, changes.get(system, "")) if part)


def run(context, ground, sizes, system, records, floor, changes, cache_bytes, *more):
    """Figures of one run of blob_driver; then every record is read and checked."""
    db = path(context, ground, sizes, system)
    common = [
        context.program("blob_driver"), f"--db={db}", f"--options={options(system, sizes, changes, floor)}",
        f"--sizes={sizes}", f"--records={records}", f"--cache_bytes={cache_bytes}",
    ]
    figures = json.loads(context.child([
        *common, f"--direct={str(ground == 'direct').lower()}", f"--space_floor={floor}", *more,
    ]))
    context.child([*common, "--mode=check", "--direct=false"])
    return figures


def clear(context, ground, sizes, system):
    db = path(context, ground, sizes, system)
    shutil.rmtree(db, ignore_errors=True)
    if os.path.exists(f"{db}.oracle"):
        os.unlink(f"{db}.oracle")
