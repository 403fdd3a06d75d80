# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What includes what: headers that stand alone, plugins that stand alone, lists of sources."""

import os
import re

import sources

_INCLUDE = re.compile(r'^#include ["<]([^">]+)[">]', re.MULTILINE)


def of(path):
    return _INCLUDE.findall(sources.read(path))


def check_own_header_first():
    """A source includes its own header first, so that this header compiles alone."""
    for path in sources.files("plugin/*.cc", "test/*.cc", "tools/*.cc"):
        header = path[:-3] + ".h"
        if os.path.exists(sources.absolute(header)):
            included = of(path)
            if not included or included[0] != header:
                yield "%s: %s is not what is included first" % (path, header)


def check_plugins_are_alone():
    """A plugin includes no other one, and nothing of the tests."""
    for path in sources.files("plugin/*.h", "plugin/*.cc"):
        own = "/".join(path.split("/")[:2]) + "/"
        for header in of(path):
            if header.startswith(("plugin/", "test/", "tools/")) and not header.startswith(own):
                if "/tools/" not in path or not header.startswith("tools/"):
                    yield "%s: includes %s, which is not its plugin's" % (path, header)


def check_lists():
    """The .mk file of a plugin lists all its sources, in order, on one line."""
    for plugin in sources.plugins():
        makefile = "plugin/%s/%s.mk" % (plugin, plugin)
        listed = re.search(r"^%s_SOURCES = (.*)$" % plugin, sources.read(makefile), re.MULTILINE)
        if listed is None:
            yield "%s: no line '%s_SOURCES = ...'" % (makefile, plugin)
            continue
        listed = listed.group(1).split()
        prefix = "plugin/%s/" % plugin
        found = [path[len(prefix):] for path in sources.files(prefix + "*.cc")
                 if not path.startswith(prefix + "tools/")]
        for name in sorted(set(found) ^ set(listed)):
            yield "%s: %s is %s" % (makefile, name,
                                    "missing" if name in found else "listed, and not there")
        if listed != sorted(listed):
            yield "%s: the sources are not in order" % makefile


def _internal_headers(plugin):
    """(file, header): the internal headers of RocksDB that a plugin includes."""
    folder = "plugin/%s/" % plugin
    for path in sources.files(folder + "*.h", folder + "*.cc"):
        for header in of(path):
            if "/" in header and header.endswith(".h") and not header.startswith(
                    ("plugin/", "rocksdb/", "sys/", "linux/", "tools/", "blkid/", "netinet/")):
                yield path, header


def _has_public_headers_only(plugin):
    line = "set(%s_PUBLIC_HEADERS ON PARENT_SCOPE)" % plugin
    return line in sources.read("plugin/%s/CMakeLists.txt" % plugin)


def check_internal_headers():
    """A plugin's REFERENCE.md (or README.md) lists each internal header of RocksDB it includes. One
    that says so in its CMakeLists.txt includes none, but for its SyncPoints."""
    for plugin in sources.plugins():
        folder = "plugin/%s/" % plugin
        text = "".join(sources.read(path) for path in sources.files(folder + "*.md"))
        only_public = _has_public_headers_only(plugin)
        for path, header in _internal_headers(plugin):
            if only_public:
                if (path, header) != (folder + "sync_points.h", "test_util/sync_point.h"):
                    yield "%s: includes %s, which is not public" % (path, header)
            elif "`%s`" % header not in text:
                yield "%s: no document of the plugin lists the internal header %s" % (
                    folder, header)
