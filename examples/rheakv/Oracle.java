// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the cluster must have.
 *
 * <p>A key has one writer, and versions from 1 on. When a write fails, nobody knows whether it comes
 * to pass, or when. So nothing is written to that key afterwards: it has the last version that was
 * acknowledged, or the one that failed.
 */
final class Oracle {
  private static final int VALUE_SIZE = 1000;
  /** Each so many versions is a deletion. */
  private static final int DELETION = 8;

  private static final class Versions {
    volatile int acknowledged;
    volatile int attempted;
  }

  private final boolean deletions;
  private final Map<String, Versions> keys = new ConcurrentHashMap<>();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();

  Oracle(boolean deletions) {
    this.deletions = deletions;
  }

  /** The value of a version; null: there is no record. */
  byte[] value(String key, int version) {
    if (version == 0 || deletions && version % DELETION == 0) {
      return null;
    }
    byte[] value = new byte[VALUE_SIZE];
    new Random(key.hashCode() * 1000003L + version).nextBytes(value);
    return value;
  }

  /** Called before a write: its version. */
  int attempt(String key) {
    return ++keys.computeIfAbsent(key, any -> new Versions()).attempted;
  }

  /** Called when the last attempt is acknowledged. */
  void acknowledge(String key) {
    Versions versions = keys.get(key);
    versions.acknowledged = versions.attempted;
    acknowledged.incrementAndGet();
  }

  /** Called when the last attempt has failed: the last call for this key. */
  void leave(String key) {
    unknown.incrementAndGet();
  }

  long acknowledged() {
    return acknowledged.get();
  }

  /** Writes of which nobody knows whether they have come to pass. */
  long unknown() {
    return unknown.get();
  }

  List<String> keys() {
    return new ArrayList<>(keys.keySet());
  }

  /** Null if the value is what the key may have; else what is wrong. */
  String wrong(String key, byte[] value) {
    Versions versions = keys.getOrDefault(key, new Versions());
    if (Arrays.equals(value, value(key, versions.acknowledged))
        || Arrays.equals(value, value(key, versions.attempted))) {
      return null;
    }
    return String.format("%s: %s, and version %d is acknowledged of %d", key,
        describe(key, value, versions.attempted), versions.acknowledged, versions.attempted);
  }

  private String describe(String key, byte[] value, int newest) {
    if (value == null) {
      return "there is no record";
    }
    for (int version = newest; version > 0; version--) {
      if (Arrays.equals(value, value(key, version))) {
        return "has version " + version;
      }
    }
    return "has " + value.length + " bytes that nobody has written";
  }

  /** What is wrong in records that ought to be all. */
  List<String> wrong(Map<String, byte[]> records) {
    Map<String, byte[]> all = new TreeMap<>(records);
    keys.keySet().forEach(key -> all.putIfAbsent(key, null));
    List<String> wrong = new ArrayList<>();
    all.forEach((key, value) -> {
      String what = wrong(key, value);
      if (what != null) {
        wrong.add(what);
      }
    });
    return wrong;
  }

  static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  /** The first few, for people. */
  static String summary(List<String> wrong) {
    return wrong.size() + " keys are wrong:\n  "
        + String.join("\n  ", wrong.subList(0, Math.min(10, wrong.size())));
  }
}
