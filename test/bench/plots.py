#!/usr/bin/env python3
"""Draws every results file as <name>.svg and <name>.png with gnuplot (make plots).

Of a benchmark with a file in results/published that one is drawn, for the documents quote it.
"""

import os
import subprocess
import sys

from common import harness, plot, report

RESULTS = os.path.join(os.path.dirname(os.path.dirname(harness.BENCH)), "results")


def draw(document, folder):
    if not plot.panels_of(document):
        return
    for terminal, suffix in (("svg", ".svg"), ("pngcairo", ".png")):
        target = os.path.join(folder, report.identity(document) + suffix)
        script = plot.script(document, terminal, target)
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
        print(os.path.relpath(target))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else RESULTS
    documents = {**report.read_all(folder), **report.read_all(report.published(folder))}
    if not documents:
        print(f"No results in {os.path.relpath(folder)}; run make bench first.", file=sys.stderr)
        return 1
    for document in documents.values():
        draw(document, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
