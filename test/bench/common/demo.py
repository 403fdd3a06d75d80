"""The demo: each thing that the plugins are for, in turn with stock RocksDB.

A thing is a module demos/<name>.py. Its part() makes two databases, or more, that stand side by
side: stock first, the plugin's last, between them other settings of stock RocksDB. The demo fills
them, lets their drivers run slices in turn (drivers.py), and compares (pairs.py). In the end there
are a table, results/demo.json with every slice, and a page, results/demo.html.
"""

import dataclasses
import json
import os
import shlex
import sys
import textwrap
import time
from collections.abc import Callable

import demos
from common import demo_page, drivers, harness, machine, pairs
from common.bar import Bar
from tier import pmem_systems, volatile_systems

STOCK, OURS = "stock", "plugin"
MOST_ROUNDS = 12
FEWEST_ROUNDS = 2  # whatever time they take; nothing is claimed then
QUICK_ROUNDS = pairs.FEWEST_ROUNDS
SHOWN, NOT_SHOWN, FAILED = "shown", "not shown", "failed"
BUSY = 0.75  # load average for each CPU, from which on a machine is told to be busy


@dataclasses.dataclass(frozen=True)
class System:
    name: str  # STOCK, OURS, or another one of stock RocksDB
    label: str
    argv: tuple
    environment: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Part:
    ground: str  # what it stands on, in a few words: a column of the table
    about: str  # data and settings
    systems: tuple
    measures: tuple  # pairs.Measure; the first one leads
    # A clause with {plugin} and {stock}, the values of the first measure. The verdict follows.
    effect: str
    slice_seconds: float
    quick_slice_seconds: float = 0.1
    warm_rounds: int = 1  # that are not counted
    # Called when all databases are filled, before the first round.
    loaded: Callable = lambda: None


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a thing may use."""

    context: harness.Context
    quick: bool

    def no_throttle(self, in_memory=False):
        """Why there is no device that the kernel throttles; empty if there can be one."""
        return self.context.no_throttle(in_memory)

    def emulated_device(self, name):
        """A folder, in memory if there is a tmpfs: a wait of the driver's makes it slow."""
        parent = self.context.path()
        if not volatile_systems.no_memory():
            parent = self.context.resource("tmpfs", pmem_systems.memory_folder)
        folder = os.path.join(parent, f"on-{name}")
        os.makedirs(folder)
        return folder


@dataclasses.dataclass
class Result:
    name: str
    thing: str
    plugin: str
    status: str = FAILED
    reason: str = ""  # of what is not shown, or failed
    part: Part | None = None
    commands: dict = dataclasses.field(default_factory=dict)  # by system
    rounds: list = dataclasses.field(default_factory=list)
    seconds: float = 0
    load_average: float = 0

    def comparisons(self, system=OURS):
        if self.status != SHOWN:
            return []
        return [pairs.compare(self.rounds, measure, system, STOCK)
                for measure in self.part.measures]

    def others(self):
        return [system for system in self.part.systems if system.name not in (STOCK, OURS)]

    def sentence(self):
        if self.status != SHOWN:
            return f"{self.status.capitalize()}: {self.reason}"
        first, *more = self.comparisons()
        text = self.part.effect.format(plugin=first.measure.shown(first.value),
                                       stock=first.measure.shown(first.base))
        text += verdict(first)
        text += "".join(f"; {one.measure.name}: {ratio(one)}" for one in more)
        for system in self.others():
            one = self.comparisons(system.name)[0]
            text += f"; {system.label}: {one.measure.shown(one.value)}"
        return f"{text}."


def verdict(one):
    if one.ratio is None:
        return ": it cannot be told"
    if one.verdict == pairs.UNDECIDED:
        return f": undecided ({span(one)})"
    worse = " (worse)" if one.verdict == pairs.WORSE else ""
    return f": {one.ratio:.2f} times{worse}"


