#!/usr/bin/env python3
"""The demo: its order, its intervals, what it says when something is amiss, and a tiny run of all.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import argparse
import contextlib
import html.parser
import io
import json
import os
import subprocess
import sys
import types
import unittest

BENCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, BENCH)

import demos  # noqa: E402
from common import bar, demo, drivers, harness, pairs  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]

RATE = pairs.Measure("ops/s", "ops", "seconds", True)
COST = pairs.Measure("reads per op", "reads", "ops", False, "{:.2f}")

# Serves slices as drivers do. Arguments: a file to which it writes its name at each slice, its
# name, operations per second, and a slice before which it does something else.
FAKE = """\
import sys
log, name, rate, what = sys.argv[1:5]
if what == "unsupported":
    sys.exit("fake: Not implemented: no such device")
print("ready", flush=True)
for number, line in enumerate(sys.stdin):
    if what == "dies" and number == 3:
        sys.exit("fake: Corruption: all is lost")
    with open(log, "a") as file:
        file.write(name)
    seconds = float(line)
    print('{"ops": %f, "seconds": %f}' % (float(rate) * seconds, seconds), flush=True)
if what == "ends badly":
    sys.exit("fake: IO error: cannot close")
"""


class OrderTest(unittest.TestCase):
    def test_a_b_b_a(self):
        slices = [system for number in range(4) for system in pairs.order(number, ["A", "B"])]
        self.assertEqual("".join(slices), "ABBAABBA")

    def test_three_systems(self):
        self.assertEqual(pairs.order(0, ["A", "C", "B"]), ["A", "C", "B"])
        self.assertEqual(pairs.order(1, ["A", "C", "B"]), ["B", "C", "A"])

    def test_turns(self):
        asked = []

        def ask(system, seconds):
            asked.append(system)
            return {"ops": 1, "seconds": seconds}

        rounds = drivers.take_turns(ask, ["A", "B"], 0.5, lambda rounds: len(rounds) == 3)
        self.assertEqual("".join(asked), "ABBAAB")
        self.assertEqual([set(one) for one in rounds], [{"A", "B"}] * 3)
        moments = sorted((one["begin"], one["end"]) for figures in rounds
                         for one in figures.values())
        for (_, end), (begin, _) in zip(moments, moments[1:]):
            self.assertLessEqual(end, begin)


class IntervalTest(unittest.TestCase):
    def test_equal_ratios(self):
        self.assertEqual(pairs.interval([1.5] * 6), (1.5, 1.5))

    def test_known_numbers(self):
        # Of the 27 ways to draw three of 1, 2, 4 with replacement the median is 1 in 7, 2 in 13,
        # and 4 in 7.
        self.assertEqual(pairs.interval([1, 2, 4], level=0.99), (1, 4))
        self.assertEqual(pairs.interval([1, 2, 4], level=0.4), (2, 2))
        # With five the median is the least one, and the largest, in 181 of 3125 ways: 5.8%.
        self.assertEqual(pairs.interval([1, 2, 3, 4, 5], level=0.95), (1, 5))
        self.assertEqual(pairs.interval([1, 2, 3, 4, 5], level=0.8), (2, 4))

    def test_of_few_the_ends_are_known(self):
        for values in ([2, 1], [3, 1, 2], [4, 1, 3, 2], [5, 4, 3, 2, 1]):
            self.assertEqual(pairs.interval(values, 0.94), (min(values), max(values)))
            self.assertEqual(pairs.interval(values), (min(values), max(values)))

    def test_same_seed_same_interval(self):
        ratios = [0.9, 1.3, 1.1, 1.2, 0.8, 1.05, 1.4]
        self.assertEqual(pairs.interval(ratios), pairs.interval(ratios))


def rounds_of(*values):
    """Rounds of (stock's rate, the plugin's)."""
    return [{demo.STOCK: {"ops": stock, "seconds": 1, "reads": 2},
             demo.OURS: {"ops": plugin, "seconds": 1, "reads": 1}} for stock, plugin in values]


def compared(rounds, measure=RATE):
    return pairs.compare(rounds, measure, demo.OURS, demo.STOCK)


class CompareTest(unittest.TestCase):
    def test_values_are_medians(self):
        one = compared(rounds_of((100, 150), (102, 153), (98, 147), (1000, 1500), (99, 148.5),
                                 (100, 150)))
        self.assertEqual((one.value, one.base), (150, 100))
        self.assertAlmostEqual(one.ratio, 1.5)
        self.assertEqual(one.verdict, pairs.BETTER)

    def test_less_is_better(self):
        rounds = rounds_of(*[(100, 100)] * 6)
        self.assertEqual(compared(rounds, COST).ratio, 0.5)
        self.assertEqual(compared(rounds, COST).verdict, pairs.BETTER)
        for figures in rounds:
            figures[demo.OURS]["reads"] = 3
        self.assertEqual(compared(rounds, COST).verdict, pairs.WORSE)

    def test_an_interval_with_1_decides_nothing(self):
        one = compared(rounds_of((100, 80), (100, 120), (100, 130), (100, 90), (100, 140),
                                 (100, 130)))
        self.assertGreater(one.ratio, 1)
        self.assertLessEqual(one.low, 1)
        self.assertEqual(one.verdict, pairs.UNDECIDED)
        self.assertEqual(demo.ratio(one), "undecided")
        self.assertIn("undecided", demo.verdict(one))
        self.assertNotIn("times", demo.verdict(one))

    def test_few_rounds_decide_nothing(self):
        values = [(100, 150)] * (pairs.FEWEST_ROUNDS - 1)
        self.assertEqual(compared(rounds_of(*values)).verdict, pairs.UNDECIDED)
        self.assertEqual(compared(rounds_of(*values, (100, 150))).verdict, pairs.BETTER)

    def test_nothing_to_divide_by(self):
        one = compared(rounds_of(*[(0, 10)] * 6))
        self.assertIsNone(one.ratio)
        self.assertEqual(one.verdict, pairs.UNDECIDED)
        self.assertEqual(compared(rounds_of(*[(0, 0)] * 6), COST).value, None)

    def test_a_neighbour_turns_nothing_round(self):
        """It takes half of the machine for two rounds, and for one slice of each system."""
        values = [(100, 150), (49, 74), (50, 73), (101, 150), (49, 150), (100, 74), (99, 151),
                  (100, 149)]
        one = compared(rounds_of(*values))
        self.assertAlmostEqual(one.ratio, 1.5, delta=0.02)
        self.assertNotEqual(one.verdict, pairs.WORSE)


class BarTest(unittest.TestCase):
    def test_text(self):
        text = bar.Bar(240, io.StringIO()).text(120)
        self.assertTrue(text.startswith("[############............] 2:00 of 4:00"), text)
        self.assertTrue(bar.Bar(60, io.StringIO()).text(90).startswith("[" + "#" * bar.WIDTH + "]"))

    def test_lines_without_a_terminal(self):
        out = io.StringIO()
        progress = bar.Bar(60, out)
        progress.begin("1/7 a thing")
        progress.step("fills")
        progress.step("round 2", is_line=False)
        progress.end()
        self.assertEqual(out.getvalue(), "1/7 a thing: fills\n")


def fake_thing(what, log, plugin="raw_wal_fs", programs=()):
    """A module of demos/ whose plugin's driver does something else than it should."""
    def system(name, letter, rate, does):
        argv = (sys.executable, "-c", FAKE, log, letter, str(rate), does)
        return demo.System(name, name, argv)

    def part(setup):
        with open(setup.context.path("something"), "w", encoding="utf-8"):
            pass
        if what == "no device":
            raise drivers.NotShown("there is no device")
        return demo.Part("fake", "Nothing.", (system(demo.STOCK, "A", 100, ""),
                                              system(demo.OURS, "B", 200, what)),
                         (RATE,), "it does {plugin} and {stock}", 1, 0.001)

    return types.SimpleNamespace(THING=f"a thing that {what or 'works'}", PLUGIN=plugin,
                                 PROGRAMS=programs, part=part)


