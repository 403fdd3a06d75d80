"""blob_hybrid's job over the model of a tree.

Functions and constants are those of space.cc, victims.cc, gc_progress.cc, gc_picker.cc and
gc_job.cc in plugin/blob_hybrid, which say what they are for. In the place of a sample of keys there
is what it would tell on average, with the margin that the plugin takes for it.
"""

import collections
import dataclasses
import math

from blob import lsm_model

SOFT, WAIT = (0.82, 0.7), (0.88, 0.8)  # the second ones with a log
ROOMY, SOFT_LOG, MUCH_HIDDEN = 0.5, 0.8, 0.05
LEAST_GARBAGE, LEAST_LOG = 0.1, 0.125
LEAST_SAMPLED, SAMPLED = 400, 32
LEAST_VICTIMS, MOST_VICTIMS, PEAK = 0.15, 0.75, 1.03
JOB, UNCOVERED, ABOUT_AS_MUCH = 16 << 10, 0.5, 0.5
MOST_JOBS, BATCH, MOST_BATCH = 16, 1 / 32, 64 << 20
PAGE = 4096
BUDGET = 0.5  # transient_log_budget


@dataclasses.dataclass(frozen=True)
class Options:
    bound: float
    floor: int
    medium: int  # size of a value; 0: there is no medium class


@dataclasses.dataclass(frozen=True)
class Space:
    disk: int
    hidden: float
    hidden_sst: float
    live: float
    known: int  # SSTs, and values that they refer to
    amplification: float
    log_share: float
    has_log: bool


def share(part, of):
    return min(1.0, part / of) if of else 0.0


def upper_entries(tree):
    return sum(len(sst.entries) for level in tree.levels[:max(tree.last_level, 1)]
               for sst in level)


def shares_of(tree):
    """Hidden ones of values and of SSTs, and the user's of both."""
    count = tree.all.blobs + tree.all.inline
    most = share(upper_entries(tree), count)
    keys = (count - tree.hidden.blobs - tree.hidden.inline) // SAMPLED
    if keys < LEAST_SAMPLED:
        return most, most, 1 - most, 1 - most
    margin, referring = 1 / math.sqrt(keys), lsm_model.KEY + lsm_model.REFERENCE
    live = tree.all.blobs - tree.hidden.blobs
    user = tree.all.blob_bytes - tree.hidden.blob_bytes - lsm_model.HEADER * live
    ssts = tree.all.inline_bytes + tree.all.blobs * referring
    hidden = tree.hidden.inline_bytes + tree.hidden.blobs * referring
    return (min(most, share(tree.hidden.blob_bytes, tree.all.blob_bytes) + margin),
            min(most, share(hidden, ssts) + margin),
            share(user, tree.all.blob_bytes) * (1 - margin),
            share(tree.all.inline_bytes - tree.hidden.inline_bytes, ssts) * (1 - margin))


def estimate(tree, options):
    hidden_values, hidden_ssts, user_values, user_ssts = shares_of(tree)
    referred = tree.value_bytes - tree.garbage_bytes
    hidden, hidden_sst = referred * hidden_values, tree.sst_bytes * hidden_ssts
    user = referred * user_values + tree.sst_user_bytes * user_ssts
    base = max(user, options.floor, 1)
    known = referred + tree.sst_bytes
    return Space(tree.disk_bytes, hidden, hidden_sst, known - hidden - hidden_sst, known,
                 tree.disk_bytes / base, tree.medium_bytes / base,
                 tree.medium_bytes > tree.value_bytes * LEAST_LOG)


@dataclasses.dataclass(frozen=True)
class Needs:
    space: bool = False
    log: bool = False
    above: bool = False


def part_of_way(bound, shares, has_log):
    return 1 + (bound - 1) * shares[has_log]


def needs_of(space, options):
    needs = Needs()
    if space.amplification > part_of_way(options.bound, SOFT, space.has_log):
        garbage = space.disk - min(space.disk, space.live) > space.live * LEAST_GARBAGE
        wait = part_of_way(options.bound, WAIT, space.has_log)
        needs = Needs(garbage, space.has_log,
                      (garbage or space.has_log) and space.amplification > wait)
    if options.medium:
        needs = Needs(needs.space, needs.log or space.log_share > BUDGET * SOFT_LOG,
                      needs.above or space.log_share > BUDGET)
    return needs


def is_crowded(space, bound, crowded):
    if space.amplification < 1 + (bound - 1) * ROOMY:
        return False
    hidden = space.known - min(space.known, space.live)
    return crowded or (space.amplification > part_of_way(bound, SOFT, space.has_log) and
                       hidden > space.known * MUCH_HIDDEN)


