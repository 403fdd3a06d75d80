"""Programs that run slices of a workload when they are asked to (slices.h), and taking turns.

All of them have their databases open from the first slice to the last: nothing is reopened, so
caches stay warm and opening costs nothing. While one runs a slice, the others wait.
"""

import json
import os
import select
import subprocess
import time

from common import pairs

SLACK_SECONDS = 120  # that a slice may take longer than it should

# How a Status says that something is not possible on a machine or in a build (NotSupported).
NOT_SUPPORTED = "Not implemented:"


class NotShown(Exception):
    """Why something cannot be shown on this machine."""


class Failed(Exception):
    """What went wrong."""


class Silent(Failed):
    """A program has said nothing for too long."""


class Driver:
    """One program, with its database; it fills that as soon as it is made."""

    def __init__(self, argv, errors, environment=None):
        self._name, self._errors = os.path.basename(argv[0]), errors
        with open(errors, "wb") as file:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, bufsize=0,
                env={**os.environ, **(environment or {})},
            )
        self._read = b""

    def wait_until_ready(self, seconds):
        """Until its database is filled."""
        try:
            said = self._line(seconds)
        except Silent:
            raise NotShown("this machine is too slow or too busy: a database was not filled in "
                           f"{seconds:.0f} s") from None
        if said != "ready":
            raise Failed(f"{self._name} did not say that it is ready")

    def ask(self, seconds):
        """The figures of a slice."""
        try:
            self._process.stdin.write(f"{seconds}\n".encode())
        except BrokenPipeError:
            pass  # what it said is told below
        return json.loads(self._line(seconds + SLACK_SECONDS))

    def end(self):
        """The end of the input; raises if the program ends in any way but well."""
        self._process.stdin.close()
        try:
            status = self._process.wait(SLACK_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self._name} does not end") from None
        if status != 0:
            self._fail()

    def kill(self):
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            stream.close()

    def _line(self, seconds):
        end = time.monotonic() + seconds
        while b"\n" not in self._read:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                raise Silent(f"{self._name} has said nothing for {seconds:.0f} s")
            some = os.read(self._process.stdout.fileno(), 1 << 16)
            if not some:
                self._process.wait()
                self._fail()
            self._read += some
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def _fail(self):
        with open(self._errors, encoding="utf-8", errors="replace") as file:
            said = file.read().strip()[-500:]
        if NOT_SUPPORTED in said:
            raise NotShown(said)
        raise Failed(f"{self._name} ended with status {self._process.returncode}: {said}")


def take_turns(ask, systems, seconds, enough, on_round=lambda number: None):
    """Rounds of slices, as many as it takes until enough(rounds).

    A round has for each system the figures that ask(system, seconds) tells, and when its slice
    began and ended.
    """
    rounds = []
    while not enough(rounds):
        on_round(len(rounds))
        figures = {}
        for system in pairs.order(len(rounds), systems):
            begin = time.monotonic()
            figures[system] = {**ask(system, seconds), "begin": begin, "end": time.monotonic()}
        rounds.append(figures)
    return rounds
