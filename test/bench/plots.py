#!/usr/bin/env python3
"""Draws every results/<name>.json as <name>.svg and <name>.png with gnuplot (make plots)."""

import glob
import json
import os
import subprocess
import sys

from common import harness

RESULTS = os.path.join(os.path.dirname(os.path.dirname(harness.BENCH)), "results")
WIDTH, PANEL_HEIGHT, HEAD = 1800, 400, 70
COLOURS = ("#9e9e9e", "#5b8ff9", "#f6bd16", "#2e8b57", "#b07aa1", "#d9534f")
MISSING = "NaN"


def script(document, terminal, target):
    panels = [panel for panel in document["panels"] if workloads(document, panel)]
    height = HEAD + PANEL_HEIGHT * len(panels)
    lines = [
        f'set terminal {terminal} size {WIDTH},{height} font "sans,13" background "white"',
        f"set output '{target}'",
        f"set multiplot layout {len(panels)},1 title {quoted(title(document))}",
        "set style data histogram",
        "set style histogram clustered gap 1",
        "set style fill solid 0.9 noborder",
        "set boxwidth 0.9",
        "set grid ytics back linewidth 1 linecolor rgb '#c0c0c0'",
        "set border 3",
        "set xtics nomirror scale 0",
        "set ytics nomirror",
        "set key outside right top reverse Left",
        "set rmargin 16",
        "set lmargin 12",
    ]
    for number, panel in enumerate(panels):
        lines += panel_lines(document, panel, f"$data{number}")
    return "\n".join([*lines, "unset multiplot", ""])


def title(document):
    machine = document["machine"]
    quick = "QUICK RUN, a smoke check. " if document["quick"] else ""
    ground = (
        f"RocksDB {document['rocksdb']}, {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['disk']}; median of {document['rounds']}"
    )
    return f"{document['name']}: {document['title']}\n{quick}{ground}"


def panel_lines(document, panel, data):
    names, systems = workloads(document, panel), all_systems(document)
    value = values(document, panel["metric"])
    log = panel["log"]
    present = [s for s in systems if any(drawable(value.get((name, s)), log) for name in names)]
    rows = [" ".join([quoted("workload"), *map(quoted, present)])]
    for name in names:
        row = [shown(value.get((name, s)), log) for s in present]
        rows.append(" ".join([quoted(name), *row]))
    bars = [
        f"{data} using {i + 2}:xtic(1) title columnheader lc rgb '{COLOURS[systems.index(s) % 6]}'"
        for i, s in enumerate(present)
    ]
    return [
        f"{data} << EOD",
        *rows,
        "EOD",
        f"set title {quoted(panel['title'])}",
        "set logscale y" if log else "unset logscale y",
        "set yrange [1:*]" if log else "set yrange [0:*]",
        "plot " + ", ".join(bars),
    ]


def drawable(value, log):
    return value is not None and (value >= 1 or not log)


def shown(value, log):
    return f"{value:.6g}" if drawable(value, log) else MISSING


def values(document, metric):
    rows = [row for row in document["rows"] if row["metric"] == metric]
    return {(row["benchmark"], row["system"]): row["value"] for row in rows}


def workloads(document, panel):
    return list(dict.fromkeys(name for name, _ in values(document, panel["metric"])))


def all_systems(document):
    return list(dict.fromkeys(row["system"] for row in document["rows"]))


def quoted(text):
    # gnuplot's double quotes take \n as a new line; "_" would start a subscript in enhanced text.
    for plain, escaped in (("\\", "\\\\"), ('"', "'"), ("\n", "\\n"), ("_", "\\\\_")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


def draw(path):
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    if "panels" not in document:  # the demo's, which has a page of its own
        return
    for terminal, suffix in (("svg", ".svg"), ("pngcairo", ".png")):
        target = os.path.splitext(path)[0] + suffix
        subprocess.run(["gnuplot"], input=script(document, terminal, target), text=True, check=True)
        print(os.path.relpath(target))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else RESULTS
    paths = sorted(glob.glob(os.path.join(folder, "*.json")))
    if not paths:
        print(f"No results in {os.path.relpath(folder)}; run make bench first.", file=sys.stderr)
        return 1
    for path in paths:
        draw(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
