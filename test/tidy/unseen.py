# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Texts in the sources that look like messages and that no user sees as one, by the reason.

A text is as messages.py prints it: "..." is what differs.
"""

_REASONS = {
    "a part of a finding of rocktier check": ("cache file",),
    "a comment in the OPTIONS file that rocktier preset prints": (
        "Arithmetic, in powers of 1024:",
        "Preset ... of rocktier. ...",
        "capacity of the cache's file",
        "capacity, in memory",
        "docs/presets.md says what to change by hand, docs/... what to watch.",
        "docs/presets.md says what to change by hand.",
        "limit of a cgroup, ...",
        "of home: the upper levels, as far as there is room",
        "of the tier",
        "per second",
    ),
    "the caller takes it for an answer: there is nothing, or it was changed meanwhile": (
        "...: has no recipe",
        "...: has no stats_dump_period_sec",
        "...: has nothing in tiers",
        "...: is no longer copied",
        "...: is not the stub of a file in a tier",
        "...: is not the stub of a log",
        "...: is not where it was",
        "...: is referred to by another recipe meanwhile",
        "...: is the beginning of a stub",
        "...: is not a file",
        "...: was written anew",
        "hot store: no room",
        "the database is being closed",
        "the table is being closed",
    ),
    "the SST goes to a durable tier, and the LOG says why by another text": (
        "...: has a recipe of ... bytes, which is too long",
        "...: has too little that is in write-ahead logs",
        "...: needs a log that cannot be synced",
    ),
    "the recipe has the bytes themselves instead": (
        "block of properties",
        "data block",
        "property of its index",
        "tiered_env: SST without a sound: ...",
        "tiered_env: not a block-based table",
        "tiered_env: table of an old format",
        "type of index",
    ),
    "the cache answers with a miss, and a counter tells": (
        "...: ...: cut short",
        "...: block checksum mismatch",
        "TwoQSecondaryCache: a block cannot be decompressed",
        "TwoQSecondaryCache: no object can be made of a block",
        "TwoQSecondaryCache: what a block holds cannot be read",
        "no memory to read a block of ...",
    ),
    "wal_compression was validated before": ("...: an archive's codec is none, lz4 or zstd",),
    "a part of a file's format or name": (
        "# HELP rocktier_blob_hybrid_info",
        "# HELP rocktier_hot_promotion_info",
        "# HELP rocktier_raw_wal_fs_info",
        "# HELP rocktier_secondary_cache_2q_info",
        "# HELP rocktier_tiered_env_info",
        "EFI PART",
        "rocktier tiered_env",
        "rocktier tiered_env ...",
        "rocktier tiered_env statistics 1",
    ),
    "what a command prints if all is well": (
        "... and ... more",
        "belongs to ...",
        "bytes per byte",
        "lost: no ...",
        "not there",
        "of entries",
        "in memory",
        "{\"in memory\":{",
        ",\"in memory\":{",
    ),
    "the help of a metric, in docs/metrics.md": (
        "bytes not written to durable storage; below 0: more was written",
        "bytes of logs that recipes need, for each byte in memory",
        "share of the entries that recipes have themselves",
        "time of writing, since 1970",
        "version of the plugin and of RocksDB, and process",
    ),
    "an option's value in the LOG": (
        "pread, buffered",
        "pread, direct",
        "uring, buffered",
        "uring, direct",
    ),
    "the name of a tier within other messages": ("the database directory",),
}

TEXTS = {text for texts in _REASONS.values() for text in texts}
