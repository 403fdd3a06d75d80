"""Gates: a figure that must not be above (or, with at_least, below) a target.

A gate of safety goes by its worst sample, of all rounds. Any other one goes by the interval of its
figure over the rounds: it is met if all of that is on the right side of the target, missed if all
is on the wrong one, else undecided.
"""

import dataclasses
import math
import statistics

from common import pairs
from common.results import share

MET, MISSED, UNDECIDED = "met", "missed", "undecided"
NOT_MEASURED, NOT_JUDGED = "not measured", "not judged at this size"
WORST, INTERVAL = "worst", "interval"
# With fewer an interval says nothing. Of three it goes from the least one to the largest.
FEWEST_ROUNDS = 3
MOST_ROUNDS = 100  # beyond which nobody is told to go


@dataclasses.dataclass(frozen=True)
class Gate:
    name: str
    samples: tuple  # of the figure, one for each round; empty: not measured in this run
    target: float
    at_least: bool = False
    by: str = INTERVAL
    is_judged: bool = True

    @property
    def value(self):
        if not self.samples:
            return None
        if self.by == WORST:
            return (min if self.at_least else max)(self.samples)
        return statistics.median(self.samples)

    @property
    def interval(self):
        """(low, high); None of one sample, and where no bound is known."""
        if len(self.samples) < 2 or not all(map(math.isfinite, self.samples)):
            return None
        return pairs.interval(self.samples)

    @property
    def verdict(self):
        if not self.samples:
            return NOT_MEASURED
        if not self.is_judged:
            return NOT_JUDGED
        if self.by == WORST:
            return MET if self._is_right(self.value) else MISSED
        if len(self.samples) < FEWEST_ROUNDS:
            return UNDECIDED
        ends = {self._is_right(value) for value in self.interval or self.samples}
        return UNDECIDED if len(ends) > 1 else MET if ends.pop() else MISSED

    @property
    def more_rounds(self):
        """How many more decide, as far as can be told; None: nobody knows.

        An interval's width falls with the root of the rounds.
        """
        have = len(self.samples)
        if have < FEWEST_ROUNDS:
            return FEWEST_ROUNDS - have
        distance = abs(self.value - self.target)
        if not distance or not self.interval:
            return None
        width = max(abs(end - self.value) for end in self.interval)
        more = max(1, math.ceil(have * (width / distance) ** 2) - have)
        return more if more <= MOST_ROUNDS else None

    def verdict_text(self):
        if self.verdict != UNDECIDED:
            return self.verdict
        more = self.more_rounds
        if more is None:
            return f"{UNDECIDED}: more than {MOST_ROUNDS} more rounds"
        return f"{UNDECIDED}: {more} more round{'s' if more > 1 else ''}"

    @property
    def relation(self):
        return ">=" if self.at_least else "<="

    def _is_right(self, value):
        return value >= self.target if self.at_least else value <= self.target

    def described(self):
        """For the results file."""
        return {
            "name": self.name, "relation": self.relation, "target": self.target, "by": self.by,
            "value": finite(self.value), "interval": self.interval,
            "samples": list(map(finite, self.samples)), "verdict": self.verdict_text(),
        }


def finite(value):
    return value if value is None or math.isfinite(value) else str(value)


class Judge:
    """Makes gates of results."""

    def __init__(self, results):
        self._results = results

    def ratio(self, name, benchmark, metric, system, others, target, at_least=False, by=INTERVAL):
        """Against the best one of others; its rounds' own ratios."""
        other = self._results.best(benchmark, metric, others, at_least)
        ratios = self._results.ratios(benchmark, metric, system, other) if other else ()
        return Gate(name, tuple(ratios), target, at_least, by)

    def difference(self, name, benchmark, metric, system, other, target, at_least=False, scale=1):
        values, bases = (self._results.by_round(benchmark, one, metric) for one in (system, other))
        samples = [(values[number] - bases[number]) * scale for number in values if number in bases]
        return Gate(name, tuple(samples), target, at_least)

    def after(self, name, later, before, system, target, at_least=False):
        """A figure by one of another workload; `later`, `before`: (workload, metric)."""
        values, bases = (self._results.by_round(benchmark, system, metric)
                         for benchmark, metric in (later, before))
        samples = [share(values[number], bases[number]) for number in values if number in bases]
        return Gate(name, tuple(samples), target, at_least)

    def figure(self, name, benchmark, metric, system, target, at_least=False):
        samples = self._results.samples(benchmark, system, metric)
        return Gate(name, tuple(samples), target, at_least)

    def worst(self, name, benchmarks, metric, system, target, at_least=False):
        """Of all rounds, and of all these workloads."""
        samples = [value for benchmark in benchmarks
                   for value in self._results.samples(benchmark, system, metric)]
        return Gate(name, tuple(samples), target, at_least, WORST)


def not_judged(gates):
    return [dataclasses.replace(gate, is_judged=False) for gate in gates]


def lines(gates):
    """Those that were not measured are counted; the results file has all."""
    measured = [gate for gate in gates if gate.samples]
    for gate in measured:
        text = f"{gate.verdict_text()}: {gate.name}: {shown(gate)}"
        yield f"{text} (target {gate.relation} {gate.target:g})"
    if len(measured) < len(gates):
        yield f"{NOT_MEASURED}: {len(gates) - len(measured)} gates"


def shown(gate):
    if gate.value is None:
        return "-"
    low_high = "n/a" if gate.interval is None else "{:.3f} to {:.3f}".format(*gate.interval)
    if gate.by == WORST:
        return f"{gate.value:.3f}, the worst of {len(gate.samples)}"
    return f"{gate.value:.3f}, interval {low_high}"


def exit_status(gates, quick):
    """1: one is missed, or none could be judged. 3: one is undecided, in a run of full size."""
    verdicts = {gate.verdict for gate in gates}
    if MISSED in verdicts or not verdicts & {MET, MISSED, UNDECIDED}:
        return 1
    return 3 if UNDECIDED in verdicts and not quick else 0
