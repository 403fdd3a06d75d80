#!/usr/bin/env python3
"""Tries a preset that `rocktier doctor` has a figure for (make trial PRESET=wal-only).

`rocktier doctor` looks at two directories and says what the preset would gain. `rocktier preset`
prints the OPTIONS file. db_bench runs with it and without it, in turn, on databases of the same
records. A table has the ratio of each pair; the end says whether their median, with its interval,
is within what was foretold. The result is results/trial-PRESET.json.
"""

import argparse
import datetime
import json
import os
import re
import shlex
import subprocess
import sys

from common import grounds, harness, machine, pairs

ROOT = os.path.dirname(os.path.dirname(harness.BENCH))
VALUE_SIZE = 1000
LOG_MEGABYTES = 64  # what is written over, with sync
# The doctor probes no disk with less than 1G.
DISK_MEGABYTES, FAST_BYTES = 2048, 1400 << 20
WARM_READS, WARM_THREADS = 4, 4  # so many times as many reads as there are records
SLOW = {"read_iops": 2000, "write_bps": 120 << 20}
INDEX = re.compile(r"^# +index +([\d.]+)M ", re.MULTILINE)  # of the arithmetic of a preset
RATE = pairs.Measure("operations/s", "ops", "seconds", True)

# preset -> (directories of the doctor, the database with and without it, benchmark, more flags)
TRIALS = {
    "wal-only": ("{disk}", "{disk}/ours", "{disk}/stock", "overwrite", ["--sync=1"]),
    "nvme+hdd": ("{fast} {slow}", "{fast}/ours", "{slow}/stock", "readrandom", []),
    "cache-only": ("{fast} {slow}", "{slow}/ours", "{slow}/stock", "readrandom", []),
}


def without_plugins(text):
    """An OPTIONS file for stock RocksDB, with as much memory: what the index of a cache file takes
    is added to the block cache."""
    index = INDEX.search(text)
    more = float(index.group(1)) if index else 0
    text = re.sub(r"^  (env|listeners)=.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"block_cache=(?:.*?capacity=)?(\d+)M.*",
                  lambda match: f"block_cache={int(float(match.group(1)) + more)}M", text)


def with_direct_reads(text):
    """What is read goes to the device, not to the page cache."""
    return text.replace("[DBOptions]\n", "[DBOptions]\n  use_direct_reads=true\n")


