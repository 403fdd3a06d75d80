"""What a result must say of the ground it stands on, without naming the host."""

import datetime
import glob
import os
import re
import subprocess


def describe(bin_dir, data_dir):
    return {
        "rocksdb": rocksdb_version(bin_dir),
        "rocktier": rocktier_version(bin_dir),
        "build": build(bin_dir),
        "machine": hardware(data_dir),
    }


def hardware(data_dir):
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_bytes() / 2**30, 1),
        "disk": disk_kind(data_dir),
        "disk_model": disk_model(data_dir),
        "kernel": f"{os.uname().sysname} {os.uname().release}",
    }


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def build(bin_dir):
    """Compiler, type and flags, as CMake has them."""
    folder = os.path.dirname(os.path.abspath(bin_dir))
    found = {}
    for path in glob.glob(f"{folder}/CMakeCache.txt") + glob.glob(
            f"{folder}/CMakeFiles/*/CMakeCXXCompiler.cmake"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found.update(re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE))
        found.update(re.findall(r'^set\((\w+) "([^"]*)"\)$', text, re.MULTILINE))
    kind = found.get("CMAKE_BUILD_TYPE", "")
    flags = (found.get("CMAKE_CXX_FLAGS", ""), found.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", ""))
    return {
        "compiler": f"{found.get('CMAKE_CXX_COMPILER_ID', 'unknown')} "
                    f"{found.get('CMAKE_CXX_COMPILER_VERSION', '')}".strip(),
        "type": kind or "unknown",
        "flags": " ".join(filter(None, flags)),
    }


def rocktier_version(bin_dir):
    tool = os.path.join(bin_dir, "rocktier")
    if not os.path.exists(tool):
        return "unknown"
    out = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    return out.strip() or "unknown"


def commit(folder):
    """Of the sources, "-dirty" if they were changed since; "unknown" where they are no clone.

    Results that are published one after the other do not count as changes.
    """
    git = ["git", "-C", folder]
    sources = ["--", ":/", ":(top,exclude)results/published"]
    try:
        found = subprocess.run([*git, "describe", "--always"], capture_output=True, text=True,
                               check=True).stdout.strip()
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", *sources],
                                 check=False).returncode
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{found}-dirty" if changed else found


def takes_cold_pages():
    """Whether the kernel gives up pages of the page cache before memory is short (DAMON)."""
    for folder in glob.glob("/sys/kernel/mm/damon/admin/kdamonds/*"):
        with open(f"{folder}/state", encoding="ascii") as file:
            runs = file.read().strip() == "on"
        for path in glob.glob(f"{folder}/contexts/*/schemes/*/action") if runs else ():
            with open(path, encoding="ascii") as file:
                if file.read().strip() == "pageout":
                    return True
    return False


def load_average():
    """Of the last minute."""
    return round(os.getloadavg()[0], 2)


def rocksdb_version(bin_dir):
    """Of the library that the tool is built with."""
    found = re.search(r"for RocksDB (\d[\d.]*\d)", rocktier_version(bin_dir))
    return found.group(1) if found else "unknown"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def block_of(path):
    """The folder in /sys of the block device on which a path is; it is not there if there is none.
    """
    device = os.stat(path).st_dev
    return os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")


def disk_model(path):
    """As the disk tells it; "unknown" where it does not, as with virtio."""
    block = block_of(path)
    for folder in (block, os.path.dirname(block)):  # a partition's model is its disk's
        for name in ("model", "vendor"):
            try:
                with open(os.path.join(folder, "device", name), encoding="utf-8") as file:
                    return file.read().strip()
            except OSError:
                continue
    return "unknown"


def disk_kind(path):
    """For example "ext4 on a virtio disk"."""
    block = block_of(path)
    name = os.path.basename(block)
    kinds = {"vd": "a virtio disk", "nvme": "an NVMe disk", "loop": "a loop device"}
    for prefix, kind in kinds.items():
        if name.startswith(prefix):
            return f"{filesystem(path)} on {kind}"
    rotates = is_rotational(block)
    if rotates is None:
        return filesystem(path)
    return filesystem(path) + (" on a rotating disk" if rotates else " on a solid-state disk")


def filesystem(path):
    path = os.path.realpath(path)
    best, kind = "", "unknown"
    with open("/proc/mounts", encoding="utf-8") as f:
        for line in f:
            _, point, fs = line.split()[:3]
            inside = path == point or path.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= len(best):
                best, kind = point, fs
    return kind


def is_rotational(block):
    for folder in (block, os.path.dirname(block)):  # a partition's queue is its disk's
        try:
            with open(os.path.join(folder, "queue/rotational"), encoding="utf-8") as f:
                return f.read().strip() == "1"
        except OSError:
            continue
    return None
