#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with tiered_env_memory.ini, loses the memory, and reads everything again.

Does as README.md says. ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import re
import shutil
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tiered_env_memory.ini")
TIERS = "tiers={memory={kind=memory;path=%s/memory;budget=256M};slow={path=%s/slow}}" % (TMP, TMP)
URI = "id=TieredFileSystem;" + TIERS + ";placement={0..2=memory;3..=slow}"
DB = TMP + "/db"


def run(*argv):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(result.returncode == 0, " ".join(argv) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


def read(*more):
    """How many of the keys are there."""
    text = run(BIN + "/db_bench", "--db=" + DB, "--use_existing_db", "--num=50000", "--reads=20000",
               "--seed=1", "--disable_auto_compactions", "--benchmarks=readrandom,verifychecksum",
               *more)
    return re.search(r"\((\d+) of \d+ found\)", text).group(1)


def main():
    os.mkdir(TMP + "/slow")
    run(BIN + "/db_bench", "--db=" + DB, "--options_file=" + INI, "--fs_uri=" + URI, "--num=50000",
        "--value_size=1000", "--benchmarks=fillrandom,waitforcompaction")
    print(run(BIN + "/rocktier", "tier", "df", URI, DB))
    files = json.loads(run(BIN + "/rocktier", "tier", "ls", URI, DB, "--json"))
    installed = [file for file in files if file["needed"]]
    check(any(file["tier"] == "memory" for file in installed), "nothing is in memory")
    found = read("--fs_uri=" + URI)

    shutil.rmtree(TMP + "/memory")
    run(BIN + "/rocktier", "tier", "recover", URI, DB)
    check(read("--fs_uri=" + URI) == found, "keys were lost")

    run(BIN + "/rocktier", "tier", "evacuate", URI, DB)
    check(read() == found, "keys were lost on the way home")


main()
