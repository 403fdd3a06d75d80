"""The arrangements that the benchmark of volatile tiers compares.

And how db_bench and tier_driver are run on one.
"""

import dataclasses
import glob
import json
import os
import shutil
import subprocess

from common import db_bench as db_bench_reports
from common import grounds, machine
from tier import pmem_systems, volatile_figures

# EMULATED: in the place of THROTTLED where the kernel cannot hold a device to limits.
THROTTLED, EMULATED, PLAIN = "throttled", "emulated", "plain"
LIMITS = {"write_bps": 150_000_000, "read_bps": 300_000_000}
EMULATED_TIER = "emulate={bandwidth=150M}"
CACHE_BYTES = 64 << 20
MIB = 1 << 20
MEMORY_OPTIONS = "size=100%,huge=within_size"


@dataclasses.dataclass(frozen=True)
class System:
    direct: bool = False  # direct I/O of reads, flushes and compactions
    in_memory: bool = False  # all but the write-ahead logs
    held: bool = False  # to as much memory as ours had, with its part of the page cache
    placement: str = ""  # of tiered_env
    options: str = ""  # further ones of tiered_env
    slowdown: int = 1  # of the tier in memory
    # preserve_internal_time_seconds, if tiered: sequence numbers are not set to zero.
    preserve_s: int = 3600

    @property
    def tiered(self):
        return bool(self.placement)


ALL_BUT_LAST = "0..2=memory;3..=slow"  # of four levels, which the workloads have in the end
RELATIVE = "0..last-1=memory;last=slow"  # also while there are fewer
NEVER = "wal_amplification_high=1000000;wal_amplification_low=1000000;"
SYSTEMS = {
    "buffered": System(),
    "held": System(held=True),
    "direct": System(direct=True),
    "bound": System(in_memory=True),
    "ours": System(direct=True, placement=ALL_BUT_LAST),
    "untrimmed": System(direct=True, placement=ALL_BUT_LAST, options=NEVER),
    "relative": System(direct=True, placement=RELATIVE),
    "zeroed": System(direct=True, placement=ALL_BUT_LAST, preserve_s=0),
    "upper": System(direct=True, placement="0..1=memory;2..=slow"),
    "beta2": System(direct=True, placement=ALL_BUT_LAST, slowdown=2),
    "beta5": System(direct=True, placement=ALL_BUT_LAST, slowdown=5),
}
MAIN_SYSTEMS = ("buffered", "held", "direct", "bound", "ours", "untrimmed")
ONCE_SYSTEMS = ("relative", "zeroed", "upper", "beta2", "beta5")


@dataclasses.dataclass(frozen=True)
class Shape:
    """Of the data and the tree, the same for all systems."""

    records: int
    value_size: int
    file_bytes: int  # of a memtable and of an SST
    level_base: int
    multiplier: int
    dynamic: bool = False

    @property
    def data(self):
        return self.records * (16 + self.value_size)


def no_memory():
    """Why there is no volatile tier here; empty if there can be one."""
    memory = pmem_systems.MEMORY
    if os.path.isdir(memory) and machine.filesystem(memory) == "tmpfs":
        return ""
    return f"{memory} is no tmpfs"


def memory_folder(context):
    """(folder, undo): of a tmpfs with huge pages if one can be mounted, else of the machine's."""
    point = context.path("memory")
    os.makedirs(point)
    mounted = subprocess.run(["mount", "--types=tmpfs", f"--options={MEMORY_OPTIONS}", "tmpfs",
                              point], check=False, capture_output=True)
    if mounted.returncode != 0:
        context.grounds.note("memory", f"tmpfs, {pmem_systems.MEMORY}")
        return pmem_systems.memory_folder()
    context.grounds.note("memory", f"tmpfs, {MEMORY_OPTIONS}")
    return point, lambda: grounds.unmount(point)


class Place:
    """Where a system has its files: folders on the device, and in memory."""

    def __init__(self, context, ground, system, data):
        self.device = None
        point = context.scratch
        self.ground = ground
        if ground == THROTTLED:
            made = throttled(context, data)
            self.device, point = made.devices["slow"], made.points["slow"]
        elif ground == EMULATED:
            context.grounds.note("slow", f"emulated by tiered_env: {EMULATED_TIER}; "
                                 f"{machine.disk_kind(point)}, not throttled")
        memory = context.resource("volatile-tmpfs", lambda: memory_folder(context))
        self.point = point
        self.slow = f"{point}/{system}-slow"
        self.wal = f"{point}/{system}-wal"
        self.memory = f"{memory}/{ground}-{system}"
        home = self.memory if SYSTEMS[system].in_memory else point
        self.db = f"{home}/{system}-db"

    def clear(self):
        for folder in (self.db, self.slow, self.wal, self.memory):
            shutil.rmtree(folder, ignore_errors=True)

    def make(self):
        for folder in (self.slow, self.memory):
            os.makedirs(folder, exist_ok=True)

    def lose_memory(self):
        shutil.rmtree(self.memory)
        self.make()

    def read_log(self):
        with open(f"{self.db}/LOG", encoding="utf-8", errors="replace") as file:
            return file.read()

    def retained_logs(self):
        """Logs that are retained and have not been rewritten."""
        return glob.glob(f"{self.db}/TIERS-*.log")


