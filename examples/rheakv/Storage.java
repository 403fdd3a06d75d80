// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import com.alipay.sofa.jraft.rhea.storage.RocksRawKVStore;
import com.alipay.sofa.jraft.storage.impl.RocksDBLogStorage;
import com.alipay.sofa.jraft.util.StorageOptionsFactory;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.io.FileUtils;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Env;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.TableFormatConfig;

/**
 * What the two databases of a node stand on: the store of records, and the log of Raft.
 *
 * <p>Public methods take the place of calls in RheaKV; see Rewire.
 */
public final class Storage {
  private static Env storeEnv;
  private static Env logEnv;

  /**
   * Gives RheaKV the OPTIONS files store.ini and log.ini in `options`. In them NODE is the node's
   * folder; `sizes`, as in "CACHE=1M;BUFFER=256K", has other words that are replaced. Called before
   * RheaKV starts.
   */
  static void register(Path options, String sizes, Path node) throws IOException, RocksDBException {
    for (String name : new String[] {"store.ini", "log.ini"}) {
      String text = Files.readString(options.resolve(name)).replace("NODE", node.toString());
      for (String size : sizes.split(";")) {
        text = text.replace(size.split("=")[0], size.split("=")[1]);
      }
      Files.writeString(node.resolve(name), text);
    }
    storeEnv = register(RocksRawKVStore.class, node.resolve("store.ini"));
    logEnv = register(RocksDBLogStorage.class, node.resolve("log.ini"));
  }

  private static Env register(Class<?> user, Path file) throws IOException, RocksDBException {
    OptionsFile text = new OptionsFile(file);
    ConfigOptions config = new ConfigOptions();
    DBOptions database = text.database(config);
    StorageOptionsFactory.registerRocksDBOptions(user, database);
    StorageOptionsFactory.registerRocksDBColumnFamilyOptions(user, text.family(config));
    return envOf(database, file.resolveSibling(file.getFileName() + ".env"));
  }

  /**
   * The Env that options from text name. Options do not tell it to Java, but a database does. Each
   * Env has a folder of its own for that: a process that is killed may leave the database there,
   * and another Env would not read it.
   */
  private static Env envOf(DBOptions options, Path scratch) throws RocksDBException {
    Env env;
    try (Options all = new Options(options, new ColumnFamilyOptions());
        RocksDB db = RocksDB.open(all, scratch.toString())) {
      env = db.getEnv();
    }
    try (Options all = new Options().setEnv(env)) {
      RocksDB.destroyDB(scratch.toString(), all);
    }
    return env;
  }

  /** Whether plugins are FileSystems of both databases, and not RocksDB's own. */
  static boolean isPlugged() {
    return storeEnv != Env.getDefault() && logEnv != Env.getDefault();
  }

  /** For Env.getDefault(). */
  public static Env storeEnv() {
    return storeEnv;
  }

  /** For options.setTableFormatConfig(table): the options have their table by text. */
  public static ColumnFamilyOptions keepTable(
      ColumnFamilyOptions options, TableFormatConfig table) {
    return options;
  }

  /** For RocksDB.destroyDB(path, options), by default options. */
  public static void destroyStore(String path, Options options) throws RocksDBException {
    RocksDB.destroyDB(path, options.setEnv(storeEnv));
  }

  /** For FileUtils.deleteDirectory(folder), which leaves what is in tiers. */
  public static void deleteStore(File folder) throws IOException, RocksDBException {
    try (Options options = new Options()) {
      destroyStore(folder.getPath(), options);
    }
    FileUtils.deleteDirectory(folder);
  }

  /** For RocksDB.destroyDB(path, options), which leaves what is on the log device. */
  public static void destroyLog(String path, Options options) throws RocksDBException {
    RocksDB.destroyDB(path, options.setEnv(logEnv));
  }

  private Storage() {}
}
