# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Links of Markdown files, their anchors, and the width of lines."""

import os
import re
import subprocess
import sys

import sources

COLUMNS = 100

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def anchors(text):
    """The anchors that headings of a page have, as GitHub makes them."""
    for heading in re.findall(r"^#+ +(.+?) *#*$", _FENCE.sub("", text), re.MULTILINE):
        heading = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        yield heading.replace(" ", "-")


def without_blocks(text):
    """A page whose blocks are blank; all the rest stays where it is."""
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def check_links():
    for path in sources.files("*.md"):
        text = without_blocks(sources.read(path))
        for link in _LINK.finditer(text):
            target, _, anchor = link.group(1).partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            where = "%s:%d" % (path, sources.line_of(text, link.start()))
            other = path
            if target:
                other = os.path.normpath(os.path.join(os.path.dirname(path), target))
            if not os.path.exists(sources.absolute(other)):
                yield "%s: the link leads to %s, which is not there" % (where, other)
            elif anchor and anchor not in anchors(sources.read(other)):
                yield "%s: %s has no heading for #%s" % (where, other, anchor)


def check_pictures():
    """A picture is what its script draws."""
    script = sources.absolute("docs/pictures/draw.py")
    result = subprocess.run([sys.executable, script, "--check"], stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        yield "docs/pictures/draw.py: %s" % result.stderr.strip()


MOST_WORDS = 1200  # of a plugin's README, whose comments nobody sees

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def check_words():
    for path in sources.files("plugin/*/README.md"):
        words = len(_COMMENT.sub("", sources.read(path)).split())
        if words > MOST_WORDS:
            yield "%s: %d words, more than %d: REFERENCE.md has room" % (path, words, MOST_WORDS)


def check_tables():
    """A table of measurements is what results/published says."""
    script = sources.absolute("test/bench/tables.py")
    result = subprocess.run([sys.executable, script, "--check"], stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        yield from result.stderr.strip().splitlines()


def check_columns():
    """No line is longer than COLUMNS; one that cannot be broken may be."""
    for path in sources.files("*.h", "*.cc", "*.md", "*.py", "*.sh", "*.cmake", "*CMakeLists.txt",
                              "Makefile", "scripts/*", "test/crash/*"):
        for number, line in enumerate(sources.read(path).splitlines(), 1):
            if len(line) > COLUMNS and " " in line.strip().lstrip("-*/ "):
                yield "%s:%d: %d columns" % (path, number, len(line))
