#!/usr/bin/env python3
"""make tables: the tables and plots of documents, of results that a test has made up."""

import json
import os
import shutil
import sys
import unittest
import unittest.mock

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from common import quotes, runs  # noqa: E402
import tables  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]
GATES = [
    {"name": "ops/s", "relation": ">=", "target": 1.2, "by": "interval", "value": 1.5,
     "interval": [1.4, 1.6], "samples": [1.4, 1.5, 1.6], "verdict": "met"},
    {"name": "keys lost", "relation": "<=", "target": 0, "by": "worst", "value": 7,
     "interval": None, "samples": [0, 0, 7], "verdict": "missed"},
    {"name": "p99", "relation": "<=", "target": 1, "by": "interval", "value": None,
     "interval": None, "samples": [], "verdict": "not measured"},
]


def row(workload, system, samples, metric="rate"):
    return {"benchmark": workload, "system": system, "metric": metric,
            "value": sorted(samples)[1], "interval": [min(samples), max(samples)],
            "samples": samples}


DOCUMENT = {
    "name": "toy", "command": "run.py --name toy --publish --mixes 'Run A;Run B' --seconds 4",
    "date": "2026-11-27T01:00:00+00:00", "commit": "abc1234", "rocksdb": "9.10.0", "rounds": 3,
    "build": {"type": "Release", "compiler": "GNU 12.2.0"},
    "machine": {"cpu": "a CPU", "cores": 2, "memory_gb": 23.5, "disk": "ext4 on a virtio disk"},
    "load_averages": [[0.5, 1.5]],
    "metrics": [{"name": "rate", "format": "{:.0f}", "scale": 1},
                {"name": "p99_us", "format": "{:.1f}", "scale": 1}],
    "rows": [row("writes", "stock", [1000, 1100, 1200]), row("writes", "ours", [1500, 1650, 2400]),
             row("writes", "ours", [9, 8, 7], "p99_us"), row("reads", "stock", [5, 6, 7])],
    "gates": GATES,
}
RUNS = [
    {"date": "2026-11-25", "commit": "abc1234", "rocksdb": "9.10.0", "kind": "make test",
     "what": "all", "command": "make test", "passed": 1201, "of": 1202, "failed": "`a_test`"},
    {"time": "2026-11-26T06:28:46+00:00", "commit": "def5678", "kind": "long", "what": "a and b",
     "command": "not recorded", "seed": 96296224, "kills": 2173, "interval": [0.5, 1.5],
     "losses": {"power": 3}},
    {"date": "2026-11-27", "commit": "def5678", "kind": "long", "what": "nodes", "kills": 30,
     "command": "make soak"},
]
ROUNDS = {"time": "2026-11-26", "commit": "abc1234", "rounds": [
    {"plain": {"rate": 10, "plugins": False}, "ours": {"rate": 15, "plugins": True}},
    {"ours": {"rate": 30, "plugins": True}, "plain": {"rate": 20, "plugins": False}},
    {"plain": {"rate": 30, "plugins": False}, "ours": {"rate": 60, "plugins": True}}]}
PAGE = """# A page

<!-- results: {kind}
of: toy
{keys}
-->
{old}
<!-- end -->

The rest.
"""


def page(kind, keys="metric: rate", old="| by hand |"):
    text = PAGE.format(kind=kind, keys=keys, old=old)
    return text.replace("of: toy\n", "") if kind == "text" else text


def page_of_runs(kind, keys):
    text = quotes.rewritten(page(kind, keys).replace("of: toy", "of: runs"),
                            {"runs": runs.Lines("runs", RUNS)}, "page.md")
    return text.partition("-->\n\n")[2].partition("\n\n<!-- end -->")[0]


