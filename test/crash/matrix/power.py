# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""A loss of power of a log device, by what power_journal.cc has noted."""

import os

SECTOR = 512


def lose_power(device, journal, rng):
    """Takes from the device what may be lost: all, nothing, or each sector for itself. Returns how
    many sectors that are, of how many."""
    if not os.path.exists(journal):
        return 0, 0
    sectors = os.path.getsize(device) // SECTOR
    with open(device, "r+b") as medium, open(journal, "r+b") as noted:
        flags = noted.read(sectors)
        written = [i for i, flag in enumerate(flags) if flag]
        share = rng.choice([0.5, 0.5, 1])
        lost = [i for i in written if rng.random() < share]
        for i in lost:
            noted.seek(sectors + i * SECTOR)
            medium.seek(i * SECTOR)
            medium.write(noted.read(SECTOR))
        medium.flush()
        os.fsync(medium.fileno())
        noted.seek(0)
        noted.write(bytes(sectors))
    return len(lost), len(written)
