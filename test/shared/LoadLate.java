// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import io.github.rocktier.Rocktier;
import org.rocksdb.RocksDB;

/** Loads the plugins when RocksDB is there already. */
public final class LoadLate {
  public static void main(String[] args) {
    RocksDB.loadLibrary();
    try {
      Rocktier.load();
    } catch (IllegalStateException e) {
      System.out.println(e.getMessage());
    }
  }

  private LoadLate() {}
}
