"""The plot of a results file, as a script for gnuplot: bars with intervals over the rounds."""

import dataclasses
import textwrap

WIDTH, PANEL_HEIGHT, HEAD = 1800, 400, 90
COLOURS = ("#9e9e9e", "#5b8ff9", "#f6bd16", "#2e8b57", "#b07aa1", "#d9534f", "#17becf", "#8c564b",
           "#1f3b73", "#bcbd22", "#ff9da7", "#404040")
MISSING = "NaN"
MOST_WORKLOADS = 9  # in one panel
LABEL = 13  # characters of a line below a bar
SMALL_WIDTH, SMALL_HEIGHT = 720, 300
STYLE = (
    "set style data histogram",
    "set style histogram errorbars gap 1 linewidth 1",
    "set style fill solid 0.9 noborder",
    "set boxwidth 0.9",
    "set grid ytics back linewidth 1 linecolor rgb '#c0c0c0'",
    "set errorbars linecolor rgb '#303030'",
    "set border 3",
    "set xtics nomirror scale 0",
    "set ytics nomirror",
    "set key outside right top reverse Left",
    "set bmargin 4",
)
OURS = "#2e8b57"  # the last system of a small plot


def panels_of(document):
    """Those that have something to show; the demo's file has none, for it has a page of its own.

    One with many workloads becomes several.
    """
    result = []
    for panel in document.get("panels", []):
        names = workloads(document, panel)
        result += [(panel, names[first:first + MOST_WORKLOADS])
                   for first in range(0, len(names), MOST_WORKLOADS)]
    return result


def script(document, terminal, target=None):
    panels = panels_of(document)
    height = HEAD + PANEL_HEIGHT * len(panels)
    lines = [
        f'set terminal {terminal} size {WIDTH},{height} font "sans,13" background "white"',
        *([f"set output '{target}'"] if target else []),
        f"set multiplot layout {len(panels)},1 title {quoted(title(document))}",
        *STYLE,
        f"set rmargin {max(map(len, all_systems(document))) + 10}",
        "set lmargin 12",
    ]
    for number, (panel, names) in enumerate(panels):
        lines += panel_lines(document, panel, names, f"$data{number}")
    return "\n".join([*lines, "unset multiplot", ""])


@dataclasses.dataclass(frozen=True)
class Bars:
    """What one small plot shows: (name, how it is called) of workloads and of systems."""

    title: str
    workloads: list
    systems: list
    scale: float


def small(bars, row_of):
    """For a document: a group of bars for each workload. `row_of`: of workload and system."""
    table = [" ".join([quoted("workload"), *(f'{quoted(text)} "" ""' for _, text in bars.systems)])]
    for workload, text in bars.workloads:
        cells = [shown_scaled(row_of(workload, system), bars.scale) for system, _ in bars.systems]
        table.append(" ".join([quoted("\n".join(textwrap.wrap(text, LABEL))), *cells]))
    columns = [
        f"$data using {3 * i + 2}:{3 * i + 3}:{3 * i + 4}:xtic(1) title columnheader "
        f"lc rgb '{OURS if i + 1 == len(bars.systems) else COLOURS[i % len(COLOURS)]}'"
        for i in range(len(bars.systems))]
    return "\n".join([
        f'set terminal svg size {SMALL_WIDTH},{SMALL_HEIGHT} font "sans,12" background "white"',
        "$data << EOD", *table, "EOD",
        *STYLE,
        "set yrange [0:*]",
        f"set xrange [-0.7:{len(bars.workloads) - 0.4:g}]",
        f"set title {quoted(bars.title)}",
        "plot " + ", ".join(columns), ""])


def shown_scaled(row, scale):
    if row is None:
        return " ".join([MISSING] * 3)
    low, high = row["interval"] or (row["value"], row["value"])
    return " ".join(f"{value * scale:.6g}" for value in (row["value"], low, high))


def title(document):
    machine = document["machine"]
    quick = "QUICK RUN, a smoke check. " if document["quick"] else ""
    ground = (
        f"RocksDB {document['rocksdb']}, {machine['cpu']}, {machine['cores']} cores, "
        f"{machine['memory_gb']} GB, {machine['disk']}; rounds: {document['rounds']}; bars: medians"
    )
    return f"{document['name']}: {document['title']}\n{quick}{ground}"


def panel_lines(document, panel, names, data):
    systems = all_systems(document)
    rows = rows_of(document, panel["metric"])
    log = panel["log"]
    present = [s for s in systems if any(drawable(rows.get((name, s)), log) for name in names)]
    table = [" ".join([quoted("workload"), *(f'{quoted(s)} "" ""' for s in present)])]
    for name in names:
        cells = [shown(rows.get((name, s)), log) for s in present]
        table.append(" ".join([quoted("\n".join(textwrap.wrap(name, LABEL))), *cells]))
    bars = [
        f"{data} using {3 * i + 2}:{3 * i + 3}:{3 * i + 4}:xtic(1) title columnheader "
        f"lc rgb '{COLOURS[systems.index(s) % len(COLOURS)]}'"
        for i, s in enumerate(present)
    ]
    return [
        f"{data} << EOD",
        *table,
        "EOD",
        f"set title {quoted(panel['title'])}",
        "set logscale y" if log else "unset logscale y",
        "set yrange [1:*]" if log else "set yrange [0:*]",
        "plot " + ", ".join(bars),
    ]


def drawable(row, log):
    return row is not None and (row["value"] >= 1 or not log)


def shown(row, log):
    """Value and ends of the interval; of one round these are the value."""
    if not drawable(row, log):
        return " ".join([MISSING] * 3)
    low, high = row["interval"] or (row["value"], row["value"])
    return f"{row['value']:.6g} {max(low, 1) if log else low:.6g} {high:.6g}"


def rows_of(document, metric):
    return {(row["benchmark"], row["system"]): row
            for row in document["rows"] if row["metric"] == metric}


def workloads(document, panel):
    rows = rows_of(document, panel["metric"])
    return list(dict.fromkeys(name for (name, _), row in rows.items()
                              if drawable(row, panel["log"])))


def all_systems(document):
    return list(dict.fromkeys(row["system"] for row in document["rows"]))


def quoted(text):
    # gnuplot's double quotes take \n as a new line; "_" would start a subscript in enhanced text.
    for plain, escaped in (("\\", "\\\\"), ('"', "'"), ("\n", "\\n"), ("_", "\\\\_")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
