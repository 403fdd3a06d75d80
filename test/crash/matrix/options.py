# Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
"""What db_crashtest.py and db_stress are asked for, for a stack of plugins.

Where hot_promotion or blob_hybrid are in it, the rest of RocksDB's options is in an OPTIONS file,
else db_crashtest.py draws them. FileSystems and caches have other options in each round.
"""

import os
import sys

import stacks

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir,
                                "secondary_cache_2q"))
import stress as cache_stress  # pylint: disable=wrong-import-position

DEVICE_SIZE = 64 << 20

# Values of db_stress have 64 bytes at first; 96, 32 and 64 when they are overwritten. Few keys have
# garbage soon.
_OPTIONS = """\
[Version]
  rocksdb_version=9.10.0
  options_file_version=1.1

[DBOptions]
  create_if_missing=true
  max_open_files=-1
  max_background_jobs=3
  max_subcompactions=2

[CFOptions "default"]
  table_factory={{id={table}}}
  merge_operator=PutOperator
  write_buffer_size=262144
  target_file_size_base=65536
  max_bytes_for_level_base=262144
  max_bytes_for_level_multiplier=4
{family}
[TableOptions/{table} "default"]
  filter_policy=bloomfilter:10
{front}"""


class Setup:
    """A run: a stack, a kind of transactions, a seed and the folder of all its files."""

    def __init__(self, stack, kind, folder, rng):
        self.stack = tuple(stack)
        self.kind = kind
        self.folder = folder
        # db_stress loses what it has not synced itself, if it can check that: the end of all files.
        # Else all writes are synced. What is lost of the device alone must not be missed in either
        # case: stock RocksDB does not see that the end of a log is lost before a later log
        # (stock_test), which has writes without a sync then.
        self.unsynced = stacks.may_lose_unsynced(kind) and rng.random() < 0.5
        self.blob_cache = {stacks.CACHE, stacks.BLOB} <= set(stack) and rng.random() < 0.5
        # There are no copies of large values: without medium ones hot_promotion has none.
        self.medium = self.has(stacks.HOT) or rng.random() < 0.5
        # Which SSTs are slow, for hot_promotion: those of a tier, or all.
        self.cold = self.has(stacks.TIERS, stacks.MEMORY) and rng.random() < 0.5
        self._device_above = self.has(stacks.TIERS) and rng.random() < 0.5
        self._cache = cache_stress.cache_uri(rng, "file", self.path("cache"))
        self._primary = rng.choice(["lru_cache", "auto_hyper_clock_cache"])

    def path(self, name):
        return os.path.join(self.folder, name)

    def has(self, *members):
        return any(member in self.stack for member in members)

    def has_options_file(self):
        return self.has(stacks.HOT, stacks.BLOB)

    def _family(self):
        lines = []
        if self.has(stacks.MEMORY):
            # Compressed blocks cannot refer to logs, nor entries without sequence numbers.
            # Above the last level are more SSTs with a later compaction.
            lines += ["compression=kNoCompression", "preserve_internal_time_seconds=3600",
                      "level0_file_num_compaction_trigger=8"]
        if self.has(stacks.BLOB):
            large, medium, space = (96, ";medium_value_size=24;transient_log_budget=0.1", 1.6) \
                if self.medium else (24, "", 1.3)
            lines += ["enable_blob_files=true", "min_blob_size=%d" % large,
                      "blob_file_size=262144",
                      "compaction_filter_factory={id=BlobHybrid;gc_garbage_ratio=0.1;"
                      "max_space_amplification=%s;space_floor=64K;gc_bytes_per_second=0%s}"
                      % (space, medium)]
        if self.blob_cache:
            lines.append("blob_cache={id={lru+2q://capacity=256K;secondary_cache={%s}}}"
                         % self._cache.replace("id=TwoQSecondaryCache;", ""))
        return lines

    def _front(self):
        if not self.has(stacks.HOT):
            return []
        behind = ["table={id=BlobHybridTable}"] if self.has(stacks.BLOB) else []
        slow = "temperature:cold" if self.cold else self.folder
        return behind + ["path=" + self.path("hot"), "budget=2M", "promotion_cache=256K",
                         "slow_read_micros=0", "ralt_buffer_bytes=16K", "slow=" + slow]

    def options_file(self):
        """The text of the OPTIONS file."""
        if self.has(stacks.HOT):
            table = "HotPromotionTable"
        else:
            table = "BlobHybridTable" if self.medium else "BlockBasedTable"
        lines = [["  %s\n" % line for line in part] for part in (self._family(), self._front())]
        return _OPTIONS.format(table=table, family="".join(lines[0]), front="".join(lines[1]))

    def of_crashtest(self, seed, text):
        """Arguments of db_crashtest.py, whose own text is `text`."""
        # Few keys are soon checked after a kill, and small files are soon written and compacted. An
        # OPTIONS file has its own sizes.
        arguments = ["--seed=%d" % seed, "--max_key=5000", "--column_families=4",
                     "--write_buffer_size=262144", "--target_file_size_base=262144",
                     "--max_bytes_for_level_base=1048576", *stacks.KINDS[self.kind],
                     # A thread that changes its size sleeps for half a minute in the end.
                     "--compressed_secondary_cache_size=0"]
        if self.has(stacks.RAW, stacks.MEMORY):
            arguments.append("--flush_one_in=300")  # logs end, and SSTs begin
        if self.has(stacks.RAW):
            arguments += ["--disable_wal=0", "--recycle_log_file_num=0"]
            arguments += ["--manual_wal_flush_one_in=0"]
            arguments += ["--sync=0", "--sync_wal_one_in=100", "--sync_fault_injection=1"] \
                if self.unsynced else ["--sync=1"]
        if self.has(stacks.CACHE):
            arguments += ["--cache_type=" + self._primary, "--cache_size=262144",
                          "--lowest_used_cache_tier=2", "--secondary_cache_uri="]
        if self.has_options_file():
            # SetOptions() takes what db_stress has for tables for the stock ones only.
            arguments.append("--set_options_one_in=0")
        if self.has(stacks.MEMORY) and '"compression_manager"' in text:
            # One of them takes no kNoCompression, which of_round() draws.
            arguments.append("--compression_manager=none")
        if self.has(stacks.BLOB):
            arguments += self._of_blobs(text)
        return arguments

    def _of_blobs(self, text):
        # What TimedPut() writes is not in blob files, so that it does not write everything. To open
        # a backup db_stress makes options from text that has a table factory's name only.
        arguments = ["--commit_bypass_memtable_one_in=0",
                     *(["--backup_one_in=0"] if self.has(stacks.HOT) else []),
                     *(["--use_timed_put_one_in=10"] if "txn" not in
                       " ".join(stacks.KINDS[self.kind]) else [])]
        # "rocktier blob verify" knows nothing of the compression of db_stress's own that some
        # versions have, and blob files cannot be written by a remote compaction.
        for name, value in (("compression_manager", "none"),
                            ("remote_compaction_worker_threads", "0")):
            if '"%s"' % name in text:
                arguments.append("--%s=%s" % (name, value))
        return arguments

    def of_round(self, rng):
        """Arguments of db_stress that are drawn for each round, and come last."""
        arguments = []
        if self.has(stacks.RAW, stacks.TIERS, stacks.MEMORY):
            arguments.append("--fs_uri=" + self._file_system(rng))
        if self.has(stacks.MEMORY) and rng.random() < 0.5:
            # Compressed blocks cannot refer to logs.
            arguments += ["--compression_type=none", "--bottommost_compression_type=disable"]
        if self.has(stacks.CACHE) and not self.blob_cache:
            arguments.append("--secondary_cache_uri=" + cache_stress.cache_uri(
                rng, "file", self.path("cache")))
        return arguments

    def _file_system(self, rng):
        # With a short tail more is written that is not synced.
        device = "id=RawWalFileSystem;device=%s;tail_size=%s" % (
            self.path("log-device"), rng.choice(["32K", "32K", "512K"]))
        if not self.has(stacks.TIERS, stacks.MEMORY):
            return device
        tiers = self._in_memory(rng) if self.has(stacks.MEMORY) else self._durable(rng)
        tiered = "id=TieredFileSystem;mover_bytes_per_second=0;" + tiers
        if not self.has(stacks.RAW):
            return tiered
        upper, lower = (device, tiered) if self._device_above else (tiered, device)
        return upper + ";target={%s}" % lower

    def _slow(self):
        return "slow={path=%s%s}" % (self.path("slow"), ";temperature=cold" if self.cold else "")

    def _placement(self, choice):
        # A log that has a tier of its own is not on the device.
        rules = [rule for rule in choice.split(";")
                 if not (rule.startswith("wal=") and self.has(stacks.RAW))]
        return "placement={%s}" % ";".join(rules)

    def _durable(self, rng):
        placement = rng.choice(["0..1=fast;2..=slow;wal=fast;blob=slow",
                                "last=slow;0..=fast;wal=slow;blob=fast",
                                "0..base=fast;base+1..=slow",
                                "older:5s/blob=slow;blob=fast;older:9s/1..=slow;0..=fast"])
        return "tiers={fast={path=%s;budget=%s};%s};%s" % (
            self.path("fast"), rng.choice(["2M", "20M"]), self._slow(),
            self._placement(placement))

    def _in_memory(self, rng):
        placement = rng.choice(["0..last-1=memory;last=slow", "0..=memory",
                                "0..last-1=memory;blob=slow;wal=slow",
                                "older:9s/blob=slow;older:5s=slow;0..=memory"])
        low = rng.choice(["1.0", "1.3"])
        budget = rng.choice(["", ";budget=8M", ";budget=40M"])
        return ("tiers={memory={kind=memory;path=%s%s};%s};%s;"
                "wal_amplification_low=%s;wal_amplification_high=%s;on_close=%s;"
                "wal_compression=%s;wal_budget=%s" % (
                    self.path("memory"), budget, self._slow(), self._placement(placement), low, low,
                    rng.choice(["keep", "persist"]), rng.choice(["none", "lz4", "zstd"]),
                    rng.choice(["0", "0", "4M", "30M"])))
