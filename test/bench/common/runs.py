"""Runs that are no benchmarks: results/published/NAME.jsonl has a line (JSON) for each.

matrix.jsonl and distributed.jsonl are written by programs. A line of runs.jsonl is written by hand,
and has at least what KEYS says. The files of a folder, as trials/*.json, count as such lines, too.
"""

import dataclasses
import glob
import json
import os
import re
import statistics

from common import markdown
from common.markdown import Mistake

KEYS = ("date", "commit", "kind", "what", "command")
PLAIN = {"seed"}  # Not a count: no comma in it.
FIGURE = re.compile(r"\{([\w.]+)(?::([^}]*))?\}")  # {name}, or {name:.2f}
CONDITION = re.compile(r"([\w.]+) (!?=) (.*)")


@dataclasses.dataclass(frozen=True)
class Lines:
    """The runs of one file, in its order."""

    name: str
    lines: list

    def chosen(self, where):
        """Those that `KEY = VALUE and KEY != VALUE` is true of."""
        conditions = []
        for part in filter(None, where.split(" and ")):
            condition = CONDITION.fullmatch(part.strip())
            if condition is None:
                raise Mistake(f"'{part}' is no 'KEY = VALUE'")
            conditions.append(condition.groups())
        chosen = [line for line in self.lines
                  if all((str(value_of(line, key)) == value) == (relation == "=")
                         for key, relation, value in conditions)]
        if not chosen:
            raise Mistake(f"{self.name} has no line with {where}")
        return chosen


def value_of(line, key):
    """`a.b` is b of a, and `a.0` the first of a. None: the run has no such figure."""
    if key == "date":  # Without the time of day.
        return line.get("date", line.get("time", "")).partition("T")[0] or None
    value = line
    for part in key.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def text(line, key, shape=None):
    value = value_of(line, key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if key in PLAIN:
        return str(value)
    return markdown.shown(value, f"{{:{shape}}}" if shape else "{}", 1)


def filled(template, line):
    """`{a} to {b}` with the figures of a run; nothing if one of them is not there. A key alone is
    `{key}`."""
    if "{" not in template:
        return text(line, template)
    if any(value_of(line, key) is None for key, _ in FIGURE.findall(template)):
        return ""
    return FIGURE.sub(lambda match: text(line, *match.groups()), template)


def runs_list(lines, fields):
    """A table with `columns`, or a list of what `item` says."""
    columns = ([(fields["item"], "")] if "item" in fields else
               markdown.names(fields["columns"], ()))
    for template, _ in columns:
        check_keys(lines, template)
    rows = [[filled(template, line) for template, _ in columns]
            for line in lines.chosen(fields.get("where", ""))]
    for old, new in markdown.names(fields.get("replace"), ()):
        rows = [[cell.replace(old, new) for cell in row] for row in rows]
    if "item" in fields:
        return [one for row in rows for one in markdown.wrapped(row[0], "- ")]
    return markdown.table([heading for _, heading in columns], rows)


def check_keys(lines, template):
    """A key that no line has is a slip of the pen."""
    for key in [key for key, _ in FIGURE.findall(template)] or [template]:
        if all(value_of(line, key) is None for line in lines.lines):
            raise Mistake(f"no line of {lines.name} has '{key}'")


def figure(lines, where, key, how, shape=None, scale=1):
    """One figure of the runs that `where` is true of."""
    values = [value for value in (value_of(line, key) for line in lines.chosen(where))
              if value is not None]
    if how not in HOW:
        raise Mistake(f"'{how}' is none of {', '.join(HOW)}")
    if not values or how == "only" and len(values) > 1:
        raise Mistake(f"{lines.name} has '{key}' {len(values)} times where {where}")
    value = HOW[how](values)
    return text({"it": value if scale == 1 else value * float(scale)}, "it", shape)


HOW = {"sum": sum, "count": len, "most": max, "least": min, "last": lambda values: values[-1],
       "only": lambda values: values[0]}


def compared(name, line):
    """A run that has several systems in turn, as a results file: each figure is a workload."""
    rounds, rows = line["rounds"], []
    for figure_name, value in next(iter(rounds[0].values())).items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        for system in sorted(rounds[0]):
            samples = [each[system].get(figure_name) for each in rounds]
            if None not in samples:
                rows.append({"benchmark": figure_name, "system": system, "metric": "value",
                             "value": statistics.median(samples), "samples": samples})
    return {"name": name, "metrics": [{"name": "value", "format": "{:.0f}", "scale": 1}],
            "rows": rows}


def read_all(folder):
    """By name: Lines, and of a file whose last line compares systems NAME_rounds, too."""
    documents = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
        name = os.path.basename(path)[:-len(".jsonl")]
        documents[name] = Lines(name, list(read(path)))
        for last in documents[name].lines[-1:]:
            if isinstance(last.get("rounds"), list):
                documents[name + "_rounds"] = compared(name + "_rounds", last)
    for path in sorted(glob.glob(os.path.join(folder, "*", "*.json"))):
        name = os.path.basename(os.path.dirname(path))
        lines = documents.setdefault(name, Lines(name, [])).lines
        with open(path, encoding="utf-8") as file:
            lines.append(json.load(file))
    return documents


def read(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                run = json.loads(line)
            except ValueError as error:
                raise Mistake(f"{path}:{number}: {error}") from error
            missing = [key for key in KEYS if not run.get(key)]
            if os.path.basename(path) == "runs.jsonl" and missing:
                raise Mistake(f"{path}:{number}: has no {', '.join(missing)}")
            yield run
