// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;

/**
 * Reads an OPTIONS file of one column family.
 *
 * <p>In the place of OptionsUtil.loadOptionsFromFile(), which throws for a table factory that Java
 * has no class for. What is here goes to RocksDB as text, and RocksDB makes what the text names.
 */
final class OptionsFile {
  private static final String FAMILY = "CFOptions \"default\"";
  private static final String TABLE = "TableOptions/";

  private final Map<String, Properties> sections = new HashMap<>();

  OptionsFile(Path file) throws IOException {
    Properties section = new Properties();
    for (String each : Files.readAllLines(file)) {
      String line = each.trim();
      int equals = line.indexOf('=');
      if (line.startsWith("[")) {
        section = new Properties();
        sections.put(line.substring(1, line.length() - 1), section);
      } else if (!line.startsWith("#") && equals > 0) {
        section.setProperty(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    addTable();
  }

  private OptionsFile() {
    sections.put("DBOptions", new Properties());
    sections.put(FAMILY, new Properties());
    sections.get("DBOptions").setProperty("create_if_missing", "false");
    sections.get(FAMILY).setProperty("num_levels", "7");
  }

  /** A file that has RocksDB's defaults, for a database that exists. */
  static OptionsFile plain() {
    return new OptionsFile();
  }

  /** Makes the section of the table factory a part of the family's options. */
  private void addTable() {
    for (Map.Entry<String, Properties> section : sections.entrySet()) {
      if (section.getKey().startsWith(TABLE)) {
        String name = section.getKey().substring(TABLE.length()).split(" ")[0];
        StringBuilder text = new StringBuilder("{id=" + name);
        for (String option : section.getValue().stringPropertyNames()) {
          text.append(';').append(option).append('=').append(section.getValue().get(option));
        }
        sections.get(FAMILY).setProperty("table_factory", text + "}");
      }
    }
  }

  DBOptions database(ConfigOptions config) {
    return found(DBOptions.getDBOptionsFromProps(config, sections.get("DBOptions")));
  }

  ColumnFamilyOptions family(ConfigOptions config) {
    return found(
        ColumnFamilyOptions.getColumnFamilyOptionsFromProps(config, sections.get(FAMILY)));
  }

  /** RocksDB's reason does not reach Java. */
  private static <T> T found(T options) {
    if (options == null) {
      throw new IllegalArgumentException("RocksDB does not take these options");
    }
    return options;
  }
}
