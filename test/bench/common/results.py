"""Samples of a benchmark: by workload, system and metric, one for each round.

Systems of a round are neighbours in time, so ratios are taken within a round.
"""

import dataclasses
import math
import statistics


@dataclasses.dataclass(frozen=True)
class Run:
    """One case in one round, as it was: for the results file."""

    benchmark: str
    round: int
    began: str  # a date
    seconds: float
    load_average: tuple  # before and after
    commands: tuple
    figures: dict  # by system, all that the programs told, series too


class Results:
    def __init__(self):
        self._samples = {}  # (benchmark, system) -> {metric: {round: value}}
        self.runs = []
        self.load_averages = []  # (before, after) of each round

    def add(self, benchmark, figures_of_systems, number):
        """A list has one sample for each slice; a series, a dictionary, is in the runs only."""
        for system, figures in figures_of_systems.items():
            of_system = self._samples.setdefault((benchmark, system), {})
            for metric, value in figures.items():
                if isinstance(value, dict):
                    continue
                values = enumerate(value) if isinstance(value, list) else [(number, value)]
                of_system.setdefault(metric, {}).update(
                    (place, one) for place, one in values if one is not None)

    def keys(self):
        return list(self._samples)

    def by_round(self, benchmark, system, metric):
        """{round: value}."""
        return self._samples.get((benchmark, system), {}).get(metric, {})

    def samples(self, benchmark, system, metric):
        return list(self.by_round(benchmark, system, metric).values())

    def median(self, benchmark, system, metric):
        """None if it was not measured."""
        samples = self.samples(benchmark, system, metric)
        return statistics.median(samples) if samples else None

    def spread(self, benchmark, system, metric):
        """(largest - smallest) / median over the rounds; None of one, which has no spread."""
        samples = self.samples(benchmark, system, metric)
        middle = statistics.median(samples)
        return (max(samples) - min(samples)) / middle if len(samples) > 1 and middle else None

    def ratios(self, benchmark, metric, system, baseline):
        """The rounds' own ratios, of the rounds that have both."""
        values, bases = (self.by_round(benchmark, name, metric) for name in (system, baseline))
        return [share(values[number], bases[number]) for number in values if number in bases]

    def ratio(self, benchmark, metric, system, baseline):
        """Median of the rounds' own ratios; None if one was not measured, or the baseline is 0."""
        ratios = self.ratios(benchmark, metric, system, baseline)
        value = statistics.median(ratios) if ratios else None
        return value if value is None or math.isfinite(value) else None

    def best(self, benchmark, metric, systems, more_is_better):
        """The system with the best median; None unless all were measured."""
        medians = {system: self.median(benchmark, system, metric) for system in systems}
        if not medians or None in medians.values():
            return None
        return (max if more_is_better else min)(medians, key=medians.get)


def share(value, base):
    """0 of 0 is nothing; anything else of 0 has no bound."""
    return value / base if base else 0.0 if value == 0 else math.inf
