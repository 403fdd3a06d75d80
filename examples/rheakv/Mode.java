// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import com.alipay.sofa.jraft.rhea.options.RocksDBOptions;
import java.util.List;
import java.util.Locale;

/** How RheaKV makes the snapshots that it starts from, and ships to nodes that lag behind. */
enum Mode {
  /** A checkpoint of RocksDB: setFastSnapshot(true). */
  CHECKPOINT(List.of(1L), true, false),
  /** RocksDB's BackupEngine. */
  BACKUP(List.of(1L), false, false),
  /** An SST file of each column family, while writes wait. RheaKV has it with several regions. */
  SST(List.of(1L, 2L), false, false),
  /** The same in the background. */
  SST_ASYNC(List.of(1L, 2L), false, true);

  /** Keys from here on are in the second region. */
  static final String SPLIT = "n";
  /** The name of RheaKV's cluster, and the beginning of those of its groups of Raft. */
  static final String CLUSTER = "rocktier";

  final List<Long> regions;
  private final boolean fast;
  private final boolean async;

  Mode(List<Long> regions, boolean fast, boolean async) {
    this.regions = regions;
    this.fast = fast;
    this.async = async;
  }

  static Mode of(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The first key of a region; null: there is no bound. */
  String firstKey(long region) {
    return region == 1 ? null : SPLIT;
  }

  /** The first key behind a region; null: there is no bound. */
  String endKey(long region) {
    return region == regions.size() ? null : SPLIT;
  }

  /**
   * Whether a record that was deleted stays so on a node that gets a snapshot. RheaKV adds SST files
   * to what the node has, and deletes nothing there.
   */
  boolean keepsDeletions() {
    return regions.size() == 1;
  }

  void apply(RocksDBOptions options) {
    options.setFastSnapshot(fast);
    options.setAsyncSnapshot(async);
  }
}
