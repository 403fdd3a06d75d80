# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The layout of C++ sources: what clang-format makes of them."""

import re
import subprocess

import sources


MOST_LINES = 450  # of a plugin's file


def check_size():
    for path in sources.files("plugin/*.h", "plugin/*.cc"):
        lines = sources.read(path).count("\n")
        if lines > MOST_LINES:
            yield "%s: %d lines, more than %d: take it apart" % (path, lines, MOST_LINES)


def check():
    result = subprocess.run(
        [sources.absolute("scripts/clang-format"), "--dry-run", *sources.files("*.h", "*.cc")],
        cwd=sources.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        yield "scripts/clang-format: exit status %d: %s" % (result.returncode, result.stderr[-500:])
    for match in re.finditer(r"^(\S+?:\d+):\d+: (?:warning|error)", result.stderr, re.MULTILINE):
        yield "%s: not as clang-format has it; see 'make format'" % match.group(1)