def throttled(context, data):
    """One file system on a loop device; made when it is first asked for, unmade at the end."""

    def make():
        made = grounds.Ground(context, {"slow": (2 << 30) + 8 * data}, {"slow": LIMITS})
        return made, made.close

    return context.resource("volatile-ground", make)


def uri(place, system, shape, compression="none"):
    chosen = SYSTEMS[system]
    # With a dynamic shape levels are counted from the last one.
    placement = RELATIVE if shape.dynamic else chosen.placement
    emulate = f";emulate={{slowdown={chosen.slowdown}}}" if chosen.slowdown > 1 else ""
    pace = LIMITS["write_bps"] if place.device else 0  # all that the disk has
    home, limit = "", ""
    if place.ground == EMULATED:
        home, limit = f"home={{{EMULATED_TIER}}};", f";{EMULATED_TIER}"
    return (
        f"id=TieredFileSystem;tiers={{memory={{kind=memory;path={place.memory}{emulate}}};{home}"
        f"slow={{path={place.slow}{limit}}}}};placement={{{placement}}};"
        f"{chosen.options}mover_bytes_per_second={pace};wal_compression={compression}"
    )


def options_text(place, system, shape, compacts=True):
    """What db_bench has no flags for; it takes all other settings from here, too."""
    chosen = SYSTEMS[system]
    db = {
        "create_if_missing": "true",
        "max_background_jobs": 4,
        "bytes_per_sync": MIB,
        "wal_bytes_per_sync": MIB,
        "use_direct_reads": str(chosen.direct).lower(),
        "use_direct_io_for_flush_and_compaction": str(chosen.direct).lower(),
    }
    if chosen.in_memory:
        db["wal_dir"] = place.wal
    if chosen.tiered:
        db["listeners"] = "{id=TieredEnvListener}"
    family = {
        "compression": "kNoCompression",
        "write_buffer_size": shape.file_bytes,
        "max_write_buffer_number": 4,
        "target_file_size_base": shape.file_bytes,
        "max_bytes_for_level_base": shape.level_base,
        "max_bytes_for_level_multiplier": shape.multiplier,
        "level_compaction_dynamic_level_bytes": str(shape.dynamic).lower(),
        "disable_auto_compactions": str(not compacts).lower(),
    }
    if chosen.tiered:
        family["preserve_internal_time_seconds"] = chosen.preserve_s
    lines = ["[Version]", "  rocksdb_version=9.10.0", "  options_file_version=1.1", "[DBOptions]"]
    lines += [f"  {name}={value}" for name, value in db.items()]
    lines += ['[CFOptions "default"]', *(f"  {name}={value}" for name, value in family.items())]
    return "\n".join([*lines, '[TableOptions/BlockBasedTable "default"]', ""])


class Memory:
    """What ours had in memory at most in a workload, in all rounds so far.

    Stock with direct I/O has the tier's as block cache; what is held has all of it, as it likes.
    """

    def __init__(self):
        self._tiers, self._all = {}, {}

    def cache_bytes(self, system, workload):
        return CACHE_BYTES + (self._tiers.get(workload, 0) if system == "direct" else 0)

    def bound(self, system, workload):
        """None: whatever the machine has."""
        return self._all.get(workload) if SYSTEMS[system].held else None

    def saw(self, system, workload, figures):
        if system == "ours":
            tier = figures.get("tier_peak_bytes", 0)
            self._tiers[workload] = max(tier, self._tiers.get(workload, 0))
            self._all[workload] = max(tier + figures["process_bytes"], self._all.get(workload, 0))


def memory_of(context):
    return context.resource("volatile-memory", lambda: (Memory(), lambda: None))


