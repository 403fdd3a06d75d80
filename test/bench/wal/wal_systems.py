"""The systems that the benchmark of raw_wal_fs compares, and how one is run."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import time

from common import db_bench

DEVICE_BYTES = 2 << 30

SYSTEMS = ("stock", "recycled", "file", "loop")


def run(context, system, flags, neighbour=False, journal=False, before=()):
    """Figures of one db_bench run on an empty database.

    `journal`: on ext4 with a journal; `before`: words of the command that come before db_bench.
    """
    folder = journaled_folder(context) if journal else context.path("")
    db = os.path.join(folder, "db")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, db, ignore_errors=True)
        if neighbour:
            stack.enter_context(compacting_neighbour(context))
        argv = [
            *before,
            context.program("db_bench"),
            f"--db={db}",
            f"--options_file={options_file(context, recycled=4 if system == 'recycled' else 0)}",
            "--histogram=1",
            "--statistics=1",
            "--stats_level=4",
            *db_bench.flags(context),
            *system_flags(context, system, folder),
            *flags,
        ]
        return {**parse(context.child(argv)), **db_bench.series(context)}


def options_file(context, recycled):
    """What db_bench has no flags for."""
    path = context.path(f"recycled-{recycled}.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "[Version]\n  rocksdb_version=9.10.0\n  options_file_version=1.1\n"
            f"[DBOptions]\n  create_if_missing=true\n  recycle_log_file_num={recycled}\n"
            '[CFOptions "default"]\n  compression=kNoCompression\n'
            '[TableOptions/BlockBasedTable "default"]\n'
        )
    return path


def system_flags(context, system, folder):
    if system in ("stock", "recycled"):
        return []
    path = device(context, system, folder)
    size = f";size={DEVICE_BYTES}" if system == "file" else ""
    return [f"--fs_uri=id=RawWalFileSystem;device={path}{size}"]


def device(context, system, folder):
    """A file in the folder of the database, or a loop device; made when it is first asked for."""
    if system == "file":
        return os.path.join(folder, "log-device")
    return context.resource("loop", lambda: log_device(context))


def log_device(context):
    name, undo = loop_device(context.path("loop-file"))
    context.child([context.program("rocktier"), "wal", "format", name])
    return name, undo


def journaled_folder(context):
    """ext4 as mkfs makes it, on a loop device."""
    image = context.resource(
        "ext4-image", lambda: loop_device(context.path("ext4-file"), 3 * DEVICE_BYTES)
    )
    return context.resource("ext4", lambda: mount_ext4(image, context.path("ext4")))


def mount_ext4(image, folder):
    subprocess.run(["mkfs.ext4", "-q", "-F", "-O", "has_journal", image], check=True)
    os.mkdir(folder)
    subprocess.run(["mount", image, folder], check=True)
    return folder, lambda: subprocess.run(["umount", folder], check=False)


def loop_device(path, size=DEVICE_BYTES):
    """(name, undo). Direct I/O: else the device would be the page cache."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        chunk = bytes(1 << 20)
        for _ in range(size >> 20):
            file.write(chunk)
        os.fsync(file.fileno())
    name = subprocess.run(
        ["losetup", "--find", "--show", "--direct-io=on", path],
        check=True, capture_output=True, text=True,
    ).stdout.strip()
    return name, lambda: subprocess.run(["losetup", "--detach", name], check=False)


@contextlib.contextmanager
def compacting_neighbour(context):
    """Another database on the same file system that writes and compacts all the time."""
    folder = context.path("neighbour")
    process = subprocess.Popen(
        [
            context.program("db_bench"),
            f"--db={folder}",
            "--benchmarks=overwrite",
            "--num=2000000",
            "--duration=3600",
            "--value_size=1000",
            "--disable_wal=1",
            "--compression_type=none",
            "--write_buffer_size=16777216",
            "--target_file_size_base=16777216",
            "--benchmark_write_rate_limit=40000000",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(3)  # until it compacts
        yield
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def floor(context, seconds, neighbour=False):
    """The device's own time for a durable write of one block."""
    path = context.path("floor")
    with contextlib.ExitStack() as stack:
        if neighbour:
            stack.enter_context(compacting_neighbour(context))
        stack.callback(lambda: os.path.exists(path) and os.unlink(path))
        figures = json.loads(
            context.child([context.program("wal_probe"), f"--path={path}", f"--seconds={seconds}"])
        )
    figures["sync_p50_us"] = figures["p50_us"]
    figures["sync_p99_us"] = figures["p99_us"]
    return figures


def recovery(context, name, flags):
    """Seconds to read all logs after a crash, and to read the same part of the device plainly."""
    program = context.program("wal_recovery")

    def make(folder):
        os.mkdir(folder)
        context.child([program, f"--folder={folder}", "--make", *flags])

    folder = context.shared(name, make)
    figures = json.loads(context.child([program, f"--folder={folder}", *flags]))
    return {
        "floor": {"recovery_s": figures["plain_s"]},
        "file": {"recovery_s": figures["recovery_s"]},
    }


def parse(text):
    figures = {"ops_per_s": float(re.search(r"micros/op (\d+) ops/sec", text).group(1))}
    found = re.search(r"P50: ([\d.]+) .*P99: ([\d.]+) P99.9: ([\d.]+)", text)
    for name, value in zip(("p50_us", "p99_us", "p999_us"), found.groups()):
        figures[name] = float(value)
    found = re.search(r"rocksdb.wal.file.sync.micros P50 : ([\d.]+) .*?P99 : ([\d.]+)", text)
    if found and float(found.group(1)) > 0:
        figures["sync_p50_us"], figures["sync_p99_us"] = map(float, found.groups())
    return figures
