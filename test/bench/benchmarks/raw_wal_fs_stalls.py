"""raw_wal_fs with a standby while the file system of its device stands still, and stock RocksDB."""

import functools
import os
import re
import shutil
import subprocess
import threading

from common import db_bench, grounds
from common.gates import Judge
from common.harness import Benchmark, Case, Metric, Panel
from wal import wal_systems

DEVICE_BYTES = 256 << 20
STALL, QUICK_STALL = 5, 2  # seconds
STALLS, QUICK_STALLS = (3, 14), (2,)  # seconds after the beginning
SECONDS, QUICK_SECONDS = 24, 6
IDLE_SECONDS, QUICK_IDLE_SECONDS = 5, 2
MOST_US = 150_000
MOST_P50 = 1.03

# Options of the systems that have a standby.
MODES = {"standby": "", "hedge": ";hedge=true", "both": ";durable=both"}
SYSTEMS = ("stock", "file", *MODES)
STANDS = "sync, 200 B, 1 thread, the log's file system stands still for {} s, {}"
IDLE = "sync, 200 B, 1 thread"
IN_TURN = IDLE + ", in turn"
TURNS, TURN_SECONDS = 90, 2  # of each of the two systems

METRICS = (
    Metric("max_us", "longest us", "us", "{:.0f}"),
    Metric("p50_us", "p50 us", "us", "{:.1f}", show_ratio=True),
    Metric("p99_us", "p99 us", "us", "{:.0f}"),
    Metric("ops_per_s", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
    Metric("failovers", "failovers", "logs", "{:.0f}"),
)

PANELS = (Panel("max_us", "Longest write in microseconds (less is better)", log=True),)


def stall_name(quick):
    count = len(QUICK_STALLS if quick else STALLS)
    return STANDS.format(QUICK_STALL if quick else STALL,
                         "once" if count == 1 else f"{count} times")


def cases(args):
    if not grounds.can_loop():
        print("Nothing is measured here: a file system of its own needs root and a loop device")
        return []
    result = []
    for system in SYSTEMS:
        result.append(Case(stall_name(args.quick), (system,),
                           functools.partial(run, system, args.quick, True)))
        result.append(Case(IDLE, (system,), functools.partial(run, system, args.quick, False)))
    if not args.quick:
        result.append(Case(IN_TURN, ("file", "standby"), run_in_turn, rounds=1))
    return result


def log_folder(context):
    """ext4 on a loop device: what can be made to stand still."""
    image = context.resource("stalls-image", lambda: wal_systems.loop_device(
        context.path("stalls-file"), DEVICE_BYTES * 4))
    return context.resource(
        "stalls-ext4", lambda: wal_systems.mount_ext4(image, context.path("stalls-ext4")))


class Stalls(threading.Thread):
    """Freezes a file system now and then; leaves it in use."""

    def __init__(self, folder, moments, seconds):
        super().__init__()
        self._folder, self._moments, self._seconds = folder, moments, seconds
        self._end = threading.Event()

    def run(self):
        now = 0
        for moment in self._moments:
            if self._end.wait(moment - now):
                return
            self._freeze("--freeze")
            try:
                self._end.wait(self._seconds)
            finally:
                self._freeze("--unfreeze")
            now = moment + self._seconds

    def _freeze(self, action):
        subprocess.run(["fsfreeze", action, self._folder], check=True)

    def __enter__(self):
        self.start()

    def __exit__(self, *_):
        self._end.set()
        self.join()


def run(system, quick, stalls, context, number):
    seconds = ((QUICK_SECONDS if quick else SECONDS) if stalls else
               (QUICK_IDLE_SECONDS if quick else IDLE_SECONDS))
    moments = (QUICK_STALLS if quick else STALLS) if stalls else ()
    return {system: measure(system, seconds, moments, QUICK_STALL if quick else STALL, context,
                            number)}


def run_in_turn(context, _number):
    """Neighbours in time: the disk has moods that last longer than a write costs."""
    samples = {"file": [], "standby": []}
    for turn in range(TURNS):
        for system in sorted(samples, reverse=turn % 2 == 1):
            figures = measure(system, TURN_SECONDS, (), STALL, context, turn)
            samples[system].append(figures["p50_us"])
    return {system: {"p50_us": values} for system, values in samples.items()}


def measure(system, seconds, moments, stall_seconds, context, number):
    folder = log_folder(context)
    db, standby = context.path("stalls-db"), context.path("stalls-standby")
    wal = f"{folder}/wal"
    for path in (db, standby, wal):
        shutil.rmtree(path, ignore_errors=True)
    os.makedirs(standby)
    device = f"{folder}/log-device"
    flags = [f"--wal_dir={wal}"] if system == "stock" else [
        f"--fs_uri=id=RawWalFileSystem;device={device};size={DEVICE_BYTES}"
        + (f";standby={standby};failback_after=2{MODES[system]}" if system in MODES else "")]
    argv = [
        context.program("db_bench"), f"--db={db}", "--benchmarks=fillrandom", "--histogram=1",
        *db_bench.flags(context),
        "--num=1000000", "--value_size=200", "--sync=1", f"--duration={seconds}",
        f"--seed={42 + number}", "--compression_type=none", "--write_buffer_size=2097152",
        "--max_write_buffer_number=8", *flags,
    ]
    with Stalls(folder, moments, stall_seconds):
        text = context.child(argv)
    figures = {**wal_systems.parse(text), **db_bench.series(context)}
    figures["max_us"] = float(re.search(r"Max: ([\d.]+)", text).group(1))
    with open(f"{db}/LOG", encoding="utf-8", errors="replace") as log:
        figures["failovers"] = float(log.read().count("goes on in standby="))
    for path in (db, standby, wal):
        shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(device):
        os.unlink(device)
    return figures


def gates(results):
    judge = Judge(results)
    yield judge.worst("longest write beside stalls of 5 s", (stall_name(False),), "max_us",
                      "standby", MOST_US, False)
    for system in ("hedge", "both"):
        yield judge.worst(f"longest write beside stalls of 5 s, {system}", (stall_name(False),),
                          "max_us", system, MOST_US, False)
    yield judge.ratio("p50 of a write without a stall, with a standby / without", IN_TURN,
                      "p50_us", "standby", ("file",), MOST_P50, False)


def quick_gates(results):
    judge = Judge(results)
    yield judge.worst("longest write beside a stall of 2 s", (stall_name(True),), "max_us",
                      "standby", 1_000_000, False)
    for system in ("hedge", "both"):
        yield judge.worst(f"longest write beside a stall of 2 s, {system}", (stall_name(True),),
                          "max_us", system, 1_000_000, False)


BENCHMARK = Benchmark(
    title="writes with sync while the log's file system stands still",
    ground="db_bench fillrandom; log or log device on ext4 on a loop device, which is frozen; the "
           "database and the standby in the data folder, on the same disk.",
    baseline="stock",
    metrics=METRICS,
    panels=PANELS,
    add_arguments=lambda group: None,
    cases=cases,
    gates=lambda results: list(gates(results)),
    quick_gates=lambda results: list(quick_gates(results)),
)
