# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs one stack by db_crashtest.py, until its members have done what they are there for."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time

import coverage
import options
import stacks

HERE = os.path.dirname(os.path.abspath(__file__))
CRASH = os.path.dirname(HERE)

# Databases, one after the other, of a stack that has not done everything yet. Each has more time
# than the one before.
TRIES = 8


class Programs:
    """Of a build directory."""

    def __init__(self, build):
        self.bin = os.path.join(build, "bin")
        self.crashtest = os.path.join(build, "rocksdb-tree", "tools", "db_crashtest.py")
        self.journal = os.path.join(self.bin, "power_journal.so")

    def path(self, name):
        return os.path.join(self.bin, name)

    def rocksdb_version(self):
        text = subprocess.run([self.path("rocktier"), "--version"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return re.search(r"RocksDB (\S+?),", text).group(1)


def seeded(folder, programs, seed):
    """A copy of db_crashtest.py that draws by the seed and finds what it imports, and its text."""
    path = os.path.join(folder, "db_crashtest.py")
    with open(programs.crashtest) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write("import random, sys\nrandom.seed(%d)\nsys.path.append(%r)\n" %
                   (seed, os.path.dirname(programs.crashtest)) + text)
    return path, text


def stress_of(setup, programs):
    """The program for a round, and what it needs in the environment."""
    if not setup.has(stacks.BLOB):
        return programs.path("db_stress"), {}
    stress = programs.path("blob_stress")
    if setup.has(stacks.RAW, stacks.TIERS, stacks.MEMORY):
        return stress, {}  # "rocktier blob verify" reads plain directories only
    return os.path.join(CRASH, "blob_hybrid", "verified"), {
        "ROCKTIER_DB_STRESS": stress, "ROCKTIER_TOOL": programs.path("rocktier")}


def prepare(setup, programs):
    """What must be there before db_stress is."""
    for name in ("fast", "slow"):
        os.mkdir(setup.path(name))
    if setup.has(stacks.RAW):
        subprocess.run([programs.path("rocktier"), "wal", "format", setup.path("log-device"),
                        "--size=%d" % options.DEVICE_SIZE, "--segment-size=256K"],
                       check=True, stdout=subprocess.DEVNULL)
    if setup.has_options_file():
        with open(setup.path("options.ini"), "w") as file:
            file.write(setup.options_file())


def figures_of(folder):
    """Sums over the rounds, and the kills."""
    total = {}
    rounds = os.path.join(folder, "rounds")
    if os.path.exists(rounds):  # not if db_crashtest.py refused its arguments
        with open(rounds) as file:
            for line in file:
                coverage.add(total, json.loads(line))
    with open(os.path.join(folder, "output"), errors="replace") as file:
        total["kills"] = len(re.findall(r"^(?:KILLED|TERMINATED) \d+", file.read(), re.MULTILINE))
    return total


def tail_of(path, size=5000):
    with open(path, errors="replace") as file:
        return file.read()[-size:]


def new_setup(stack, kind, folder, seed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return options.Setup(stack, kind, folder, random.Random(seed))


class Work:
    """How all stacks are run: where, for how long, and with which arguments of db_crashtest.py
    besides."""

    def __init__(self, programs, scratch, seconds, more=()):
        self._programs = programs
        self._scratch = scratch
        self._seconds = seconds
        self._more = list(more)

    def _command(self, setup, seed, seconds):
        crashtest, text = seeded(setup.folder, self._programs, seed)
        # A round is long enough to open and check the database, and to go on for some seconds.
        arguments = [*setup.of_crashtest(seed, text),
                     "--interval=%d" % max(4, min(8, seconds // 3)), *self._more]
        stress = os.path.join(HERE, "round.py")
        if setup.has_options_file():
            return [os.path.join(CRASH, "configured"), crashtest, stress,
                    setup.path("options.ini"), *arguments]
        return [os.path.join(CRASH, "blackbox"), str(seconds), crashtest,
                "--stress_cmd=" + stress, *arguments]

    def _run_database(self, setup, seed, seconds):
        """Returns whether db_crashtest.py found nothing."""
        prepare(setup, self._programs)
        stress, environment = stress_of(setup, self._programs)
        with open(setup.path("run.json"), "w") as file:
            json.dump({"stack": setup.stack, "kind": setup.kind, "seed": seed, "db_stress": stress,
                       "journal": self._programs.journal}, file)
        environment = dict(os.environ, TEST_TMPDIR=setup.folder,
                           ROCKTIER_CRASH_SECONDS=str(seconds),
                           ROCKTIER_MATRIX=setup.path("run.json"), **environment)
        with open(setup.path("output"), "wb") as output:
            return subprocess.run(self._command(setup, seed, seconds), env=environment,
                                  stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT).returncode == 0

    def run(self, stack, kind, seed):
        """Runs databases until the stack has done everything. Returns the figures and the verdict.
        The folder of a database that failed stays."""
        total = {}
        begin = time.monotonic()
        for number in range(TRIES):
            folder = os.path.join(self._scratch, "%s-%s" % (stacks.name_of(stack), kind))
            setup = new_setup(stack, kind, folder, seed + number)
            good = self._run_database(setup, seed + number, self._seconds * (number + 1))
            coverage.add(total, figures_of(folder))
            total["seconds"] = round(time.monotonic() - begin)
            total["databases"] = number + 1
            if not good:
                output = setup.path("output")
                print(tail_of(output), file=sys.stderr)
                return total, "failed with seed %d, see %s" % (seed + number, output)
            missing = coverage.missing(total, stack, kind)
            shutil.rmtree(folder)
            if not missing:
                return total, "ok"
            print("  not yet seen: " + "; ".join(missing), file=sys.stderr, flush=True)
        return total, "idle: " + "; ".join(missing)
