// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.List;

/** What is shown of each plugin. The OPTIONS file is NAME.ini in examples/options. */
enum Case {
  RAW_WAL_FS("logs are on a log device",
      "db/rocktier_raw_wal_fs.prom", List.of("written_bytes_total", "syncs_total"),
      "unknown WriteBatch tag", "unknown WriteBatch tag"),
  TIERED_ENV("levels are in two folders",
      "db/rocktier_tiered_env.prom", List.of("tier_files", "tier_read_bytes_total"),
      "Sst file size mismatch", "Sst file size mismatch"),
  SECONDARY_CACHE_2Q("blocks are cached in a file",
      "cache.prom", List.of("hits_total", "usage_bytes"), null, null),
  HOT_PROMOTION("hot records have copies",
      "hot/rocktier_hot_promotion.prom", List.of("store_records", "served_store_total"),
      "Missing configurable object: table_factory", null),
  BLOB_HYBRID("blob files do not grow",
      "db/rocktier_blob_hybrid.prom", List.of("moved_values_total", "blob_files"),
      "Missing configurable object: table_factory", null);

  final String summary;
  /** The statistics file, in the folder of the case, and what it must count. */
  final String statistics;
  final List<String> counters;
  /** How RocksDB without the plugin refuses the OPTIONS file; null: the database is opened. */
  final String refusal;
  /** The same with an OPTIONS file that names nothing of the plugin. */
  final String plainRefusal;

  Case(String summary, String statistics, List<String> counters, String refusal,
      String plainRefusal) {
    this.summary = summary;
    this.statistics = statistics;
    this.counters = counters;
    this.refusal = refusal;
    this.plainRefusal = plainRefusal;
  }

  String plugin() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }
}
