"""What a result must say of the ground it stands on, without naming the host."""

import os
import subprocess


def describe(bin_dir, data_dir):
    return {
        "rocksdb": rocksdb_version(bin_dir),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "memory_gb": round(memory_bytes() / 2**30, 1),
            "disk": disk_kind(data_dir),
        },
    }


def rocktier_version(bin_dir):
    tool = os.path.join(bin_dir, "rocktier")
    if not os.path.exists(tool):
        return "unknown"
    out = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    return out.strip() or "unknown"


def commit(folder):
    """Of the sources; "unknown" where they are no clone."""
    git = ["git", "-C", folder, "describe", "--always", "--dirty"]
    try:
        return subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def load_average():
    """Of the last minute."""
    return round(os.getloadavg()[0], 2)


def rocksdb_version(bin_dir):
    ldb = os.path.join(bin_dir, "ldb")
    if not os.path.exists(ldb):
        return "unknown"
    out = subprocess.run([ldb, "--version"], capture_output=True, text=True, check=False).stdout
    return out.strip().rpartition(" ")[2] or "unknown"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def disk_kind(path):
    """For example "ext4 on a virtio disk"."""
    device = os.stat(path).st_dev
    block = os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
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
