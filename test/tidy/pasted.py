# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Blocks of sh in the documents: somebody pastes one as a whole, where a database lives."""

import re

import commands
import documents
import sources

# What stands before a db_bench that may have a database of somebody's in front of it.
WARNING = "without `--use_existing_db` deletes the database"

_GIVES_UP = re.compile(r"--(force|salvage|lost|repair)(=|$)")
_ELSEWHERE = re.compile(r"--db=(?!/tmp/)")


def check():
    for page in sources.files("*.md"):
        text = sources.read(page)
        for start, block in commands.blocks(text):
            for line, words in block:
                where = "%s:%d" % (page, line)
                if len(block) > 1 and _gives_up(words):
                    yield "%s: gives something up: it stands alone in its block" % where
                if _deletes(words) and WARNING not in _section(text, start):
                    yield "%s: take --use_existing_db, or a --db below /tmp; or say before: %s" % (
                        where, WARNING)
                if words[0] == "export" and any(word.startswith("LD_PRELOAD=") for word in words):
                    yield "%s: LD_PRELOAD is for one program: have both in one line" % where


def _gives_up(words):
    """Whether the command does what one looks for before, and nobody takes back."""
    return "--dry-run" not in words and (
        any(map(_GIVES_UP.match, words)) or words[:3] == ["rocktier", "tier", "purge"]
        or words[0] == "ldb" and "repair" in words)


def _deletes(words):
    """Whether db_bench begins with a database that may be somebody's, and so deletes it."""
    return (words[0] == "db_bench" and "--use_existing_db" not in words
            and any(map(_ELSEWHERE.match, words)))


def _section(text, end):
    """What stands between the last heading and the position."""
    before = documents.without_blocks(text)[:end]
    return " ".join(before[before.rfind("\n#") + 1:].split())
