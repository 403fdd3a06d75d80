#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""plugins.py LIBRARY FOLDER [PLUGIN...]: a database with each plugin, in Python.

There is nothing but ctypes, RocksDB's C API and the OPTIONS files of examples/options. LIBRARY is
librocktier.so, with which RocksDB comes, or a library of RocksDB alone. Each database that FOLDER
does not have is made and filled; each record of the others is read. The statistics file of the
plugin says whether it was used.
"""

import ctypes
import os
import re
import sys
import time

OPTIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../options")
# The statistics file of each plugin, and a figure in it; docs/metrics.md has all.
PLUGINS = {
    "raw_wal_fs": ("db/rocktier_raw_wal_fs.prom", "written_bytes_total"),
    "tiered_env": ("db/rocktier_tiered_env.prom", "tier_read_bytes_total"),
    "secondary_cache_2q": ("cache.prom", "admitted_total"),
    "hot_promotion": ("hot/rocktier_hot_promotion.prom", "served_slow_total"),
    "blob_hybrid": ("db/rocktier_blob_hybrid.prom", "blob_files"),
}
RECORDS = 5000
ROUNDS = 3

# Functions of rocksdb/c.h: the result, and the arguments.
POINTER, TEXT, SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
FUNCTIONS = {
    "options_create": (POINTER, []),
    "options_destroy": (None, [POINTER]),
    "get_options_from_string": (None, [POINTER, TEXT, POINTER, POINTER]),
    "open": (POINTER, [POINTER, TEXT, POINTER]),
    "writeoptions_create": (POINTER, []),
    "readoptions_create": (POINTER, []),
    "put": (None, [POINTER, POINTER, TEXT, SIZE, TEXT, SIZE, POINTER]),
    "get": (POINTER, [POINTER, POINTER, TEXT, SIZE, POINTER, POINTER]),
    "compact_range": (None, [POINTER, TEXT, SIZE, TEXT, SIZE]),
    "free": (None, [POINTER]),
    "close": (None, [POINTER]),
}


class RocksDB:
    """The C API; a function that fails raises RuntimeError."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name, (result, arguments) in FUNCTIONS.items():
            function = self.function(name)
            function.restype, function.argtypes = result, arguments

    def function(self, name):
        return getattr(self.library, "rocksdb_" + name)

    def call(self, name, *arguments):
        error = ctypes.c_char_p()
        result = self.function(name)(*arguments, ctypes.byref(error))
        if error.value is not None:
            raise RuntimeError(error.value.decode())
        return result

    def get(self, db, key):
        length = ctypes.c_size_t()
        value = self.call("get", db, self.function("readoptions_create")(), key, len(key),
                          ctypes.byref(length))
        found = ctypes.string_at(value, length.value) if value else None
        self.function("free")(value)
        return found


def options_text(plugin, folder):
    """The OPTIONS file as the text that RocksDB takes; a table is a part of its family."""
    text, table = [], None
    with open(os.path.join(OPTIONS, plugin + ".ini")) as file:
        for line in map(str.strip, file):
            if line.startswith("[TableOptions/"):
                table = ["id=" + line[len("[TableOptions/"):].split()[0]]
            elif line and line[0] not in "#[":
                (text if table is None else table).append(line)
    if table is not None:
        text.append("table_factory={%s}" % ";".join(table))
    return ";".join(text).replace("FOLDER", folder)


def record(i, turn):
    return b"key%07d" % i, b"%d %d " % (i, turn) * 80


def fill(rocksdb, db):
    write = rocksdb.function("writeoptions_create")()
    for turn in range(ROUNDS):
        for i in range(RECORDS):
            key, value = record(i, turn)
            rocksdb.call("put", db, write, key, len(key), value, len(value))


def check(rocksdb, db):
    for i in range(RECORDS):
        key, value = record(i, ROUNDS - 1)
        if rocksdb.get(db, key) != value:
            raise RuntimeError("another value than the one written: " + key.decode())


def counted(plugin, folder):
    """The plugin's figure as text; waits for a file in which it is above 0."""
    file, name = PLUGINS[plugin]
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if os.path.exists(os.path.join(folder, file)):
            with open(os.path.join(folder, file)) as statistics:
                values = re.findall(r"^rocktier_%s_%s\b.* (\S+)$" % (plugin, name),
                                    statistics.read(), re.MULTILINE)
            if sum(map(float, values)) > 0:
                return "%s %d" % (name, sum(map(float, values)))
        time.sleep(0.1)
    raise RuntimeError("no %s in %s" % (name, file))


def run(rocksdb, plugin, folder):
    new = not os.path.exists(folder)
    for name in ("fast", "slow"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    options, base = (rocksdb.function("options_create")() for _ in range(2))
    rocksdb.call("get_options_from_string", base, options_text(plugin, folder).encode(), options)
    db = rocksdb.call("open", options, os.path.join(folder, "db").encode())
    if new:
        fill(rocksdb, db)
        rocksdb.function("compact_range")(db, None, 0, None, 0)
    check(rocksdb, db)
    result = "all records are there"
    if new:
        result = "%d records written and found; %s" % (RECORDS, counted(plugin, folder))
    # Options that are left keep what belongs to a plugin open, such as the store of hot_promotion.
    rocksdb.function("close")(db)
    for each in (options, base):
        rocksdb.function("options_destroy")(each)
    return result


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: plugins.py LIBRARY FOLDER [PLUGIN...]")
    rocksdb = RocksDB(sys.argv[1])
    for plugin in sys.argv[3:] or PLUGINS:
        try:
            result = run(rocksdb, plugin, os.path.join(os.path.abspath(sys.argv[2]), plugin))
        except RuntimeError as error:
            result = "refused: %s" % error
        print("%-18s %s" % (plugin, result))


main()
