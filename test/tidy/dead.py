# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Functions that a plugin's headers declare, and that nothing but the tests calls."""

import collections
import re

import sources

_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
# The name of a function that is declared: a type is before it, and it begins a line of its own.
_DECLARED = re.compile(
    r"^ {0,4}(?! )(?!return\b|using\b|typedef\b|#)[\w:<>,&*\[\] ]*[\w>&*] [&*]?(\w+)\(",
    re.MULTILINE)
# One that is defined outside its class.
_DEFINED = re.compile(r"^(?=\S)[^\n;=]*::(\w+)\(", re.MULTILINE)


def check():
    for plugin in sources.plugins():
        folder = "plugin/%s/" % plugin
        texts = {path: sources.code(sources.read(path)) for path in sources.files(
            folder + "*.h", folder + "*.cc", "tools/*.h", "tools/*.cc", "examples/*.cc")}
        words = collections.Counter()
        for text in texts.values():
            words.update(_WORD.findall(text))
            words.subtract(_DEFINED.findall(text))
        for path, text in texts.items():
            if path.endswith(".h") and path.startswith(folder) and path != folder + plugin + ".h":
                yield from _without_callers(path, text, words)


def _without_callers(path, text, words):
    declared = [match for match in _DECLARED.finditer(text)
                if not match.group(1).startswith("TEST_") and match.group(1) != "alignas"]
    names = collections.Counter(match.group(1) for match in declared)
    for match in declared:
        name = match.group(1)
        if words[name] <= names[name] and "override" not in text[match.end():].split(";", 1)[0]:
            yield "%s:%d: %s() has no caller" % (path, sources.line_of(text, match.start(1)), name)
