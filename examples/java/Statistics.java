// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The statistics file that a plugin renews each second; docs/metrics.md has all names. */
final class Statistics {
  private static final int SECONDS = 60;

  interface Work {
    void run() throws Exception;
  }

  /**
   * Works until there is a file that was written from now on, in which all counters of the case are
   * above 0.
   */
  static Map<String, Double> await(Case each, Path folder, Work work) throws Exception {
    Path file = folder.resolve(each.statistics);
    double now = System.currentTimeMillis() / 1000.0;
    for (int tenths = 0; tenths < SECONDS * 10; tenths++) {
      work.run();
      Map<String, Double> figures = Files.exists(file) ? read(each.plugin(), file) : Map.of();
      if (figures.getOrDefault("updated_seconds", 0.0) > now
          && each.counters.stream().allMatch(name -> figures.getOrDefault(name, 0.0) > 0)) {
        return figures;
      }
      Thread.sleep(100);
    }
    throw new IllegalStateException(file + " does not count " + each.counters);
  }

  /** Figures by name; one with several labels is their sum. */
  static Map<String, Double> read(String plugin, Path file) throws IOException {
    String prefix = "rocktier_" + plugin + "_";
    Map<String, Double> figures = new HashMap<>();
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(prefix)) {
        String name = line.substring(prefix.length()).split("[{ ]", 2)[0];
        figures.merge(name, Double.valueOf(line.substring(line.lastIndexOf(' ') + 1)), Double::sum);
      }
    }
    return figures;
  }

  private Statistics() {}
}