def db_bench(context, place, system, shape, benchmarks, flags, compression="none",
             cache=CACHE_BYTES, compacts=True, most_memory=None, before=()):
    """(what it printed, figures of the process and the devices).

    The database is closed afterwards. `before`: words of the command that come before db_bench.
    """
    place.make()
    options = context.path(f"{system}.ini")
    with open(options, "w", encoding="utf-8") as file:
        file.write(options_text(place, system, shape, compacts))
    argv = [
        *before, context.program("db_bench"), f"--db={place.db}", f"--options_file={options}",
        f"--benchmarks={benchmarks}", f"--num={shape.records}", f"--value_size={shape.value_size}",
        f"--cache_size={cache}", "--bloom_bits=10", "--histogram=1",
        "--statistics=1", *db_bench_reports.flags(context), *flags,
    ]
    if SYSTEMS[system].tiered:
        argv.append(f"--fs_uri={uri(place, system, shape, compression)}")
    text, figures = measured(context, place, system,
                             [*argv, *emulation(place, system)], most_memory)
    return text, {**figures, **db_bench_reports.series(context)}


def emulation(place, system):
    """What makes the device slow for a system that has no tiers."""
    if place.ground != EMULATED or SYSTEMS[system].tiered:
        return []
    return [f"--fs_uri=id=TieredFileSystem;tiers={{home={{{EMULATED_TIER}}}}}"]


def measured(context, place, system, argv, most_memory=None):
    """(what a program printed, what it and the devices have done)."""
    flush(place)
    if most_memory:
        argv = [*grounds.control(context).memory_group(most_memory), *argv]
        drop_pages(place)
    device = counters(place)
    with volatile_figures.Sampler(place.db, place.memory) as sampler:
        text, usage = context.measured_child(argv)
    figures = {
        "cpu_s": usage.cpu_s,
        "process_bytes": usage.memory_bytes,
        # What the process has given to file systems that are on a device; tmpfs does not count.
        "written_bytes": usage.written_blocks * volatile_figures.SECTOR_BYTES,
    }
    if device:
        flush(place)  # what is in the page cache still
        read, written = counters(place)
        figures["device_read_bytes"] = read - device[0]
        figures["device_written_bytes"] = written - device[1]
    if SYSTEMS[system].tiered:
        figures.update(sampler.figures())
        figures["retained and tier bytes"] = sampler.series()
    return text, figures


def flush(place):
    if place.device:
        subprocess.run(["sync", "-f", place.point], check=True)


