#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with hot_promotion.ini as README.md says, and checks that records are promoted.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hot_promotion.ini")


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(" ".join(command) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def main():
    with open(INI) as source, open(TMP + "/options.ini", "w") as target:
        target.write(source.read().replace("/tmp/", TMP + "/"))
    run(BIN + "/db_bench", "--db=" + TMP + "/db", "--options_file=" + TMP + "/options.ini",
        "--cache_size=0", "--benchmarks=fillrandom,compact,readrandom,readrandom",
        "--num=50000", "--value_size=400", "--read_random_exp_range=20", "--reads=100000")
    info = json.loads(run(BIN + "/rocktier", "hot", "verify", TMP + "/hot", "--json"))
    print(info)
    if info["records"] == 0 or info["equal"] == 0:
        sys.exit("nothing was promoted")


main()
