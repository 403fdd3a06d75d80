#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with blob_hybrid.ini as README.md says, and checks the space that it takes.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blob_hybrid.ini")
BOUND = 1.5


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(" ".join(command) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def main():
    run(BIN + "/db_bench", "--db=" + TMP + "/db", "--options_file=" + INI,
        "--benchmarks=fillrandom,overwrite,overwrite,waitforcompaction", "--num=20000",
        "--value_size=1000")
    space = json.loads(run(BIN + "/rocktier", "blob", "stats", TMP + "/db", "--json"))["default"]
    print(space)
    if space["large_bytes"] == 0:
        sys.exit("there are no large values")
    # 20000 keys drawn three times at random: 95% of them exist. What is in memory is not counted.
    live = 0.95 * 20000 * 1016
    disk = space["blob_file_bytes"] + space["small_bytes"]
    if disk > BOUND * 1.05 * live:
        sys.exit("%d bytes for %d live ones" % (disk, live))


main()
