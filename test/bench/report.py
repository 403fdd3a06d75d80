#!/usr/bin/env python3
"""Makes results/report.html of results/published (make report)."""

import os
import sys

from common import harness, report, report_page

RESULTS = os.path.join(os.path.dirname(os.path.dirname(harness.BENCH)), "results")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else RESULTS
    documents = report.read_all(report.published(folder))
    if not documents:
        print(f"Nothing in {os.path.relpath(report.published(folder))}; run make bench "
              "ARGS=--publish first.", file=sys.stderr)
        return 1
    path = os.path.join(folder, "report.html")
    os.makedirs(folder, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(report_page.page(list(documents.values())))
    print(os.path.relpath(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
