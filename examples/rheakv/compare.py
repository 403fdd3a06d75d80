#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""RheaKV with the plugins beside RheaKV without them (examples/rheakv/run --compare).

Both run in turn, ROUNDS times, each in a new cluster of three nodes: clients write RECORDS values
of 1000 bytes, then they read and write for SECONDS. A table has the medians, and the median of the
rounds' own ratios. RESULTS (JSON) has all that was measured. What goes to the disk is counted by
the disk, so that nobody else ought to write; in memory there is none.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test/bench"))
from common import machine  # noqa: E402

VALUE_SIZE = 1000
# What a row is, the figure that `run --measure` tells, and what it is multiplied with.
ROWS = (
    ("load: writes/s", "load_writes_per_second", 1),
    ("load: p99 of a write, ms", "load_writes_p99_us", 1e-3),
    ("load: bytes to the disk for each byte", "load_amplification", 1),
    ("mixed: reads/s", "mixed_reads_per_second", 1),
    ("mixed: writes/s", "mixed_writes_per_second", 1),
    ("mixed: p99 of a read, ms", "mixed_reads_p99_us", 1e-3),
    ("mixed: p99 of a write, ms", "mixed_writes_p99_us", 1e-3),
    ("mixed: bytes to the disk for each byte", "mixed_amplification", 1),
)
SYSTEMS = ("plain", "plugins")


def measure(system, arguments):
    command = [os.path.join(HERE, "run"), "--measure", "--mode", arguments.mode,
               "--records", str(arguments.records), "--seconds", str(arguments.seconds)]
    if system == "plain":
        command.append("--plain")
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures = json.loads(output.splitlines()[-1])
    for phase in ("load", "mixed"):
        written = figures[phase + "_writes"] * VALUE_SIZE
        figures[phase + "_amplification"] = figures[phase + "_disk_bytes"] / written
    return figures


def rows(rounds):
    """(what, plain, plugins, ratio): medians."""
    for what, name, factor in ROWS:
        values = {system: [each[system][name] * factor for each in rounds] for system in SYSTEMS}
        ratios = [ours / plain for plain, ours in zip(*values.values()) if plain]
        yield (what, *map(statistics.median, values.values()),
               statistics.median(ratios) if ratios else None)


def print_table(rounds):
    print("\n| | plain | plugins | ratio |\n|---|---|---|---|")
    for what, plain, ours, ratio in rows(rounds):
        style = "| %s | {0} | {0} | %s |".format("%.0f" if plain >= 100 else "%.2f")
        print(style % (what, plain, ours, "" if ratio is None else "%.2f" % ratio))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", default="checkpoint", help="as that of run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=100000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--results", default=os.path.join(ROOT, "results/rheakv.json"))
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    asked = {name: value for name, value in vars(arguments).items() if name != "results"}
    results = {"time": machine.now(), "commit": machine.commit(ROOT),
               "machine": machine.hardware(tempfile.gettempdir()), "arguments": asked,
               "rounds": []}
    for number in range(arguments.rounds):
        figures = {}
        # The other one is first in the next round.
        for system in SYSTEMS if number % 2 == 0 else reversed(SYSTEMS):
            print("round %d, %s" % (number + 1, system), file=sys.stderr)
            figures[system] = measure(system, arguments)
        results["rounds"].append(figures)
    os.makedirs(os.path.dirname(arguments.results), exist_ok=True)
    with open(arguments.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    print_table(results["rounds"])


if __name__ == "__main__":
    main()
