# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What is lost between two processes over the same database, for each member of a stack.

A loss of power takes sectors of the log device that were not synced, and all memory. Directories
keep what is in them, as if the kernel had written all pages back in time.
"""

import os
import shutil

import power
import stacks

SUPERBLOCK = 4096  # of a cache file: one that is damaged there is refused, not used
PLACES = 20  # that are damaged at once


def _files_below(folder):
    return sorted(os.path.join(path, name) for path, _, names in os.walk(folder) for name in names)


def lose_memory(folder, what, rng):
    """All of a tier in memory, some of its files, or the ends of some. Returns whether there was
    one."""
    if not os.path.isdir(folder):
        return False
    if what == "all":
        shutil.rmtree(folder)
        return True
    files = [path for path in _files_below(folder)
             if os.path.basename(path) not in ("OWNER", "LOCK") and rng.random() < 0.5]
    for path in files:
        if what == "some":
            os.remove(path)
        else:
            os.truncate(path, rng.randrange(5000))
    return bool(files)


def damage_cache(path, what, rng):
    """A cache file is gone, or has other bytes in some places."""
    if not os.path.exists(path):
        return False
    if what == "gone":
        os.remove(path)
        return True
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        for _ in range(PLACES):
            file.seek(rng.randrange(SUPERBLOCK, size - SUPERBLOCK))
            file.write(rng.choice([bytes(SUPERBLOCK), rng.randbytes(1)]))
    return True


def lose_hot(folder):
    if not os.path.isdir(folder):
        return False
    shutil.rmtree(folder)
    return True


class Losses:
    """Draws what is lost before a round, and does it."""

    def __init__(self, folder, stack, rng):
        self._folder = folder
        self._stack = stack
        self._rng = rng
        self.said = []
        self.counted = {}

    def _path(self, name):
        return os.path.join(self._folder, name)

    def _count(self, name, count=1):
        self.counted["lost." + name] = count

    def lose(self):
        failed = stacks.RAW in self._stack and self._rng.random() < 0.7
        if failed:
            self._lose_power()
        if stacks.MEMORY in self._stack:
            self._lose_memory("all" if failed else None)
        if stacks.CACHE in self._stack:
            self._lose_cache()
        if stacks.HOT in self._stack and self._rng.random() < 0.6 and lose_hot(self._path("hot")):
            self._count("hot")
            self.said.append("copies")

    def _lose_power(self):
        lost, written = power.lose_power(self._path("log-device"), self._path("journal"), self._rng)
        self._count("power")
        self._count("sectors", lost)
        self.said.append("power, with %d of %d sectors" % (lost, written))

    def _lose_memory(self, what):
        what = what or self._rng.choice(["all", "all", "all", "some", "cut", "nothing"])
        if what != "nothing" and lose_memory(self._path("memory"), what, self._rng):
            self._count("memory")
            self.said.append("memory (%s)" % what)

    def _lose_cache(self):
        what = self._rng.choice(["gone", "damaged", "nothing"])
        if what != "nothing" and damage_cache(self._path("cache"), what, self._rng):
            self._count("cache")
            self.said.append("cache (%s)" % what)

    def __str__(self):
        return "lost: " + (", ".join(self.said) or "nothing")
