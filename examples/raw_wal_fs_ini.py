#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs db_bench with raw_wal_fs.ini as README.md says, and checks that the log device is used.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import json
import os
import re
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "raw_wal_fs.ini")
DEVICE = TMP + "/wal"
MAX_TOTAL_WAL_SIZE = 16 << 20


def run(*argv):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(" ".join(argv) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def db_bench(*flags):
    return run(BIN + "/db_bench", "--db=" + TMP + "/db", "--options_file=" + INI,
               "--fs_uri=id=RawWalFileSystem;device=" + DEVICE + ";size=64M;segment_size=256K",
               *flags)


def check(condition, message):
    if not condition:
        sys.exit(message)


def log():
    with open(TMP + "/db/LOG") as file:
        return file.read()


def main():
    # 50 MB of logs on a device of 64 MB, a third of which they may hold at a time.
    db_bench("--benchmarks=fillrandom", "--num=20000", "--value_size=2500", "--sync=1")
    check(re.search(r"max_total_wal_size: %d\b" % MAX_TOTAL_WAL_SIZE, log()),
          "the OPTIONS file was not used")
    check(" goes on in FileSystem " not in log(), "a log found no room on the device")
    logs = json.loads(run(BIN + "/rocktier", "wal", "ls", DEVICE, "--json"))
    total = sum(each["bytes"] for each in logs)
    print(len(logs), "logs of", total, "bytes")
    check(0 < total < 2 * MAX_TOTAL_WAL_SIZE, "the logs have %d bytes" % total)

    # Replayed.
    out = db_bench("--use_existing_db", "--benchmarks=readrandom", "--num=20000", "--reads=2000")
    found = re.search(r"\((\d+) of \d+ found\)", out)
    check(found is not None and int(found.group(1)) > 0, "nothing was found:\n" + out)
    check("Recovering log #" in log(), "no log was replayed")


main()
