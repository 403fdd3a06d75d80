"""The common part of all benchmarks: runs the cases in turn, keeps the samples, cleans up.

A benchmark is a module benchmarks/<name>.py with

    BENCHMARK = Benchmark(...)

that says which cases there are (a workload and the systems to compare), how a case is run, which
figures are shown and which gates they must pass. Everything else is here and in report.py.
"""

import dataclasses
import importlib
import os
import pkgutil
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from common import drivers

# The folder of run.py.
BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclasses.dataclass(frozen=True)
class Metric:
    name: str  # key in the figures of a case
    heading: str  # in the table
    unit: str  # in the JSON file
    format: str = "{:.2f}"
    scale: float = 1  # applied for the table only
    show_ratio: bool = False  # in the table; the JSON file always has it
    in_table: bool = True


@dataclasses.dataclass(frozen=True)
class Panel:
    """A part of the plot: one metric, the systems side by side for each workload."""

    metric: str
    title: str
    log: bool = False


@dataclasses.dataclass(frozen=True)
class Case:
    """One child process: one workload over one or more systems."""

    benchmark: str
    systems: tuple
    # run(context, round) -> {system: {metric: value}}
    run: Callable
    # Takes part in the first rounds only; None: in all.
    rounds: int | None = None


@dataclasses.dataclass(frozen=True)
class Gate:
    """A figure that must not be above (or, with at_least, below) a target."""

    name: str
    value: float | None  # None: not measured in this run
    target: float
    at_least: bool = False

    def passes(self):
        if self.value is None:
            return False
        return self.value >= self.target if self.at_least else self.value <= self.target


@dataclasses.dataclass(frozen=True)
class Benchmark:
    title: str
    ground: str  # one line: what the figures stand on
    baseline: str  # the system to which ratios are taken
    metrics: tuple
    panels: tuple
    # add_arguments(parser): options of this benchmark
    add_arguments: Callable
    # cases(args) -> [Case], in the order of one round
    cases: Callable
    # gates(results) -> [Gate]
    gates: Callable


class Results:
    """Samples by (benchmark, system, metric), one per round."""

    def __init__(self):
        self._samples = {}

    def add(self, benchmark, figures_of_systems):
        for system, figures in figures_of_systems.items():
            for metric, value in figures.items():
                of_system = self._samples.setdefault((benchmark, system), {})
                of_system.setdefault(metric, []).append(value)

    def keys(self):
        return list(self._samples)

    def median(self, benchmark, system, metric):
        """None if it was not measured."""
        samples = self._samples.get((benchmark, system), {}).get(metric)
        return statistics.median(samples) if samples else None

    def spread(self, benchmark, system, metric):
        """(largest - smallest) / median over the rounds."""
        samples = self._samples[(benchmark, system)][metric]
        middle = statistics.median(samples)
        return (max(samples) - min(samples)) / middle if middle else 0.0

    def ratio(self, benchmark, metric, system, baseline):
        """None if one was not measured, or the baseline is 0."""
        value = self.median(benchmark, system, metric)
        base = self.median(benchmark, baseline, metric)
        return value / base if value is not None and base else None

    def paired_ratio(self, benchmark, metric, system, baseline):
        """Median of the rounds' own ratios.

        A machine that is faster in some rounds does not change it. None if one was not measured, or
        the baseline is 0 in a round.
        """
        values = self._samples.get((benchmark, system), {}).get(metric, [])
        bases = self._samples.get((benchmark, baseline), {}).get(metric, [])
        if not values or len(values) != len(bases) or 0 in bases:
            return None
        return statistics.median(value / base for value, base in zip(values, bases))


