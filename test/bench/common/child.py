"""A program that runs to its end, and what it took."""

import dataclasses
import os
import re
import subprocess
import tempfile
import threading

PERIOD = 0.05  # seconds


@dataclasses.dataclass(frozen=True)
class Usage:
    cpu_s: float
    memory_bytes: int  # at most
    written_blocks: int  # of 512 bytes, to file systems that are on a device


class Child:
    def __init__(self, argv, scratch):
        self._argv, self._most_kib = argv, 0
        self._errors = tempfile.TemporaryFile("w+", dir=scratch)
        self._process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=self._errors,
                                         text=True)
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    @property
    def pid(self):
        return self._process.pid

    @property
    def memory_bytes(self):
        """At most, so far."""
        return self._most_kib << 10

    def wait(self):
        """(what it printed, Usage). A failure raises, with its stderr."""
        out = self._process.stdout.read()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._errors.seek(0)
        errors = self._errors.read()
        self._close()
        if self._process.returncode != 0:
            raise RuntimeError(f"{' '.join(self._argv)}\nended with status "
                               f"{self._process.returncode}\n{errors}{out[-2000:]}")
        return out, Usage(usage.ru_utime + usage.ru_stime, self.memory_bytes, usage.ru_oublock)

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._close()

    def _close(self):
        self._ended.set()
        self._watch.join()
        self._process.stdout.close()
        self._errors.close()

    def _look(self):
        """The most that it ever had, as the kernel counts; rusage has that of this process, too."""
        while True:
            self._most_kib = max(self._most_kib, peak_kib(self._process.pid))
            if self._ended.wait(PERIOD):
                return


def peak_kib(pid):
    """0 of a process that has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^VmHWM:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found.group(1)) if found else 0