class DemoTest(unittest.TestCase):
    def run_things(self, name, **things):
        data = os.path.join(TMP, name)
        os.mkdir(data)
        args = argparse.Namespace(bin=BIN, data_dir=data, results=os.path.join(TMP, f"{name}-out"),
                                  quick=True, emulate=True)
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            results = demo.Demo(args, {thing: 60 for thing in things}, things.get).run()
            demo.report(args, results, 0)
        self.assertEqual(os.listdir(data), [], "nothing is left behind")
        return {result.name: result for result in results}

    def test_what_fails_does_not_stop_the_rest(self):
        log = os.path.join(TMP, "slices")
        results = self.run_things(
            "amiss",
            dies=fake_thing("dies", log + ".dies"),
            ends=fake_thing("ends badly", log + ".ends"),
            unsupported=fake_thing("unsupported", log + ".unsupported"),
            device=fake_thing("no device", log),
            plugin=fake_thing("", log, plugin="no_such_plugin"),
            program=fake_thing("", log, programs=("no_such_driver",)),
            works=fake_thing("", log),
        )
        self.assertEqual(
            {name: result.status for name, result in results.items()},
            {"dies": demo.FAILED, "ends": demo.FAILED, "unsupported": demo.NOT_SHOWN,
             "device": demo.NOT_SHOWN, "plugin": demo.NOT_SHOWN, "program": demo.NOT_SHOWN,
             "works": demo.SHOWN})
        self.assertIn("Corruption: all is lost", results["dies"].reason)
        self.assertIn("cannot close", results["ends"].reason)
        self.assertIn("no such device", results["unsupported"].reason)
        self.assertIn("no_such_driver", results["program"].reason)
        self.assertEqual(results["works"].comparisons()[0].verdict, pairs.BETTER)
        self.assertEqual(results["works"].sentence(), "it does 200 and 100: 2.00 times.")
        rounds = ("ABBA" * pairs.FEWEST_ROUNDS)[:2 * pairs.FEWEST_ROUNDS]
        with open(log, encoding="utf-8") as file:  # one round to warm up, then those that count
            self.assertEqual(file.read(), "AB" + rounds)
        lines = "\n".join(demo.table(list(results.values())))
        for result in results.values():
            self.assertIn(result.thing, lines)
        self.assertIn("not shown", lines)
        self.assertIn("failed", lines)

    def test_exit_status(self):
        for what, status in ((demo.SHOWN, 0), (demo.NOT_SHOWN, 0), (demo.FAILED, 1)):
            self.assertEqual(demo.exit_status([demo.Result("x", "x", "x", what)]), status)


