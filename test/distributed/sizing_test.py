#!/usr/bin/env python3
# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""The model of scripts/sizing: its arithmetic, what was measured, what docs/distributed.md has."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOADER = importlib.machinery.SourceFileLoader("sizing", ROOT + "/scripts/sizing")
SPEC = importlib.util.spec_from_loader("sizing", LOADER)
sizing = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(sizing)


def model(*arguments):
    return sizing.parse_arguments(arguments)


def rates(cluster):
    return {(who, where): rate for who, where, rate in cluster.writes_by_place()}


class Sizing(unittest.TestCase):
    def test_sizes(self):
        self.assertEqual([sizing.size(text) for text in ("7", "1K", "1.5M", "2G", "1T")],
                         [7, 1024, 1.5 * 2**20, 2**31, 2**40])
        self.assertEqual([sizing.human(number) for number in (0, 7, 1024, 1.5 * 2**20, 2**38)],
                         ["0", "7", "1K", "1.5M", "256G"])
        for bad in ("", "x", "1KB", "-1", "1 G"):
            with self.subTest(bad), contextlib.redirect_stderr(io.StringIO()) as errors:
                self.assertRaises(SystemExit, model, "--data=" + bad)
                self.assertIn("not a size, as 10G is one", errors.getvalue())

    def test_a_node_does_not_know_how_many_there_are(self):
        few, many = (model("--nodes=%d" % n, "--data=%dT" % n, "--writes=%dM" % n, "--reads=%d" % n)
                     for n in (10, 1000))
        self.assertEqual(list(sizing.table(few))[1:], list(sizing.table(many))[1:])

    def test_replicas(self):
        one, three = model("--replicas=1"), model("--replicas=3")
        self.assertAlmostEqual(three.node_data, 3 * one.node_data, delta=1)
        self.assertEqual(three.node_reads, one.node_reads)
        self.assertAlmostEqual(rates(three)["raw_wal_fs", "log device"],
                               3 * rates(one)["raw_wal_fs", "log device"], delta=1)

    def test_tiers_have_all(self):
        for data in ("1M", "300G", "30T"):
            cluster = model("--data=" + data)
            self.assertAlmostEqual(sum(cluster.tier_bytes()), cluster.node_data)
            self.assertAlmostEqual(sum(cluster.levels), cluster.node_data)

    def test_a_small_sync_is_a_block(self):
        self.assertEqual(model("--batch=1", "--record=100").frame(), sizing.BLOCK)
        self.assertGreater(model("--batch=8", "--record=1K").frame(), 8 * 1024)

    def test_checkpoints_copy_nothing(self):
        checkpoint, sst = model("--snapshot=checkpoint"), model("--snapshot=sst")
        self.assertEqual(sst.snapshot_writes(), 2 * checkpoint.snapshot_writes())

    def test_as_measured(self):
        """One of three nodes; the command is in docs/distributed.md."""
        cluster = model("--nodes=3", "--data=60447000", "--writes=60447000", "--record=1000",
                        "--batch=3.58")
        model_rates = rates(cluster)
        for place, measured in ((("raw_wal_fs", "log device"), 108294144),
                                (("Raft's log, SSTs", "home"), 64508046)):
            self.assertAlmostEqual(model_rates[place] / measured, 1, delta=0.1)

    def test_the_page_has_what_it_prints(self):
        with open(ROOT + "/docs/distributed.md", encoding="utf-8") as file:
            page = file.read()
        command = re.search(r"^scripts/sizing (--nodes.*)$", page, re.MULTILINE)[1]
        for line in list(sizing.table(model(*command.split())))[1:]:
            self.assertIn("\n%s\n" % line, page)


if __name__ == "__main__":
    unittest.main()
