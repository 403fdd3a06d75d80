#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""doxygen_filter.py HEADER: prints a public header as Doxygen wants it.

The comments are plain ones, as in RocksDB. Here they get Doxygen's marks; lines of a group share
the comment above it; a list X(name, unit, description) becomes the members that it stands for.
"""

import re
import sys

LIST = re.compile(r"#define (\w+)\(X\)")
ENTRY = re.compile(r'X\((\w+), "([^"]*)",\s*((?:"[^"]*"\s*)+)\)')
COMMENT = re.compile(r"^( *)//( .*|)$")
TRAILING = re.compile(r"^(.*[;,{)\w]) +// (.*)$")


def lists_of(text):
    """name of a list -> [(member, unit, description)]."""
    result = {}
    for match in LIST.finditer(text):
        body = []
        for line in text[match.end():].splitlines():
            body.append(line.rstrip("\\ "))
            if not line.endswith("\\"):
                break
        result[match.group(1)] = [
            (name, unit, "".join(re.findall(r'"([^"]*)"', description)))
            for name, unit, description in ENTRY.findall(" ".join(body))]
    return result


def members(entries):
    for name, unit, description in entries:
        yield "  /// %s. Unit: %s." % (description.rstrip("."), unit)
        yield "  uint64_t %s = 0;" % name


def lines_of(text):
    lists = lists_of(text)
    comment = []  # of the group that the line is in
    fresh = False  # the comment has been printed for the line that follows
    for number, line in enumerate(text.splitlines()):
        use = re.match(r"^  (\w+)\(X\)$", line)
        own = COMMENT.match(line)
        if number == 0:
            yield "/// @file"
        elif line.startswith(("#define X(", "#undef X")):
            continue
        elif line.endswith("\\") or line.startswith("  X("):  # a list itself
            fresh = False
            yield line
        elif use:
            yield from members(lists[use.group(1)])
        elif own:
            comment = comment if fresh else []
            comment.append("%s///%s" % own.groups())
            yield comment[-1]
            fresh = True
        elif TRAILING.match(line):
            comment, fresh = [], False
            yield "%s  ///< %s" % TRAILING.match(line).groups()
        else:
            if not line.strip() or line.startswith("}"):
                comment = []
            elif not fresh and re.match(r"^ *[\w:<>*&, ]+[ &*]\w+( = [^;]*)?;$", line):
                yield from comment
            elif not fresh and re.match(r"^ *[\w:<>*&, ]+ [&*]?\w+\(", line):
                yield from comment
            fresh = False
            yield line


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(lines_of(file.read())))


if __name__ == "__main__":
    main()
