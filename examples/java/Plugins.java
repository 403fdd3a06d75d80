// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * Plugins write|read|without OPTIONS FOLDER [PLUGIN...]: databases with a plugin each, in Java.
 *
 * <p>OPTIONS has the OPTIONS files. "write" fills a database for each plugin, reads and overwrites
 * it, and asks the plugin's statistics whether it was used. "read" finds all records again. "without"
 * is for a JVM that has no librocktier.so: RocksDB refuses what is not its own.
 */
public final class Plugins {
  private static final int RECORDS = 8000;
  private static final int HOT = 500;
  private static final int ROUNDS = 4;
  private static final int SYNCED = 50;

  private final Case each;
  private final Path folder;
  private final Path options;

  private Plugins(Case each, Path optionsFolder, Path folder) {
    this.each = each;
    this.folder = folder.resolve(each.plugin());
    this.options = optionsFolder.resolve(each.plugin() + ".ini");
  }

  public static void main(String[] args) throws Exception {
    List<String> named = Arrays.asList(args).subList(3, args.length);
    for (Case each : Case.values()) {
      if (named.isEmpty() || named.contains(each.plugin())) {
        new Plugins(each, Path.of(args[1]), Path.of(args[2])).run(args[0]);
      }
    }
  }

  private void run(String what) throws Exception {
    switch (what) {
      case "write":
        write();
        break;
      case "read":
        read();
        break;
      case "without":
        without();
        break;
      default:
        throw new IllegalArgumentException(what);
    }
  }

  private static byte[] key(int i) {
    return ("key" + (1000000 + i)).getBytes(StandardCharsets.UTF_8);
  }

  /** Of the record's last round. */
  private static byte[] value(int i, int round) {
    byte[] value = new byte[1000];
    new Random(i * 31L + round).nextBytes(value);
    return value;
  }

  private interface Work {
    void run(RocksDB db) throws Exception;
  }

  private void open(Work work) throws Exception {
    open(new OptionsFile(folder.resolve("OPTIONS")), work);
  }

  private void open(OptionsFile text, Work work) throws Exception {
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (ConfigOptions config = new ConfigOptions();
        DBOptions database = text.database(config);
        ColumnFamilyOptions family = text.family(config);
        RocksDB db = RocksDB.open(database, folder.resolve("db").toString(),
            List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, family)), handles)) {
      work.run(db);
      handles.forEach(ColumnFamilyHandle::close);
    }
  }

  private void write() throws Exception {
    for (String name : List.of("fast", "slow")) {
      Files.createDirectories(folder.resolve(name));
    }
    String text = Files.readString(options).replace("FOLDER", folder.toAbsolutePath().toString());
    Files.writeString(folder.resolve("OPTIONS"), text);
    open(db -> {
      fill(db);
      check(db, RECORDS);
      // Copies of hot records are made in the background, and are used from then on.
      report(Statistics.await(each, folder, () -> check(db, HOT)));
    });
  }

  private void fill(RocksDB db) throws RocksDBException {
    try (WriteOptions buffered = new WriteOptions();
        WriteOptions synced = new WriteOptions().setSync(true)) {
      for (int round = 0; round < ROUNDS; round++) {
        for (int i : shuffled(round)) {
          db.put(i % (RECORDS / SYNCED) == 0 ? synced : buffered, key(i), value(i, round));
        }
      }
    }
    db.compactRange();
  }

  /** All records in another order for each round. */
  private static List<Integer> shuffled(int round) {
    List<Integer> records = IntStream.range(0, RECORDS).boxed().collect(Collectors.toList());
    Collections.shuffle(records, new Random(round));
    return records;
  }

  /** Compares the first records with what was written. */
  private static void check(RocksDB db, int records) throws RocksDBException {
    for (int i = 0; i < records; i++) {
      if (!Arrays.equals(value(i, ROUNDS - 1), db.get(key(i)))) {
        throw new IllegalStateException("another value than the one written: " + i);
      }
    }
  }

  private void read() throws Exception {
    open(db -> check(db, RECORDS));
    System.out.printf("%-18s all records are there%n", each.plugin());
  }

  private void without() throws Exception {
    OptionsFile file = new OptionsFile(folder.resolve("OPTIONS"));
    String byFile = refused(file, each.refusal);
    String plain = refused(OptionsFile.plain(), each.plainRefusal);
    System.out.printf("%-18s %-54s %s%n", each.plugin(), byFile, plain);
  }

  private String refused(OptionsFile file, String expected) throws Exception {
    String refusal = null;
    try {
      open(file, db -> check(db, RECORDS));
    } catch (RocksDBException e) {
      refusal = e.getMessage();
    }
    boolean asExpected = expected == null ? refusal == null
                                          : refusal != null && refusal.contains(expected);
    if (!asExpected) {
      throw new IllegalStateException(each.plugin() + " without the plugin: " + refusal);
    }
    return expected == null ? "all records are there" : "refused: " + expected;
  }

  private void report(Map<String, Double> figures) {
    StringBuilder text = new StringBuilder();
    for (String name : each.counters) {
      text.append(String.format("  %s %,.0f", name, figures.get(name)));
    }
    System.out.printf("%-18s %-28s%s%n", each.plugin(), each.summary, text);
  }
}
