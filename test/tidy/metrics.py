#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Metrics: docs/metrics.md has all that the lists of counters have.

Run as a program, it writes the tables there anew.
"""

import re

import sources

DOCUMENT = "docs/metrics.md"

# By plugin: lists of counters as file, macro, type where the list has none, and what names begin
# with; and where metrics are added that follow from others.
LISTS = {
    "raw_wal_fs": (("raw_wal_fs.h", "RAW_WAL_STATS", "", ""),),
    "tiered_env": (("tiered_env.h", "TIERED_TIER_STATS", "", "tier_"),
                   ("tiered_env.h", "TIERED_FAMILY_STATS", "", "family_"),
                   ("tiered_env.h", "TIERED_VOLATILE_STATS", "", "memory_")),
    "secondary_cache_2q": (("secondary_cache_2q.h", "TWOQ_SECONDARY_CACHE_STATS", "", ""),),
    "hot_promotion": (("hot_promotion.h", "HOT_PROMOTION_STATS", "", ""),
                      ("ralt/stats.h", "RALT_STATS", "", "access_table_")),
    "blob_hybrid": (("blob_hybrid.h", "BLOB_HYBRID_GAUGES", "gauge", ""),
                    ("blob_hybrid.h", "BLOB_HYBRID_COUNTERS", "counter", "")),
}

_ENTRY = re.compile(r'X\((\w+), (?:(counter|gauge), )?"?(\w+)"?,\s*"([^"]*)"\)')
_DERIVED = re.compile(r'Add\(\s*\{"(\w+)",\s*"(\w+)",\s*"(\w*)",\s*"([^"]*)"\}')

# What becomes of the end of a name: metrics_page.cc has the same.
_UNITS = {"bytes": ("bytes", "bytes"), "microseconds": ("micros", "seconds"),
          "us": ("us", "seconds"), "percent": ("percent", "ratio"), "ratio": ("ratio", "ratio")}


def name_in_text(name, kind, unit):
    """What a sample is called, without the plugin."""
    if unit in _UNITS:
        end, base = _UNITS[unit]
        name = re.sub(r"(^|_)%s$" % end, "", name)
        name += ("_" if name else "") + base
    return name + ("_total" if kind == "counter" else "")


def entries(path, macro):
    """(name, type, unit, description) of a list."""
    body = re.search(r"#define %s\(X\)((?:.*\\\n)*.*\n)" % macro, sources.read(path)).group(1)
    return _ENTRY.findall(body.replace("\\\n", "\n"))


def metrics(plugin):
    """(name, description) of all metrics of a plugin."""
    result = []
    for file, macro, kind, prefix in LISTS[plugin]:
        for name, own_kind, unit, text in entries("plugin/%s/%s" % (plugin, file), macro):
            result.append((name_in_text(prefix + name, own_kind or kind, unit), text))
    for path in sources.files("plugin/%s/metrics.cc" % plugin):
        for name, kind, unit, text in _DERIVED.findall(sources.read(path)):
            result.append((name_in_text(name, kind, unit), text))
    return result


def table(plugin):
    rows = ["| `rocktier_%s_` | meaning |" % plugin, "|---|---|"]
    rows += ["| `%s` | %s |" % metric for metric in metrics(plugin)]
    return "\n".join(rows) + "\n"


def tables(document):
    """The tables of the document, by plugin: match objects."""
    return {found.group(1): found
            for found in re.finditer(r"^\| `rocktier_(\w+?)_` \|(?:.*\n)(?:\|.*\n)*", document,
                                     re.MULTILINE)}


def check():
    document = sources.read(DOCUMENT)
    found = tables(document)
    for plugin in LISTS:
        if plugin not in found or found[plugin].group(0) != table(plugin):
            position = found[plugin].start() if plugin in found else 0
            yield "%s:%d: the table of %s is not that of its lists: run test/tidy/metrics.py" % (
                DOCUMENT, sources.line_of(document, position), plugin)
        reference = "plugin/%s/REFERENCE.md" % plugin
        for file, macro, _, _ in LISTS[plugin]:
            for name, _, _, _ in entries("plugin/%s/%s" % (plugin, file), macro):
                if "`%s`" % name not in sources.read(reference):
                    yield "%s: %s of %s is missing" % (reference, name, macro)
        page = "plugin/%s/metrics_page.h" % plugin
        version = re.search(r"project\(rocktier VERSION ([\d.]+)", sources.read("CMakeLists.txt"))
        if 'kMetricsVersion[] = "%s"' % version.group(1) not in sources.read(page):
            yield "%s: the version is not that of CMakeLists.txt" % page


def main():
    document = sources.read(DOCUMENT)
    for plugin, found in tables(document).items():
        document = document.replace(found.group(0), table(plugin))
    with open(sources.absolute(DOCUMENT), "w", encoding="utf-8") as file:
        file.write(document)


if __name__ == "__main__":
    main()
