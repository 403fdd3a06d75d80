"""Slices of the demo's things as a part of a quick run.

Of times nothing else is judged there: two systems take turns, so that a busy machine hits both.
"""

import dataclasses
import functools
import time

from common import demo, drivers, harness

ROUNDS = 8
SECONDS = 120  # until the databases are filled


def name_of(thing):
    return f"slices: {harness.load('demos', thing).THING}"


def with_slices(benchmark):
    known = {metric.name for metric in benchmark.metrics}
    metrics = {measure.name: harness.Metric(measure.name, measure.name, measure.name,
                                            measure.format, show_ratio=True)
               for thing in benchmark.things
               for measure in harness.load("demos", thing).MEASURES if measure.name not in known}
    systems = (demo.STOCK, demo.OURS)
    slices = [harness.Case(name_of(thing), systems, functools.partial(run, thing), rounds=1)
              for thing in benchmark.things]
    return dataclasses.replace(benchmark, metrics=(*benchmark.metrics, *metrics.values()),
                               cases=lambda args: [*benchmark.cases(args), *slices])


def run(thing, context, _number):
    """A list of a value for each slice, by measure; nothing of what this machine cannot show."""
    inner = context.inner()
    try:
        module = harness.load("demos", thing)
        demo.require(context.bin_dir, module)
        part = module.part(demo.Setup(inner, quick=False))
        for system in part.systems:
            context.note_command(system.argv)
        rounds = demo.measure(inner, part, False, time.monotonic() + SECONDS,
                              lambda rounds: len(rounds) >= ROUNDS)
        context.grounds.note(name_of(thing), part.ground)
        context.grounds.note_all(name_of(thing), inner.grounds)
        return {system.name: figures_of(part, rounds, system.name) for system in part.systems}
    except drivers.NotShown as reason:
        print(f"{module.THING} cannot be shown here: {context.without_folders(str(reason))}")
        return {}
    except drivers.Failed as error:
        raise RuntimeError(f"{module.THING}: {error}") from None
    finally:
        inner.close()


def figures_of(part, rounds, system):
    slices = [one[system] for one in rounds]
    return {**{measure.name: [measure.of(one) for one in slices] for measure in part.measures},
            "slices": {"figures": slices}}


def gate(judge, thing, measure, target, at_least=False):
    """Of the plugin to stock."""
    return judge.ratio(f"{name_of(thing)}: {measure}, plugin / stock", name_of(thing), measure,
                       demo.OURS, (demo.STOCK,), target, at_least)
