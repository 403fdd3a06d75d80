"""Control groups: block devices that are held to limits, programs that are held to memory.

Version 1 has limits of devices for all processes at once, in its root. Version 2 has them in groups
only, so this process, and with it all that it starts, goes into one of its own.
"""

import contextlib
import itertools
import os

ROOT = "/sys/fs/cgroup"
V1_LIMIT = "{root}/blkio/blkio.throttle.{what}_device"
V1_MEMORY = "{root}/memory"
# Names of io.max.
V2_NAMES = {"read_bps": "rbps", "write_bps": "wbps", "read_iops": "riops", "write_iops": "wiops"}
ENTER = 'echo $$ > "$1/cgroup.procs" && shift && exec "$@"'


class NotPossible(Exception):
    """Why there are no limits here."""


class Version1:
    name = "blkio.throttle of cgroup v1"

    def __init__(self, root=ROOT):
        self._root, self._groups = root, []
        if not os.access(V1_LIMIT.format(root=root, what="read_iops"), os.W_OK):
            raise NotPossible(f"no {self.name}")

    def hold(self, number, limits):
        """`number`: st_rdev of a block device."""
        for what, limit in limits.items():
            write(V1_LIMIT.format(root=self._root, what=what), f"{of_device(number)} {limit}")

    def release(self, number, limits):
        self.hold(number, {what: 0 for what in limits})

    def limits(self, number):
        """As the kernel has them."""
        found = {}
        for what in V2_NAMES:
            for line in read(V1_LIMIT.format(root=self._root, what=what)).splitlines():
                if line.split()[0] == of_device(number) and line.split()[1] != "0":
                    found[what] = int(line.split()[1])
        return found

    def memory_group(self, size):
        """The words before a command that hold it, and its part of the page cache, to so much."""
        memory = V1_MEMORY.format(root=self._root)
        if not os.access(memory, os.W_OK):
            raise NotPossible("no memory controller of cgroup v1")
        folder = f"{memory}/rocktier-bench-{os.getpid()}"
        if folder not in self._groups:
            os.makedirs(folder)
            self._groups.append(folder)
        write(f"{folder}/memory.limit_in_bytes", size)
        return entering(folder)

    def close(self):
        remove(self._groups)


class Version2:
    name = "io.max of cgroup v2"
    _numbers = itertools.count()  # one within another is possible

    def __init__(self, root=ROOT, processes="/proc/self/cgroup"):
        mounted = [folder for folder in (root, f"{root}/unified")
                   if "io" in read(f"{folder}/cgroup.controllers").split()]
        if not mounted:
            raise NotPossible(f"no {self.name}")
        home = next(line for line in read(processes).splitlines() if line.startswith("0::"))[3:]
        self._home = f"{mounted[0]}{home}"
        self._folder = f"{mounted[0]}/rocktier-bench-{os.getpid()}-{next(self._numbers)}"
        self._groups = []
        try:
            write(f"{mounted[0]}/cgroup.subtree_control", "+io +memory")
            self._make(self._folder)
            write(f"{self._folder}/cgroup.subtree_control", "+memory")
            self._make(f"{self._folder}/all")
            write(f"{self._folder}/all/cgroup.procs", os.getpid())
        except OSError as error:
            self.close()
            raise NotPossible(f"no {self.name}: {error}") from None

    def _make(self, folder):
        os.mkdir(folder)
        self._groups.append(folder)

    def hold(self, number, limits):
        text = " ".join(f"{V2_NAMES[what]}={limit}" for what, limit in limits.items())
        write(f"{self._folder}/io.max", f"{of_device(number)} {text}")

    def release(self, number, limits):
        self.hold(number, {what: "max" for what in limits})

    def limits(self, number):
        for line in read(f"{self._folder}/io.max").splitlines():
            device, *pairs = line.split()
            if device == of_device(number):
                values = dict(pair.split("=") for pair in pairs)
                return {what: int(values[name]) for what, name in V2_NAMES.items()
                        if values.get(name, "max") != "max"}
        return {}

    def memory_group(self, size):
        folder = f"{self._folder}/held"
        if folder not in self._groups:
            self._make(folder)
        write(f"{folder}/memory.max", size)
        return entering(folder)

    def close(self):
        with contextlib.suppress(OSError):
            write(f"{self._home}/cgroup.procs", os.getpid())
        remove(self._groups)


def opened(root=ROOT, processes="/proc/self/cgroup"):
    """Of either version; raises NotPossible."""
    with contextlib.suppress(NotPossible):
        return Version1(root)
    try:
        return Version2(root, processes)
    except NotPossible as error:
        raise NotPossible(f"no {Version1.name}; {error}") from None


def missing(root=ROOT):
    """Why no device can be held to limits; empty if it can."""
    try:
        opened(root).close()
    except NotPossible as error:
        return str(error)
    return ""


def entering(folder):
    return ["sh", "-c", ENTER, "sh", folder]


def of_device(number):
    return f"{os.major(number)}:{os.minor(number)}"


def write(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def read(path):
    """Empty if it is not there."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def remove(groups):
    while groups:
        with contextlib.suppress(OSError):
            os.rmdir(groups[-1])
        groups.pop()
