"""What slices of two systems, taken in turn, say of the one against the other.

A round has one slice of each system. Slices of a round are neighbours in time, so what disturbs the
machine for a while disturbs both. The ratio of two systems is the median of the rounds' own ratios,
and its interval is found by bootstrap over the rounds. Plain Python.
"""

import dataclasses
import random
import statistics

LEVEL = 0.99  # of the interval
RESAMPLES = 2000
SEED = 42
# With fewer rounds nothing is claimed: five of five are alike by chance once in 16 times.
FEWEST_ROUNDS = 6
# Of so few more than one resample in twenty has the least one, or the largest, as its median.
FEW = 5

BETTER, WORSE, UNDECIDED = "better", "worse", "undecided"


@dataclasses.dataclass(frozen=True)
class Measure:
    """One figure of a slice by another one, for example operations by seconds."""

    name: str  # for example "reads/s"
    over: str  # key in the figures of a slice
    per: str
    more_is_better: bool
    format: str = "{:,.0f}"
    scale: float = 1

    def of(self, figures):
        """None if there is nothing to divide by."""
        per = figures[self.per]
        return figures[self.over] / per * self.scale if per else None

    def shown(self, value):
        return "-" if value is None else self.format.format(value)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A system against the baseline, by one measure. None: it could not be told."""

    measure: Measure
    value: float | None  # medians of the slices
    base: float | None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0

    @property
    def verdict(self):
        if self.ratio is None or self.rounds < FEWEST_ROUNDS or self.low <= 1 <= self.high:
            return UNDECIDED
        return BETTER if (self.low > 1) == self.measure.more_is_better else WORSE


def order(number, systems):
    """The systems in the order of a round: A B, B A, A B, ... so that A B B A A B."""
    return list(systems) if number % 2 == 0 else list(reversed(systems))


def compare(rounds, measure, system, baseline):
    """`rounds`: a dictionary of figures by system for each round."""
    values = [(measure.of(one[system]), measure.of(one[baseline])) for one in rounds]
    value, base = (median([pair[i] for pair in values if pair[i] is not None]) for i in (0, 1))
    ratios = [mine / other for mine, other in values if mine is not None and other]
    if not ratios or len(ratios) < len(rounds):
        return Comparison(measure, value, base, rounds=len(rounds))
    low, high = interval(ratios)
    return Comparison(measure, value, base, statistics.median(ratios), low, high, len(rounds))


def median(values):
    return statistics.median(values) if values else None


def level_of(rounds):
    """Of an interval of so many: of few it is from the least to the largest."""
    return 1 - 2 * 0.5 ** rounds if 1 < rounds <= FEW else LEVEL


def interval(ratios, level=LEVEL, resamples=RESAMPLES, seed=SEED):
    """(low, high) of the median: the percentiles of medians of resampled ratios."""
    if len(ratios) <= FEW and level >= 0.95:
        return min(ratios), max(ratios)
    rng = random.Random(seed)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios)))
                     for _ in range(resamples))
    rest = (1 - level) / 2
    return medians[int(rest * resamples)], medians[resamples - 1 - int(rest * resamples)]
