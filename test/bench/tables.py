#!/usr/bin/env python3
"""Writes the tables and plots of documents anew from results/published (make tables).

--check writes nothing: exit status 1 if a table is not what the results say. The comments in the
documents say what each table shows; common/quotes.py has their grammar.
"""

import hashlib
import os
import subprocess
import sys

from common import harness, quotes, report, runs

ROOT = os.path.dirname(os.path.dirname(harness.BENCH))


def pages():
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                              "*.md"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return sorted(path for path in listing.stdout.split() if os.path.exists(f"{ROOT}/{path}"))


def texts_of(page, documents):
    """(path, text as it shall be) of a page and its plots; no text: gnuplot makes it."""
    text = read(page)
    yield page, quotes.rewritten(text, documents, page), None
    for name, script in quotes.plots(text, documents, page).items():
        yield os.path.normpath(os.path.join(os.path.dirname(page), name)), None, script


def read(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


def mark(script):
    """The last line of a plot: what it was drawn of. Other versions of gnuplot draw otherwise."""
    return f"<!-- of {hashlib.sha256(script.encode()).hexdigest()} -->\n"


def is_right(path, text, script):
    if not os.path.exists(f"{ROOT}/{path}"):
        return False
    return read(path) == text if script is None else read(path).endswith(mark(script))


def write(path, text, script):
    if script is not None:
        drawn = subprocess.run(["gnuplot"], input=script, stdout=subprocess.PIPE, text=True,
                               check=True)
        text = "\n".join(line.rstrip() for line in drawn.stdout.splitlines()) + "\n" + mark(script)
    os.makedirs(os.path.dirname(f"{ROOT}/{path}"), exist_ok=True)
    with open(f"{ROOT}/{path}", "w", encoding="utf-8") as file:
        file.write(text)
    print(path)


def main(argv):
    published = report.published(os.path.join(ROOT, "results"))
    try:
        documents = {**report.read_all(published), **runs.read_all(published)}
    except quotes.Mistake as mistake:
        print(mistake, file=sys.stderr)
        return 1
    failed = False
    for page in pages():
        try:
            wrong = [of for of in texts_of(page, documents) if not is_right(*of)]
        except quotes.Mistake as mistake:
            print(mistake, file=sys.stderr)
            failed = True
            continue
        for path, text, script in wrong:
            if "--check" in argv:
                print(f"{path}: is not what results/published says: make tables", file=sys.stderr)
                failed = True
            else:
                write(path, text, script)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
