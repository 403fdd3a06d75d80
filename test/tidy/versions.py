# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Versions of RocksDB that documents speak of: those of docs/compatibility.md and no others.

That page has the version that is downloaded and tested by default, and those tested by hand.
"""

import re

import sources

PAGE = "docs/compatibility.md"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "plugin/*/*.md", "examples/*.md")

_DEFAULT = re.compile(r"^readonly default_version=(\S+)$", re.MULTILINE)
_ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \|", re.MULTILINE)
# "RocksDB 9", "RocksDB before 9.10", "9.10.0".
_SPOKEN_OF = re.compile(
    r"RocksDB(?:'s)?(?: (?:before|below|from|since|until|up to|version))? v?(\d+(?:\.\d+)*)"
    r"|(?<![\w.-])(\d+\.\d+\.\d+)(?![\w-])")


def check():
    tested = _ROW.findall(sources.read(PAGE))
    default = _DEFAULT.search(sources.read("scripts/source")).group(1)
    if default not in tested:
        yield "%s: does not list %s, which scripts/source downloads" % (PAGE, default)
    for path in sources.files(*PAGES):
        for number, line in enumerate(sources.read(path).splitlines(), 1):
            for match in _SPOKEN_OF.finditer(line):
                version = match.group(1) or match.group(2)
                if not any((other + ".").startswith(version + ".") for other in tested):
                    yield "%s:%d: %s has no such version of RocksDB: %s" % (
                        path, number, PAGE, version)
