#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with tiered_env.ini as README.md says, and checks in which tiers the levels are.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tiered_env.ini")
TIERS = "tiers={fast={path=%s/fast;budget=64M};slow={path=%s/slow}}" % (TMP, TMP)
URI = "id=TieredFileSystem;" + TIERS + ";placement={0..1=fast;2..=slow}"


def run(*argv):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(result.returncode == 0, " ".join(argv) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


def main():
    for name in "fast", "slow":
        os.mkdir(TMP + "/" + name)
    db = TMP + "/db"
    run(BIN + "/db_bench", "--db=" + db, "--options_file=" + INI, "--fs_uri=" + URI, "--num=200000",
        "--benchmarks=fillrandom,waitforcompaction")
    run(BIN + "/rocktier", "tier", "check", URI, db)
    print(run(BIN + "/rocktier", "tier", "df", URI, db))
    files = json.loads(run(BIN + "/rocktier", "tier", "ls", URI, db, "--json"))
    installed = [file for file in files if file["needed"]]
    check({file["tier"] for file in installed} == {"fast", "slow"}, "a tier was not used")
    # The mover may have been stopped by the end of db_bench; with the listener it has little to do.
    right = [file for file in installed
             if file["tier"] == ("fast" if file["level"] <= 1 else "slow")]
    check(len(right) >= 0.9 * len(installed), "the levels are not in their tiers")

    run(BIN + "/rocktier", "tier", "evacuate", URI, db)
    run(BIN + "/db_bench", "--db=" + db, "--use_existing_db", "--num=200000", "--reads=1000",
        "--benchmarks=readrandom")


main()
