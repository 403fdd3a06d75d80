#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The programs delete what they have made, and nothing else.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder; arguments: the programs.
"""

import os
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]


def run(name, *argv):
    return subprocess.run([BIN + "/" + name, *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def check(condition, message):
    if not condition:
        sys.exit(message)


def ldb(db, *argv):
    result = run("ldb", "--db=" + db, *argv)
    check(result.returncode == 0, result.stdout)
    return result.stdout


def arguments_of(name, folder):
    """By which a program might take `folder`/db for its own."""
    if name == "example_rocktier_env":
        return ["none.ini", folder + "/db"]
    return [folder]


def refuse_a_database(name):
    folder = "%s/%s" % (TMP, name)
    os.mkdir(folder)
    ldb(folder + "/db", "--create_if_missing", "put", "key", "value")
    before = sorted(os.listdir(folder))
    result = run(name, *arguments_of(name, folder))
    check(result.returncode == 2 and "which no example has made" in result.stdout,
          "%s: status %d\n%s" % (name, result.returncode, result.stdout))
    check(before == sorted(os.listdir(folder)), name + " has changed the folder")
    check(ldb(folder + "/db", "get", "key").split()[-1:] == ["value"], name + ": the key is lost")


def run_twice(name):
    for turn in 1, 2:
        result = run(name, TMP + "/own")
        check(result.returncode == 0, "%s, turn %d:\n%s" % (name, turn, result.stdout))


def main():
    for name in sys.argv[1:]:
        refuse_a_database(name)
    # The quickest that there is.
    for name in ("example_raw_wal_fs", "example_secondary_cache_2q"):
        if name in sys.argv[1:]:
            run_twice(name)
            break


main()
