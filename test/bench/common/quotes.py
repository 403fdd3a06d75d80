"""Tables of documents, made of results/published: no figure in them is written by hand.

A document has a comment that says what the table shows, and the table behind it, up to
`<!-- end -->`. Lines of the comment are `key: value`:

    <!-- results: systems
    of: raw_wal_fs                      the results file
    metric: ops_per_s                   one of its metrics
    also: p99_us                        another one, in parentheses
    rows: NAME = TEXT; NAME             workloads, and how they are called; default: all
    columns: stock; file = raw_wal_fs   systems, likewise
    ratio: file/stock                   one more column: median of the rounds' ratios, and interval
    first: ground                       the heading of the first column
    format: {:.1f}                      of the metric, if it is not the file's own
    scale: 100
    -->

`results: plot` has `of`, `metric`, `rows`, `columns`, `format` and `scale` as above, and draws bars
with intervals to `file: NAME.svg` beside the document; `title` says what they are.
`results: text` is for sentences, and tables of several files. Its comment has a line for each
figure, `NAME = file; workload; metric; system`, or `system/other` for the ratio, and `; .2f` if the
format is not the metric's own, or `; .0f; 100` with a factor; then `---`, then the text, with
`{NAME}` where a figure goes.
`results: metrics` has a row for each system of one workload (`workload: NAME`), and a column for
each of `metrics: NAME = TEXT; ...`. `results: gates` says which gates are not met, and how many
are (common/standing.py); `results: ground` says when, where and by which command all was measured.

Of files with a line for each run (common/runs.py):

    <!-- results: runs
    of: runs                                   results/published/runs.jsonl
    where: kind = long and rocksdb != 11.8.1   these lines; default: all
    columns: {date}, {commit} = when; kills    keys of a line, or texts with keys, and headings
    replace: tiered_env = T                    in all cells
    -->

With `item: {what}: {found}` in the place of `columns` it is a list. In `results: text` a figure of
them is `NAME = file; WHERE; key; HOW`, with `sum`, `count`, `most`, `least`, `last` or `only`;
WHERE may be empty.
`columns` are shown where they are in a line: what a run did not tell is left empty.
"""

import dataclasses
import re
import shlex
import statistics
import textwrap

from common import pairs, plot, runs, standing
from common.markdown import COLUMNS, Mistake, names, shown, table, wrapped
from common.report import identity

