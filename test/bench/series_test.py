#!/usr/bin/env python3
"""What the drivers tell of each second, beside what they tell of all.

ROCKTIER_BIN: the folder of the programs; TEST_TMPDIR: an empty folder. A driver whose plugin was
not built is skipped.
"""

import json
import os
import subprocess
import unittest

BIN = os.environ["ROCKTIER_BIN"]
TMP = os.environ["TEST_TMPDIR"]
RECORDS = 2000
EACH = "each second"


class SeriesTest(unittest.TestCase):
    def driven(self, program, *flags):
        path = os.path.join(BIN, program)
        if not os.path.exists(path):
            self.skipTest(f"{program} was not built")
        figures = json.loads(subprocess.check_output([path, *flags], text=True))
        return figures.get("figures", figures)

    def db(self):
        return f"--db={os.path.join(TMP, self.id().rpartition('.')[2])}"

    def moments(self, figures, least=1, name=EACH):
        """Checked: some, one after the other, about a second apart."""
        seconds = figures[name]["seconds"]
        self.assertGreaterEqual(len(seconds), least)
        self.assertEqual(len(seconds), len(figures[name]["operations"]))
        self.assertEqual(seconds, sorted(seconds))
        return figures[name]["operations"]

    def test_tier_driver(self):
        common = (self.db(), f"--records={RECORDS}", "--direct=false")
        filled = self.driven("tier_driver", *common, "--mode=fill")
        self.assertEqual(sum(self.moments(filled)), RECORDS)
        run = self.driven("tier_driver", *common, "--mix=c", "--seconds=2.5", "--rate=400")
        operations = self.moments(run, least=2)
        self.assertGreater(min(operations[:-1]), 0)
        # Two clocks, which busy machines stop at different times; sums of sums would be twice that.
        rate = sum(operations) / run[EACH]["seconds"][-1]
        self.assertAlmostEqual(rate / run["ops_per_s"], 1, delta=0.5)

    def test_hot_driver(self):
        common = (self.db(), f"--records={RECORDS}", "--threads=2")
        self.driven("hot_driver", *common, "--mode=fill")
        operations = self.moments(self.driven("hot_driver", *common, "--seconds=3.5"), least=2)
        self.assertGreater(min(operations), 0)

    def test_blob_driver(self):
        common = (self.db(), f"--records={RECORDS}", "--direct=false",
                  "--options=enable_blob_files=true")
        filled = self.driven("blob_driver", *common, "--mode=fill")
        self.assertEqual(sum(self.moments(filled)), RECORDS)
        run = self.driven("blob_driver", *common, "--operations=500")
        self.assertEqual(sum(self.moments(run)), 500)

    def test_cache_driver(self):
        common = (self.db(), f"--num_keys={RECORDS}")
        if os.path.exists(os.path.join(BIN, "cache_driver")):
            subprocess.check_call([os.path.join(BIN, "cache_driver"), *common, "--mode=fill"])
        run = self.driven("cache_driver", *common, "--ops=4000", "--warmup_ops=1000",
                          "--read_latency_us=0")
        self.assertEqual(sum(self.moments(run)), 4000)

    def test_append_probe(self):
        figures = self.driven("append_probe", f"--folder={TMP}", "--seconds=1.2")
        self.assertGreater(min(self.moments(figures)), 0)

    def test_many_blobs_driver(self):
        figures = self.driven("many_blobs_driver", self.db(), "--families=2", "--blob_files=20",
                              "--seconds=2", "--puts_per_s=200")
        puts = self.moments(figures, name=f"{EACH}, from the beginning")
        self.assertEqual(puts, sorted(puts))
        self.assertGreater(puts[0], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