def room_for(tree, space, bound):
    """(share, twice)"""
    root = math.sqrt(tree.sst_bytes / tree.value_bytes) if tree.value_bytes else 0
    twice = space.disk * abs(bound * PEAK / space.amplification - 1) if space.amplification else 0
    return min(max(root, LEAST_VICTIMS), MOST_VICTIMS), twice


def pick_victims(blobs, ratio, bound, room, collected, may_collect):
    victims, candidates, live, moving, twice = set(), [], 0, 0, 0
    for blob in blobs:
        live += blob.live
        if blob.number in collected:
            victims.add(blob.number)
            if not collected[blob.number]:
                moving += blob.bytes
                twice += blob.live
        elif blob.garbage > ratio * blob.bytes and may_collect(blob):
            candidates.append(blob)
    candidates.sort(key=lambda blob: (-blob.garbage / blob.bytes, blob.number))
    most = live * (bound - 1) * room[0]
    for blob in candidates:
        first = moving == 0
        moving += blob.bytes
        twice += blob.live
        if not first and (moving > most or twice > room[1]):
            break
        victims.add(blob.number)
    return frozenset(victims)


@dataclasses.dataclass
class Score:
    gain: float
    cost: float


class Picker:
    """The jobs that gain most for their cost."""

    def __init__(self, tree, space, since):
        self._tree, self._last = tree, tree.last_level
        self._victims = self._garbage_by_byte(since)
        self._scores = {sst.number: self._score(sst) for level in tree.levels[1:]
                        for sst in level}
        self._by_entry = UNCOVERED * space.hidden / max(upper_entries(tree), 1)
        self._busy = set()

    def best(self, most):
        """[(inputs, output level)]"""
        candidates = []
        for level in self._tree.levels[1:]:
            for sst in level:
                job = self._job(sst)
                if job.gain > 0:
                    candidates.append((job.gain / job.cost, job.cost, sst))
        candidates.sort(key=lambda one: -one[0])
        plans, spent = [], 0
        for worth, cost, sst in candidates:
            spent += cost
            if len(plans) == MOST_JOBS or (plans and spent > most):
                break
            if not self._busy & {sst.number, *(one.number for one in self._over(sst))}:
                plans.append(self._take(sst, worth, most / MOST_JOBS))
        return plans

    def _garbage_by_byte(self, since):
        """{victim: (since, garbage for each byte that is moved)}"""
        result = {}
        for number, newest in since.items():
            if number in self._tree.blobs:
                moving = sum(sst.references.get(number, 0) for sst in self._tree.ssts()
                             if sst.level == 0 or sst.number <= newest)
                garbage = self._tree.blobs[number].garbage
                result[number] = (newest, garbage / max(moving, PAGE))
        return result

    def _score(self, sst):
        score = Score(0, 2 * sst.bytes)
        for number in self._victims.keys() & sst.references.keys():
            newest, by_byte = self._victims[number]
            if sst.number <= newest:
                score.gain += sst.references[number] * by_byte
                score.cost += 2 * sst.references[number]
        return score

    def _output_level(self, sst):
        return next((n for n in range(sst.level + 1, self._last + 1) if self._tree.levels[n]),
                    sst.level)

    def _over(self, sst):
        """Those that it overlaps with in the output level."""
        if sst.level == self._last:
            return []
        return self._tree.overlapping(self._output_level(sst), sst.smallest, sst.largest)

    def _job(self, sst):
        scores = [self._scores[one.number] for one in (sst, *self._over(sst))]
        job = Score(sum(one.gain for one in scores), sum(one.cost for one in scores) + JOB)
        if sst.level < self._last and self._output_level(sst) == self._last:
            job.gain += self._by_entry * len(sst.entries)
        return job

    def _take(self, sst, worth, most):
        self._busy |= {sst.number, *(one.number for one in self._over(sst))}
        inputs = [sst]
        if sst.level == self._last:
            level, cost = self._tree.levels[sst.level], self._scores[sst.number].cost + JOB
            for other in level[level.index(sst) + 1:]:
                score = self._scores[other.number]
                cost += score.cost
                if (other.number in self._busy or cost > most or
                        score.gain < score.cost * worth * ABOUT_AS_MUCH):
                    break
                self._busy.add(other.number)
                inputs.append(other)
        return inputs, self._output_level(sst)


def bottom(tree):
    return max(tree.last_level, tree.shape()[0])


