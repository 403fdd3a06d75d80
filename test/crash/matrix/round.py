#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""round.py ARGUMENT...: db_stress for db_crashtest.py, after the losses of this round.

ROCKTIER_MATRIX is a JSON file that says what the run is. What the last process has done and what is
lost goes to `rounds` beside it, a line for each round.
"""

import json
import os
import random
import sys

import coverage
import losses
import options
import stacks


def environment(setup, run):
    """That of db_stress."""
    result = dict(os.environ)
    if setup.has(stacks.RAW):
        result.update(LD_PRELOAD=run["journal"], ROCKTIER_POWER_DEVICE=setup.path("log-device"),
                      ROCKTIER_POWER_JOURNAL=setup.path("journal"))
        # The runtime of AddressSanitizer wants to be the first library.
        result["ASAN_OPTIONS"] = result.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return result


def main():
    with open(os.environ["ROCKTIER_MATRIX"]) as file:
        run = json.load(file)
    folder = os.path.dirname(os.environ["ROCKTIER_MATRIX"])
    setup = options.Setup(run["stack"], run["kind"], folder, random.Random(run["seed"]))
    with open(setup.path("rounds"), "a+") as rounds:
        rounds.seek(0)
        number = len(rounds.readlines())
        rng = random.Random("%s %s" % (run["seed"], number))
        figures = coverage.read(folder, setup.stack)
        lost = losses.Losses(folder, setup.stack, rng)
        if number > 0:
            lost.lose()
        rounds.write(json.dumps({**figures, **lost.counted}) + "\n")
    arguments = setup.of_round(rng)
    print("round %d: %s; %s" % (number, lost, " ".join(arguments)), flush=True)
    os.execve(run["db_stress"], [run["db_stress"], *sys.argv[1:], *arguments],
              environment(setup, run))


if __name__ == "__main__":
    main()
