"""Results as a table, as gates and as results/<name>.json."""

import dataclasses
import datetime
import json
import os


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
        ratio = results.ratio(name, metric.name, system, benchmark.baseline)
        if metric.show_ratio and system != benchmark.baseline and ratio is not None:
            text += f" ({ratio:.2f}x)"
        cells.append(text)
    return cells


def _aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * len(lines[0]))
    return lines


def gate_lines(gates):
    for gate in gates:
        verdict = "pass" if gate.passes() else "FAIL" if gate.value is not None else "NOT MEASURED"
        value = "-" if gate.value is None else f"{gate.value:.3f}"
        relation = ">=" if gate.at_least else "<="
        yield f"{verdict:4}  {gate.name}: {value} (target {relation} {gate.target:g})"


def write_json(path, header, benchmark, results, gates):
    document = {
        **header,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "title": benchmark.title,
        "ground": benchmark.ground,
        "baseline": benchmark.baseline,
        "panels": [dataclasses.asdict(panel) for panel in benchmark.panels],
        "rows": list(_rows(benchmark, results)),
        "gates": [
            {
                "name": gate.name,
                "value": gate.value,
                "target": gate.target,
                "relation": ">=" if gate.at_least else "<=",
                "pass": gate.passes(),
            }
            for gate in gates
        ],
    }
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".tmp", "w", encoding="utf-8") as f:
        json.dump(document, f, indent=1)
        f.write("\n")
    os.replace(path + ".tmp", path)


def _rows(benchmark, results):
    for name, system in results.keys():
        for metric in benchmark.metrics:
            value = results.median(name, system, metric.name)
            if value is None:
                continue
            yield {
                "benchmark": name,
                "system": system,
                "metric": metric.name,
                "value": value,
                "unit": metric.unit,
                "ratio": results.ratio(name, metric.name, system, benchmark.baseline),
                "spread": results.spread(name, system, metric.name),
            }
