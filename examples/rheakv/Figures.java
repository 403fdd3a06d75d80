// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the plugins of all nodes have counted since the nodes were started; docs/metrics.md. */
final class Figures {
  private static final List<String> FAULTS =
      List.of("io_errors_total", "logs_spilled_total", "tier_errors_total");

  private final Map<String, Object> sums = new LinkedHashMap<>();
  /** What must not happen. */
  private long faults;

  /** By name of plugin and counter, and "faults". */
  static Map<String, Object> of(Cluster cluster, Mode mode) throws IOException {
    Figures figures = new Figures();
    for (Cluster.Member each : cluster.members) {
      for (long region : mode.regions) {
        figures.add("raw_wal_fs", each.raft(region).resolve("log/rocktier_raw_wal_fs.prom"),
            "syncs_total", "written_bytes_total");
      }
      figures.add("tiered_env", each.store().resolve("rocktier_tiered_env.prom"), "tier_files",
          "tier_written_bytes_total");
      figures.add("secondary_cache_2q", each.folder.resolve("cache.prom"), "admitted_total",
          "hits_total");
      figures.add("hot_promotion", each.folder.resolve("hot/rocktier_hot_promotion.prom"),
          "store_records", "served_store_total");
    }
    figures.sums.put("faults", figures.faults);
    return figures.sums;
  }

  private void add(String plugin, Path file, String... names) throws IOException {
    Map<String, Double> figures = Files.exists(file) ? Statistics.read(plugin, file) : Map.of();
    for (String name : names) {
      sums.merge(plugin + "_" + name, figures.getOrDefault(name, 0.0).longValue(),
          (sum, more) -> (long) sum + (long) more);
    }
    for (String name : FAULTS) {
      faults += figures.getOrDefault(name, 0.0).longValue();
    }
  }

  private Figures() {}
}
