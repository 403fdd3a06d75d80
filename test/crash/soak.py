#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Runs the tests that kill processes, fail power and make operators' mistakes, in turn, for hours.

Each run of a test is a line of RESULTS (JSON): what ran, for how long, its seeds, how many kills
and losses of power it had, and whether it found something. The output of a run that did is kept
beside it, and what it has left beside its scratch folder. db_stress runs with faults of the
FileSystem every other time. A summary ends the output; --summary prints that of all lines that
there are.

With --kills it goes on after the hours until each plugin has had as many, those in stacks of
several plugins not counted; it fails if one has not. As long as the file of --pause exists no test
begins, and the time does not count. --resume goes on with what was interrupted: the lines of this
commit and this version of RocksDB count, their hours, kills and findings.
"""

import argparse
import collections
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

LABELS = {"crash", "power", "mistakes"}
PLUGINS = ("raw_wal_fs", "tiered_env", "secondary_cache_2q", "hot_promotion", "blob_hybrid")
# What tests say, and db_crashtest.py. That of RocksDB 11 sends SIGTERM, of which db_stress dies as
# abruptly: its handler says so, and raises it again.
KILLS = (re.compile(r"(\d+) kills\b"), re.compile(r"^(KILLED|TERMINATED) \d+", re.MULTILINE))
LOSSES = re.compile(r"(\d+) losses of power\b")
SEEDS = re.compile(r"(?:ROCKTIER_SEED=|\bseed )(\d+)")
SLOWEST = 4  # times as long for each kill as the quickest test of a plugin
MOST_SECONDS = 3600  # and ten slices: then a test is taken for one that hangs


def tests_of(build):
    """Name, command, environment and time limit of each test of the build with one of LABELS."""
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    for test in json.loads(listing)["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        labels = set(properties.get("LABELS", []))
        if labels & LABELS:
            plugin = next((p for p in (*PLUGINS, "matrix") if p in labels), "")
            yield {"name": test["name"], "plugin": plugin, "command": test["command"],
                   "stress": "stress" in labels, "faults": False,
                   "environment": dict(e.split("=", 1) for e in properties["ENVIRONMENT"]),
                   "timeout": float(properties["TIMEOUT"])}


def count(output):
    kills = sum(int(n) for n in KILLS[0].findall(output)) + len(KILLS[1].findall(output))
    losses = sum(int(n) for n in LOSSES.findall(output))
    return {
        "kills": kills,
        "power_losses": losses,
        "seeds": sorted(set(SEEDS.findall(output)))[:50],
    }


def execute(test, environment, limit, output):
    """Returns the exit status. After the limit nothing of it runs any more."""
    process = subprocess.Popen(test["command"], env=environment, stdin=subprocess.DEVNULL,
                               stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "timeout"


def set_aside(folder, begin):
    """Renames what a failed run has left: the next run of the test needs the folder."""
    if os.path.isdir(folder):
        os.rename(folder, "%s-%d" % (folder, begin))


def run(test, seconds, folder):
    """Runs a test; returns what is known of the run."""
    begin = time.time()
    environment = dict(os.environ, **test["environment"], ROCKTIER_CRASH_SECONDS=str(seconds))
    if test["faults"]:
        environment["ROCKTIER_CRASH_FAULTS"] = "1"
    name = "%s-%d.log" % (test["name"], begin)
    path = os.path.join(folder, name)
    with open(path, "wb") as output:
        limit = min(test["timeout"], MOST_SECONDS) + seconds * 10
        code = execute(test, environment, limit, output)
    with open(path, errors="replace") as output:
        result = {
            "test": test["name"],
            "plugin": test["plugin"],
            "code": code,
            "faults": test["faults"],
            "seconds": round(time.time() - begin, 1),
            **count(output.read()),
        }
    if code == 0:
        os.remove(path)
    else:
        result["output"] = name
        set_aside(environment["TEST_TMPDIR"], begin)
    return result


class Rotation:
    """Hands out the tests in turn, each to one worker at a time, until the time is over.

    Then those that kill quickly, for each plugin that had fewer than `kills` so far."""

    def __init__(self, tests, hours, kills, pause, before=()):
        """`before`: results of earlier runs, which count."""
        self._tests = collections.deque(tests)
        self._end = time.monotonic() + hours * 3600
        self._kills = kills
        self._pause = pause
        self._killed = collections.Counter()  # By plugin.
        self._rates = {}  # Kills for each second, by name of the test.
        self._lock = threading.Lock()
        for result in before:
            self._note(result["test"], result["plugin"], result)

    def take(self):
        with self._lock:
            self._wait()
            if time.monotonic() >= self._end:
                return self._quick_one()
            return self._tests.popleft() if self._tests else None

    def give_back(self, test, result):
        with self._lock:
            self._note(test["name"], test["plugin"], result)
            self._tests.append({**test, "faults": test["stress"] and not test["faults"]})

    def _note(self, name, plugin, result):
        self._killed[plugin] += result["kills"]
        self._rates[name] = result["kills"] / max(result["seconds"], 0.1)

    def _wait(self):
        begin = time.monotonic()
        while self._pause and os.path.exists(self._pause):
            time.sleep(1)
        self._end += time.monotonic() - begin

    def _quick_one(self):
        """One that has not run yet, or the one that has waited longest. None: nothing is left."""
        for plugin in PLUGINS:
            tests = [t for t in self._tests if t["plugin"] == plugin]
            rates = [self._rates.get(t["name"], float("inf")) for t in tests]
            least = max(rates, default=0) / SLOWEST
            quick = [t for t, rate in zip(tests, rates) if rate >= least and rate > 0]
            if quick and self._killed[plugin] < self._kills:
                self._tests.remove(quick[0])
                return quick[0]
        return None


def work(rotation, arguments, about, results):
    for test in iter(rotation.take, None):
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        result = {"time": now, **about, **run(test, arguments.slice, os.path.dirname(results.name))}
        print("%(test)s%(with)s: %(seconds)s s, %(kills)d kills, %(power_losses)d losses of power, "
              "exit %(code)s" % {**result, "with": " with faults" if result["faults"] else ""},
              flush=True)
        results.write(json.dumps(result) + "\n")
        results.flush()
        rotation.give_back(test, result)


def summarize(lines):
    """A table, in Markdown, of what ran for each plugin and RocksDB version."""
    sums = collections.OrderedDict()
    for line in lines:
        key = (line["plugin"] or "stock", line["rocksdb"])
        total = sums.setdefault(key, collections.Counter())
        total.update(runs=1, seconds=line["seconds"], kills=line["kills"],
                     power_losses=line["power_losses"], findings=int(line["code"] != 0))
    print("\n| plugin | RocksDB | runs | hours | kills | losses of power | findings |")
    print("|---|---|---|---|---|---|---|")
    for (plugin, version), total in sorted(sums.items()):
        print("| %s | %s | %d | %.2f | %d | %d | %d |" % (
            plugin, version, total["runs"], total["seconds"] / 3600, total["kills"],
            total["power_losses"], total["findings"]))
    return sum(total["findings"] for total in sums.values())


def too_few(lines, plugins, kills):
    """What is missing of so many kills of each plugin."""
    killed = collections.Counter()
    for line in lines:
        killed[line["plugin"]] += line["kills"]
    return ["%s: %d kills of %d" % (plugin, killed[plugin], kills) for plugin in PLUGINS
            if plugin in plugins and killed[plugin] < kills]


def read_lines(path):
    """All but parts of lines, which interrupted runs have left."""
    with open(path) as results:
        return [json.loads(line) for line in results if line.rstrip().endswith("}")]


def end_last_line(path):
    """Makes what is appended begin a line, whatever is there. Makes the file, if there is none."""
    with open(path, "ab+") as results:
        if results.seek(0, os.SEEK_END) > 0:
            results.seek(-1, os.SEEK_END)
            if results.read() != b"\n":
                results.write(b"\n")


def lines_before(path, about):
    """Those of the same commit and version of RocksDB."""
    lines = read_lines(path) if os.path.exists(path) else []
    return [line for line in lines if all(line[name] == value for name, value in about.items())]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", help="the build directory")
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--slice", type=int, default=120, help="seconds of each run, about")
    parser.add_argument("--kills", type=int, default=0, help="of each plugin, at least")
    parser.add_argument("--pause", help="a file")
    parser.add_argument("--resume", action="store_true", help="what was interrupted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="a regular expression that tests' names match")
    parser.add_argument("--results", default="results/soak/soak.jsonl")
    parser.add_argument("--summary", action="store_true", help="runs nothing")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.summary:
        return 1 if summarize(read_lines(arguments.results)) else 0
    os.makedirs(os.path.dirname(arguments.results) or ".", exist_ok=True)
    version = subprocess.run([arguments.build + "/bin/rocktier", "--version"], check=True,
                             stdout=subprocess.PIPE, text=True).stdout
    about = {"rocksdb": re.search(r"RocksDB (\S+?),", version).group(1),
             "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], text=True,
                                      stdout=subprocess.PIPE).stdout.strip()}
    tests = [t for t in tests_of(arguments.build) if re.search(arguments.only, t["name"])]
    if not tests:
        sys.exit("soak: no test has one of the labels " + ", ".join(sorted(LABELS)))
    end_last_line(arguments.results)
    before = lines_before(arguments.results, about) if arguments.resume else []
    hours = arguments.hours - sum(line["seconds"] for line in before) / 3600 / arguments.jobs
    rotation = Rotation(tests, hours, arguments.kills, arguments.pause, before)
    begin = os.path.getsize(arguments.results)
    with open(arguments.results, "a") as results:
        workers = [threading.Thread(target=work, args=(rotation, arguments, about, results))
                   for _ in range(arguments.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    with open(arguments.results) as results:
        results.seek(begin)
        lines = before + [json.loads(line) for line in results]
    findings = summarize(lines)
    missing = too_few(lines, {t["plugin"] for t in tests}, arguments.kills)
    if arguments.kills:
        print("\n" + "\n".join(missing or ["%d kills of each plugin, or more" % arguments.kills]))
    return 1 if findings or missing else 0


if __name__ == "__main__":
    sys.exit(main())