class Page(html.parser.HTMLParser):
    """Reads a page; raises if a tag is not closed, or if it needs something that is not in it."""

    EMPTY = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.svgs, self.text = [], [], 0, ""

    def handle_starttag(self, tag, attrs):
        self.look(tag, attrs)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.look(tag, attrs)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.text += data

    def look(self, tag, attrs):
        self.svgs += tag == "svg"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            assert "//" not in (value or ""), f"{tag} {name}={value}: is not in the page"
            assert name not in ("src", "srcset"), f"{tag} {name}={value}: is not in the page"


class AllOfItTest(unittest.TestCase):
    """Each thing at a tiny size, with emulated devices: its figures say nothing."""

    @classmethod
    def setUpClass(cls):
        data, cls.results = os.path.join(TMP, "all"), os.path.join(TMP, "all-results")
        os.mkdir(data)
        cls.done = subprocess.run(
            [sys.executable, os.path.join(BENCH, "run.py"), "--bin", BIN, "--demo", "--quick",
             "--emulate", "--data-dir", data, "--results", cls.results],
            capture_output=True, text=True, check=False)
        cls.left = os.listdir(data)
        if cls.done.returncode not in (0, 1):
            raise RuntimeError(cls.done.stderr)
        with open(os.path.join(cls.results, "demo.json"), encoding="utf-8") as file:
            cls.document = json.load(file)
        with open(os.path.join(cls.results, "demo.html"), encoding="utf-8") as file:
            cls.html = file.read()

    def shown(self):
        return [thing for thing in self.document["things"] if thing["status"] == demo.SHOWN]

    def test_nothing_went_wrong(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        self.assertEqual(self.left, [])
        for thing in self.document["things"]:
            if thing["status"] != demo.SHOWN:  # a build of some plugins, or a machine that crawls
                self.assertRegex(thing["reason"], "not built|too slow|libpmem|tmpfs")

    def test_eight_things(self):
        self.assertEqual([thing["name"] for thing in self.document["things"]],
                         list(demos.SECONDS))
        self.assertEqual(sorted(demos.SECONDS), harness.names("demos"))
        self.assertEqual(len(demos.SECONDS), 8)
        self.assertLess(sum(demos.SECONDS.values()), 345)  # and some for the rest of six minutes
        for thing in self.document["things"]:
            self.assertIn(thing["thing"], self.done.stdout)
            self.assertEqual(self.done.stdout.count(f"\n{thing['thing']}: "), 1, "one sentence")
        for column in ("plugin", "stock", "ratio", "interval", "ground"):
            self.assertIn(column, self.done.stdout.splitlines()[0])

    def test_slices_take_turns(self):
        for thing in self.shown():
            systems = [system["name"] for system in thing["systems"]]
            self.assertEqual((systems[0], systems[-1]), (demo.STOCK, demo.OURS))
            slices = sorted((one["begin"], one["end"], name) for figures in thing["rounds"]
                            for name, one in figures.items())
            wanted = [name for number in range(len(thing["rounds"]))
                      for name in pairs.order(number, systems)]
            self.assertEqual([name for _, _, name in slices], wanted, thing["name"])
            for (_, end, _), (begin, _, _) in zip(slices, slices[1:]):
                self.assertLessEqual(end, begin, thing["name"])
            for figures in thing["rounds"]:
                for one in figures.values():
                    self.assertGreater(one["ops"], 0, thing["name"])

    def test_both_read_the_slow_device(self):
        """What is emulated is so for the plugin, too."""
        for thing in self.shown():
            if thing["name"] in ("tiered_env_disks", "tiered_env_families", "secondary_cache_2q",
                                 "hot_promotion"):
                for system in (demo.STOCK, demo.OURS):
                    reads = sum(figures[system]["slow_reads"] for figures in thing["rounds"])
                    self.assertGreater(reads, 0, (thing["name"], system))
            if thing["name"] in ("tiered_env_disks", "tiered_env_families", "tiered_env_memory",
                                 "tiered_env_pmem", "secondary_cache_2q", "hot_promotion"):
                self.assertIn("emulated", thing["ground"])

    def test_what_is_told_of_the_run(self):
        for key in ("date", "commit", "rocktier", "rocksdb", "machine", "load_average", "seconds"):
            self.assertIn(key, self.document)
        self.assertTrue(self.document["quick"])
        self.assertNotIn(TMP, json.dumps(self.document))

    def test_page(self):
        page = Page()
        page.feed(self.html)
        page.close()
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "names in the page are unique")
        for thing in self.document["things"]:
            self.assertIn(thing["name"], page.ids)
            self.assertIn(thing["sentence"], page.text)
        if "gnuplot is not installed" not in page.text:
            self.assertEqual(page.svgs, len(self.shown()) + 1)
            self.assertNotIn("No plot", page.text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