def ratio(one):
    if one.verdict == pairs.UNDECIDED:
        return pairs.UNDECIDED
    worse = " (worse)" if one.verdict == pairs.WORSE else ""
    return f"{one.ratio:.2f}x{worse}"


def span(one):
    if one.ratio is None:
        return "-"
    few = "" if one.rounds >= pairs.FEWEST_ROUNDS else f", {one.rounds} rounds"
    return f"{one.low:.2f} to {one.high:.2f}{few}"


def table(results):
    """Lines: one for each thing, and below it one for each measure."""
    rows = [("thing", "plugin", "stock", "ratio", "interval", "ground")]
    for result in results:
        is_shown = result.status == SHOWN
        rows.append((f"{result.thing} ({result.plugin})", "", "", "", "",
                     result.part.ground if is_shown else result.status))
        rows += [(f"  {one.measure.name}", one.measure.shown(one.value),
                  one.measure.shown(one.base), ratio(one), span(one), "")
                 for one in result.comparisons()]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    left = (0, len(widths) - 1)
    lines = ["  ".join(cell.ljust(width) if i in left else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
             for row in rows]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:]]


def measure(context, part, quick, deadline, enough, step=lambda text, is_line=True: None):
    """The rounds of slices."""
    made = {system.name: context.driver(system.argv, system.environment)
            for system in part.systems}
    for driver in made.values():
        driver.wait_until_ready(max(1, deadline - time.monotonic()))
    part.loaded()
    seconds = part.quick_slice_seconds if quick else part.slice_seconds

    def ask(system, slice_seconds):
        return made[system].ask(slice_seconds)

    step("warms up")
    warm_until = (time.monotonic() + deadline) / 2
    drivers.take_turns(ask, made, seconds, lambda rounds: len(rounds) >= part.warm_rounds or
                       rounds and time.monotonic() > warm_until)
    rounds = drivers.take_turns(ask, made, seconds, enough,
                                lambda number: step(f"round {number + 1}", is_line=number == 0))
    for driver in made.values():
        driver.end()
    return rounds


class Demo:
    def __init__(self, args, seconds=None, module=lambda name: harness.load("demos", name)):
        self._args = args
        self._seconds = seconds or demos.SECONDS
        self._module = module
        self._bar = Bar(sum(self._seconds.values()))

    def run(self):
        """All results."""
        start, allowed, results = time.monotonic(), 0, []
        try:
            for number, (name, seconds) in enumerate(self._seconds.items()):
                allowed += seconds
                thing = self._module(name)
                self._bar.begin(f"{number + 1}/{len(self._seconds)} {thing.THING}")
                results.append(self._run_one(name, thing, seconds, start + allowed))
        finally:
            self._bar.end()
        return results

    def _run_one(self, name, thing, seconds, deadline):
        """What fails or cannot be shown does not keep the rest from being shown."""
        result = Result(name, thing.THING, thing.PLUGIN)
        begin, result.load_average = time.monotonic(), machine.load_average()
        context = harness.Context(self._args.bin, self._args.data_dir, self._args.emulate)
        try:
            require(self._args.bin, thing)
            self._bar.step("fills")
            deadline = max(deadline, time.monotonic() + seconds)
            result.part = thing.part(Setup(context, self._args.quick))
            result.commands = {system.name: context.without_folders(command(system))
                               for system in result.part.systems}
            result.rounds = measure(
                context, result.part, self._args.quick, deadline,
                lambda rounds: self._enough(rounds, deadline), self._bar.step)
            result.status = SHOWN
        except drivers.NotShown as reason:
            result.status, result.reason = NOT_SHOWN, context.without_folders(str(reason))
        except drivers.Failed as error:
            result.reason = context.without_folders(str(error))
        except Exception as error:  # whatever it is, it is told, and the exit status says so
            result.reason = context.without_folders(f"{type(error).__name__}: {error}")
        finally:
            context.close()
        result.seconds = time.monotonic() - begin
        return result

    def _enough(self, rounds, deadline):
        if self._args.quick:
            return len(rounds) >= QUICK_ROUNDS
        if len(rounds) < FEWEST_ROUNDS:
            return False
        last = [time_of for figures in rounds[-1].values()
                for time_of in (figures["begin"], figures["end"])]
        next_end = time.monotonic() + max(last) - min(last)
        return len(rounds) >= MOST_ROUNDS or next_end > deadline


