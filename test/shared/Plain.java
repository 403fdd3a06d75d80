// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.nio.charset.StandardCharsets;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Plain write|read|destroy DB: a program that knows nothing of plugins. */
public final class Plain {
  private static final int RECORDS = 2000;

  public static void main(String[] args) throws Exception {
    try (Options options = new Options().setCreateIfMissing(args[0].equals("write"))) {
      if (args[0].equals("destroy")) {
        RocksDB.destroyDB(args[1], options);
        return;
      }
      try (RocksDB db = RocksDB.open(options, args[1])) {
        for (int i = 0; args[0].equals("write") && i < RECORDS; i++) {
          db.put(record(i), record(i));
        }
        check(db);
      }
      System.out.println(RECORDS + " records are there");
    } catch (RocksDBException e) {
      System.out.println("refused: " + e.getMessage());
    }
  }

  private static void check(RocksDB db) throws RocksDBException {
    for (int i = 0; i < RECORDS; i++) {
      byte[] value = db.get(record(i));
      if (value == null || value.length != record(i).length) {
        throw new IllegalStateException("another value than the one written: " + i);
      }
    }
  }

  private static byte[] record(int i) {
    return ("record" + i).getBytes(StandardCharsets.UTF_8);
  }

  private Plain() {}
}
