# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""One definition of a type per namespace.

C++ allows no second one in a program, and no compiler sees it: a debug build may take the wrong
constructor. Types of tests count by the folder: those of other folders are other programs.
"""

import collections
import re

import sources

_TOKEN = re.compile(
    r"\bnamespace(?:\s+(?P<namespace>[\w:]+))?\s*\{"
    r"|\b(?:class|struct|union|enum(?:\s+(?:class|struct))?)\s+(?P<type>\w[\w:]*)(?P<rest>[^;{}()=]*)\{"
    r"|[{}]")


def definitions(text):
    """Yields (namespace, name, position) of each type of a file that is in a named namespace."""
    text = sources.code(text)
    scopes = []  # names of namespaces; None is any other scope
    for token in _TOKEN.finditer(text):
        if token.group(0) == "}":
            if scopes:
                scopes.pop()
        elif token.group(0).startswith("namespace"):
            scopes.append(token.group("namespace") or "")
        elif token.group("type"):
            if None not in scopes and "" not in scopes:
                yield "::".join(scopes), token.group("type"), token.start()
            scopes.append(None)
        else:
            scopes.append(None)


def check():
    seen = collections.defaultdict(list)
    for path in sources.files("*.h", "*.cc"):
        text = sources.read(path)
        program = "" if path.startswith("plugin/") else path.rsplit("/", 1)[0]
        for namespace, name, position in definitions(text):
            where = "%s:%d" % (path, sources.line_of(text, position))
            places = seen[(namespace, name)]
            if all(place.split(":")[0] != path for _, place in places):  # a compiler sees that
                places.append((program, where))
    for (namespace, name), places in sorted(seen.items()):
        shared = [place for program, place in places if program == ""]
        for program in sorted({program for program, _ in places if program}):
            own = [place for other, place in places if other == program]
            if len(own) + len(shared) > 1:
                yield "%s: %s::%s is defined here, too: %s" % (
                    own[0], namespace, name, ", ".join(own[1:] + shared))
        if len(shared) > 1:
            yield "%s: %s::%s is defined here, too: %s" % (
                shared[0], namespace, name, ", ".join(shared[1:]))
