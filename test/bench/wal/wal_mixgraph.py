"""mixgraph with the logs of raw_wal_fs and of stock RocksDB."""

import dataclasses
import os

from common import mixgraph
from common.options_file import Options
from wal import wal_systems

SYSTEMS = ("stock", "recycled", "file")
GATES = (("file", ("stock", "recycled")),)
CACHE = 11  # percent of the data


def missing(emulate):
    return ""


def ways(scale):
    """With sync, as in the benchmark of raw_wal_fs: alone, and in groups."""
    return {f"sync, {threads} thread{'s' if threads > 1 else ''}":
            dataclasses.replace(scale, threads=threads, flags=("--sync=1",))
            for threads in (1, 64)}


def arranged(context, scale, system):
    folder = context.path(f"mixgraph-wal-{system}")
    os.makedirs(folder, exist_ok=True)
    recycled = {"recycle_log_file_num": 4} if system == "recycled" else {}
    options = Options({**mixgraph.database(direct=False), **recycled}, mixgraph.tree(scale),
                      {"filter_policy": "bloomfilter:10"})
    return mixgraph.Arrangement(
        os.path.join(folder, "db"), options,
        (*wal_systems.system_flags(context, system, folder),
         f"--cache_size={scale.share(CACHE)}"), others=(folder,))
