# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Commands of the documents: each is executed by some test; commands.txt says by which."""

import collections
import os
import re
import shlex

import sources

LIST = "test/tidy/commands.txt"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "plugin/*/README.md")
# Instead of a test: why there can be none.
NOT_RUN = "not run: "

Entry = collections.namedtuple("Entry", "line pattern test")

_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ASSIGNMENT = re.compile(r"\w+=")
_NESTED = re.compile(r"^\w+=\$\((.*)\)$")
# Options of rocktier may be anywhere.
_OPTION = re.compile(r"--?\w")


def of(path):
    """The commands in the blocks of a page, as (line, words)."""
    for _, block in blocks(sources.read(path)):
        yield from block


def blocks(text):
    """Where each block of a page begins, and its commands as (line, words)."""
    for block in _BLOCK.finditer(text):
        first = sources.line_of(text, block.start(1))
        yield block.start(), list(_lines(first, block.group(1)))


def _lines(first, block):
    joined = re.sub(r"\\\n|(?<=\|)\n", lambda match: match.group(0).replace("\n", "\0"), block)
    for line in joined.splitlines():
        for words in _commands(line.replace("\\\0", "").replace("\0", " ")):
            yield first, words
        first += 1 + line.count("\0")


def _commands(line):
    nested = _NESTED.match(line)
    words = shlex.split(nested.group(1) if nested else line, comments=True)
    command = []
    for word in words + ["|"]:
        if word == "|":
            if command:
                yield command
            command = []
        elif command or not _ASSIGNMENT.match(word):
            word = re.sub(r"^\$dir/bin/", "", word)
            command.append(re.sub(r"\s+", "_", word))


def entries():
    """PATTERN -> TEST; `*` in a pattern is any part of a word, `...` any words."""
    for number, line in enumerate(sources.read(LIST).splitlines(), 1):
        if line and not line.startswith("#"):
            pattern, _, test = line.partition(" -> ")
            yield Entry(number, pattern.split(), test)


def _expression(pattern):
    words = []
    for word in pattern:
        any_part = "".join(r"\S*" if part == "*" else re.escape(part)
                           for part in re.split(r"(\*)", word))
        words.append(r"(?: \S+)*" if word == "..." else " " + any_part)
    return re.compile("".join(words))


def _literals(entry):
    """What the text of the test must have, for it runs the command: all that the pattern says."""
    for word in entry.pattern[1:]:
        for part in word.split("*"):
            if part.strip(".") and part != "-":
                yield part


def check():
    known = list(entries())
    used = set()
    for page in sources.files(*PAGES):
        for line, words in of(page):
            # The options last, in order: they may be anywhere.
            command = words
            if words[0] == "rocktier":
                command = sorted(words, key=lambda word: bool(_OPTION.match(word)))
            text = "".join(" " + word for word in command)
            matching = [entry for entry in known if _expression(entry.pattern).fullmatch(text)]
            used.update(entry.line for entry in matching)
            if not matching:
                yield "%s:%d: no line of %s has \"%s\"" % (page, line, LIST, text.strip())
    for entry in known:
        yield from _check_entry(entry, entry.line in used)


def _check_entry(entry, used):
    where = "%s:%d" % (LIST, entry.line)
    if not used:
        yield "%s: no document has such a command" % where
    if entry.test.startswith(NOT_RUN):
        return
    if not entry.test or not os.path.isfile(sources.absolute(entry.test)):
        yield "%s: there is no test \"%s\"" % (where, entry.test)
        return
    text = sources.read(entry.test)
    for literal in _literals(entry):
        begin = r"(?<![\w-])" if re.match(r"[\w-]", literal) else ""
        if not re.search(begin + re.escape(literal), text):
            yield "%s: %s has no \"%s\"" % (where, entry.test, literal)