class RunsTest(unittest.TestCase):
    def test_a_table_of_chosen_runs(self):
        self.assertEqual(
            page_of_runs("runs", "where: kind = long and commit = def5678\n"
                         "columns: {date}, {commit} = when; what;\n  seed; kills = SIGKILL"),
            "| when | what | seed | SIGKILL |\n|---|---|---|---|\n"
            "| 2026-11-26, def5678 | a and b | 96296224 | 2,173 |\n"
            "| 2026-11-27, def5678 | nodes | | 30 |")

    def test_what_a_run_did_not_tell_is_empty(self):
        self.assertIn("| 2026-11-26 | 0.50 to 1.5 | 3 |\n| 2026-11-27 | | |", page_of_runs(
            "runs", "where: kind != make test\n"
            "columns: date; {interval.0:.2f} to {interval.1:.1f} = range; losses.power = power"))

    def test_replaced_in_all_cells(self):
        self.assertIn("| X | LONG |", page_of_runs(
            "runs", "columns: what; kind\nreplace: nodes = X; long = LONG"))

    def test_a_list(self):
        text = page_of_runs("runs", "where: what = all\nitem: **{what}** ({date}): " +
                            "{failed}; " * 20)
        self.assertTrue(text.startswith("- **all** (2026-11-25): `a_test`; `a_test`"), text)
        self.assertIn("\n  `a_test`", text)
        self.assertLessEqual(max(map(len, text.splitlines())), quotes.COLUMNS)

    def test_figures_in_a_text(self):
        text = page_of_runs(
            "text", "kills = runs; kind = long; kills; sum\n"
            "runs = runs; kind = long; kills; count\nlast = runs; kind = long; what; last\n"
            "most = runs; ; kills; most; .1f; .001\n"
            "one = runs; kind = make test; passed; only\n"
            "---\n{kills}, {runs}, {last}, {most}, {one}")
        self.assertEqual(text, "2,203, 2, nodes, 2.2, 1,201")

    def test_mistakes_are_named(self):
        for kind, keys, text in (
                ("runs", "columns: nothing", "no line of runs has 'nothing'"),
                ("runs", "columns: {kills} of {nothing} = x", "no line of runs has 'nothing'"),
                ("runs", "where: kind = short\ncolumns: what", "no line with kind = short"),
                ("runs", "where: kind\ncolumns: what", "'kind' is no"),
                ("runs", "where: kind = long", "columns"),
                ("systems", "metric: kills", "systems is not for 'runs'"),
                ("text", "a = runs; kind = long; kills; only\n---\n{a}", "'kills' 2 times"),
                ("text", "a = runs; kind = long; of; sum\n---\n{a}", "'of' 0 times"),
                ("text", "a = runs; kind = long; kills; mean\n---\n{a}", "'mean' is none of")):
            with self.assertRaisesRegex(quotes.Mistake, text):
                page_of_runs(kind, keys)
        with self.assertRaisesRegex(quotes.Mistake, "runs is not for 'toy'"):
            quotes.rewritten(page("runs", "columns: kills"), {"toy": DOCUMENT}, "page.md")

    def folder(self, **files):
        folder = os.path.join(TMP, self.id().rpartition(".")[2])
        for name, lines in files.items():
            path = os.path.join(folder, name.replace("_in_", "/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            suffix = ".json" if "_in_" in name else ".jsonl"
            with open(path + suffix, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        return folder

    def test_files_and_folders_are_read(self):
        documents = runs.read_all(self.folder(
            runs=[RUNS[0], RUNS[2]], rounds=[ROUNDS], trials_in_a=[{"preset": "p"}],
            trials_in_b=[{"preset": "q"}]))
        self.assertEqual(documents["runs"].lines, [RUNS[0], RUNS[2]])
        self.assertEqual(documents["trials"].lines, [{"preset": "p"}, {"preset": "q"}])
        text = quotes.rewritten(page("systems", "metric: value\nratio: ours/plain").replace(
            "of: toy", "of: rounds_rounds"), documents, "page.md")
        self.assertIn("| | ours | plain | ratio |\n|---|---|---|---|\n"
                      "| rate | 30 | 20 | **1.50** (1.50 to 2.00) |\n\n", text)

    def test_a_line_by_hand_has_what_it_needs(self):
        line = {**RUNS[0], "command": ""}
        del line["commit"]
        with self.assertRaisesRegex(quotes.Mistake, "runs.jsonl:2: has no commit, command"):
            runs.read_all(self.folder(runs=[RUNS[0], line]))
        folder = self.folder(matrix=[line], runs=[RUNS[0]])  # Others are written by programs.
        self.assertEqual(runs.read_all(folder)["matrix"].lines, [line])
        with open(folder + "/runs.jsonl", "a", encoding="utf-8") as file:
            file.write("{no\n")
        with self.assertRaisesRegex(quotes.Mistake, "runs.jsonl:2: "):
            runs.read_all(folder)


class TablesTest(unittest.TestCase):
    def anew(self, *args):
        return quotes.rewritten(page(*args), {"toy": DOCUMENT}, "page.md")

    def test_systems(self):
        text = self.anew("systems", "metric: rate\nalso: p99_us\nfirst: what\nrows: writes = W\n"
                         "columns: stock;\n  ours = the plugin\nratio: ours/stock")
        self.assertIn("| what | stock | the plugin | ratio |\n|---|---|---|---|\n"
                      "| W | 1,100 | 1,650 (8.0) | **1.50** (1.50 to 2.00) |", text)
        self.assertNotIn("by hand", text)
        self.assertEqual(text, quotes.rewritten(text, {"toy": DOCUMENT}, "page.md"))

    def test_all_rows_and_what_was_not_measured(self):
        self.assertIn("| writes | 1,100 | 1,650 |\n| reads | 6 | |", self.anew("systems"))

    def test_metrics(self):
        text = self.anew("metrics", "workload: writes\nmetrics: rate = ops/s; p99_us = p99")
        self.assertIn("| | ops/s | p99 |", text)
        self.assertIn("| ours | 1,650 | 8.0 |", text)

    def test_text(self):
        text = self.anew("text", "gain = toy; writes; rate; ours/stock\n"
                         "percent = toy; writes; rate; ours/stock; .0f; 100\n"
                         "rate = toy; writes; rate;\n  ours\n---\n"
                         "Writes are {gain} times as fast, {percent}%: {rate}.")
        self.assertIn("-->\n\nWrites are 1.50 times as fast, 150%: 1,650.\n\n<!-- end -->", text)

    def test_gates(self):
        text = self.anew("gates")
        self.assertIn("Of 2 gates 1 are met. This run does not measure 1 more.", text)
        self.assertIn("- **missed**: keys lost: 7, the worst of 3; asked for: at most 0", text)
        self.assertNotIn("ops/s", text)

    def test_ground(self):
        text = self.anew("ground")
        self.assertIn("2026-11-27, abc1234", text)
        self.assertIn("`results/published/toy.json.xz`", text)
        self.assertIn("make bench NAME=toy ARGS=\"--mixes 'Run A;Run B' --seconds 4\"", text)

    def test_a_long_list_is_taken_apart(self):
        names = ",".join(f"system_{i}" for i in range(20))
        document = {**DOCUMENT, "command": f"run.py --name toy --publish --systems {names}"}
        lines = quotes.command_of(document)
        self.assertLessEqual(max(map(len, lines)), quotes.COLUMNS)
        joined = " ".join("\n".join(lines).replace("\\\n", "").split())
        self.assertIn(f"--systems {names}", joined)

    def test_mistakes_are_named(self):
        for kind, keys, text in (("systems", "metric: nothing", "no metric nothing"),
                                 ("systems", "metric: rate\nrows: sleeps", "'sleeps'"),
                                 ("metrics", "workload: w\nmetrics: rate", "no 'w'"),
                                 ("text", "a = toy; sleeps; rate; ours\n---\n{a}", "'sleeps'"),
                                 ("text", "---\nit is {b}", "no figure is called 'b'"),
                                 ("magic", "metric: rate", "results: magic"),
                                 ("systems", "rows: writes", "metric")):
            with self.assertRaisesRegex(quotes.Mistake, text):
                self.anew(kind, keys)
        with self.assertRaisesRegex(quotes.Mistake, "nothing is published of 'toy'"):
            quotes.rewritten(page("gates"), {}, "page.md")

    def test_plots_are_drawn_and_recognised(self):
        text = page("plot", "metric: rate\nfile: toy.svg\ntitle: Writes (more is better)")
        self.assertIn("![Writes (more is better)](toy.svg)",
                      quotes.rewritten(text, {"toy": DOCUMENT}, "page.md"))
        (name, script), = quotes.plots(text, {"toy": DOCUMENT}, "page.md").items()
        self.assertEqual(name, "toy.svg")
        if shutil.which("gnuplot") is None:
            self.skipTest("no gnuplot")
        with unittest.mock.patch.object(tables, "ROOT", TMP):
            self.assertFalse(tables.is_right("toy.svg", None, script))
            tables.write("toy.svg", None, script)
            self.assertTrue(tables.is_right("toy.svg", None, script))
            self.assertFalse(tables.is_right("toy.svg", None, script + "\n"))


if __name__ == "__main__":
    unittest.main()