def push(tree):
    """The SST with most entries of the deepest level above the last one; level 0 as a whole."""
    upper = [sst for sst in tree.ssts() if sst.level < tree.last_level or sst.level == 0]
    if not upper:
        return []
    best = max(upper, key=lambda sst: (sst.level, len(sst.entries)))
    return [(tree.levels[0] if best.level == 0 else [best], bottom(tree))]


def pick_merge(tree, merged):
    """What has the oldest references to the log. `merged`: what merges have made."""
    to = max(1, tree.last_level)
    ssts = [sst for sst in tree.ssts()
            if sst.medium_bytes and (sst.level < to or sst.number not in merged)]
    if not ssts:
        return []
    best = min(ssts, key=lambda sst: (sst.level == 0, min(sst.references), -sst.medium_bytes))
    if best.level >= to:
        return [([best], best.level)]
    return [(tree.levels[0] if best.level == 0 else [best],
             to if tree.levels[to] else bottom(tree))]


class Job:
    """`policy` says which blob files may be collected."""

    def __init__(self, tree, options, policy):
        self.crowded = False
        self.counters = collections.Counter()
        self._tree, self._options, self._policy = tree, options, policy
        self._room = (0, 0)
        self._near = False
        self._since, self._collected, self._merged = {}, {}, set()

    def look(self):
        """(space, what it needs)"""
        space = estimate(self._tree, self._options)
        self._room = room_for(self._tree, space, self._options.bound)
        self.crowded = self._options.medium > 0 and is_crowded(space, self._options.bound,
                                                               self.crowded)
        needs = needs_of(space, self._options)
        if not (needs.space or needs.log):
            self._merged = set()
            self._rest()
        return space, needs

    def work(self):
        """Until nothing is needed."""
        while self._step(*self.look()):
            pass

    def wait_for_room(self):
        """As a flush waits: until it is not above any more, or has room for what it may add."""
        space, needs = self.look()
        enough = space.disk - 2 * lsm_model.MEMTABLE
        while needs.above and space.disk >= enough and self._step(space, needs):
            space, needs = self.look()

    def settle(self):
        """What stayed is tried once more."""
        self.work()
        if self._since:
            self._since = {}
            self.work()

    def compact(self, inputs, output_level):
        """A compaction, whoever has picked it. Returns the numbers of the outputs."""
        merge_level = max(1, self._tree.last_level) if self._options.medium else lsm_model.LEVELS
        aim = lsm_model.Aim(self._victims(), self._near, merge_level,
                            self._near and self._policy.sorts_young)
        return self._tree.compact(inputs, output_level, aim)

    def _step(self, space, needs):
        if not needs.log:
            self._merged = set()
        merges = pick_merge(self._tree, self._merged) if needs.log else []
        if needs.space:
            self._track()
        else:
            self._rest()
        plans = merges or (self._plans(space) if needs.space else [])
        for inputs, output_level in plans:
            outputs = self.compact(inputs, output_level)
            self.counters["jobs"] += 1
            self._merged.update(outputs if merges else ())
        return bool(plans)

    def _plans(self, space):
        most = min(MOST_BATCH, space.disk * BATCH)
        plans = Picker(self._tree, space, self._since).best(most)
        return plans or (push(self._tree) if space.hidden + space.hidden_sst > 0 else [])

    def _victims(self):
        victims = self._victims_of(lambda blob: self._policy.may_collect(blob, self._tree.now))
        if not victims and self._near and self._policy.collects_all_in_need:
            victims = self._victims_of(lambda blob: True)
        return victims

    def _victims_of(self, may_collect):
        ratio = (1 - 1 / self._options.bound) / 2 if self._near else 1
        return pick_victims(self._tree.blobs.values(), ratio, self._options.bound, self._room,
                            self._collected, may_collect)

    def _track(self):
        self._near = True
        self._find_collected()
        newest = max((sst.number for sst in self._tree.ssts()), default=0)
        self._since = {number: self._since.get(number, newest) for number in self._victims()}
        self._find_collected()
        if self._policy.moves_a_part:
            self._let_rest()

    def _let_rest(self):
        """Those of which all is moved that is to be."""
        for number in [number for number, done in self._collected.items() if done]:
            blob = self._tree.blobs.get(number)
            if blob is not None and blob.rest is None:
                blob.let_rest()
                del self._since[number], self._collected[number]

    def _find_collected(self):
        self._collected = {
            number: not any(number in sst.references and sst.number <= newest
                            for level in self._tree.levels[1:] for sst in level)
            for number, newest in self._since.items()}

    def _rest(self):
        self._near = False
        self._since, self._collected = {}, {}
