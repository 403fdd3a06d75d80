#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs what README.md says of rocktier_env.ini: a program that has nothing but this file, and
RocksDB's programs with its env as --env_uri.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import os
import subprocess
import sys

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
INI = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rocktier_env.ini")
DB = TMP + "/db"


def run(*argv):
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit(" ".join(argv) + " failed:\n" + result.stdout[-2000:])
    return result.stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


def main():
    for name in ("fast", "slow"):
        os.mkdir("%s/%s" % (TMP, name))
    options = TMP + "/rocktier_env.ini"
    with open(INI) as source, open(options, "w") as copy:
        copy.write(source.read().replace("/tmp/", TMP + "/"))

    for _ in range(2):  # the second time there is what the first has left
        output = run(BIN + "/example_rocktier_env", options, DB)
        print(output)
        check("RawWalFileSystem, the same twice" in output, "another FileSystem was used")
    check(any(os.listdir("%s/slow/%s" % (TMP, home)) for home in os.listdir(TMP + "/slow")),
          "nothing is in the slow tier")

    uri = run("sed", "-n", r"s/^ *env={\(.*\)}$/\1/p", options).strip()
    check(uri.startswith("id=RocktierEnv;file_system={"), "no env in the file: " + uri)
    output = run(BIN + "/db_bench", "--db=%s/bench" % TMP, "--options_file=" + options,
                 "--env_uri=" + uri, "--num=20000", "--benchmarks=fillrandom,readrandom")
    check("readrandom" in output, output)
    run(BIN + "/ldb", "--db=" + DB, "--env_uri=" + uri, "checkconsistency")
    run(BIN + "/sst_dump", "--env_uri=" + uri, "--file=" + DB, "--command=verify")
    # rocktier takes the FileSystem alone.
    file_system = uri[len("id=RocktierEnv;file_system={"):-1]
    tiers = file_system[file_system.index("target={") + len("target={"):-1]
    check("slow" in run(BIN + "/rocktier", "tier", "df", tiers, DB), "no tiers")


main()
