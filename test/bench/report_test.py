#!/usr/bin/env python3
"""Results files and the page of make report, which a headless browser opens.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import argparse
import html.parser
import os
import shutil
import subprocess
import sys
import time
import unittest
from unittest import mock

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

from common import child, db_bench, gates, harness, machine, plot, report  # noqa: E402
from common import report_page, standing  # noqa: E402
from common.gates import Judge  # noqa: E402
import run as runner  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LOST = (0, 7, 0)
REPORT = "secs_elapsed,interval_qps\n1,100\n2,50\n"  # of db_bench


def cases(_args):
    return [harness.Case("writes", (system,), lambda context, number, system=system: (
        write(context, number, system))) for system in ("stock", "ours")]


def write(context, number, system):
    seen = context.child(["sh", "-c", f"echo {context.path('db')}", context.program("db_bench")])
    assert seen.strip() == context.path("db")
    with open(context.path("db_bench.csv"), "w", encoding="ascii") as file:
        file.write(REPORT)
    rate = {"stock": 100, "ours": 150}[system] + number
    return {system: {"rate": rate, "lost": LOST[number], **db_bench.series(context)}}


def gates_of(results):
    judge = Judge(results)
    yield judge.ratio("writes: ops/s, ours / <stock>", "writes", "rate", "ours", ("stock",), 1.2,
                      True)
    yield judge.ratio("writes: ops/s, three times", "writes", "rate", "ours", ("stock",), 3, True)
    yield judge.worst("writes: keys lost", ("writes",), "lost", "ours", 0)
    yield judge.worst("reads: keys lost", ("reads",), "lost", "ours", 0)


TOY = harness.Benchmark(
    title="a toy", ground="Nothing.", baseline="stock",
    metrics=(harness.Metric("rate", "ops/s", "ops/s", "{:.0f}", show_ratio=True),
             harness.Metric("lost", "lost", "count", "{:.0f}")),
    panels=(harness.Panel("rate", "Writes (more is better)"),),
    add_arguments=lambda group: None, cases=cases, gates=lambda results: list(gates_of(results)),
    quick_gates=lambda results: [], counts_only=True)


def run_toy(name, **changes):
    """(exit status that its gates ask for, its document)."""
    args = argparse.Namespace(bin=BIN, data_dir=os.path.join(TMP, f"{name}-data"), emulate=True,
                              quick=False, rounds=3, results=os.path.join(TMP, f"{name}-results"),
                              publish="", peers={})
    vars(args).update(changes)
    os.makedirs(args.data_dir)
    status = runner.run_benchmark(name, TOY, args)
    folder = args.results if args.publish is None else report.published(args.results)
    (document,) = report.read_all(folder).values()
    return status, document


class ResultsFileTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status, cls.document = run_toy("file")

    def test_a_missed_gate_fails(self):
        self.assertEqual(self.status, 1)
        self.assertEqual([gate["verdict"] for gate in self.document["gates"]],
                         ["met", "missed", "missed", "not measured"])

    def test_every_sample_is_there(self):
        runs = self.document["samples"]
        self.assertEqual([(run["round"], *run["figures"]) for run in runs],
                         [(0, "stock"), (0, "ours"), (1, "ours"), (1, "stock"), (2, "stock"),
                          (2, "ours")], "the order of systems rotates")
        for run in runs:
            (figures,) = run["figures"].values()
            self.assertEqual(figures["each second"], {"seconds": [1, 2], "operations": [100, 50]})
            self.assertEqual(len(run["load_average"]), 2)
            self.assertEqual(run["commands"], ["sh -c 'echo .../db' db_bench"])
        rates = [row["samples"] for row in self.document["rows"] if row["metric"] == "rate"]
        self.assertEqual(sorted(rates), [[100, 101, 102], [150, 151, 152]])

    def test_ground(self):
        for key in ("commit", "rocksdb", "date", "command", "level"):
            self.assertTrue(self.document[key], key)
        for key in ("cpu", "kernel", "disk", "disk_model", "memory_gb"):
            self.assertTrue(self.document["machine"][key], key)
        for key in ("compiler", "flags", "type"):
            self.assertNotEqual(self.document["build"][key], "unknown", key)
        self.assertEqual(len(self.document["load_averages"]), 3)
        self.assertEqual(len(self.document["ground"]), 1 + machine.takes_cold_pages())
        self.assertIn("not throttled", self.document["ground"][0])

    def test_one_round_has_no_spread(self):
        _, document = run_toy("one", rounds=1, publish=None)
        for row in document["rows"]:
            self.assertEqual((row["spread"], row["interval"]), (None, None))
        self.assertEqual(document["gates"][0]["verdict"], "undecided: 2 more rounds")
        self.assertIn("n/a", report_page.page([document]))


class StandingTest(unittest.TestCase):
    """Gates of what is published, as the sources have them."""

    NAME = "tiered_env_pmem"
    GATE = "file, groups of 1: records/s, pmem / disk"

    def document(self, *recorded):
        runs = [{"benchmark": "file, groups of 1", "round": number, "figures": {
            "pmem": {"records_per_s": 60 + number, "each second": {"operations": [1]}},
            "disk": {"records_per_s": 10}}} for number in range(3)]
        return {"name": f"{self.NAME}, by night", "gates": list(recorded), "samples": runs}

    def gate(self, name, verdict, target=5, relation=">="):
        return {"name": name, "relation": relation, "target": target, "by": "interval",
                "value": None, "interval": None, "samples": [], "verdict": verdict}

    def verdicts(self, *recorded):
        return {gate["name"]: gate["verdict"] for gate in standing.of(self.document(*recorded))}

    def test_a_newer_gate_is_judged_by_the_samples(self):
        verdicts = self.verdicts()
        self.assertEqual(verdicts.pop(self.GATE), gates.MET)
        self.assertEqual(set(verdicts.values()), {gates.NOT_MEASURED})

    def test_a_softer_one_of_the_run_does_not_count(self):
        other = "db, groups of 1: records/s, pmem / disk"
        self.assertEqual(self.verdicts(self.gate(other, "met", 4))[other], gates.NOT_MEASURED)

    def test_what_only_the_run_can_judge_stays(self):
        other = "db, groups of 1: records/s, pmem / disk"
        self.assertEqual(self.verdicts(self.gate(other, "missed"))[other], gates.MISSED)
        self.assertEqual(self.verdicts(self.gate("gone", "undecided"))["gone"], "undecided")

    def test_all_benchmarks_are_there(self):
        names = [name for name, _, _ in standing.of_all([self.document()])]
        self.assertEqual(names[0], f"{self.NAME}, by night")
        self.assertEqual(sorted([*names[1:], self.NAME]), harness.names("benchmarks"))

    def test_what_no_run_measures_is_told_once(self):
        night, day = self.document(), {**self.document(), "name": self.NAME, "samples": []}
        told = standing.of_all([day, night])
        self.assertEqual([name for name, _, _ in told[:2]], [self.NAME, f"{self.NAME}, by night"])
        self.assertEqual([gate["name"] for gate in told[1][2]], [self.GATE])
        self.assertNotIn(self.GATE, [gate["name"] for gate in told[0][2]])
        self.assertEqual(len(told[0][2]) + 1, len(standing.of(day)))

    def test_no_target_is_softer_than_a_published_one(self):
        source = os.path.join(os.path.dirname(os.path.dirname(BENCH)), "results", report.PUBLISHED)
        for document in report.read_all(source).values():
            now = {gate["name"]: gate for gate in standing.of(document)}
            for gate in document["gates"]:
                self.assertTrue(standing.is_as_strict(now[gate["name"]], gate), gate["name"])


class ChildTest(unittest.TestCase):
    def memory_of(self, least, *argv):
        """Of a program that ends when `seen` is there: when it was seen to have more."""
        seen = os.path.join(TMP, "seen")
        one = child.Child([*argv, seen], TMP)
        end = time.monotonic() + 60
        while one.memory_bytes <= least and time.monotonic() < end:
            time.sleep(0.01)
        with open(seen, "w", encoding="ascii"):
            pass
        _, usage = one.wait()
        os.remove(seen)
        return usage.memory_bytes

    def test_memory_is_its_own(self):
        """Not that of the process which starts it, as rusage has it."""
        ours = bytes(200 << 20)
        memory = self.memory_of(0, "sh", "-c", 'while ! [ -e "$0" ]; do sleep 0.01; done')
        self.assertLess(memory, 20 << 20)
        self.assertGreater(memory, 0)
        large = ("import os, sys, time\nx = b'a' * (100 << 20)\n"
                 "while not os.path.exists(sys.argv[1]): time.sleep(0.01)")
        half = len(ours) / 2
        self.assertGreater(self.memory_of(half, sys.executable, "-c", large), half)

    def test_what_fails_tells_why(self):
        with self.assertRaisesRegex(RuntimeError, "status 3\nbad\nsome"):
            child.Child(["sh", "-c", "echo some; echo bad >&2; exit 3"], TMP).wait()

    def test_it_can_be_killed(self):
        one = child.Child(["sleep", "60"], TMP)
        one.kill()
        self.assertEqual(child.peak_kib(one.pid), 0)


class CommitTest(unittest.TestCase):
    def git(self, *words):
        subprocess.run(["git", "-C", self.clone, "-c", "user.name=n", "-c", "user.email=e", *words],
                       check=True, capture_output=True)

    def write(self, name, text):
        path = os.path.join(self.clone, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)

    def test_results_are_no_change_of_the_sources(self):
        self.clone = os.path.join(TMP, "clone")
        names = ("test/bench/run.py", "results/published/a.json.xz")
        for name in names:
            self.write(name, "one")
        self.git("init")
        self.git("add", ".")
        self.git("commit", "-m", "one")
        bench = os.path.join(self.clone, "test/bench")
        clean = machine.commit(bench)
        self.write(names[1], "two")
        self.assertEqual(machine.commit(bench), clean)
        self.write(names[0], "two")
        self.assertEqual(machine.commit(bench), f"{clean}-dirty")
        self.assertEqual(machine.commit(os.path.join(TMP, "none")), "unknown")


class Page(html.parser.HTMLParser):
    """The cells of the rows of gates."""

    def __init__(self, text):
        super().__init__()
        self.rows, self._row, self._cell = [], None, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "tr":
            self._row = [] if attributes.get("class") == "gate" else None
        elif tag == "td":
            self._cell = ""
        for name, value in attrs:
            assert name not in ("src", "srcset"), f"{tag} {name}={value}: is not in the page"
            assert "//" not in (value or ""), f"{tag} {name}={value}: is not in the page"

    def handle_data(self, data):
        if self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag):
        if tag == "td" and self._row is not None:
            self._row.append(self._cell)
        elif tag == "tr" and self._row:
            self.rows.append(self._row)
            self._row = None


class PageTest(unittest.TestCase):
    """Of a toy, and of what is published."""

    def made(self, folder):
        """(documents, the page as a browser has it)."""
        done = subprocess.run([sys.executable, os.path.join(BENCH, "report.py"), folder],
                              capture_output=True, text=True, check=True)
        self.assertTrue(done.stdout.strip().endswith("report.html"))
        path = os.path.join(folder, "report.html")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        return list(report.read_all(report.published(folder)).values()), text, opened(path)

    def look(self, folder):
        documents, text, seen = self.made(folder)
        wanted = [(gate["name"], f"{gate['relation']} {gate['target']:g}", gate["verdict"])
                  for _, _, gates_of_one in standing.of_all(documents) for gate in gates_of_one]
        for page in filter(None, (text, seen)):
            rows = Page(page).rows
            self.assertEqual([(row[1], row[2], row[5]) for row in rows], wanted)
        for document in documents:
            self.assertIn(document["commit"], text)
            for ground in document["ground"]:
                self.assertIn(ground, text)
            if plot.panels_of(document) and shutil.which("gnuplot"):
                self.assertNotIn("No plot", text)
        return documents, seen or text

    def test_toy(self):
        run_toy("toy", results=os.path.join(TMP, "page"), publish="by night")
        documents, text = self.look(os.path.join(TMP, "page"))
        self.assertEqual([document["name"] for document in documents], ["toy, by night"])
        self.assertEqual(os.listdir(report.published(os.path.join(TMP, "page"))),
                         ["toy-by-night.json.xz"])
        verdicts = [row[5] for row in Page(text).rows]
        self.assertEqual(verdicts[:4],
                         [gates.MET, gates.MISSED, gates.MISSED, gates.NOT_MEASURED])
        self.assertEqual(set(verdicts[4:]), {gates.NOT_MEASURED}, "gates of all benchmarks")
        for name in harness.names("benchmarks"):
            self.assertIn(f"make bench NAME={name} ", text)

    def test_times_of_a_debug_build_are_not_published(self):
        with self.assertRaisesRegex(RuntimeError, "Release"):
            with mock.patch.object(machine, "build", return_value={"type": "Debug"}):
                runner.check_publishable(argparse.Namespace(bin=BIN))

    def test_what_is_published(self):
        source = os.path.join(os.path.dirname(os.path.dirname(BENCH)), "results", report.PUBLISHED)
        folder = os.path.join(TMP, "published-page")
        if not report.read_all(source):
            self.skipTest("nothing is published")
        shutil.copytree(source, report.published(folder))
        documents, _ = self.look(folder)
        for document in documents:
            self.assertFalse(document["quick"], document["name"])
            self.assertNotIn("-dirty", document["commit"], document["name"])


def opened(path):
    """The document as a headless browser has it; None where there is no browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("skipped: no headless Chromium")
        return None
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={TMP}/browser", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom",
         f"file://{path}"], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
