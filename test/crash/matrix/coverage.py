# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What the members of a stack have done, by their statistics files, and what they must have done.

A process that is killed leaves its files, with what was at most a second ago.
"""

import os
import re

import stacks

_LINE = re.compile(r"rocktier_(\w+?)(?:\{(.*)\})? ([-+.e\d]+)")
_TIER = re.compile(r'tier="([^"]*)"')

# The files, in the folder of a run, and the database, where db_crashtest.py has it.
DB = "rocksdb_crashtest_blackbox"
FILES = {
    stacks.RAW: DB + "/rocktier_raw_wal_fs.prom",
    stacks.TIERS: DB + "/rocktier_tiered_env.prom",
    stacks.MEMORY: DB + "/rocktier_tiered_env.prom",
    stacks.CACHE: "cache.prom",
    stacks.HOT: "hot/rocktier_hot_promotion.prom",
    stacks.BLOB: DB + "/rocktier_blob_hybrid.prom",
}

# What must have been more than 0 in a run as a whole: its name for people, and the figures, one of
# which is enough. `lost.` are the losses of this program.
_REQUIRED = {
    stacks.RAW: (
        ("logs on the device", ["raw_wal_fs_frames_total"]),
        ("logs deleted from the device", ["raw_wal_fs_logs_deleted_total"]),
        ("sectors lost with the power", ["lost.sectors"]),
    ),
    stacks.TIERS: (
        ("files in the fast tier", ["tiered_env_tier_files.fast"]),
        ("files in the slow tier", ["tiered_env_tier_files.slow"]),
        ("files moved", ["tiered_env_tier_moves_total.fast", "tiered_env_tier_moves_total.slow"]),
    ),
    stacks.MEMORY: (
        ("SSTs in memory", ["tiered_env_memory_tables_total"]),
        ("entries that are references to logs", ["tiered_env_memory_references_total"]),
        ("losses of memory", ["lost.memory"]),
        ("SSTs rebuilt", ["tiered_env_memory_rebuilt_files_total"]),
    ),
    stacks.CACHE: (
        ("blocks taken", ["secondary_cache_2q_admitted_total"]),
        ("hits", ["secondary_cache_2q_hits_total"]),
        ("cache files damaged or gone", ["lost.cache"]),
    ),
    stacks.HOT: (
        ("records captured", ["hot_promotion_captured_total"]),
        ("reads served from copies", ["hot_promotion_served_memory_total",
                                      "hot_promotion_served_store_total"]),
        ("folders of copies gone", ["lost.hot"]),
    ),
    stacks.BLOB: (
        ("blob files", ["blob_hybrid_blob_files"]),
        ("values moved or merged", ["blob_hybrid_moved_values_total",
                                    "blob_hybrid_merged_values_total"]),
    ),
}
# Reads that no copy may answer.
_REQUIRED_BYPASSED = (
    ("reads that copies may not answer", ["hot_promotion_bypassed_total"]),
    ("folders of copies gone", ["lost.hot"]),
)


def parse(text):
    """Figures of a statistics file, those of a tier under NAME.TIER. The others are the same in
    each series, or of a family: then the highest one."""
    figures = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            name, labels, value = match.groups()
            tier = _TIER.search(labels or "")
            name += "." + tier.group(1) if tier else ""
            figures[name] = max(figures.get(name, 0), float(value))
    return figures


def read(folder, stack):
    """What the last process has left, for all members."""
    figures = {}
    for member in stack:
        try:
            with open(os.path.join(folder, FILES[member])) as file:
                figures.update(parse(file.read()))
        except FileNotFoundError:
            pass
    return figures


def add(total, figures):
    for name, value in figures.items():
        total[name] = total.get(name, 0) + value


def required(stack, kind):
    for member in stack:
        if member == stacks.HOT and stacks.asks_for_sequence_numbers(kind):
            yield from ((member, *rule) for rule in _REQUIRED_BYPASSED)
        else:
            yield from ((member, *rule) for rule in _REQUIRED[member])


def missing(total, stack, kind):
    """What was not seen, for people."""
    return ["%s: %s" % (member, what) for member, what, names in required(stack, kind)
            if not any(total.get(name, 0) > 0 for name in names)]


def seen(total, stack, kind):
    """The figures that are required, for the line of a run."""
    names = [name for _, _, names in required(stack, kind) for name in names]
    return {name: round(total.get(name, 0)) for name in names}
