"""Where the CPU time of a program goes: samples of Linux's perf, told apart by what ran."""

import collections
import os
import re
import subprocess

FREQUENCY = 997  # samples of a busy CPU in each second
STACK = 8192  # bytes that are kept of each
RECORD = ("perf", "record", "--quiet", "--event=cpu-clock", f"--freq={FREQUENCY}",
          f"--call-graph=dwarf,{STACK}")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*)$")
REST = "rest"


def missing():
    """Why nothing can be sampled here; empty if it can."""
    try:
        tried = subprocess.run([*RECORD, "--output=/dev/null", "true"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        return "there is no perf (Debian: linux-perf)"
    return "" if tried.returncode == 0 else f"perf: {tried.stderr.strip()}"


def words(context):
    """What comes before a command whose samples are wanted."""
    return [*RECORD, f"--output={path_of(context)}", "--"]


def stacks(context):
    """Of the last such command: a list of functions for each sample, the innermost first."""
    path = path_of(context)
    text = subprocess.run(["perf", "script", "--input", path, "--no-inline", "--fields", "ip,sym"],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          encoding="utf-8", errors="replace").stdout
    os.unlink(path)
    return list(parse(text))


def parse(text):
    for sample in text.split("\n\n"):
        found = [frame.group(1) for frame in map(FRAME.match, sample.splitlines()) if frame]
        if found:
            yield found


def seconds(samples, kinds):
    """{kind: CPU seconds}; `kinds`: {kind: pattern}.

    A sample is of the kind whose pattern its innermost function has, or else the next one out,
    and so on: copying a block counts for what copies it. If no function says anything, it is REST.
    """
    compiled = {kind: re.compile(pattern) for kind, pattern in kinds.items()}
    counts = collections.Counter(kind_of(sample, compiled) for sample in samples)
    return {kind: counts[kind] / FREQUENCY for kind in (*kinds, REST)}


def kind_of(sample, compiled):
    for function in sample:
        for kind, pattern in compiled.items():
            if pattern.search(function):
                return kind
    return REST


def path_of(context):
    return context.path("perf.data")
