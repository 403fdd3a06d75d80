#!/usr/bin/env python3
"""Other systems beside ours: the command line, and stand-ins that take what a peer is given.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from blob import blob_systems  # noqa: E402
from common import harness, peers  # noqa: E402
from hot import hot_systems, twitter  # noqa: E402
import run as runner  # noqa: E402

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
# Our own driver, which does not know what only peers are told.
STAND_IN = """#!/usr/bin/env python3
import os, sys
if sys.argv[1:] == ["--peer_version"]:
    print("{version}")
    sys.exit()
flags = [flag for flag in sys.argv[1:] if not flag.startswith("{own}")]
assert len(flags) + 1 == len(sys.argv) - 1, "{own} is given"
os.execv("{driver}", ["{driver}", *flags])
"""
RECORDS = 2000


def stand_in(driver, own, version="a stand-in, 1.0"):
    """Its path; skips the test if the driver was not built."""
    path = os.path.join(BIN, driver)
    if not os.path.exists(path):
        raise unittest.SkipTest(f"{driver} was not built")
    made = os.path.join(TMP, f"peer-{driver}")
    with open(made, "w", encoding="ascii") as file:
        file.write(STAND_IN.format(driver=path, own=own, version=version))
    os.chmod(made, 0o755)
    return made


class CommandLineTest(unittest.TestCase):
    def test_names_and_paths(self):
        self.assertEqual(peers.of(["hotrap=/a=b", "titan=c"]), {"hotrap": "/a=b", "titan": "c"})
        for wrong in ("hotrap", "hotrap=", "other=/a"):
            with self.assertRaisesRegex(peers.Unknown, "hotrap, titan, parallax"):
                peers.of([wrong])

    def test_a_benchmark_has_its_own(self):
        args = runner.parse(["--bin=b", "--name=blob_hybrid", "--peer=hotrap=h", "--peer=titan=t"])
        self.assertEqual(peers.chosen(args, "blob_hybrid"), {"titan": "t"})
        self.assertEqual(peers.chosen(args, "hot_promotion"), {"hotrap": "h"})

    def test_a_quick_run_has_them(self):
        beside = [f"--peer={peer}=program" for peer in peers.KNOWN]
        for name, own in (("hot_promotion", "hot"), ("blob_hybrid", "ours")):
            args = runner.parse(["--bin=b", f"--name={name}", "--emulate", "--quick", *beside])
            workloads = {}  # by system
            for case in harness.load("benchmarks", name).BENCHMARK.cases(args):
                for system in case.systems:
                    workloads.setdefault(system, set()).add(case.benchmark)
            expected = {workload for workload in workloads[own] if ": S," not in workload}
            self.assertTrue(expected)
            for peer in peers.chosen(args, name):  # values of S are in place in each system
                self.assertEqual(workloads.get(peer), expected, peer)

    def test_a_quick_run_has_no_others(self):
        for name in ("hot_promotion", "blob_hybrid"):
            args = runner.parse(["--bin=b", f"--name={name}", "--emulate", "--quick"])
            cases = harness.load("benchmarks", name).BENCHMARK.cases(args)
            measured = {system for case in cases for system in case.systems}
            self.assertEqual(measured & set(peers.KNOWN), set())

    def test_a_published_command_has_no_paths(self):
        self.assertEqual(runner.reproducible(["--peer", "hotrap=/a", "--peer=titan=/b", "--rounds",
                                              "3"]),
                         ["--peer", "hotrap=PATH", "--peer=titan=PATH", "--rounds", "3"])


class StandInTest(unittest.TestCase):
    def context(self, **programs):
        context = harness.Context(BIN, TMP, emulate=True, peers=programs)
        self.addCleanup(context.close)
        return context

    def test_one_of_hot_promotion(self):
        context = self.context(hotrap=stand_in("hot_driver", "--extra="))
        scale = hot_systems.Scale(2, 1000, 1, 2)
        where = hot_systems.on_one_device(context, 0, "slow")
        hot_systems.fill(context, where, scale, "hotrap")
        figures = hot_systems.run(context, where, scale, "hotrap", 1, 7, "--mix=ro",
                                  "--keys=hotspot")
        self.assertGreater(figures["ops_per_s"], 0)
        self.assertGreater(figures["fast_bytes_max"], 0)

    def test_one_of_hot_promotion_with_a_cluster_of_twitter(self):
        context = self.context(hotrap=stand_in("hot_driver", "--extra="))
        cluster = twitter.CLUSTERS[29]
        scale = hot_systems.Scale(2, cluster.value, 1, 2, cluster)
        where = hot_systems.on_one_device(context, 0, "slow")
        hot_systems.fill(context, where, scale, "hotrap")
        figures = hot_systems.run(context, where, scale, "hotrap", 1, 7)
        self.assertGreater(figures["ops_per_s"], 0)
        self.assertGreater(figures["delete_share"], 0)

    def test_one_of_blob_hybrid(self):
        context = self.context(titan=stand_in("blob_driver", "--bound="))
        of_mix = (context, "buffered", "LD", "titan", RECORDS, 1 << 20, {}, 1 << 20)
        loaded = blob_systems.run(*of_mix, "--mode=fill", "--seed=1")
        run = blob_systems.run(*of_mix, "--mix=a", "--uniform=false", "--operations=500",
                               "--seed=2")
        for figures in (loaded, run):
            self.assertGreater(figures["io_amp"], 0)
            self.assertGreaterEqual(figures["space_max"], 0)

    def test_those_of_a_quick_run(self):
        for name, peer, program, *small in (
                ("hot_promotion", "hotrap", stand_in("hot_driver", "--extra="), "--hot-seconds=1"),
                ("blob_hybrid", "titan", stand_in("blob_driver", "--bound="), "--blob-megabytes=1",
                 "--blob-grounds=buffered")):
            args = runner.parse([f"--bin={BIN}", f"--name={name}", "--emulate", "--quick",
                                 f"--peer={peer}={program}", *small])
            context = self.context(**{peer: program})
            done = 0
            for case in harness.load("benchmarks", name).BENCHMARK.cases(args):
                if case.systems == (peer,):
                    self.assertTrue(case.run(context, 0)[peer], case.benchmark)
                    done += 1
            self.assertGreater(done, 1)

    def test_it_has_to_say_what_it_is(self):
        context = self.context(titan=stand_in("blob_driver", "--bound="))
        self.assertEqual(peers.versions(context, ["titan"]), {"titan": "a stand-in, 1.0"})
        context = self.context(titan=stand_in("blob_driver", "--bound=", version=""))
        with self.assertRaisesRegex(RuntimeError, "titan does not tell its version"):
            peers.versions(context, ["titan"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
