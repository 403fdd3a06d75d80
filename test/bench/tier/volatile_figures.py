"""Reads what db_bench prints, what a database's LOG says, and sizes of parts of a volatile tier."""

import datetime
import json
import os
import re
import threading
import time

SECTOR_BYTES = 512
STUB_BYTES = 2048
# In the database directory; those of the first version have no id of the database.
RETAINED = re.compile(r"TIERS-\d+(-[0-9A-F]{16})?\.(log|seg)")
TABLE = re.compile(r"\d+\.sst(\.\w+)?")  # in a tier


def rate(text, benchmark):
    """(operations, seconds) of a benchmark of db_bench."""
    found = re.search(
        rf"^{benchmark}\s*:\s+[\d.]+ micros/op \d+ ops/sec ([\d.]+) seconds (\d+) operations",
        text, re.M,
    )
    if not found:
        raise RuntimeError(f"db_bench has not told of {benchmark}:\n{text[-2000:]}")
    return int(found.group(2)), float(found.group(1))


def latencies(text, operation):
    """Of the last benchmark that has "read" or "write" operations; {} if there are none.

    Needs --histogram.
    """
    found = re.findall(
        rf"^Microseconds per {operation}:\nCount: (\d+) .*\nMin: \d+ .*Max: (\d+)\n"
        r"Percentiles: P50: ([\d.]+) .*P99: ([\d.]+) P99.9: ([\d.]+)",
        text, re.M,
    )
    if not found or found[-1][0] == "0":
        return {}
    names = ("count", "max_us", "p50_us", "p99_us", "p999_us")
    return {f"{operation}_{name}": float(value) for name, value in zip(names[1:], found[-1][1:])}


def ticker(text, name):
    """Of RocksDB's statistics; needs --statistics."""
    found = re.search(rf"^{re.escape(name)} COUNT : (\d+)$", text, re.M)
    if not found:
        raise RuntimeError(f"db_bench has not printed {name}")
    return int(found.group(1))


def found_keys(text):
    """(found, asked for) of readrandom."""
    found = re.search(r"\((\d+) of (\d+) found\)", text)
    if not found:
        raise RuntimeError(f"db_bench has not told how many keys it found:\n{text[-2000:]}")
    return int(found.group(1)), int(found.group(2))


def stamp(line):
    """Seconds since 1970 of a line of a LOG; None if it has no time."""
    found = re.match(r"(\d+/\d+/\d+-\d+:\d+:\d+\.\d+) ", line)
    return found and datetime.datetime.strptime(found.group(1), "%Y/%m/%d-%H:%M:%S.%f").timestamp()


def seconds_until_settled(log, writing):
    """From the moment the database was open to the last flush, compaction or move.

    At least `writing` seconds.
    """
    start, end = None, 0.0
    for line in log.splitlines():
        if "DB pointer " in line:
            start = stamp(line)
        elif "tiered_env: moved " in line:
            end = max(end, stamp(line))
        elif "EVENT_LOG_v1" in line:
            event = json.loads(line[line.index("{"):])
            if event.get("event") in ("flush_finished", "compaction_finished"):
                end = max(end, event["time_micros"] / 1e6)
    if start is None:
        raise RuntimeError("the LOG does not say when the database was open")
    return max(writing, end - start)


def volatile(log):
    """Metrics of the last report of tiers in memory, without "memory_": docs/metrics.md."""
    blocks = re.findall(r"tiered_env: statistics\n((?:  \S+ \S+\n)*)", log)
    if not blocks:
        raise RuntimeError("the LOG has no block \"tiered_env: statistics\"")
    return {name: float(value)
            for name, value in re.findall(r"^  memory_(\S+) (\S+)$", blocks[-1], re.MULTILINE)}


def moved_bytes(log, tier):
    """Bytes that the mover has put into a tier."""
    pattern = (r"tiered_env: moved .*, (\d+) bytes, level -?\d+, "
               rf"from tier .* to tier {re.escape(tier)} ")
    return sum(int(size) for size in re.findall(pattern, log))


def device_bytes(device):
    """(read, written) since the machine was started."""
    with open(f"/sys/block/{os.path.basename(device)}/stat", encoding="ascii") as file:
        fields = file.read().split()
    return int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES


def sizes(folder, match):
    """Bytes of the files below a folder whose names match, without stubs.

    What vanishes meanwhile does not count.
    """
    total = 0
    for where, _, names in os.walk(folder):
        for name in filter(match, names):
            try:
                size = os.stat(f"{where}/{name}").st_size
            except FileNotFoundError:
                continue
            total += size if size != STUB_BYTES else 0
    return total


class Sampler:
    """Looks at a database in the background.

    A sample: (seconds, bytes of retained logs, bytes of SSTs in memory).
    """

    def __init__(self, db, memory, period=0.2):
        self._db, self._memory, self._period = db, memory, period
        self._samples, self._stop = [], threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        start = time.monotonic()
        while not self._stop.wait(self._period):
            retained = sizes(self._db, RETAINED.fullmatch)
            self._samples.append((time.monotonic() - start, retained,
                                  sizes(self._memory, TABLE.fullmatch)))

    def figures(self):
        return amplification(self._samples)

    def series(self):
        """One in a second."""
        second = {int(sample[0]): sample for sample in self._samples}
        return {name: [sample[place] for sample in second.values()]
                for place, name in enumerate(("seconds", "retained", "tier"))}


def amplification(samples):
    """Peaks of retained logs and of the tier, and their ratio.

    The ratio is the worst since the tier first had half of its peak.
    """
    peak = max((tier for _, _, tier in samples), default=0)
    if peak == 0:
        return {}
    filled = next(i for i, (_, _, tier) in enumerate(samples) if tier >= peak / 2)
    ratios = [retained / tier for _, retained, tier in samples[filled:] if tier > 0]
    figures = {
        "tier_peak_bytes": peak,
        "retained_peak_bytes": max(retained for _, retained, _ in samples),
        "peak_per_peak": max(retained for _, retained, _ in samples) / peak,
        "worst_amplification": max(ratios),
    }
    for tenth in range(1, 11):  # over the time
        _, retained, tier = samples[(len(samples) - 1) * tenth // 10]
        figures[f"lambda_{tenth * 10}"] = retained / tier if tier else 0.0
    return figures
