// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.HashMap;
import java.util.Map;

/** The oracle of examples/rheakv finds what a cluster has lost. */
public final class OracleTest {
  public static void main(String[] args) {
    Oracle oracle = new Oracle(true);
    Map<String, byte[]> records = new HashMap<>();
    for (int i = 1; i <= 8; i++) {
      write(oracle, "deleted", i, records);
    }
    for (int i = 1; i <= 3; i++) {
      write(oracle, "kept", i, records);
    }
    expect(oracle, records, 0);

    records.put("kept", oracle.value("kept", 2));
    expect(oracle, records, 1);
    records.remove("kept");
    expect(oracle, records, 1);
    records.put("deleted", oracle.value("deleted", 7));
    expect(oracle, records, 2);
    records.put("kept", oracle.value("kept", 3));
    records.remove("deleted");
    records.put("nobody's", new byte[1]);
    expect(oracle, records, 1);
    records.remove("nobody's");

    // A write that may have failed: there is the old value or the new one, and nothing else.
    oracle.attempt("kept");
    oracle.leave("kept");
    expect(oracle, records, 0);
    records.put("kept", oracle.value("kept", 4));
    expect(oracle, records, 0);
    records.put("kept", oracle.value("kept", 2));
    expect(oracle, records, 1);
    System.out.println("the oracle finds what is wrong");
  }

  private static void write(Oracle oracle, String key, int version, Map<String, byte[]> records) {
    if (oracle.attempt(key) != version) {
      throw new AssertionError("versions do not count from 1");
    }
    oracle.acknowledge(key);
    records.put(key, oracle.value(key, version));
    records.values().remove(null);
  }

  private static void expect(Oracle oracle, Map<String, byte[]> records, int wrong) {
    if (oracle.wrong(records).size() != wrong) {
      throw new AssertionError("expected " + wrong + ": " + oracle.wrong(records));
    }
  }

  private OracleTest() {}
}