def drop_pages(place):
    """From the page cache: what others have brought there would cost a memory group nothing."""
    for where, _, names in os.walk(place.db):
        for name in names:
            with open(f"{where}/{name}", "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def counters(place):
    return volatile_figures.device_bytes(place.device) if place.device else None


def kinds(place, system, text):
    """Bytes written, by what they were for."""
    tables = sum(volatile_figures.ticker(text, f"rocksdb.{kind}.write.bytes")
                 for kind in ("flush", "compact"))
    figures = {
        "wal_bytes": volatile_figures.ticker(text, "rocksdb.wal.bytes"),
        "table_bytes": tables,
    }
    if SYSTEMS[system].in_memory:
        return {**figures, "durable_table_bytes": 0}
    if not SYSTEMS[system].tiered:
        return {**figures, "durable_table_bytes": tables}
    log = place.read_log()
    counts = volatile_figures.volatile(log)
    moved = volatile_figures.moved_bytes(log, "slow")
    return {
        **figures,
        "durable_table_bytes": tables - counts["table_bytes"] + moved,
        "moved_bytes": moved,
        "recipe_bytes": counts["recipe_log_written_bytes"],
        "archived_bytes": counts["archived_bytes"],
        "trims": counts["trims"],
        "end_amplification": counts["wal_amplification_ratio"],
        "literal_share": (counts["literal_bytes"] / counts["table_bytes"]
                          if counts["table_bytes"] else 0.0),
    }


def write(context, place, system, shape, benchmark, operations, threads, seed, compression="none",
          settle=True):
    """Figures of writing so many records, until nothing compacts.

    Without `settle` in the middle of it.
    """
    flags = [f"--threads={threads}", f"--writes={operations // threads}", f"--seed={seed}"]
    if benchmark == "overwrite":
        flags.append("--use_existing_db")
    benchmarks = f"{benchmark},waitforcompaction" if settle else benchmark
    text, figures = db_bench(context, place, system, shape, benchmarks, flags, compression)
    done, seconds = volatile_figures.rate(text, benchmark)
    settled = volatile_figures.seconds_until_settled(place.read_log(), seconds)
    figures.update(volatile_figures.latencies(text, "write"))
    figures.update(kinds(place, system, text))
    figures.update(
        ops_per_s=done / seconds,
        settled_s=settled,
        settled_per_s=done / settled,
        stall_s=volatile_figures.ticker(text, "rocksdb.stall.micros") / 1e6,
    )
    if place.device:
        figures["bandwidth_s"] = figures["device_written_bytes"] / LIMITS["write_bps"]
    return figures


def use(context, place, system, shape, benchmark, seconds, threads, seed, *more):
    """Figures of a benchmark that reads, or reads and writes, for some time."""
    memory = memory_of(context)
    text, figures = db_bench(
        context, place, system, shape, benchmark,
        [f"--threads={threads}", f"--duration={seconds}", f"--seed={seed}", "--use_existing_db",
         *more],
        cache=memory.cache_bytes(system, benchmark), most_memory=memory.bound(system, benchmark),
    )
    memory.saw(system, benchmark, figures)
    done, took = volatile_figures.rate(text, benchmark)
    for operation in ("read", "write"):
        figures.update(volatile_figures.latencies(text, operation))
    figures["ops_per_s"] = done / took
    figures["stall_s"] = volatile_figures.ticker(text, "rocksdb.stall.micros") / 1e6
    return figures


def read_again(context, place, system, shape, compression, reads, more=""):
    """(keys that were found, seconds), always of the same keys."""
    text, _ = db_bench(
        context, place, system, shape, f"readrandom{more}",
        [f"--reads={reads}", "--seed=7", "--use_existing_db"], compression, compacts=False,
    )
    return volatile_figures.found_keys(text)


def read_logs(place):
    """So that logs and recipes are in the page cache: the kernel may have taken cold ones away."""
    for name in os.listdir(place.db):
        if name.startswith("TIERS") or name.endswith(".log"):
            with open(f"{place.db}/{name}", "rb") as file:
                while file.read(8 * MIB):
                    pass


def compress_logs(context, place, system, shape, compression):
    """Opens a database until all of its retained logs are compressed."""
    for _ in range(20):
        if compression == "none" or not place.retained_logs():
            return
        db_bench(context, place, system, shape, "readrandom", ["--duration=3", "--use_existing_db"],
                 compression, compacts=False)


def recover(context, place, system, shape, compression, reads):
    """Figures of an opening that finds nothing in memory.

    The database has been filled and closed; nothing compacts meanwhile, so that the tier is as it
    was.
    """
    found, asked = read_again(context, place, system, shape, compression, reads)
    compress_logs(context, place, system, shape, compression)
    retained = volatile_figures.sizes(place.db, volatile_figures.RETAINED.fullmatch)
    place.lose_memory()
    read_logs(place)
    left, asked_again = read_again(context, place, system, shape, compression, reads,
                                   ",verifychecksum")
    if asked != asked_again:
        raise RuntimeError(f"asked for {asked} keys, then for {asked_again}")
    counts = volatile_figures.volatile(place.read_log())
    if not counts["rebuilt_bytes"]:
        raise RuntimeError("nothing was rebuilt: the tier was empty before it was lost")
    if not retained:
        raise RuntimeError("no retained log was found, and SSTs were rebuilt of some")
    seconds = counts["recovery_seconds"]
    return {
        "recovery_s": seconds,
        "rebuilt_bytes": counts["rebuilt_bytes"],
        "recovery_gb_per_s": counts["rebuilt_bytes"] / 1e9 / seconds,
        "recovery_s_per_gb": seconds / (counts["rebuilt_bytes"] / 1e9),
        "retained_bytes": retained,
        "lost_keys": abs(found - left),
    }


def drive(context, place, system, shape, workload, *more):
    """Figures of a run of tier_driver; until it has settled, if it fills the database."""
    place.make()
    chosen, memory = SYSTEMS[system], memory_of(context)
    argv = [
        context.program("tier_driver"), f"--db={place.db}", f"--records={shape.records}",
        f"--value_size={shape.value_size}", f"--direct={str(chosen.direct).lower()}",
        f"--cache_bytes={memory.cache_bytes(system, workload)}", *more,
    ]
    if chosen.in_memory:
        argv.append(f"--wal_dir={place.wal}")
    if chosen.tiered:
        dynamic = dataclasses.replace(shape, dynamic=True)  # which tier_driver's trees are
        argv += [f"--fs_uri={uri(place, system, dynamic)}", "--listener"]
    text, figures = measured(context, place, system, [*argv, *emulation(place, system)],
                             memory.bound(system, workload))
    memory.saw(system, workload, figures)
    driven = json.loads(text)
    for name in ("ops_per_s", "settled_s", "p50_us", "p99_us", "p999_us", "max_us", "each second"):
        if name in driven:
            figures[name] = driven[name]
    return figures


def pace_of(context, ground, shape, data):
    """Writes a second: half of what saturates stock. Found out when it is first asked for."""

    def make():
        place = Place(context, ground, "buffered", data)
        place.clear()
        figures = drive(context, place, "buffered", shape, "pace", "--mode=fill")
        place.clear()
        rate = int(shape.records / figures["settled_s"] / 2)
        context.grounds.note("pace", f"{rate} writes/s, half of what saturates buffered")
        return rate, lambda: None

    return context.resource(f"volatile-pace-{ground}", make)
