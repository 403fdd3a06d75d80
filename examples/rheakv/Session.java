// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/** A cluster, its client, and what the cluster must have. */
final class Session implements AutoCloseable {
  private static final int SECONDS = 300;
  /** Half of these. */
  private static final long PATIENCE_NANOS = SECONDS * 500_000_000L;

  final Cluster cluster;
  final Client client;
  final Oracle oracle;
  final Load load;
  final Random random;
  private final Setup setup;
  private int kills;
  private int replaced;
  private int reconnected;

  /** The nodes run when this returns. Writers delete, too, if `deletions`. */
  Session(Setup setup, Path folder, long seed, boolean deletions) throws Exception {
    this.setup = setup;
    oracle = new Oracle(deletions);
    cluster = new Cluster(setup, folder);
    cluster.start();
    client = new Client(setup.mode, cluster.servers());
    load = new Load(client, oracle, seed);
    random = new Random(seed);
    awaitLeaders();
  }

  int kills() {
    return kills;
  }

  int replaced() {
    return replaced;
  }

  int reconnected() {
    return reconnected;
  }

  /** Kills nodes, one right after the other. */
  void kill(List<Cluster.Member> members) throws InterruptedException {
    for (Cluster.Member each : members) {
      each.kill();
      kills++;
    }
  }

  boolean isPlugged() {
    return setup.plugged;
  }

  /** The leader of one of the regions. */
  Cluster.Member leader() throws Exception {
    List<Long> regions = setup.mode.regions;
    long region = regions.get(random.nextInt(regions.size()));
    return cluster.member(retry("a leader", () -> client.leader(region)));
  }

  void awaitLeaders() throws Exception {
    for (long region : setup.mode.regions) {
      retry("a leader", () -> client.leader(region));
    }
  }

  /** Has a node snapshot twice: Raft keeps the log since the last snapshot but one. */
  void snapshotTwice(Cluster.Member member) throws Exception {
    for (int i = 0; i < 2; i++) {
      retry("a snapshot", () -> {
        client.write("a", null);
        client.write("z", null);
        return client.snapshot(member.port);
      });
    }
  }

  /**
   * Kills a node, and has an empty one in its place, which gets a snapshot.
   *
   * <p>The node is taken out of Raft's groups first, and added again. One that came back empty
   * without that would vote as if it had promised nothing: acknowledged writes could be lost.
   */
  void replace(Cluster.Member member) throws Exception {
    kill(List.of(member));
    for (long region : setup.mode.regions) {
      retry("a removal", () -> client.remove(region, member.port));
    }
    member.empty();
    for (Cluster.Member each : cluster.members) {
      if (each.isAlive()) {
        snapshotTwice(each);
      }
    }
    cluster.start();
    for (long region : setup.mode.regions) {
      retry("an addition", () -> client.add(region, member.port));
      await("a snapshot on node " + member.number, () -> member.hasSnapshot(region));
    }
    replaced++;
  }

  /**
   * Compares what clients read, and what each node has in its own store, with what must be there.
   * Nodes get time to catch up, but no reader may see anything else. No write may be under way.
   */
  void check() throws Exception {
    Map<String, byte[]> read = retry("reads", () -> client.read(oracle.keys()));
    List<String> wrong = oracle.wrong(read);
    if (!wrong.isEmpty()) {
      throw new AssertionError("a client reads: " + Oracle.summary(wrong));
    }
    for (Cluster.Member each : cluster.members) {
      checkStore(each);
    }
  }

  /** Compares the node's own store, without Raft. */
  private void checkStore(Cluster.Member member) throws Exception {
    List<String> wrong = new ArrayList<>();
    long reconnect = System.nanoTime() + PATIENCE_NANOS;
    for (long end = end(); System.nanoTime() < end; Thread.sleep(100)) {
      wrong = oracle.wrong(member.records());
      if (wrong.isEmpty()) {
        return;
      }
      if (System.nanoTime() > reconnect) {
        reconnect(member);
        reconnect = Long.MAX_VALUE;
      }
    }
    throw new AssertionError("node " + member.number + " has in its store: "
        + Oracle.summary(wrong));
  }

  /**
   * Restarts nodes that say that they cannot connect to this one, which listens. SOFAJRaft's
   * transport stays so for minutes now and then, until there is another leader.
   */
  private void reconnect(Cluster.Member member) throws Exception {
    for (Cluster.Member each : cluster.members) {
      if (each.cannotConnectTo(member)) {
        System.out.println("node " + each.number + " is restarted: it cannot connect to node "
            + member.number);
        reconnected++;
        kill(List.of(each));
      }
    }
    cluster.start();
  }

  /**
   * What the plugins have counted. Each of them must have been used; there is some load for that.
   * None must have met an error, or left anything behind.
   */
  Map<String, Object> figures() throws Exception {
    for (long end = end(); System.nanoTime() < end;) {
      load.start();
      Thread.sleep(1000);
      load.stop();
      Map<String, Object> figures = Figures.of(cluster, setup.mode);
      long faults = (long) figures.remove("faults");
      for (Cluster.Member each : cluster.members) {
        faults += each.tierFolders().size() - 1;
      }
      if (faults > 0) {
        throw new AssertionError("faults: " + faults + "; " + figures);
      }
      if (!figures.containsValue(0L)) {
        return figures;
      }
    }
    throw new AssertionError("a plugin was not used: " + Figures.of(cluster, setup.mode));
  }

  private static long end() {
    return System.nanoTime() + SECONDS * 1_000_000_000L;
  }

  private static void await(String what, BooleanSupplier condition) throws Exception {
    retry(what, () -> {
      if (!condition.getAsBoolean()) {
        throw new IllegalStateException("not yet");
      }
      return true;
    });
  }

  /** Until it does not throw: elections take a while. */
  static <T> T retry(String what, Callable<T> call) throws Exception {
    Exception last = null;
    for (long end = end(); System.nanoTime() < end; Thread.sleep(100)) {
      try {
        return call.call();
      } catch (Exception e) {
        last = e;
      }
    }
    throw new IllegalStateException("no " + what + " after " + SECONDS + " s", last);
  }

  @Override
  public void close() throws Exception {
    client.close();
    cluster.close();
  }
}
