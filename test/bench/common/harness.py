"""The common part of all benchmarks: runs the cases in turn, keeps the samples, cleans up.

A benchmark is a module benchmarks/<name>.py with

    BENCHMARK = Benchmark(...)

that says which cases there are (a workload and the systems to compare), how a case is run, which
figures are shown and which gates they must pass. Everything else is here and in report.py.
"""

import dataclasses
import importlib
import itertools
import os
import pkgutil
import shlex
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

from common import child, drivers, grounds, machine
from common.results import Results, Run

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
    # run(context, round) -> {system: {metric: value}}; a value may be a list, of one for each
    # slice, or a series over the time: {"name": [...]}
    run: Callable
    # Takes part in the first rounds only; None: in all.
    rounds: int | None = None
    # Cases of one system that stay together, for they use one database.
    turn: str = ""


@dataclasses.dataclass(frozen=True)
class Benchmark:
    title: str
    ground: str  # one line: what the figures stand on whatever the machine has; see grounds.py
    baseline: str  # the system to which ratios are taken
    metrics: tuple
    panels: tuple
    # add_arguments(parser): options of this benchmark
    add_arguments: Callable
    # cases(args) -> [Case], in the order of the first round
    cases: Callable
    # gates(results) -> [Gate]
    gates: Callable
    # The same for a quick run: of what holds at its size, on a noisy machine.
    quick_gates: Callable
    # It judges counts alone, which do not depend on the build: it may be published of any.
    counts_only: bool = False
    # Modules of demos/ whose slices are a part of a quick run.
    things: tuple = ()


class Context:
    """What a case may use: the programs, and a folder that is removed at the end."""

    def __init__(self, bin_dir, data_dir, emulate=False, peers=None):
        self.bin_dir = bin_dir
        self._peers = peers or {}
        self._emulate = emulate
        self.scratch = tempfile.mkdtemp(prefix="rocktier-bench-", dir=data_dir)
        self._child = None
        self._drivers = []
        self._shared = {}
        self._resources = {}  # name -> (value, undo)
        self._commands = []
        self.grounds = grounds.Grounds(self.scratch)

    def close(self):
        for driver in self._drivers:
            driver.kill()
        if self._child is not None:
            self._child.kill()
        for _, undo in reversed(list(self._resources.values())):
            undo()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def inner(self):
        """Another one within it, with folders and devices of its own; the caller closes it."""
        return Context(self.bin_dir, self.scratch, self._emulate, self._peers)

    def no_throttle(self, in_memory=False):
        """Why there is no device that the kernel throttles; empty if there can be one."""
        return grounds.missing(in_memory, self._emulate)

    def path(self, *names):
        return os.path.join(self.scratch, *names)

    def program(self, name):
        return os.path.join(self.bin_dir, name)

    def peer(self, name):
        """The program of another system; see peers.py."""
        return self._peers[name]

    def child(self, argv):
        """Runs a program to its end; returns what it printed. A failure raises, with its stderr."""
        return self.measured_child(argv)[0]

    def measured_child(self, argv):
        """(what it printed, child.Usage)."""
        self.note_command(argv)
        self._child = child.Child(argv, self.scratch)
        result = self._child.wait()
        self._child = None
        return result

    def note_command(self, argv):
        """For the results file."""
        words = [os.path.basename(argv[0]), *argv[1:]]
        self._commands.append(self.without_folders(shlex.join(words)))

    def take_commands(self):
        """Those since the last call."""
        taken, self._commands = tuple(self._commands), []
        return taken

    def driver(self, argv, environment=None):
        """Starts a program that runs slices; it is ended at the end."""
        errors = self.path(f"driver-{len(self._drivers)}.errors")
        self._drivers.append(drivers.Driver(argv, errors, environment))
        return self._drivers[-1]

    def without_folders(self, text):
        """A text that does not tell where its folder, the programs and the scripts are."""
        for folder in (self.bin_dir, BENCH):
            text = text.replace(os.path.join(folder, ""), "")
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

    def show(self, todo):
        case, number = todo[0], self._total - len(todo) + 1
        line = f"[{number}/{self._total}] {case.benchmark}: {', '.join(case.systems)}"
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
    made = Results()
    todo = [[case for case in rotated(benchmark.cases(args), number)
             if case.rounds is None or number < case.rounds]
            for number in range(args.rounds)]
    progress = Progress(sum(map(len, todo)))
    left = [case for cases in todo for case in cases]
    for number, cases in enumerate(todo):
        before = machine.load_average()
        for case in cases:
            progress.show(left)
            run_case(case, number, context, made)
            progress.finished(left.pop(0), made.runs[-1].seconds)
        made.load_averages.append((before, machine.load_average()))
    progress.end()
    return made


def run_case(case, number, context, made):
    began, start, load = machine.now(), time.monotonic(), machine.load_average()
    figures = case.run(context, number)
    made.add(case.benchmark, figures, number)
    made.runs.append(Run(case.benchmark, number, began, time.monotonic() - start,
                         (load, machine.load_average()), context.take_commands(), figures))


def rotated(cases, number):
    """The cases of a round: each time the next system is the first one of its workload.

    Cases with the same `turn` are one workload; what a system has of it stays together.
    """
    result = []
    for _, of_workload in itertools.groupby(cases, key=lambda case: case.turn or case.benchmark):
        turns = [list(turn) for _, turn in itertools.groupby(of_workload, lambda one: one.systems)]
        first = number % len(turns)
        result += itertools.chain(*turns[first:], *turns[:first])
    return result


def stop_on_signals():
    """A kill ends like Ctrl-C: through the clean-up, which another one does not cut off."""
    ends = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def stop(*_):
        for end in ends:
            signal.signal(end, signal.SIG_IGN)
        raise KeyboardInterrupt

    for end in ends:
        signal.signal(end, stop)
