#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Draws rocktier.svg: RocksDB, and the five plugins at their places. --check: compares only."""

import os
import sys

WIDTH, HEIGHT = 860, 424
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rocktier.svg")

STOCK = ("#f4f4f4", "#8a8a8a")
PLUGIN = ("#dcebfa", "#2f6fb0")
STORAGE = ("#fdf3dc", "#b58a2f")

# x, y, width, height, colours, lines of text; the first line is bold
BOXES = [
    (20, 20, 820, 46, STOCK, ["RocksDB, unmodified", "Put, Get, flush, compaction"]),
    (20, 96, 150, 76, STOCK, ["Write-ahead log"]),
    (185, 96, 150, 76, STOCK, ["SSTs by level"]),
    (350, 96, 150, 76, STOCK, ["Table factory", "reads of SSTs"]),
    (515, 96, 150, 76, STOCK, ["Blob files", "large values"]),
    (680, 96, 160, 76, STOCK, ["Block cache"]),
    (20, 202, 150, 86, PLUGIN, ["raw_wal_fs", "one write, one flush", "for each sync"]),
    (185, 202, 150, 86, PLUGIN, ["tiered_env", "each level on its tier,", "within budgets"]),
    (350, 202, 150, 86, PLUGIN, ["hot_promotion", "copies of the records", "that are read often"]),
    (515, 202, 150, 86, PLUGIN, ["blob_hybrid", "space within a bound,", "fewer rewrites"]),
    (680, 202, 160, 86, PLUGIN, ["secondary_cache_2q", "blocks seen twice,",
                                 "in memory or a file"]),
    (20, 318, 150, 86, STORAGE, ["Partition or file", "of its own"]),
    (185, 318, 150, 86, STORAGE, ["Memory, pmem,", "fast disk, slow disk"]),
    (350, 318, 150, 86, STORAGE, ["Fast disk", "beside a slow one"]),
    (515, 318, 150, 86, STORAGE, ["The database's disk"]),
    (680, 318, 160, 86, STORAGE, ["Memory,", "or a fast disk"]),
]
ARROWS = [(x, y, y + 30) for x in (95, 260, 425, 590, 760) for y in (66, 172, 288)]


def box(x, y, width, height, colours, lines):
    fill, stroke = colours
    yield ('<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="%s"/>' %
           (x, y, width, height, fill, stroke))
    top = y + height / 2 - 8.5 * (len(lines) - 1) + 5
    for number, line in enumerate(lines):
        weight = ' font-weight="bold"' if number == 0 else ""
        yield ('<text x="%d" y="%.1f"%s>%s</text>' %
               (x + width / 2, top + 17 * number, weight, line))


def draw():
    yield ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
           'font-family="sans-serif" font-size="13" text-anchor="middle">' %
           (WIDTH, HEIGHT, WIDTH, HEIGHT))
    yield "<title>RocksDB, and the five plugins at their places</title>"
    yield '<rect width="%d" height="%d" fill="white"/>' % (WIDTH, HEIGHT)
    for x, begin, end in ARROWS:
        yield '<path d="M%d %dV%d m-4 -6 l4 6 l4 -6" fill="none" stroke="#555"/>' % (x, begin, end)
    for each in BOXES:
        yield from box(*each)
    yield "</svg>"


def main():
    text = "\n".join(draw()) + "\n"
    if "--check" in sys.argv[1:]:
        with open(PATH, encoding="utf-8") as file:
            return 0 if file.read() == text else "rocktier.svg is not what draw.py draws"
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
