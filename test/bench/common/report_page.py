"""The page of make report: what results/published has, with each gate and its verdict.

Gates of benchmarks that have no results there are in it, too.
"""

import collections

from common import harness, plot, standing
from common.html_page import plot as drawn
from common.html_page import tabular, text, whole
from common.report import identity, identity_of

GATES = ("", "gate", "target", "figure", "interval", "verdict")
ABOUT = """Each figure is the median of its rounds, each ratio that of the rounds' own. The systems
take turns in each round, and another one begins. A gate of safety goes by its worst sample. Any
other one is met if all of its interval is on the right side of the target, missed if all of it is
on the wrong one, else undecided. One round has no spread and no interval: n/a. Of three rounds the
interval is from the least to the largest, which has the true median in it three times out of four;
of six, 97 times out of 100. Gates are those of the sources of today, judged by these samples."""
TEXT = ("", "gate", "verdict")


def page(documents):
    judged = standing.of_all(documents)
    return whole("rocktier: measurements", [
        "<h1>rocktier: measurements</h1>",
        f"<p>{ABOUT}</p>",
        "<h2>Gates</h2>",
        f"<p>{counts([gate for _, _, gates in judged for gate in gates])}</p>",
        tabular(GATES, [row for name, _, gates in judged for row in gate_rows(name, gates)], TEXT),
        *(section(document) for document in documents),
        *(section_of_none(name) for name, document, _ in judged if document is None),
    ])


def counts(gates):
    """How many of each verdict."""
    verdicts = collections.Counter(gate["verdict"].partition(":")[0] for gate in gates)
    return ", ".join(f'{number} <span class="{name}">{name}</span>'
                     for name, number in verdicts.items())


def gate_rows(name, gates):
    link = f'<a href="#{identity_of(name)}">{text(name)}</a>'
    for number, gate in enumerate(gates):
        yield (f'<tr class="gate"><td>{link if number == 0 else ""}</td>'
               f'<td class="text wide">{text(gate["name"])}</td>'
               f'<td>{text(gate["relation"])} {gate["target"]:g}</td>'
               f'<td>{figure(gate["value"])}</td>'
               f"<td>{interval(gate)}</td>"
               f'<td class="text {gate["verdict"].partition(":")[0]}">{text(gate["verdict"])}</td>'
               "</tr>")


def figure(value):
    return "-" if value is None else text(value) if isinstance(value, str) else f"{value:.3f}"


def interval(gate):
    if gate["by"] == "worst":
        return f"the worst of {len(gate['samples'])}" if gate["samples"] else "-"
    return span(gate["interval"], "{:.3f}")


def span(ends, shape, scale=1):
    return "n/a" if ends is None else " to ".join(shape.format(end * scale) for end in ends)


def section(document):
    lines = [
        f'<h2 id="{identity(document)}">{text(document["name"])} '
        f'<small>{text(document["title"])}</small></h2>',
        f"<p>{text(document['about'])}</p>",
        ground(document),
        f"<p><code>{text(document['command'])}</code></p>",
    ]
    if plot.panels_of(document):
        lines.append(drawn(plot.script(document, "svg"), identity(document)))
    lines += [table(document, name)
              for name in dict.fromkeys(row["benchmark"] for row in document["rows"])]
    lines.append(programs(document))
    return "\n".join(lines)


def section_of_none(name):
    """Of a benchmark that has no results."""
    benchmark = harness.load("benchmarks", name).BENCHMARK
    return "\n".join([
        f'<h2 id="{identity_of(name)}">{text(name)} <small>{text(benchmark.title)}</small></h2>',
        f"<p>{text(benchmark.ground)}</p>",
        f"<p>Not published yet: <code>make bench NAME={text(name)} ARGS=--publish</code></p>",
    ])


def ground(document):
    machine, build = document["machine"], document["build"]
    rows = [
        ("date, commit", f"{document['date']}, {document['commit']}"),
        ("RocksDB, plugins", f"{document['rocksdb']}, {document['rocktier']}"),
        ("compiler", f"{build['compiler']}, {build['type']}, {build['flags']}"),
        ("machine", f"{machine['cpu']}, {machine['cores']} CPUs, {machine['memory_gb']} GB, "
                    f"{machine['kernel']}"),
        ("disk", f"{machine['disk']}, model {machine['disk_model']}"),
        *document.get("peers", {}).items(),
        *(("ground", one) for one in document["ground"]),
        ("rounds", f"{document['rounds']}; load average before and after each: " + "; ".join(
            f"{before}, {after}" for before, after in document["load_averages"])),
    ]
    return tabular((), [f'<tr><td>{text(name)}</td><td class="text wide">{text(value)}</td></tr>'
                        for name, value in rows])


def table(document, workload):
    """A line for each system: medians, and below them their intervals."""
    rows = {}  # by system and metric
    for row in document["rows"]:
        if row["benchmark"] == workload:
            rows.setdefault(row["system"], {})[row["metric"]] = row
    metrics = [metric for metric in document["metrics"]
               if metric["in_table"] and any(metric["name"] in of for of in rows.values())]
    lines = [f"<tr><td>{text(system)}</td>" +
             "".join(f"<td>{cell(of.get(metric['name']), metric)}</td>" for metric in metrics) +
             "</tr>" for system, of in rows.items()]
    headings = (workload, *(metric["heading"] for metric in metrics))
    return tabular(headings, lines, (workload,)) if metrics else ""


def cell(row, metric):
    if row is None:
        return ""
    shown = text(metric["format"].format(row["value"] * metric["scale"]))
    if metric["show_ratio"] and row["ratio"] is not None and row["system"] != row["baseline"]:
        shown += f" ({row['ratio']:.2f}x)"
    return f"{shown}<br><small>{span(row['interval'], metric['format'], metric['scale'])}</small>"


def programs(document):
    """What was run in the first round, without folders of the machine."""
    commands = dict.fromkeys(command for run in document["samples"] if run["round"] == 0
                             for command in run["commands"])
    items = "".join(f"<li><code>{text(command)}</code></li>" for command in commands)
    return (f"<details><summary>{len(commands)} programs of a round</summary><ol>{items}</ol>"
            "</details>")
