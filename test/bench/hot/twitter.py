"""Clusters of Twitter's caches, as HotRAP measures them: what the generator is to match.

Where the figures are from:
- STATISTICS: https://github.com/twitter/cache-trace, stat/2020Mar.md at 1c50367, which has of each
  cluster mean sizes, the shares of operations (in hundredths; what is below 0.005 is left out) and
  the compulsory misses: the share of the operations that are the first one of their key
- PAPER: HotRAP (arXiv 2402.02070v2), section 4.3. Its figure 10 has the shares of reads of sunk
  and of hot records as points of a picture, without numbers. The text has three classes of sunk
  records, and within each the order in which it names the clusters, when it says that hot records
  make HotRAP faster; of cluster 10, that it reads what was updated lately; and one speedup

What each figure is:
- key, value: STATISTICS, the means. That values are from a half to one and a half of the mean is
  an assumption.
- puts: STATISTICS. All writing commands put, as for HotRAP's tools (set, add, cas, prepend). Of
  what roundings leave out of 1, a half is assumed to be puts.
- deletes: an assumption: the other half, at most 0.005. STATISTICS name no deletes of these
  clusters, so there are no more. As many reads ask for a deleted record (an assumption, too).
- inserts: of the puts: STATISTICS, compulsory misses by puts, at most 1; but at least as many as
  there are deletes (16, 17), so that the database keeps its size. That nearly all compulsory misses
  of a load and a run are in the run is an assumption.
- sunk: PAPER, as a class: 11 and 17 are "high", 19, 16 and 53 "middle", 10 and 29 "low". That these
  are 0.9, 0.5 and 0.1 is an assumption; of 10 it is 0 (PAPER: what it reads is on the fast device).
- hot: an assumption, in the PAPER's order; no more than are not the first operation of their key,
  so 0 for cluster 10, whose keys are written once and read once (STATISTICS).
- that sunk and hot are independent, and which records are hot for how long: an assumption;
  twitter_stream.h says what it is. The statistics' Zipf exponents are not used.
- speedup: PAPER, HotRAP by RocksDB-fat; None: a point of figure 10 without a number in the text
"""

import dataclasses

HIGH, MIDDLE, LOW = "high", "middle", "low"


@dataclasses.dataclass(frozen=True)
class Cluster:
    number: int
    key: int  # bytes
    value: int  # bytes, on average
    puts: float  # of the operations
    deletes: float
    inserts: float  # of the puts
    sunk: float  # of the reads of records
    hot: float
    sunk_class: str
    speedup: float | None = None

    @property
    def reads(self):
        return 1 - self.puts - self.deletes

    @property
    def name(self):
        """As names of workloads begin."""
        return f"Twitter {self.number}"

    @property
    def flag(self):
        """Of hot_driver."""
        names = ("key", "value", "puts", "deletes", "inserts", "sunk", "hot")
        return "--twitter=" + ";".join(f"{name}={getattr(self, name):g}" for name in names)


CLUSTERS = {cluster.number: cluster for cluster in (
    Cluster(11, 24, 170, 0.03, 0, 0.73, 0.9, 0.6, HIGH),
    Cluster(17, 19, 212, 0.005, 0.005, 1, 0.9, 0.9, HIGH, 5.59),
    Cluster(19, 42, 101, 0.25, 0, 0.85, 0.5, 0.3, MIDDLE),
    Cluster(16, 18, 115, 0.06, 0.005, 0.09, 0.5, 0.6, MIDDLE),
    Cluster(53, 36, 9213, 0.12, 0, 0.3, 0.5, 0.8, MIDDLE),
    Cluster(10, 22, 2333, 0.5, 0, 1, 0, 0, LOW),
    Cluster(29, 36, 799, 0.135, 0.005, 0.33, 0.1, 0.6, LOW),
)}
# By how much shares may be off: of reads that are sunk or hot, of operations, of inserts; and by
# how much of the mean the sizes of values.
READS_OFF, OPERATIONS_OFF, INSERTS_OFF, SIZES_OFF = 0.02, 0.005, 0.02, 0.02
