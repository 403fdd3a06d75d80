#!/usr/bin/env python3
"""What is read of db_bench's mixgraph, and OPTIONS files."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from benchmarks import mixgraph as benchmark  # noqa: E402
from cache import cache_systems  # noqa: E402
from common import mixgraph, options_file  # noqa: E402
import run as runner  # noqa: E402


def histogram(kind, count, p99):
    return (f"Microseconds per {kind}:\nCount: {count} Average: 9.1000  StdDev: 3.00\n"
            f"Min: 1  Median: 8.0000  Max: 99\n"
            f"Percentiles: P50: 8.00 P75: 9.00 P99: {p99}.50 P99.9: 98.00 P99.99: 99.00\n"
            "------------------------------------------------------\n"
            "[       0,       1 ]        1   1.000%   1.000% \n\n")


def said(ops, operations, *kinds):
    return (f"mixgraph     :     123.4 micros/op {ops} ops/sec 2.001 seconds {operations} "
            "operations;    0.5 MB/s ( Gets:83 Puts:14 Seek:3, reads 40 in 86 found, avg size: "
            f"34.0 value, 590.1 scan)\n\n{''.join(kinds)}")


class FiguresTest(unittest.TestCase):
    def test_rates_of_the_last_run_and_counts_of_both(self):
        figures = mixgraph.figures_of(
            "DB path: [...]\n" +
            said(50, 100, histogram("read", 83, 40), histogram("write", 14, 60)) +
            said(70, 140, histogram("read", 116, 20), histogram("write", 20, 30),
                 histogram("seek", 4, 90)) + "waitforcompaction(...): started\n")
        self.assertEqual(figures["ops_per_s"], 70)
        self.assertEqual((figures["all_operations"], figures["all_puts"]), (240, 34))
        self.assertEqual([figures[f"{kind}_p99_us"] for kind in ("get", "put", "scan")],
                         [20.5, 30.5, 90.5])
        self.assertEqual((figures["get_p50_us"], figures["get_p999_us"]), (8, 98))

    def test_a_kind_that_did_not_come(self):
        figures = mixgraph.figures_of(said(50, 100, histogram("read", 100, 40)))
        self.assertEqual(figures["all_puts"], 0)
        self.assertNotIn("put_p99_us", figures)

    def test_metrics_are_what_is_read(self):
        figures = mixgraph.figures_of(said(1, 1, *(histogram(name, 1, 1)
                                                   for name in mixgraph.KINDS.values())))
        named = {metric.name for metric in benchmark.METRICS}
        self.assertEqual(set(figures) - named, {"all_operations", "all_puts"})


class ScaleTest(unittest.TestCase):
    def test_what_the_command_line_asks_for(self):
        args = runner.parse(["--bin=none", "--name=mixgraph", "--mixgraph-most=77",
                             "--mixgraph-seconds=3"])
        scale = benchmark.scale_of(args)
        self.assertEqual((scale.keys, scale.seconds, scale.most_scanned), (benchmark.KEYS, 3, 77))
        for plugin, module in benchmark.PLUGINS.items():
            for way in module.ways(scale).values():
                self.assertIn(way.warm_ups, (1, cache_systems.WARM_UPS), plugin)
                self.assertEqual(way.most_scanned, 77, plugin)


class OptionsFileTest(unittest.TestCase):
    def test_pairs_of_a_text(self):
        self.assertEqual(options_file.pairs_of("a=1;b={c=2;d={e=3;f=4}};;g=h=i"),
                         {"a": "1", "b": "{c=2;d={e=3;f=4}}", "g": "h=i"})
        self.assertEqual(options_file.pairs_of(""), {})

    def test_sections(self):
        options = options_file.of_text(
            "ttl=0;listeners={id=L};compaction_filter_factory={id=F;x=1};"
            "table_factory={id=T;block_align=true}")
        sections = options.text().split("[")[2:]
        self.assertEqual(["[" + section.rstrip() for section in sections], [
            "[DBOptions]\n  create_if_missing=true\n  listeners={id=L}",
            '[CFOptions "default"]\n  table_factory=T\n  ttl=0\n'
            "  compaction_filter_factory={id=F;x=1}",
            '[TableOptions/T "default"]\n  block_align=true'])

    def test_tables_by_default(self):
        options = options_file.of_text("block_based_table_factory={block_align=true}")
        self.assertEqual((options.table_name, options.table, options.family),
                         ("BlockBasedTable", {"block_align": "true"}, {}))


if __name__ == "__main__":
    unittest.main(verbosity=2)