class Trial:
    def __init__(self, args, context):
        self._args, self._context = args, context
        self._what, self._ours, self._stock, self._benchmark, self._flags = TRIALS[args.preset]
        self._megabytes = LOG_MEGABYTES if args.preset == "wal-only" else DISK_MEGABYTES
        self._records = self._megabytes * 10**6 // VALUE_SIZE
        self._points, self._ground = {}, None
        self.forecast, self.commands = {}, {}

    def find_ground(self):
        """Directories on two devices in memory, one of them slow, or one on the data folder's."""
        if self._args.preset == "wal-only":
            self._points = {"disk": self._context.path("disk")}
            os.makedirs(self._points["disk"])
            return machine.disk_kind(self._context.scratch)
        reason = grounds.missing(in_memory=True)
        if reason:
            raise RuntimeError(f"there is no slow device to try it on: {reason}")
        sizes = {"fast": FAST_BYTES, "slow": (8 << 30) + 4 * self._records * VALUE_SIZE}

        def make():
            made = grounds.Ground(self._context, sizes, {"slow": SLOW}, in_memory=("fast", "slow"))
            return made, made.close

        self._ground = self._context.resource("ground", make)
        self._points = self._ground.points
        return f"two devices in memory, one held to {SLOW['read_iops']} reads a second"

    def ask_doctor(self):
        """The range of the gain, and the command of the preset."""
        argv = ["doctor", *self._at(self._what).split(), f"--data={self._megabytes}M",
                f"--value={VALUE_SIZE}", "--json"]
        answer = json.loads(self._rocktier(*argv, codes=(0, 1)))
        found = [one for one in answer["presets"] if one["preset"] == self._args.preset][0]
        if not found["fits"] or "gain" not in found:
            raise RuntimeError(f"rocktier doctor has no figure for {self._args.preset} here: "
                               + found.get("missing", "it fits, and that is all"))
        self.forecast = {"low": found["gain"]["low"], "high": found["gain"]["high"],
                         "why": found["why"], "command": found["command"]}
        return self._made_small(shlex.split(found["command"])[1:])

    def _made_small(self, preset):
        """With little of what is meant for a whole machine."""
        sizes = ["--memtable=16M"]
        sizes += ["--device-size=512M"] if self._args.preset == "wal-only" else ["--memory=256M"]
        names = {flag.split("=")[0] for flag in sizes}
        return [word for word in preset if word.split("=")[0] not in names] + sizes

    def prepare(self, preset):
        text = self._rocktier(*preset)
        answer = json.loads(self._rocktier(*preset, "--json"))
        is_fs = answer["uri_flag"] == "--fs_uri"
        self._write("ours.ini", with_direct_reads(text))
        self._write("stock.ini", with_direct_reads(without_plugins(text)))
        self.commands = {
            "ours": self._bench("ours", self._ours,
                                [f"--fs_uri={answer['uri']}"] if is_fs else []),
            "stock": self._bench("stock", self._stock, []),
        }
        if self._ground:
            self._ground.release()
        for argv in self.commands.values():
            self._fill([*argv, f"--num={self._records}"])

    def _fill(self, argv):
        """Also the caches on the fast disk: 2Q keeps what was asked for twice."""
        fill = "fillseq" if self._ground is None else "filluniquerandom"
        self._context.child([*argv, f"--benchmarks={fill},waitforcompaction"])
        if self._ground is not None:
            reads = 1 if self._args.quick else WARM_READS * self._records // WARM_THREADS
            self._context.child([*argv, "--benchmarks=readrandom", "--use_existing_db=1",
                                 f"--threads={WARM_THREADS}", f"--reads={reads}"])

    def _bench(self, name, db, more):
        return [self._context.program("db_bench"), f"--db={self._at(db)}", "--cache_size=0",
                f"--options_file={self._context.path(name + '.ini')}", f"--value_size={VALUE_SIZE}",
                "--compression_ratio=1", "--compression_type=none", *more]

    def measure(self, name, seconds):
        """One process, for caches get warm in it first: the slow device is slow from then on."""
        argv = [*self.commands[name], f"--benchmarks={self._benchmark},{self._benchmark}",
                "--use_existing_db=1", f"--num={self._records}", f"--duration={seconds}",
                *self._flags]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as process:
            try:
                lines = [line for line in process.stdout if self._is_figure(line)]
            finally:
                process.kill()
                if self._ground is not None:
                    self._ground.release()
        found = re.search(r" ([\d.]+) seconds (\d+) operations", lines[1])
        return {"ops": int(found.group(2)), "seconds": float(found.group(1))}

    def _is_figure(self, line):
        is_figure = line.startswith(f"{self._benchmark} ")
        if is_figure and self._ground is not None:
            self._ground.hold()
        return is_figure

    def run(self):
        """Pairs, each of which begins with the other one."""
        rounds = []
        seconds = 1 if self._args.quick else self._args.seconds
        for number in range(pairs.FEWEST_ROUNDS if self._args.quick else self._args.pairs):
            rounds.append({name: self.measure(name, seconds)
                           for name in pairs.order(number, ("stock", "ours"))})
            one = pairs.compare(rounds[-1:], RATE, "ours", "stock")
            print(f"  pair {number + 1}: {one.base:,.0f} without, {one.value:,.0f} with, "
                  f"{one.ratio:.2f} times", flush=True)
        return rounds

    def _at(self, text):
        return text.format(**self._points)

    def _write(self, name, text):
        with open(self._context.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def _rocktier(self, *argv, codes=(0,)):
        done = subprocess.run([self._context.program("rocktier"), *argv], capture_output=True,
                              text=True, check=False)
        if done.returncode not in codes:
            raise RuntimeError(f"rocktier {shlex.join(argv)}: {done.stderr}")
        return done.stdout


def verdict(one, forecast):
    """Within, below or above what was foretold; undecided if the interval has both."""
    if one.high < forecast["low"]:
        return "less than was foretold"
    if one.low > forecast["high"]:
        return "more than was foretold"
    if forecast["low"] <= one.ratio <= forecast["high"]:
        return "as was foretold"
    return "undecided"


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", required=True, choices=sorted(TRIALS))
    parser.add_argument("--bin", required=True, help="folder of the programs that were built")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=10,
                        help="of each run, and for caches to get warm before it")
    parser.add_argument("--quick", action="store_true",
                        help="a check that it works: figures say nothing")
    parser.add_argument("--data-dir", default=os.environ.get("TMPDIR") or "/tmp")
    parser.add_argument("--results", default=os.path.join(ROOT, "results"))
    return parser.parse_args(argv)


def report(args, trial, ground, rounds, context):
    one = pairs.compare(rounds, RATE, "ours", "stock")
    low, high = trial.forecast["low"], trial.forecast["high"]
    told = verdict(one, trial.forecast)
    print(f"{args.preset}: {one.ratio:.2f} times ({one.low:.2f} to {one.high:.2f}), foretold "
          f"{low:.2f} to {high:.2f}: {told}")
    commands = {name: context.without_folders(shlex.join(argv))
                for name, argv in trial.commands.items()}
    result = {
        "preset": args.preset, "quick": args.quick, "ground": ground, "verdict": told,
        "ratio": one.ratio, "interval": [one.low, one.high],
        "forecast": {**trial.forecast,
                     "command": context.without_folders(trial.forecast["command"]),
                     "why": context.without_folders(trial.forecast["why"])},
        "rounds": rounds, "commands": commands, "load_average": machine.load_average(),
        "commit": machine.commit(ROOT),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        **machine.describe(args.bin, args.data_dir),
    }
    os.makedirs(args.results, exist_ok=True)
    path = os.path.join(args.results, f"trial-{args.preset}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    print(f"Written to {os.path.relpath(path)}")


def main(argv):
    args = parse(argv)
    harness.stop_on_signals()
    context = harness.Context(args.bin, args.data_dir)
    try:
        trial = Trial(args, context)
        ground = trial.find_ground()
        preset = trial.ask_doctor()
        print(f"{ground}\n{context.without_folders(trial.forecast['why'])}\n"
              f"rocktier {context.without_folders(shlex.join(preset))}", flush=True)
        trial.prepare(preset)
        report(args, trial, ground, trial.run(), context)
    except KeyboardInterrupt:
        return 130
    except RuntimeError as error:
        print(f"trial: {context.without_folders(str(error))}", file=sys.stderr)
        return 2
    finally:
        context.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
