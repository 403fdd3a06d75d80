#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""Checks what no compiler sees of the sources and documents, and every reader does.

Prints each finding as FILE:LINE: MESSAGE. Exit status 1: there are some.
"""

import argparse
import sys

import commands
import copies
import dead
import documents
import includes
import layout
import messages
import metrics
import one_definition
import pasted
import reference
import rooms
import versions

CHECKS = {
    "format": layout.check,
    "size": layout.check_size,
    "types": one_definition.check,
    "headers": includes.check_own_header_first,
    "plugins": includes.check_plugins_are_alone,
    "lists": includes.check_lists,
    "internal": includes.check_internal_headers,
    "copies": copies.check,
    "links": documents.check_links,
    "pictures": documents.check_pictures,
    "tables": documents.check_tables,
    "columns": documents.check_columns,
    "words": documents.check_words,
    "dead": dead.check,
    "messages": messages.check,
    "metrics": metrics.check,
    "reference": reference.check,
    "commands": commands.check,
    "pasted": pasted.check,
    "versions": versions.check,
    "rooms": rooms.check,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checks", nargs="*", help=", ".join(CHECKS) + "; all by default")
    names = parser.parse_args().checks or list(CHECKS)
    failed = 0
    for name in names:
        findings = sorted(set(CHECKS[name]()))
        for finding in findings:
            print("%s [%s]" % (finding, name))
        failed += bool(findings)
    print("%d passed, %d failed" % (len(names) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
