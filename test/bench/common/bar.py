"""The demo's progress: a bar on a terminal, elsewhere a line for each step."""

import sys
import threading
import time

WIDTH = 24
PERIOD = 0.5  # seconds, so that it is seen to go on while a step takes long


class Bar:
    def __init__(self, seconds, out=None):
        """`seconds`: what all of it takes at most, as far as is known."""
        self._total, self._out = seconds, out or sys.stderr
        self._start = time.monotonic()
        self._what, self._step = "", ""
        self._stop = threading.Event()
        self._thread = None
        if self._out.isatty():
            self._thread = threading.Thread(target=self._draw_until_stopped, daemon=True)
            self._thread.start()

    def begin(self, what):
        self._what, self._step = what, ""

    def step(self, step, is_line=True):
        """`is_line`: a step that has a line where there is no terminal."""
        self._step = step
        if self._thread is None and is_line:
            self._out.write(f"{self._what}: {step}\n")
            self._out.flush()

    def end(self):
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._out.write("\r\033[K")
            self._out.flush()

    def _draw_until_stopped(self):
        while not self._stop.wait(PERIOD):
            self._out.write(f"\r\033[K{self.text(time.monotonic() - self._start)}")
            self._out.flush()

    def text(self, seconds):
        done = min(WIDTH, int(seconds / self._total * WIDTH))
        bar = "#" * done + "." * (WIDTH - done)
        return f"[{bar}] {clock(seconds)} of {clock(self._total)}  {self._what}: {self._step}"


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
