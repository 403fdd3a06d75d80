// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.List;

/** One of everything that can happen to a cluster, told step by step. */
final class Demo {
  private static final int LOAD_MILLIS = 3000;

  private final Session session;
  private final long start = System.nanoTime();

  Demo(Session session) {
    this.session = session;
  }

  void run() throws Exception {
    tell("three nodes on 127.0.0.1: " + session.cluster.servers());

    load();
    for (Cluster.Member each : session.cluster.members) {
      session.snapshotTwice(each);
    }
    session.check();
    tell("each node has made a snapshot");

    session.load.start();
    Thread.sleep(LOAD_MILLIS / 2);
    Cluster.Member leader = session.leader();
    session.kill(List.of(leader));
    Thread.sleep(LOAD_MILLIS / 2);
    session.cluster.start();
    session.load.stop();
    session.check();
    tell("node " + leader.number + ", the leader, was killed (SIGKILL), and is back");

    session.load.start();
    Thread.sleep(LOAD_MILLIS / 2);
    session.kill(session.cluster.members);
    session.load.stop();
    session.cluster.start();
    session.check();
    tell("all three were killed, and are back");

    session.replace(leader);
    load();
    session.check();
    tell("an empty node took the place of node " + leader.number + ", and has caught up");

    if (session.isPlugged()) {
      session.figures().forEach((name, value) -> System.out.printf("  %-44s %,15d%n", name, value));
    }
  }

  private void load() throws Exception {
    session.load.start();
    Thread.sleep(LOAD_MILLIS);
    session.load.stop();
  }

  private void tell(String what) {
    System.out.printf("%4.0f s  %s; %,d writes acknowledged, all found%n",
        (System.nanoTime() - start) / 1e9, what, session.oracle.acknowledged());
  }
}
