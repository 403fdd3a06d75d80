#!/usr/bin/env python3
"""make tables: the tables and plots of documents, of results that a test has made up."""

import os
import shutil
import sys
import unittest
import unittest.mock

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from common import quotes  # noqa: E402
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
