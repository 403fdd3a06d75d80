#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Kills nodes of RheaKV with the plugins at random moments (make test-distributed).

Each way in which RheaKV makes snapshots has ROUNDS rounds, in one cluster of three nodes, by
examples/rheakv/run. Each acknowledged write is checked after each round: by clients, and in the
store of each node. Each run is a line of RESULTS (JSON): mode, seed, kills, acknowledged writes,
what the plugins have counted, verdict. A table ends the output.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN = os.path.join(ROOT, "examples/rheakv/run")
sys.path.insert(0, os.path.join(ROOT, "test/bench"))
from common import machine  # noqa: E402

MODES = ("checkpoint", "backup", "sst", "sst-async")


def run(mode, rounds, seed, folder):
    """What the run has told in its last line; all lines are printed."""
    last = "{}"
    with subprocess.Popen(
            [RUN, "--mode", mode, "--rounds", str(rounds), "--seed", str(seed), "--folder", folder],
            stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print("  " + line, end="", flush=True)
            last = line
    return json.loads(last) if process.returncode == 0 else {"mode": mode, "seed": seed}


def line_of(mode, rounds, seed, folder):
    began = time.monotonic()
    about = {"time": machine.now(), "commit": machine.commit(ROOT),  # what the nodes are built of
             "command": "make test-distributed ROUNDS=%d ARGS='--mode %s --seed %d'" % (
                 rounds, mode, seed)}
    told = run(mode, rounds, seed, folder)
    return {**about, **told, "seconds": round(time.monotonic() - began),
            "verdict": "ok" if "kills" in told else "failed"}


def print_table(lines):
    print("\n| mode | s | seed | rounds | kills | replaced | acknowledged | |")
    print("|---|---|---|---|---|---|---|---|")
    for line in lines:
        figures = [line.get(name, "") for name in
                   ("seconds", "seed", "rounds", "kills", "replaced", "acknowledged")]
        print("| %s | %s | %s, %s |" % (line["mode"], " | ".join(map(str, figures)),
                                        line["commit"], line["verdict"]))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="for each mode")
    parser.add_argument("--mode", action="append", choices=MODES, help="default: all")
    seed = os.environ.get("ROCKTIER_SEED")
    parser.add_argument("--seed", type=int, default=int(seed) if seed else None)
    parser.add_argument("--scratch", required=True, help="a folder for the nodes")
    parser.add_argument("--results", required=True)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    os.makedirs(os.path.dirname(arguments.results) or ".", exist_ok=True)
    lines = []
    for mode in arguments.mode or MODES:
        seed = arguments.seed if arguments.seed is not None else random.randrange(1, 1 << 30)
        print("%s, seed %d" % (mode, seed), flush=True)
        folder = os.path.join(arguments.scratch, "%s-%d" % (mode, seed))
        lines.append(line_of(mode, arguments.rounds, seed, folder))
        with open(arguments.results, "a", encoding="utf-8") as results:
            results.write(json.dumps(lines[-1]) + "\n")
        if lines[-1]["verdict"] == "ok":
            shutil.rmtree(folder)
        else:
            print("what is left of it is in", folder)
    print_table(lines)
    return 0 if all(line["verdict"] == "ok" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
