// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * RheaKv WHAT NAME=VALUE...: what `run` calls; see there.
 *
 * <p>WHAT is "demo", "rounds" or "measure". The last two end with a line of JSON.
 */
public final class RheaKv {
  private final Map<String, String> arguments = new HashMap<>();
  private final Mode mode;
  private final boolean plugged;
  private final long seed;

  private RheaKv(String[] args) {
    for (int i = 1; i < args.length; i++) {
      arguments.put(args[i].split("=", 2)[0], args[i].split("=", 2)[1]);
    }
    mode = Mode.of(arguments.get("mode"));
    plugged = !arguments.containsKey("plain");
    seed = number("seed", new Random().nextInt(1 << 30));
  }

  public static void main(String[] args) {
    try {
      new RheaKv(args).run(args[0]);
    } catch (Throwable t) {
      t.printStackTrace();
      System.exit(1);
    }
    // RheaKV has threads that do not end.
    System.exit(0);
  }

  private long number(String name, long otherwise) {
    return Long.parseLong(arguments.getOrDefault(name, String.valueOf(otherwise)));
  }

  private void run(String what) throws Exception {
    switch (what) {
      case "demo":
        try (Session session = open(Setup.SMALL)) {
          new Demo(session).run();
        }
        break;
      case "rounds":
        rounds((int) number("rounds", 10));
        break;
      case "measure":
        try (Session session = open(Setup.LARGE)) {
          Map<String, Object> results = new Measure(session, (int) number("records", 100000),
              (int) number("seconds", 30)).run();
          if (plugged) {
            results.putAll(Figures.of(session.cluster, mode));
          }
          print(results);
        }
        break;
      default:
        throw new IllegalArgumentException(what);
    }
  }

  private Session open(String sizes) throws Exception {
    boolean deletions = mode.keepsDeletions() || arguments.containsKey("deletions");
    return new Session(new Setup(mode, plugged, sizes), Path.of(arguments.get("folder")), seed,
        deletions);
  }

  private void rounds(int rounds) throws Exception {
    System.out.println("seed " + seed);
    try (Session session = open(Setup.SMALL)) {
      new Rounds(session).run(rounds);
      Map<String, Object> results = new LinkedHashMap<>();
      results.put("seed", seed);
      results.put("rounds", rounds);
      results.put("kills", session.kills());
      results.put("replaced", session.replaced());
      results.put("reconnected", session.reconnected());
      results.put("acknowledged", session.oracle.acknowledged());
      results.put("unknown", session.oracle.unknown());
      if (plugged) {
        results.putAll(session.figures());
      }
      print(results);
    }
  }

  private void print(Map<String, Object> results) {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("rocksdb", arguments.get("rocksdb"));
    all.put("mode", mode);
    all.put("plugins", plugged);
    all.putAll(results);
    System.out.println(all.entrySet().stream()
        .map(each -> "\"" + each.getKey() + "\": " + json(each.getValue()))
        .collect(Collectors.joining(", ", "{", "}")));
  }

  private static String json(Object value) {
    return value instanceof Number || value instanceof Boolean ? value.toString()
                                                               : "\"" + value + "\"";
  }
}