class Context:
    """What a case may use: the programs, and a folder that is removed at the end."""

    def __init__(self, bin_dir, data_dir, env=None):
        self.bin_dir = bin_dir
        self.scratch = tempfile.mkdtemp(prefix="rocktier-bench-", dir=data_dir)
        self._env = env
        self._child = None
        self._drivers = []
        self._shared = {}
        self._resources = {}  # name -> (value, undo)

    def close(self):
        for driver in self._drivers:
            driver.kill()
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        for _, undo in reversed(list(self._resources.values())):
            undo()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.scratch, *names)

    def program(self, name):
        return os.path.join(self.bin_dir, name)

    def child(self, argv):
        """Runs a program to its end; returns what it printed. A failure raises, with its stderr."""
        self._child = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self._env
        )
        out, err = self._child.communicate()
        code, self._child = self._child.returncode, None
        if code != 0:
            raise RuntimeError(f"{' '.join(argv)}\nended with status {code}\n{err}{out[-2000:]}")
        return out

    def driver(self, argv, environment=None):
        """Starts a program that runs slices; it is ended at the end."""
        errors = self.path(f"driver-{len(self._drivers)}.errors")
        self._drivers.append(drivers.Driver(argv, errors, environment))
        return self._drivers[-1]

    def without_folders(self, text):
        """A text that does not tell where its folder is."""
        return text.replace(self.scratch, "...")

    def shared(self, name, make):
        """The folder `name`, made by make(folder) when it is first asked for."""
        if name not in self._shared:
            folder = self.path(name)
            make(folder)
            self._shared[name] = folder
        return self._shared[name]

    def resource(self, name, make):
        """What make() returned as (value, undo) when it was first asked for; undone at the end."""
        if name not in self._resources:
            self._resources[name] = make()
        return self._resources[name][0]

    def link_copy(self, source):
        """A copy of a database that shares its immutable tables; the caller removes it."""
        copy = tempfile.mkdtemp(prefix="copy-", dir=self.scratch)
        for entry in os.scandir(source):
            target = os.path.join(copy, entry.name)
            if entry.name.endswith(".sst"):
                os.link(entry.path, target)
            elif entry.is_file():
                shutil.copyfile(entry.path, target)
        return copy


class Progress:
    """A line that says what runs now and how long the rest will take."""

    def __init__(self, total, out=sys.stderr):
        self._total, self._out = total, out
        self._start = time.monotonic()
        self._seconds = {}  # duration of each kind of case, once known
        self._live = out.isatty()

    def show(self, done, todo):
        case = todo[0]
        line = f"[{done + 1}/{self._total}] {case.benchmark}: {', '.join(case.systems)}"
        self._write(f"{line}  ({self._left(todo)})")

    def finished(self, case, seconds):
        self._seconds[self._kind(case)] = seconds

    def end(self):
        took = time.monotonic() - self._start
        self._write(f"{self._total} runs in {format_seconds(took)}")
        if self._live:
            self._out.write("\n")

    @staticmethod
    def _kind(case):
        return case.benchmark, case.systems

    def _left(self, todo):
        if not self._seconds:
            return "remaining time not yet known"
        mean = statistics.mean(self._seconds.values())
        left = 0.0
        for case in todo:
            of_benchmark = [s for (b, _), s in self._seconds.items() if b == case.benchmark]
            guess = statistics.mean(of_benchmark) if of_benchmark else mean
            left += self._seconds.get(self._kind(case), guess)
        return f"about {format_seconds(left)} left"

    def _write(self, text):
        self._out.write(f"\r\033[K{text}" if self._live else f"{text}\n")
        self._out.flush()


def format_seconds(seconds):
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def names(package):
    """The modules in a folder beside run.py: one per benchmark, or one per demo."""
    found = pkgutil.iter_modules([os.path.join(BENCH, package)])
    return sorted(module.name for module in found)


def load(package, name):
    return importlib.import_module(f"{package}.{name}")


def run_rounds(benchmark, args, context):
    """Every round runs every case once, so that a slow minute of the machine hits all systems."""
    results = Results()
    todo = [
        (number, case)
        for number in range(args.rounds)
        for case in benchmark.cases(args)
        if case.rounds is None or number < case.rounds
    ]
    progress = Progress(len(todo))
    for done, (number, case) in enumerate(todo):
        progress.show(done, [case for _, case in todo[done:]])
        start = time.monotonic()
        results.add(case.benchmark, case.run(context, number))
        progress.finished(case, time.monotonic() - start)
    progress.end()
    return results


def stop_on_signals():
    """A kill ends like Ctrl-C: through the clean-up."""

    def stop(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, stop)
