// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The Env that a text names, as a line "env=" of an OPTIONS file does.
 *
 * <p>Java reads such a text as a part of DBOptions, and these do not give their Env away. A
 * database does: an empty one is opened with them, read-only, so that it leaves nothing behind.
 */
final class NamedEnv {
  private static final Map<String, Env> NAMED = new ConcurrentHashMap<>();

  /** All stores with the same text share the Env, which stays until the process ends. */
  static Env of(String text) {
    return NAMED.computeIfAbsent(text, NamedEnv::make);
  }

  private static Env make(String text) {
    try {
      String folder = Files.createTempDirectory("rocktier").toString();
      try (Options plain = new Options().setCreateIfMissing(true)) {
        RocksDB.open(plain, folder).close();
        try {
          return envOf(folder, text);
        } finally {
          RocksDB.destroyDB(folder, plain);
        }
      }
    } catch (RocksDBException e) {
      throw new IllegalArgumentException("env=" + text, e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Env envOf(String folder, String text) throws RocksDBException {
    Properties properties = new Properties();
    properties.setProperty("env", text);
    List<ColumnFamilyDescriptor> families =
        List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY));
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (ConfigOptions config = new ConfigOptions();
        DBOptions options = DBOptions.getDBOptionsFromProps(config, properties)) {
      if (options == null) {
        throw new IllegalArgumentException("RocksDB does not take env=" + text);
      }
      try (RocksDB db = RocksDB.openReadOnly(options, folder, families, handles)) {
        handles.forEach(ColumnFamilyHandle::close);
        Env env = db.getEnv();
        if (env == Env.getDefault()) {
          // RocksDB drops an Env that it does not know, and says nothing.
          throw new IllegalStateException("there is no such Env: " + text);
        }
        return env;
      }
    }
  }

  private NamedEnv() {}
}
