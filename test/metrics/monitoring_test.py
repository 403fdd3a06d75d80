#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""docs/monitoring/: the alert rules and the dashboard, against docs/metrics.md.

Each metric is one that there is, rate() and the like are of counters and of nothing else, and
units are those of the metrics. Expressions are not parsed: names and brackets are checked. But
promtool, if it is on the machine, takes the rules as a whole, and tries some of them (alerts.yml).
"""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

# The Debian package is that of Debian's Python, and of no other one on the machine.
sys.path.append("/usr/lib/python3/dist-packages")
import yaml  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = ROOT + "/docs/monitoring/rocktier-alerts.yml"
DASHBOARD = ROOT + "/docs/monitoring/rocktier-dashboard.json"
PLUGINS = ("blob_hybrid", "hot_promotion", "raw_wal_fs", "secondary_cache_2q", "tiered_env")

NAME = re.compile(r"\brocktier_\w+")
# A selector of a metric with labels and a time, if it has them, and the function it is handed to.
OF_COUNTERS = re.compile(r"\b(?:rate|irate|increase)\(\s*(rocktier_\w+)(?:\{[^}]*\})?\[")
CLOSING = {")": "(", "]": "[", "}": "{"}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documented():
    """All names of docs/metrics.md."""
    page = read(ROOT + "/docs/metrics.md")
    names = set()
    for plugin in PLUGINS:
        rows = re.search(r"^\| `rocktier_%s_` \|.*\n.*\n((?:\|.*\n)*)" % plugin, page,
                         re.MULTILINE).group(1)
        names |= {"rocktier_%s_%s" % (plugin, name)
                  for name in re.findall(r"^\| `(\w+)` \|", rows, re.MULTILINE)}
        names |= {"rocktier_%s_info" % plugin, "rocktier_%s_updated_seconds" % plugin}
    return names


NAMES = documented()


def problems(expression):
    """What is wrong with an expression of PromQL."""
    open_brackets = []
    for character in re.sub(r'"(?:\\.|[^"\\])*"', '""', expression):
        if character in CLOSING.values():
            open_brackets.append(character)
        elif character in CLOSING and (not open_brackets or
                                       open_brackets.pop() != CLOSING[character]):
            yield "brackets"
    if open_brackets:
        yield "brackets"
    code = re.sub(r'"(?:\\.|[^"\\])*"', '""', expression)
    for name in NAME.findall(expression):
        if name not in NAMES:
            yield "there is no " + name
    of_counters = OF_COUNTERS.findall(code)
    for name in of_counters:
        if not name.endswith("_total"):
            yield name + " is no counter"
    for name in set(NAME.findall(code)):
        if name.endswith("_total") and code.count(name) != of_counters.count(name):
            yield name + " is a counter"


class Expressions(unittest.TestCase):
    """The check itself."""

    def test_good_ones(self):
        for good in ("rate(rocktier_raw_wal_fs_syncs_total[5m])",
                     "increase( rocktier_raw_wal_fs_syncs_total{db=~\"a)\"}[5m]) > 0",
                     "max by (tier) (rocktier_tiered_env_tier_bytes{db=\"x\"})",
                     "time() - rocktier_raw_wal_fs_updated_seconds"):
            self.assertEqual([], list(problems(good)), good)

    def test_bad_ones(self):
        for bad in ("rate(rocktier_raw_wal_fs_sync_total[5m])",
                    "rate(rocktier_raw_wal_fs_segments[5m])",
                    "rocktier_raw_wal_fs_syncs_total > 0",
                    "rate(rocktier_raw_wal_fs_syncs_total[5m]) + rocktier_raw_wal_fs_syncs_total",
                    "max(rocktier_tiered_env_tier_bytes", "max)rocktier_tiered_env_tier_bytes(",
                    "rocktier_tiered_env_tier_bytes[5m)"):
            self.assertNotEqual([], list(problems(bad)), bad)


class Rules(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.rules = [rule for group in yaml.safe_load(read(RULES))["groups"]
                     for rule in group["rules"]]

    def test_expressions(self):
        for rule in self.rules:
            self.assertEqual([], list(problems(rule["expr"])), rule["alert"])
            self.assertTrue(NAME.search(rule["expr"]), rule["alert"])

    def test_each_says_how_bad_it_is_and_what_it_means(self):
        for rule in self.rules:
            self.assertIn(rule["labels"]["severity"], ("info", "warning", "critical"))
            self.assertEqual({"summary", "description"}, set(rule["annotations"]), rule["alert"])
            self.assertLessEqual(set(rule), {"alert", "expr", "for", "labels", "annotations"})

    def test_labels_in_texts_are_those_of_the_metrics(self):
        labels = {"blob_hybrid": {"db", "cf"}, "hot_promotion": {"path"},
                  "raw_wal_fs": {"db", "device"}, "secondary_cache_2q": {"cache"},
                  "tiered_env": {"db", "tier", "cf"}}
        for rule in self.rules:
            known = {"instance"} | set(rule["labels"])
            for plugin, own in labels.items():
                known |= own if "rocktier_%s_" % plugin in rule["expr"] else set()
            by = re.findall(r"\bby \(([^)]*)\)", rule["expr"])
            kept = [set(re.split(r",\s*", text)) for text in by]
            if kept:
                known &= set.union(*kept) | set(rule["labels"])
            used = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
            self.assertLessEqual(used, known, rule["alert"])

    def test_what_their_texts_say_is_so(self):
        rules = {rule["alert"]: rule for rule in self.rules}
        stranded = rules["RocktierFilesStranded"]
        self.assertIn("two hours", stranded["annotations"]["description"])
        # A function over two hours is true at the first sample already.
        self.assertEqual(("2h", False), (stranded["for"], "over_time" in stranded["expr"]))
        stuck = rules["RocktierRecoveryStuck"]
        self.assertIn("SSTs were in memory", stuck["annotations"]["description"])
        self.assertIn("rocktier_tiered_env_memory_bytes > 0", stuck["expr"])

    def test_each_plugin_has_rules(self):
        for plugin in PLUGINS:
            stale = [rule for rule in self.rules
                     if "rocktier_%s_updated_seconds > 60" % plugin in rule["expr"]]
            self.assertEqual(1, len(stale))
            self.assertEqual(plugin, stale[0]["labels"]["plugin"])
            self.assertTrue([rule for rule in self.rules if re.search(
                r"rocktier_%s_\w*errors_total" % plugin, rule["expr"])], plugin)

    def test_page_names_all(self):
        page = read(ROOT + "/docs/monitor.md")
        named = set(re.findall(r"`(Rocktier\w+)`", page))
        self.assertEqual({rule["alert"] for rule in self.rules}, named)

    def test_promtool_takes_them(self):
        promtool = shutil.which("promtool")
        if promtool is None:
            print("skipped: there is no promtool")
            self.skipTest("there is no promtool")
        for arguments in (["check", "rules", RULES],
                          ["test", "rules", ROOT + "/test/metrics/alerts.yml"]):
            result = subprocess.run([promtool, *arguments], capture_output=True, text=True)
            self.assertEqual(0, result.returncode, result.stdout + result.stderr)


def unit_of(expression):
    """The unit that a simple expression has in Grafana; None: it cannot be told."""
    names = set(NAME.findall(expression))
    if len(names) != 1 or "/" in expression:
        return None
    name = names.pop()
    counted = "rate(" in expression
    for ending, unit, rate in (("_bytes_total", "bytes", "binBps"),
                               ("_seconds_total", "s", "percentunit"), ("_bytes", "bytes", None),
                               ("_seconds", "s", None), ("_ratio", "none", None)):
        if name.endswith(ending):
            return rate if counted else unit
    return "ops" if counted else "short"


class Dashboard(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.dashboard = json.loads(read(DASHBOARD))
        cls.panels = [panel for panel in cls.dashboard["panels"] if panel["type"] != "row"]

    def test_expressions(self):
        for panel in self.panels:
            self.assertTrue(panel["targets"])
            for target in panel["targets"]:
                self.assertEqual([], list(problems(target["expr"])), panel["title"])
                selectors = re.findall(r"rocktier_\w+(\{[^}]*\})?", target["expr"])
                for selector in selectors:
                    self.assertIn('instance=~"$instance"', selector, panel["title"])

    def test_units(self):
        for panel in self.panels:
            unit = panel["fieldConfig"]["defaults"]["unit"]
            for target in panel["targets"]:
                self.assertIn(unit_of(target["expr"]), (unit, None), panel["title"])

    def test_variables(self):
        variables = {each["name"]: each for each in self.dashboard["templating"]["list"]}
        self.assertEqual({"datasource", "instance", "database"}, set(variables))
        for name in "instance", "database":
            query = variables[name]["query"]["query"]
            self.assertLessEqual(set(NAME.findall(query)), NAMES)
            self.assertEqual("${datasource}", variables[name]["datasource"]["uid"])
        for panel in self.panels:
            self.assertEqual("${datasource}", panel["datasource"]["uid"])

    def test_databases_are_chosen_where_there_is_the_label(self):
        for panel in self.panels:
            for target in panel["targets"]:
                has_label = re.search("rocktier_(raw_wal_fs|tiered_env|blob_hybrid)_(?!updated)",
                                      target["expr"]) is not None
                self.assertEqual(has_label, "$database" in target["expr"], panel["title"])

    def test_each_plugin_has_a_row(self):
        row = None
        seen = set()
        for panel in self.dashboard["panels"]:
            if panel["type"] == "row":
                row = panel["title"]
                continue
            plugins = {plugin for plugin in PLUGINS for target in panel["targets"]
                       if "rocktier_%s_" % plugin in target["expr"]}
            if len(plugins) == 1:
                self.assertTrue(row.startswith(*plugins), panel["title"])
                seen |= plugins
        self.assertEqual(set(PLUGINS), seen)

    def test_panels_are_in_place(self):
        self.assertEqual(len(self.dashboard["panels"]),
                         len({panel["id"] for panel in self.dashboard["panels"]}))
        taken = set()
        for panel in self.dashboard["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                     for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells


if __name__ == "__main__":
    unittest.main(verbosity=2)
