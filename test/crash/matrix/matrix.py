#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs RocksDB's db_crashtest.py over stacks of plugins: the interaction matrix.

Processes are killed, and between them is lost what the members of a stack can lose: memory, the
power of the log device, a cache file, a folder of copies. Each run is a line of RESULTS (JSON):
stack, kind of transactions, seconds, seed, kills, losses, what the members have done, verdict. A
run that RESULTS has for this commit is not made again without --again. A table ends the output;
--list and --table run nothing.
"""

import argparse
import datetime
import json
import os
import random
import re
import subprocess
import sys

import coverage
import run
import stacks


def commit():
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], text=True, check=True,
                          stdout=subprocess.PIPE, cwd=run.HERE).stdout.strip()


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path) as results:
        return [json.loads(line) for line in results]


def planned(arguments):
    """Stacks and kinds whose name matches all of --only."""
    for stack, kind in stacks.plan(arguments.every_kind, arguments.alone):
        name = stacks.name_of(stack) + " " + kind
        if all(re.search(only, name) for only in arguments.only):
            yield stack, kind


def is_done(lines, about, stack, kind):
    return any(line["verdict"] == "ok" and line["kind"] == kind
               and line["stack"] == stacks.name_of(stack)
               and all(line[name] == value for name, value in about.items()) for line in lines)


def line_of(total, verdict, stack, kind, seed):
    """What RESULTS has of a run."""
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    losses = {name[5:]: count for name, count in total.items() if name.startswith("lost.")}
    return {"time": now, "stack": stacks.name_of(stack), "kind": kind, "seed": seed,
            "seconds": total["seconds"], "databases": total["databases"], "kills": total["kills"],
            "losses": losses, "seen": coverage.seen(total, stack, kind), "verdict": verdict}


def row_of(line):
    lost = line["losses"]
    return "| %s | %s | %d | %d | %d | %s | %d | %d | %d | %s, %s |" % (
        stacks.short_name_of(line["stack"].split("+")), line["kind"], line["seconds"],
        line["seed"], line["kills"],
        "%d (%d)" % (lost["power"], lost["sectors"]) if "power" in lost else "0",
        lost.get("memory", 0), lost.get("cache", 0), lost.get("hot", 0), line["commit"],
        line["verdict"])


def print_table(lines):
    """In Markdown; the last run of each stack and kind. Returns how many of them were not good."""
    last = {(line["stack"], line["kind"]): line for line in lines}
    print("\n%s.\n" % ", ".join("%s: %s" % (letter, member)
                                for member, letter in stacks.LETTERS.items()))
    print("| stack | transactions | s | seed | kills "
          "| power (sectors) | memory | cache | copies | |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for line in last.values():
        print(row_of(line))
    return sum(line["verdict"] != "ok" for line in last.values())


def command_of(arguments, stack, kind, seed):
    """What to type for the same stack, kind and seed."""
    only = (stacks.name_of(stack) + " " + kind).replace("+", r"\+")
    flags = (" --every-kind" if arguments.every_kind else "") + (
        " --alone" if arguments.alone else "")
    more = " -- " + " ".join(arguments.more) if arguments.more else ""
    return "make matrix SECONDS=%d ARGS='--only \"^%s\" --seed %d%s%s'" % (
        arguments.seconds, only, seed, flags, more)


def run_all(arguments):
    """Returns the lines of this call."""
    programs = run.Programs(arguments.build)
    about = {"rocksdb": programs.rocksdb_version(), "commit": commit()}
    before = [] if arguments.again else read_lines(arguments.results)
    os.makedirs(os.path.dirname(arguments.results) or ".", exist_ok=True)
    lines = []
    for stack, kind in planned(arguments):
        if is_done(before, about, stack, kind):
            continue
        seed = arguments.seed if arguments.seed is not None else random.randrange(1, 1 << 30)
        print("%s, %s, seed %d" % (stacks.name_of(stack), kind, seed), flush=True)
        work = run.Work(programs, arguments.scratch, arguments.seconds, arguments.more)
        total, verdict = work.run(stack, kind, seed)
        lines.append({**line_of(total, verdict, stack, kind, seed), **about,
                      "command": command_of(arguments, stack, kind, seed)})
        with open(arguments.results, "a") as results:
            results.write(json.dumps(lines[-1]) + "\n")
        print("  %d s, %d kills, %d losses of power; %s; %s" % (
            total["seconds"], total["kills"], total.get("lost.power", 0), verdict,
            ", ".join("%s %d" % item for item in lines[-1]["seen"].items())), flush=True)
    return lines


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.dirname(os.environ.get("ROCKTIER_BIN", "")),
                        help="the build directory")
    parser.add_argument("--seconds", type=int, default=120,
                        help="of a first database, about; ROCKTIER_CRASH_SECONDS comes first")
    seed = os.environ.get("ROCKTIER_SEED")
    parser.add_argument("--seed", type=int, default=int(seed) if seed else None)
    parser.add_argument("--only", action="append", default=[],
                        help="a regular expression that 'STACK KIND' matches; several: all do")
    parser.add_argument("--every-kind", action="store_true", help="each stack with each kind")
    parser.add_argument("--alone", action="store_true", help="also each member for itself")
    parser.add_argument("--again", action="store_true", help="also what was run for this commit")
    folder = os.environ.get("TEST_TMPDIR", "results")
    parser.add_argument("--scratch", default=os.path.join(folder, "matrix"),
                        help="a folder for the databases")
    parser.add_argument("--results", default=os.path.join(folder, "matrix.jsonl"))
    parser.add_argument("--list", action="store_true",
                        help="prints what would be run, and which orders of members are not")
    parser.add_argument("--table", action="store_true", help="prints the table of RESULTS")
    parser.add_argument("more", nargs="*", help="arguments of db_crashtest.py, after --")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    arguments.scratch = os.path.abspath(arguments.scratch)
    arguments.seconds = int(os.environ.get("ROCKTIER_CRASH_SECONDS") or arguments.seconds)
    if not list(planned(arguments)):
        sys.exit("matrix: no stack and kind match --only")
    if arguments.table:
        return 1 if print_table(read_lines(arguments.results)) else 0
    if arguments.list:
        for stack, kind in planned(arguments):
            print(stacks.name_of(stack), kind)
        for (upper, lower), (taken, reason) in stacks.ORDERS.items():
            print("%s over %s: %s%s" % (upper, lower, "" if taken else "not run, ", reason))
        return 0
    return 1 if print_table(run_all(arguments)) else 0


if __name__ == "__main__":
    sys.exit(main())
