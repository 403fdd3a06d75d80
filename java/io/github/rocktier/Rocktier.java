// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

package io.github.rocktier;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/** The plugins of rocktier for the RocksDB of rocksdbjni. */
public final class Rocktier {
  private static final String PLUGINS = "librocktier.so";

  private static boolean loaded = false;

  /**
   * Loads RocksDB, and the plugins beside it. Is called before anything of RocksDB is used: it uses
   * its own copy of RocksDB's library, of which a process must not have two.
   *
   * @throws IllegalStateException if RocksDB is loaded already, or is of another version
   * @throws UnsatisfiedLinkError if the library does not fit this system
   */
  public static synchronized void load() {
    if (loaded) {
      return;
    }
    if (RocksDB.rocksdbVersion() != null) {
      throw new IllegalStateException("RocksDB is loaded already: call Rocktier.load() before");
    }
    try {
      loadFrom(Files.createTempDirectory("rocktier"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    loaded = true;
  }

  private static void loadFrom(Path folder) throws IOException {
    Properties built = new Properties();
    try (InputStream text = Rocktier.class.getResourceAsStream("built.properties")) {
      built.load(text);
    }
    folder.toFile().deleteOnExit();  // after the files in it
    String rocksdb = built.getProperty("library");
    copy(RocksDB.class.getResourceAsStream("/" + rocksdb), rocksdb, folder);
    copy(Rocktier.class.getResourceAsStream(PLUGINS), PLUGINS, folder);
    System.load(folder.resolve(PLUGINS).toString());
    // RocksDB takes the same library by the name that it looks for.
    Path name = folder.resolve(Environment.getJniLibraryFileName("rocksdbjni"));
    name.toFile().deleteOnExit();
    Files.createSymbolicLink(name, Path.of(rocksdb));
    RocksDB.loadLibrary(List.of(folder.toString()));
    String version = String.valueOf(RocksDB.rocksdbVersion());
    if (!version.equals(built.getProperty("version"))) {
      throw new IllegalStateException("this rocktier is for rocksdbjni "
          + built.getProperty("version") + ", and this is rocksdbjni " + version);
    }
  }

  private static void copy(InputStream content, String name, Path folder) throws IOException {
    if (content == null) {
      throw new IllegalStateException("no " + name + " in the class path: is this another system?");
    }
    Path file = folder.resolve(name);
    file.toFile().deleteOnExit();
    try (content) {
      Files.copy(content, file);
    }
  }

  private Rocktier() {}
}
