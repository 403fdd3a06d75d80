// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.commons.io.FileUtils;

/** Three nodes: a process with a folder and a port each. */
final class Cluster implements AutoCloseable {
  private static final int NODES = 3;
  private static final String ANSWER = "node: ";

  final List<Member> members = new ArrayList<>();
  private final Setup setup;
  private final Path folder;

  Cluster(Setup setup, Path folder) throws IOException {
    this.setup = setup;
    this.folder = folder;
    for (int i = 1; i <= NODES; i++) {
      members.add(new Member(i, freePort()));
    }
  }

  /** Below the ports that the kernel gives to clients: nobody takes it while the node is down. */
  private static int freePort() {
    while (true) {
      int port = 10000 + new Random().nextInt(20000);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // Somebody has it.
      }
    }
  }

  String servers() {
    return members.stream().map(each -> "127.0.0.1:" + each.port).collect(Collectors.joining(","));
  }

  Member member(int port) {
    return members.stream().filter(each -> each.port == port).findFirst().orElseThrow();
  }

  /** Starts those that do not run. */
  void start() throws Exception {
    for (Member each : members) {
      if (!each.isAlive()) {
        each.start();
      }
    }
    for (Member each : members) {
      each.awaitStart();
    }
  }

  @Override
  public void close() throws Exception {
    for (Member each : members) {
      each.stop();
    }
    for (Member each : members) {
      each.checkEnd();
    }
  }

  /** A node. */
  final class Member {
    final int number;
    final int port;
    final Path folder;
    private Process process;
    private BufferedReader answers;
    private PrintStream commands;
    private boolean started;
    private boolean killed;

    private Member(int number, int port) {
      this.number = number;
      this.port = port;
      this.folder = Cluster.this.folder.resolve("node" + number);
    }

    boolean isAlive() {
      return process != null && process.isAlive();
    }

    /** By the end of its log. */
    boolean cannotConnectTo(Member other) throws IOException {
      try (RandomAccessFile file = new RandomAccessFile(log(), "r")) {
        byte[] end = new byte[(int) Math.min(file.length(), 4096)];
        file.seek(file.length() - end.length);
        file.readFully(end);
        return new String(end, StandardCharsets.UTF_8)
            .contains("Check connection[127.0.0.1:" + other.port + "] fail");
      }
    }

    private File log() {
      return Cluster.this.folder.resolve("node" + number + ".log").toFile();
    }

    void start() throws Exception {
      if (process != null && !killed) {
        throw new AssertionError(end());
      }
      Files.createDirectories(folder);
      File log = log();
      List<String> command = new ArrayList<>(setup.nodeCommand(log));
      command.addAll(List.of(folder.toString(), setup.options().toString(), setup.sizes,
          setup.mode.toString(), servers(), String.valueOf(port)));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log))
          .start();
      answers = new BufferedReader(new InputStreamReader(process.getInputStream()));
      commands = new PrintStream(process.getOutputStream(), true);
      started = false;
      killed = false;
    }

    /** Until the node serves. */
    void awaitStart() throws Exception {
      if (!started) {
        await(setup.plugged ? "with plugins" : "without plugins");
        started = true;
      }
    }

    /** What is said of a node that has ended, and was not killed. */
    private String end() throws InterruptedException {
      return "node " + number + " has ended by itself: status " + process.waitFor() + "; see "
          + folder + ".log";
    }

    private void await(String expected) throws Exception {
      String line = answers.readLine();
      while (line != null && !line.startsWith(ANSWER)) {
        line = answers.readLine();
      }
      if (line == null) {
        throw new AssertionError(end());
      }
      if (!(ANSWER + expected).equals(line)) {
        throw new IllegalStateException("node " + number + ": " + line + "; expected: " + expected
            + "; see " + folder + ".log");
      }
    }

    /** SIGKILL, of a node that runs: no other death counts as a kill. */
    void kill() throws InterruptedException {
      if (!isAlive()) {
        throw new AssertionError(end());
      }
      destroy();
    }

    private void destroy() throws InterruptedException {
      killed = true;
      process.destroyForcibly().waitFor();
    }

    void stop() throws InterruptedException {
      if (isAlive()) {
        commands.close();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
          destroy();
        }
      }
    }

    /** A node that was not killed must have ended well. */
    private void checkEnd() throws InterruptedException {
      if (process != null && !killed && process.waitFor() != 0) {
        throw new AssertionError(end());
      }
    }

    /** All that the node's own store has. */
    Map<String, byte[]> records() throws Exception {
      awaitStart();
      Path path = Cluster.this.folder.resolve("node" + number + ".records");
      commands.println("records " + path);
      await("records " + path);
      Map<String, byte[]> records = new HashMap<>();
      try (DataInputStream file =
               new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
        while (true) {
          byte[] key = file.readNBytes(file.readInt());
          records.put(new String(key, StandardCharsets.UTF_8), file.readNBytes(file.readInt()));
        }
      } catch (EOFException e) {
        return records;
      }
    }

    /** RheaKV's folder of a region: log, meta and snapshot. */
    Path raft(long region) {
      return folder.resolve("raft/raft_data_region_" + region + "_" + port);
    }

    /** The folder of the store's database. */
    Path store() {
      return folder.resolve("store/db_-1_" + port);
    }

    /** Folders of stores in the tiers: one, unless something was left behind. */
    Set<String> tierFolders() {
      Set<String> folders = new TreeSet<>();
      for (String tier : List.of("fast", "slow")) {
        folders.addAll(Arrays.asList(folder.resolve(tier).toFile().list()));
      }
      return folders;
    }

    /** Whether the node has a snapshot of a region. */
    boolean hasSnapshot(long region) {
      String[] snapshots = raft(region).resolve("snapshot").toFile()
          .list((directory, name) -> name.startsWith("snapshot_"));
      return snapshots != null && snapshots.length > 0;
    }

    /** Deletes all that a node that does not run has. */
    void empty() throws IOException {
      FileUtils.deleteDirectory(folder.toFile());
    }

    /** Bytes that the process has written to disks since it was started. */
    long bytesWritten() throws IOException {
      for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/io"))) {
        if (line.startsWith("write_bytes: ")) {
          return Long.parseLong(line.split(" ")[1]);
        }
      }
      throw new IOException("/proc/PID/io has no write_bytes");
    }
  }
}