def require(bin_dir, thing):
    missing = [name for name in thing.PROGRAMS
               if not os.path.exists(os.path.join(bin_dir, name))]
    if not missing and thing.PLUGIN not in machine.rocktier_version(bin_dir):
        missing = [thing.PLUGIN]
    if missing:
        raise drivers.NotShown(f"not built: {', '.join(missing)}")


def notes(document):
    """What to know of the table, one line each."""
    yield (f"interval: {document['level']:.0%}, by bootstrap over the rounds; ratio: median of the "
           "rounds' own; undecided: 1 is in the interval, or there are too few rounds")
    load, cores = document["load_average"], document["machine"]["cores"]
    if load[0] > BUSY * cores:
        yield (f"this machine was busy: a load of {load[0]:.1f} on {cores} CPUs at the beginning; "
               "counts (reads, bytes, space) hardly depend on that, rates do")
    if document["quick"]:
        yield "a quick run: a check that it works, its figures say nothing"


def document_of(args, results, begin_load):
    return {
        "name": "demo",
        "date": machine.now(),
        "commit": machine.commit(harness.BENCH),
        **machine.describe(args.bin, args.data_dir),
        "load_average": [begin_load, machine.load_average()],
        "quick": args.quick,
        "level": pairs.LEVEL,
        "seconds": sum(result.seconds for result in results),
        "things": [described(result) for result in results],
    }


def described(result):
    about = {
        "name": result.name, "thing": result.thing, "plugin": result.plugin,
        "status": result.status, "reason": result.reason, "seconds": result.seconds,
        "load_average": result.load_average, "sentence": result.sentence(),
    }
    if result.status != SHOWN:
        return about
    return {
        **about,
        "ground": result.part.ground,
        "about": result.part.about,
        "systems": [{"name": system.name, "label": system.label,
                     "command": result.commands[system.name]}
                    for system in result.part.systems],
        "measures": [dataclasses.asdict(measure) for measure in result.part.measures],
        "comparisons": {
            system.name: [{"measure": one.measure.name, "value": one.value, "ratio": one.ratio,
                           "low": one.low, "high": one.high, "verdict": one.verdict}
                          for one in result.comparisons(system.name)]
            for system in result.part.systems if system.name != STOCK
        },
        "rounds": result.rounds,
    }


def command(system):
    settings = [f"{name}={value}" for name, value in system.environment.items()]
    return shlex.join([*settings, os.path.basename(system.argv[0]), *system.argv[1:]])


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".tmp", path)


def report(args, results, begin_load):
    document = document_of(args, results, begin_load)
    print("\n".join(table(results)))
    for note in notes(document):
        print(textwrap.fill(note, 100, subsequent_indent="  "))
    print()
    for result in results:
        print(textwrap.fill(f"{result.thing}: {result.sentence()}", 100, subsequent_indent="  "))
    paths = [os.path.join(args.results, name) for name in ("demo.json", "demo.html")]
    write(paths[0], json.dumps(document, indent=1) + "\n")
    write(paths[1], demo_page.page(document, results, list(notes(document))))
    print(f"\nWritten to {' and '.join(os.path.relpath(path) for path in paths)}")


def run(args):
    begin_load = machine.load_average()
    print("RocksDB with each plugin in turn with stock RocksDB, in slices of some seconds.",
          file=sys.stderr, flush=True)
    results = Demo(args).run()
    report(args, results, begin_load)
    return exit_status(results)


def exit_status(results):
    """1 if something went wrong; what this machine cannot show is not wrong."""
    return 1 if any(result.status == FAILED for result in results) else 0
