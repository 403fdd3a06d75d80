// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How nodes are started. */
final class Setup {
  /** Small, so that there are several levels, and caches that are too small. */
  static final String SMALL = "CACHE=1M;BUFFER=256K;LEVEL=512K";
  /** The block cache is that of RheaKV without plugins, RocksDB's default. */
  static final String LARGE = "CACHE=32M;BUFFER=4M;LEVEL=16M";

  final Mode mode;
  /** With plugins; else the same RheaKV and rocksdbjni as they are. */
  final boolean plugged;
  /** Of the options; see Storage. */
  final String sizes;

  Setup(Mode mode, boolean plugged, String sizes) {
    this.mode = mode;
    this.plugged = plugged;
    this.sizes = sizes;
  }

  /** The folder of the OPTIONS files. */
  Path options() {
    return Path.of(System.getProperty("rheakv.source"), plugged ? "options" : "plain");
  }

  /** By system properties that `run` sets. */
  List<String> nodeCommand(File log) {
    List<String> command = new ArrayList<>(List.of("java", "-Xmx256m", "-XX:+UseSerialGC",
        "-XX:ErrorFile=" + log + ".crash"));
    if (sizes.equals(SMALL)) {
      // Nodes that are killed again and again start faster so.
      command.add("-XX:TieredStopAtLevel=1");
    }
    String classes = System.getProperty("java.class.path");
    if (plugged) {
      command.add("-Djava.library.path=" + System.getProperty("rheakv.library"));
      classes = System.getProperty("rheakv.rewired") + ":" + classes;
    }
    String logger = "-Dorg.slf4j.simpleLogger.";
    command.addAll(List.of(logger + "logFile=" + log, logger + "showDateTime=true",
        logger + "dateTimeFormat=HH:mm:ss.SSS", logger + "log.com.alipay.sofa.common=error"));
    command.addAll(List.of("-cp", classes, "Node"));
    return command;
  }
}
