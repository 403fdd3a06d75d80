#!/usr/bin/env python3
"""How the benchmark of volatile tiers reads what db_bench and the LOG say, and how much memory
stock gets.

TEST_TMPDIR: an empty folder.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tier import volatile_figures, volatile_systems  # noqa: E402

TMP = os.environ["TEST_TMPDIR"]

PRINTED = """\
fillrandom   :      40.231 micros/op 198854 ops/sec 7.542 seconds 1499752 operations;  197.2 MB/s
Microseconds per write:
Count: 1499752 Average: 39.8421  StdDev: 812.10
Min: 0  Median: 3.0300  Max: 266123
Percentiles: P50: 3.03 P75: 5.11 P99: 2795.35 P99.9: 39664.88 P99.99: 88011.00
------------------------------------------------------
[       0,       1 ]    12345   0.823%   0.823%

readrandomwriterandom :      20.100 micros/op 49751 ops/sec 3.001 seconds 149303 operations; \
( reads:104512 writes:44791 total:1500000 found:66011)
Microseconds per read:
Count: 104512 Average: 15.1000  StdDev: 12.10
Min: 1  Median: 9.5000  Max: 4021
Percentiles: P50: 9.50 P75: 12.00 P99: 96.25 P99.9: 410.50 P99.99: 2011.00
------------------------------------------------------

Microseconds per write:
Count: 44791 Average: 25.1000  StdDev: 112.10
Min: 1  Median: 4.5000  Max: 9021
Percentiles: P50: 4.50 P75: 6.00 P99: 110.00 P99.9: 3100.25 P99.99: 8011.00
------------------------------------------------------

readrandom   :       9.011 micros/op 110975 ops/sec 0.135 seconds 15000 operations;   \
71.3 MB/s (9522 of 15000 found)

STATISTICS:
rocksdb.stall.micros COUNT : 4200123
rocksdb.wal.bytes COUNT : 1583012345
rocksdb.db.write.stall P50 : 0.500000 P95 : 0.900000 P99 : 1.500000 P100 : 266100.000000 \
COUNT : 9 SUM : 4200123
"""

LOG = """\
2026/01/02-03:04:05.000000 11 [db/db_impl/db_impl_open.cc:2266] DB pointer 0x7f0a
2026/01/02-03:04:06.000000 12 EVENT_LOG_v1 {"time_micros": %(flush)d, "job": 2, \
"event": "flush_finished", "lsm_state": [1, 0]}
2026/01/02-03:04:06.100000 12 [plugin/tiered_env/fs/report.cc:92] tiered_env: statistics
  tier_files.memory 1
  memory_bytes 10
  memory_recipes 1
  memory_wal_amplification_ratio 0.5

2026/01/02-03:04:07.000000 12 EVENT_LOG_v1 {"time_micros": %(deletion)d, "job": 3, \
"event": "table_file_deletion", "file_number": 9}
2026/01/02-03:04:08.500000 13 [plugin/tiered_env/move.cc:304] tiered_env: moved \
/a b/db/000070.sst, 33759872 bytes, level 2, \
from tier memory (/m/t) to tier slow (/a b/slow): where it belongs
2026/01/02-03:04:09.500000 13 [plugin/tiered_env/move.cc:304] tiered_env: moved \
/a b/db/000071.sst, 1000 bytes, level 2, \
from tier memory (/m/t) to tier slow (/a b/slow): where it belongs
2026/01/02-03:04:09.250000 13 [plugin/tiered_env/move.cc:304] tiered_env: moved \
/a b/db/000072.sst, 500 bytes, level 1, \
from tier slow (/a b/slow) to tier memory (/m/t): where it belongs
2026/01/02-03:04:20.000000 12 [plugin/tiered_env/fs/report.cc:92] tiered_env: statistics
  tier_files.memory 7
  memory_bytes 111271271
  memory_recipes 7
  memory_wal_amplification_ratio 2.57

