#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with secondary_cache_2q.ini as README.md says, and checks that the cache is used.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import os
import re
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "secondary_cache_2q.ini")
FILE_CACHE = "{storage=file;path=" + TMP + "/cache;capacity=32M;policy=2q}"


def db_bench(options_file, *flags):
    """The secondary cache's hits."""
    result = subprocess.run([
        BIN + "/db_bench", "--db=" + TMP + "/db", "--options_file=" + options_file,
        "--cache_size=0", "--num=100000", "--statistics", *flags
    ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    hits = re.search(r"rocksdb.secondary.cache.hits COUNT : (\d+)", result.stdout)
    if result.returncode != 0 or hits is None:
        sys.exit("db_bench with " + options_file + " failed:\n" + result.stdout[-2000:])
    return int(hits.group(1))


def check(condition, message):
    if not condition:
        sys.exit(message)


def printed_options():
    with open(TMP + "/db/LOG") as log:
        return log.read()


def main():
    hits = db_bench(INI, "--benchmarks=fillseq,compact,readrandom")
    print("secondary cache hits:", hits)
    check(hits > 0, "the cache of the OPTIONS file was not used")
    check("policy=2q" in printed_options(), "the LOG does not show the options of the cache")

    # The same with the blocks in a file, twice: the second run finds the first one's blocks.
    file_ini = TMP + "/file.ini"
    with open(INI) as source, open(file_ini, "w") as target:
        target.write(re.sub(r"secondary_cache=\{.*?\}", "secondary_cache=" + FILE_CACHE,
                            source.read()))
    for run in "first", "second":
        hits = db_bench(file_ini, "--use_existing_db", "--benchmarks=readrandom", "--reads=10000")
        print("secondary cache hits in a file,", run, "run:", hits)
        check(hits > 0, "the cache in a file was not used")
    recovered = re.search(r"recovered : (\d+)", printed_options())
    check(recovered is not None and int(recovered.group(1)) > 0, "no block survived the restart")


main()
