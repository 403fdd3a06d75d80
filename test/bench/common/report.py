"""Results as a table, and as a file that keeps everything: results/<name>.json.

results/published/<name>.json.xz is one that the documents quote.
"""

import dataclasses
import glob
import json
import lzma
import os

from common import pairs

PUBLISHED = "published"


def table(benchmark, results):
    """One block per workload; the ratio to the baseline stands behind the figures that matter."""
    headings = ["", *(metric.heading for metric in benchmark.metrics if metric.in_table)]
    lines = []
    for name in dict.fromkeys(b for b, _ in results.keys()):
        rows = [[s, *_cells(benchmark, results, name, s)] for b, s in results.keys() if b == name]
        shown = [i for i in range(len(headings)) if i == 0 or any(row[i] for row in rows)]
        picked = [[row[i] for i in shown] for row in [[name, *headings[1:]], *rows]]
        lines += _aligned(picked) + [""]
    return "\n".join(lines)


def _cells(benchmark, results, name, system):
    cells = []
    for metric in benchmark.metrics:
        if not metric.in_table:
            continue
        value = results.median(name, system, metric.name)
        if value is None:
            cells.append("")
            continue
        text = metric.format.format(value * metric.scale)
        baseline = baseline_of(benchmark, results, name)
        ratio = results.ratio(name, metric.name, system, baseline)
        if metric.show_ratio and system != baseline and ratio is not None:
            text += f" ({ratio:.2f}x)"
        cells.append(text)
    return cells


def baseline_of(benchmark, results, name):
    """The benchmark's; of a workload that has not got it, the first system."""
    systems = [system for workload, system in results.keys() if workload == name]
    return benchmark.baseline if benchmark.baseline in systems else systems[0]


def _aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * len(lines[0]))
    return lines


def document_of(header, benchmark, results, gates, ground):
    return {
        **header,
        "title": benchmark.title,
        "about": benchmark.ground,
        "ground": ground,
        "level": pairs.level_of(header["rounds"]),
        "load_averages": results.load_averages,
        "panels": [dataclasses.asdict(panel) for panel in benchmark.panels],
        "metrics": [dataclasses.asdict(metric) for metric in benchmark.metrics],
        "rows": list(_rows(benchmark, results)),
        "gates": [gate.described() for gate in gates],
        "samples": [dataclasses.asdict(run) for run in results.runs],
    }


def _rows(benchmark, results):
    for name, system in results.keys():
        baseline = baseline_of(benchmark, results, name)
        for metric in benchmark.metrics:
            samples = results.samples(name, system, metric.name)
            if not samples:
                continue
            yield {
                "benchmark": name,
                "system": system,
                "metric": metric.name,
                "value": results.median(name, system, metric.name),
                "unit": metric.unit,
                "baseline": baseline,
                "ratio": results.ratio(name, metric.name, system, baseline),
                "spread": results.spread(name, system, metric.name),
                "interval": pairs.interval(samples) if len(samples) > 1 else None,
                "samples": samples,
            }


def write(document, folder, publish):
    """The path. A published file is compressed."""
    path = os.path.join(folder, f"{identity(document)}.json")
    text = json.dumps(document, indent=None if publish else 1) + "\n"
    if publish:
        path = os.path.join(published(folder), f"{identity(document)}.json.xz")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open_text(path + ".tmp", "wt", path) as file:
        file.write(text)
    os.replace(path + ".tmp", path)
    return path


def read(path):
    with open_text(path, "rt", path) as file:
        return json.load(file)


def open_text(path, mode, name):
    opener = lzma.open if name.endswith(".xz") else open
    return opener(path, mode, encoding="utf-8")


def identity(document):
    """For names of files and of places in a page."""
    return identity_of(document["name"])


def identity_of(name):
    """Without spaces."""
    return name.replace(", ", "-").replace(" ", "-")


def published(folder):
    return os.path.join(folder, PUBLISHED)


def read_all(folder):
    """Documents by name."""
    paths = [*glob.glob(os.path.join(folder, "*.json")),
             *glob.glob(os.path.join(folder, "*.json.xz"))]
    return {document["name"]: document for document in map(read, sorted(paths))}