"""


def log():
    flush = volatile_figures.stamp("2026/01/02-03:04:06.000000 ")
    return LOG % {"flush": flush * 1e6, "deletion": (flush + 1) * 1e6}


class Printed(unittest.TestCase):
    def test_rate(self):
        self.assertEqual(volatile_figures.rate(PRINTED, "fillrandom"), (1499752, 7.542))
        # Not that of another benchmark whose name begins alike.
        self.assertEqual(volatile_figures.rate(PRINTED, "readrandom"), (15000, 0.135))

    def test_what_was_not_printed_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "overwrite"):
            volatile_figures.rate(PRINTED, "overwrite")
        with self.assertRaisesRegex(RuntimeError, "rocksdb.no.such"):
            volatile_figures.ticker(PRINTED, "rocksdb.no.such")
        with self.assertRaisesRegex(RuntimeError, "how many keys"):
            volatile_figures.found_keys("nothing")

    def test_latencies_are_those_of_the_last_benchmark(self):
        self.assertEqual(
            volatile_figures.latencies(PRINTED, "write"),
            {"write_max_us": 9021, "write_p50_us": 4.5, "write_p99_us": 110,
             "write_p999_us": 3100.25},
        )
        self.assertEqual(volatile_figures.latencies(PRINTED, "read")["read_p99_us"], 96.25)
        self.assertEqual(volatile_figures.latencies(PRINTED, "merge"), {})

    def test_ticker(self):
        self.assertEqual(volatile_figures.ticker(PRINTED, "rocksdb.stall.micros"), 4200123)
        self.assertEqual(volatile_figures.ticker(PRINTED, "rocksdb.wal.bytes"), 1583012345)

    def test_found_keys(self):
        self.assertEqual(volatile_figures.found_keys(PRINTED), (9522, 15000))


class Log(unittest.TestCase):
    def test_settled_with_the_last_move(self):
        self.assertAlmostEqual(volatile_figures.seconds_until_settled(log(), 2.0), 4.5, places=3)

    def test_settled_with_the_last_flush(self):
        without = "\n".join(line for line in log().splitlines() if "moved" not in line)
        self.assertAlmostEqual(volatile_figures.seconds_until_settled(without, 0.5), 1.0, places=3)

    def test_not_before_all_is_written(self):
        self.assertEqual(volatile_figures.seconds_until_settled(log(), 7.5), 7.5)

    def test_a_log_of_no_opening_is_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "was open"):
            volatile_figures.seconds_until_settled("", 1)

    def test_the_last_report_counts(self):
        self.assertEqual(volatile_figures.volatile(log()),
                         {"wal_amplification_ratio": 2.57, "bytes": 111271271, "recipes": 7})
        with self.assertRaisesRegex(RuntimeError, "statistics"):
            volatile_figures.volatile("")

    def test_moved_bytes(self):
        self.assertEqual(volatile_figures.moved_bytes(log(), "slow"), 33760872)
        self.assertEqual(volatile_figures.moved_bytes(log(), "memory"), 500)
        self.assertEqual(volatile_figures.moved_bytes(log(), "slo"), 0)


class Sizes(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(TMP, self.id())
        os.makedirs(f"{self.folder}/below")

    def write(self, name, size):
        with open(f"{self.folder}/{name}", "wb") as file:
            file.write(bytes(size))

    def test_retained_logs_are_ours_and_no_recipes(self):
        for name, size in (("TIERS-3.log", 100), ("TIERS-12-36F7CEBBD62BEAE5.seg", 20),
                           ("TIERS-RECIPES-000003", 5), ("000003.log", 1000), ("TIERS", 3),
                           ("TIERS-3.seg.tiers-tmp", 7)):
            self.write(name, size)
        self.assertEqual(volatile_figures.sizes(self.folder, volatile_figures.RETAINED.fullmatch),
                         120)

    def test_tables_are_no_stubs(self):
        for name, size in (("000003.sst", 2048), ("below/000004.sst.76ceed97c2bf4d08", 70),
                           ("000005.sst", 4000), ("below/OWNER", 9)):
            self.write(name, size)
        self.assertEqual(volatile_figures.sizes(self.folder, volatile_figures.TABLE.fullmatch),
                         4070)

    def test_a_device_is_read_where_there_is_one(self):
        devices = os.listdir("/sys/block") if os.path.isdir("/sys/block") else []
        if not devices:
            self.skipTest("no block devices here")
        read, written = volatile_figures.device_bytes(f"/dev/{devices[0]}")
        self.assertEqual((read % 512, written % 512), (0, 0))

    def test_a_sampler_sees_files_come(self):
        with volatile_figures.Sampler(self.folder, f"{self.folder}/below", period=0.001) as sampler:
            self.write("TIERS-3-36F7CEBBD62BEAE5.log", 300)
            self.write("below/000004.sst.76ceed97c2bf4d08", 100)
            while not sampler.figures().get("retained_peak_bytes"):
                pass
        self.assertEqual(sampler.figures()["tier_peak_bytes"], 100)
        self.assertEqual(sampler.figures()["retained_peak_bytes"], 300)


class MemoryOfStock(unittest.TestCase):
    def test_as_much_as_ours_ever_had(self):
        memory = volatile_systems.Memory()
        self.assertIsNone(memory.bound("held", "reads"))
        for tier, process in ((100, 20), (70, 60)):
            memory.saw("ours", "reads", {"tier_peak_bytes": tier, "process_bytes": process})
        memory.saw("direct", "reads", {"process_bytes": 1000})
        self.assertEqual(memory.bound("held", "reads"), 130)
        self.assertEqual(memory.cache_bytes("direct", "reads"), volatile_systems.CACHE_BYTES + 100)
        for system in ("buffered", "direct", "ours"):
            self.assertIsNone(memory.bound(system, "reads"))
        self.assertIsNone(memory.bound("held", "writes"))

    def test_series_have_one_sample_in_a_second(self):
        sampler = volatile_figures.Sampler(TMP, TMP)
        sampler._samples = [(0.2, 1, 2), (0.9, 3, 4), (1.4, 5, 6)]
        self.assertEqual(sampler.series(),
                         {"seconds": [0.9, 1.4], "retained": [3, 5], "tier": [4, 6]})


class Amplification(unittest.TestCase):
    def test_peaks_and_course(self):
        # Much is retained while the tier is small yet: that tells nothing.
        samples = [(i, 50, tier) for i, tier in enumerate((0, 5, 10))]
        samples += [(3, 60, 50), (4, 120, 100), (5, 90, 60)]
        figures = volatile_figures.amplification(samples)
        self.assertEqual(figures["tier_peak_bytes"], 100)
        self.assertEqual(figures["retained_peak_bytes"], 120)
        self.assertEqual(figures["peak_per_peak"], 1.2)
        self.assertEqual(figures["worst_amplification"], 1.5)
        self.assertEqual(figures["lambda_20"], 10.0)  # the sample at 1 s
        self.assertEqual(figures["lambda_100"], 1.5)

    def test_without_a_tier_there_is_nothing(self):
        self.assertEqual(volatile_figures.amplification([]), {})
        self.assertEqual(volatile_figures.amplification([(0, 10, 0)]), {})


if __name__ == "__main__":
    unittest.main()
