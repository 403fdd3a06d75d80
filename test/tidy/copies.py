# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Private copies: what several plugins have alike differs by the namespace only.

A plugin shares no code with another one, so that each can be taken alone.
"""

import collections
import os
import re

import sources

# Functions and classes that are copies where several plugins define them.
COPIES = ("AsIOStatus", "Borrowed", "DecodeFixed16", "DecodeFixed32", "DecodeFixed64",
          "EncodeFixed16", "EncodeFixed32", "EncodeFixed64", "OpenInto", "PutFixed32", "PutFixed64",
          "SharedLogger")

# Files that each plugin with figures has.
FILES = ("metrics_page.cc", "metrics_page.h", "metrics_reporter.cc", "metrics_reporter.h")
# Files that are copies where several plugins have them.
COMMON_FILES = ("crc32c.cc", "crc32c.h", "sync_points.h")

_DEFINITION = (r"^(?:template [^\n]*\n)?(?:class|struct|inline|template|[A-Z]\w*)[^\n;]*\b%s\b"
               r"(?:[^;{]*\{[^\n]*\}\n|[^;{]*\{\n.*?^\};?\n)")


def check():
    yield from _check_files()
    for name in COPIES:
        definition = re.compile(_DEFINITION % name, re.MULTILINE | re.DOTALL)
        versions = collections.defaultdict(list)
        for path in sources.files("plugin/*.h", "plugin/*.cc"):
            plugin = path.split("/")[1]
            text = sources.read(path)
            for found in definition.finditer(text):
                where = "%s:%d" % (path, sources.line_of(text, found.start()))
                versions[re.sub(r"\b%s\b" % plugin, "PLUGIN", found.group(0))].append(where)
        first, *others = [places[0] for places in versions.values()] or [None]
        for other in others:
            yield "%s: %s differs from that of %s by more than the plugin's name" % (
                other, name, first)
        if first is None:
            yield "test/tidy/copies.py: no plugin defines %s" % name


def _plugins_with_metrics():
    texts = {path: sources.read(path) for path in sources.files("plugin/*.h", "plugin/*.cc")}
    return sorted({path.split("/")[1] for path, text in texts.items() if "/metrics_" in text})


def _check_files():
    with_metrics = _plugins_with_metrics()
    for name in FILES + COMMON_FILES:
        first = None
        for plugin in with_metrics:
            path = "plugin/%s/%s" % (plugin, name)
            if not os.path.exists(sources.absolute(path)):
                if name in FILES:
                    yield "%s: is missing, and the other plugins have it" % path
                continue
            # Where lines are broken depends on the length of the plugin's name.
            text = re.sub(r"\s+", " ", sources.read(path).replace(plugin, "PLUGIN"))
            text = re.sub(r'" "|(?<=\W) | (?=\W)', "", text)
            first = first or (path, text)
            if text != first[1]:
                yield "%s: differs from %s by more than the plugin's name" % (path, first[0])