BLOCK = re.compile(r"^<!-- results: (\w+)\n(.*?)^-->\n(.*?)^<!-- end -->$",
                   re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Source:
    """A results file, to be asked by workload, system and metric."""

    document: dict

    def row(self, workload, system, metric):
        for row in self.document["rows"]:
            if (row["benchmark"], row["system"], row["metric"]) == (workload, system, metric):
                return row
        return None

    def metric(self, name):
        for metric in self.document["metrics"]:
            if metric["name"] == name:
                return metric
        raise Mistake(f"{self.document['name']} has no metric {name}")

    def workloads(self, metric):
        return list(dict.fromkeys(row["benchmark"] for row in self.document["rows"]
                                  if row["metric"] == metric))

    def systems(self, metric):
        return list(dict.fromkeys(row["system"] for row in self.document["rows"]
                                  if row["metric"] == metric))

    def ratios(self, workload, metric, system, other):
        """The rounds' own."""
        rows = [self.row(workload, name, metric) for name in (system, other)]
        if None in rows or len(rows[0]["samples"]) != len(rows[1]["samples"]):
            return []
        return [mine / base for mine, base in zip(rows[0]["samples"], rows[1]["samples"]) if base]


def rewritten(text, documents, where):
    """The text with all its tables made anew. `documents`: by name."""
    def anew(match):
        kind, keys, _ = match.groups()
        lines = (text_of(keys, documents, where) if kind == "text" else
                 made(KINDS, kind, keys, documents, where))
        return f"<!-- results: {kind}\n{keys}-->\n\n" + "\n".join(lines) + "\n\n<!-- end -->"
    return BLOCK.sub(anew, text)


def plots(text, documents, where):
    """{name of the file: script for gnuplot} of all plots of a document."""
    return dict(made({"plot": plot_script}, "plot", match.group(2), documents, where)
                for match in BLOCK.finditer(text) if match.group(1) == "plot")


def text_of(keys, documents, where):
    figures, dashes, template = keys.partition("---\n")
    values = {}
    for line in re.sub(r"\n +", " ", figures).splitlines():
        name, equals, asked = line.partition(" = ")
        if not equals:
            raise Mistake(f"{where}: results: text: '{line}' is no 'NAME = file; ...'")
        values[name] = figure(asked.split("; "), documents, where)
    try:
        return template.rstrip("\n").format_map(values).splitlines()
    except KeyError as name:
        raise Mistake(f"{where}: results: text: no figure is called {name}") from name


def figure(asked, documents, where):
    of, workload, metric, systems, *shape = (part.strip() for part in asked)
    if of not in documents:
        raise Mistake(f"{where}: nothing is published of '{of}'")
    if isinstance(documents[of], runs.Lines):
        try:
            return runs.figure(documents[of], workload, metric, systems, *shape)
        except Mistake as mistake:
            raise Mistake(f"{where}: {mistake}") from mistake
    source = Source(documents[of])
    system, _, other = systems.partition("/")
    row, ratios = source.row(workload, system, metric), []
    if other:
        ratios = source.ratios(workload, metric, system, other)
    if row is None or bool(other) != bool(ratios):
        raise Mistake(f"{where}: {of} has no {metric} of '{workload}', {systems}")
    own = source.metric(metric)
    value = statistics.median(ratios) if other else row["value"]
    form = f"{{:{shape[0]}}}" if shape else "{:.2f}" if other else own["format"]
    scale = float(shape[1]) if len(shape) > 1 else 1 if other else own["scale"]
    return shown(value, form, scale)


def made(kinds, kind, keys, documents, where):
    fields = fields_of(keys)
    document = documents.get(fields.get("of"))
    if document is None:
        raise Mistake(f"{where}: nothing is published of '{fields.get('of')}'")
    if kind not in kinds:
        raise Mistake(f"{where}: 'results: {kind}' is none of {', '.join(kinds)}")
    of_runs = isinstance(document, runs.Lines)
    if of_runs != (kind == "runs"):
        raise Mistake(f"{where}: results: {kind} is not for '{fields['of']}'")
    try:
        return kinds[kind](document if of_runs else Source(document), fields)
    except (Mistake, KeyError) as mistake:
        raise Mistake(f"{where}: results: {kind}: {mistake}") from mistake


def fields_of(keys):
    fields, last = {}, None
    for line in keys.splitlines():
        key, colon, value = line.partition(": ")
        if colon and re.fullmatch(r"\w+", key):
            fields[key], last = value.strip(), key
        elif last:
            fields[last] += " " + line.strip()
    return fields


def cell(source, fields, workload, system, metric, key="metric"):
    row = source.row(workload, system, metric)
    if row is None:
        return ""
    of = source.metric(metric)
    own = key == "metric"
    shape = fields.get("format", of["format"]) if own else of["format"]
    scale = float(fields.get("scale", of["scale"])) if own else of["scale"]
    return shown(row["value"], shape, scale)


def ratio_cell(ratios):
    if not ratios:
        return ""
    low, high = pairs.interval(ratios)
    text = f"**{statistics.median(ratios):.2f}**"
    return text if len(ratios) < 2 else f"{text} ({low:.2f} to {high:.2f})"


def systems_table(source, fields):
    metric = fields["metric"]
    source.metric(metric)
    rows = names(fields.get("rows"), source.workloads(metric))
    columns = names(fields.get("columns"), source.systems(metric))
    ratio = fields.get("ratio")
    heading = [fields.get("first", ""), *(text for _, text in columns)]
    heading += ["ratio"] if ratio else []
    lines = []
    for workload, text in rows:
        cells = []
        for system, _ in columns:
            value = cell(source, fields, workload, system, metric)
            if value and "also" in fields:
                more = cell(source, fields, workload, system, fields["also"], "also")
                value += f" ({more})" if more else ""
            cells.append(value)
        if not any(cells):
            raise Mistake(f"{source.document['name']} has no {metric} of '{workload}'")
        if ratio:
            cells.append(ratio_cell(source.ratios(workload, metric, *ratio.split("/"))))
        lines.append([text, *cells])
    return table(heading, lines)


def metrics_table(source, fields):
    workload = fields["workload"]
    metrics = names(fields["metrics"], ())
    systems = names(fields.get("rows"), source.systems(metrics[0][0]))
    lines = [[text, *(cell(source, {}, workload, system, metric) for metric, _ in metrics)]
             for system, text in systems]
    if not any(any(line[1:]) for line in lines):
        raise Mistake(f"{source.document['name']} has no '{workload}'")
    return table([fields.get("first", ""), *(text for _, text in metrics)], lines)


def plot_link(_source, fields):
    return [f"![{fields['title']}]({fields['file']})"]


def plot_script(source, fields):
    metric = fields["metric"]
    of = source.metric(metric)
    bars = plot.Bars(fields["title"], names(fields.get("rows"), source.workloads(metric)),
                     names(fields.get("columns"), source.systems(metric)),
                     float(fields.get("scale", of["scale"])))
    return fields["file"], plot.small(bars, lambda *row: source.row(*row, metric))


def gates_list(source, _fields):
    known = standing.of(source.document)
    gates = [gate for gate in known if gate["verdict"] != standing.NOT_MEASURED]
    met = sum(gate["verdict"] == "met" for gate in gates)
    others = [gate for gate in gates if gate["verdict"] != "met"]
    left = len(known) - len(gates)
    first = f"Of {len(gates)} gates {met} are met."
    if left:
        first += f" This run does not measure {left} more."
    lines = wrapped(first, "")
    if others:
        lines += ["", *(one for gate in others for one in wrapped(gate_text(gate), "- "))]
    return lines


def gate_text(gate):
    verdict = gate["verdict"].partition(":")[0]
    side = "at least" if gate["relation"] == ">=" else "at most"
    value = gate["value"]
    figure = value if isinstance(value, str) else f"{value:.3g}"
    if figure == f"{gate['target']:g}":  # not the same, maybe
        figure = f"{value:.4g}"
    of = ""
    if gate["by"] == "worst":
        of = f", the worst of {len(gate['samples'])}"
    elif gate["interval"]:
        of = " ({:.3g} to {:.3g})".format(*gate["interval"])
    return f"**{verdict}**: {gate['name']}: {figure}{of}; asked for: {side} {gate['target']:g}"


def ground_table(source, _fields):
    of, machine, build = (source.document, source.document["machine"], source.document["build"])
    rows = [
        ("date, commit", f"{of['date'][:10]}, {of['commit']}"),
        ("RocksDB", f"{of['rocksdb']}, {build['type']}, {build['compiler'].partition('.')[0]}"),
        ("rounds", rounds_text(of)),
        ("machine", f"virtual, {machine['cpu']}, {machine['cores']} CPUs, "
                    f"{machine['memory_gb']:.0f} GB, {machine['disk']}"),
        ("all figures", f"`results/published/{identity(of)}.json.xz`"),
    ]
    return [*table(["", ""], [list(row) for row in rows]), "", "```sh", *command_of(of), "```"]


def rounds_text(of):
    loads = [load for pair in of["load_averages"] for load in pair]
    return f"{of['rounds']}; load average {min(loads):.1f} to {max(loads):.1f}"


def command_of(document):
    """What to type for the same: make bench, without what says where the results go."""
    words = shlex.split(document["command"])[1:]
    at = words.index("--name")
    name, words = words[at + 1], words[:at] + words[at + 2:]
    rest = " ".join(map(quoted, (word for word in words if not word.startswith("--publish"))))
    text = f"make bench NAME={name}" + (f' ARGS="{rest}"' if rest else "")
    lines = textwrap.wrap(text, COLUMNS - 2, break_long_words=False, break_on_hyphens=False,
                          subsequent_indent="  ")
    lines = [line + " \\" for line in lines[:-1]] + lines[-1:]
    return [part for line in lines for part in parted(line)]


def parted(line):
    """A line with a long list, taken apart behind commas; the shell joins what begins a line."""
    while len(line) > COLUMNS:
        at = line.rindex(",", 0, COLUMNS - 1) + 1
        yield line[:at] + "\\"
        line = line[at:]
    yield line


def quoted(word):
    """In single quotes, if a shell would take it apart."""
    return word if shlex.quote(word) == word else f"'{word}'"


KINDS = {"systems": systems_table, "metrics": metrics_table, "gates": gates_list,
         "ground": ground_table, "plot": plot_link, "runs": runs.runs_list}
