# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Which stacks of plugins there are, which kinds of transactions, and what is run of both.

A stack has two plugins or more, each once. tiered_env is one of two members: with all its tiers in
directories, or with one in memory. ORDERS says which member is above which other one.
"""

import itertools

RAW = "raw_wal_fs"
TIERS = "tiered_env"
MEMORY = "tiered_env-memory"
CACHE = "secondary_cache_2q"
HOT = "hot_promotion"
BLOB = "blob_hybrid"

# One of each line at most, in the order of a stack's name.
MEMBERS = ((RAW,), (TIERS, MEMORY), (CACHE,), (HOT,), (BLOB,))

LETTERS = {RAW: "W", TIERS: "T", MEMORY: "M", CACHE: "C", HOT: "H", BLOB: "B"}

# Kind of transactions: what db_crashtest.py is asked for. --txn_write_policy counts only without
# timestamped snapshots.
KINDS = {
    "none": ["--test_batches_snapshots=0"],
    "batched": ["--test_batches_snapshots=1"],
    "cf_consistency": ["--cf_consistency", "--test_batches_snapshots=0"],
    "optimistic": ["--optimistic_txn", "--test_batches_snapshots=0"],
    "write_committed": ["--txn", "--test_batches_snapshots=0", "--txn_write_policy=0"],
    "write_prepared": ["--txn", "--test_batches_snapshots=0", "--txn_write_policy=1",
                       "--create_timestamped_snapshot_one_in=0"],
    "write_unprepared": ["--txn", "--test_batches_snapshots=0", "--txn_write_policy=2",
                         "--create_timestamped_snapshot_one_in=0"],
}

# Upper, lower: whether stacks have them so, and why.
ORDERS = {
    (MEMORY, RAW): (True, "tiers see the logs, which stay on the device"),
    (RAW, MEMORY): (False, "refused: tiers would see stubs in the place of logs"),
    (TIERS, RAW): (True, "logs at home go to the device"),
    (RAW, TIERS): (True, "all but the logs goes to the tiers; a run has one of the two orders"),
    (HOT, BLOB): (True, "copies of the records that blob_hybrid has left in SSTs"),
    (BLOB, HOT): (False, "BlobHybridTable has no option for a factory behind it"),
}


def asks_for_sequence_numbers(kind):
    """Whether reads of this kind ask for sequence numbers, so that no copy answers them."""
    return kind in ("write_prepared", "write_unprepared")


def may_lose_unsynced(kind):
    """Whether db_stress can check a database that has lost the end of what was not synced."""
    return kind not in ("write_prepared", "write_unprepared")


def name_of(stack):
    return "+".join(stack)


def short_name_of(stack):
    return " ".join(LETTERS[member] for member in stack)


def all_stacks(least=2):
    """Tuples of members, smaller ones first."""
    choices = [(None,) + line for line in MEMBERS]
    stacks = [tuple(member for member in choice if member)
              for choice in itertools.product(*choices)]
    return sorted((s for s in stacks if len(s) >= least), key=len)


def pairs_of(stack):
    return set(itertools.combinations(stack, 2))


def plan(every_kind=False, alone=False):
    """Pairs of a stack and a kind. A stack of all five has all kinds, so that each pair of members
    has met each of them; the others have one in turn, or, with `every_kind`, all. With `alone` also
    each member for itself, with all kinds: the controls of the stacks."""
    kinds = itertools.cycle(KINDS)
    for stack in all_stacks(1 if alone else 2):
        if every_kind or len(stack) in (1, len(MEMBERS)):
            yield from ((stack, kind) for kind in KINDS)
        else:
            yield stack, next(kinds)
