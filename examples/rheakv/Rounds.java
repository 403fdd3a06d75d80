// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Rounds of kills at random moments, during a load and snapshots. */
final class Rounds {
  private static final int LOAD_MILLIS = 1500;
  private static final int DOWN_MILLIS = 1500;
  /** Each so many rounds a node comes back empty. */
  private static final int REPLACEMENT = 10;

  private enum Victims { LEADER, FOLLOWER, ALL }

  private final Session session;
  private final Random random;

  Rounds(Session session) {
    this.session = session;
    this.random = session.random;
  }

  void run(int rounds) throws Exception {
    for (int round = 1; round <= rounds; round++) {
      long start = System.nanoTime();
      String what = round % REPLACEMENT == 0 ? replace() : kill();
      session.check();
      System.out.printf("round %d: %s; %,d writes acknowledged so far, all found; %.1f s%n", round,
          what, session.oracle.acknowledged(), (System.nanoTime() - start) / 1e9);
    }
  }

  private String kill() throws Exception {
    Victims victims = Victims.values()[random.nextInt(Victims.values().length)];
    session.load.start();
    pause(LOAD_MILLIS);
    if (random.nextBoolean()) {
      // The kill may come while it is made.
      snapshotInBackground(any());
      pause(300);
    }
    List<Cluster.Member> killed = membersOf(victims);
    session.kill(killed);
    String more = whileDown(killed);
    for (Cluster.Member each : killed) {
      each.start();
    }
    if (random.nextInt(4) == 0) {
      // While it reads its snapshot and its log, or catches up.
      pause(DOWN_MILLIS * 2);
      session.kill(killed.subList(0, 1));
      killed.get(0).start();
      more += ", again when it starts";
    }
    pause(LOAD_MILLIS);
    session.cluster.start();
    session.awaitLeaders();
    pause(LOAD_MILLIS);
    session.load.stop();
    return victims.name().toLowerCase(Locale.ROOT) + more;
  }

  /** Some time. The log that a single node lacks may be gone when it comes back. */
  private String whileDown(List<Cluster.Member> killed) throws Exception {
    pause(DOWN_MILLIS);
    if (killed.size() > 1 || random.nextInt(3) > 0) {
      return "";
    }
    for (Cluster.Member each : session.cluster.members) {
      if (each.isAlive()) {
        session.snapshotTwice(each);
      }
    }
    return ", back by a snapshot";
  }

  private List<Cluster.Member> membersOf(Victims victims) throws Exception {
    List<Cluster.Member> members = new ArrayList<>(session.cluster.members);
    if (victims == Victims.ALL) {
      return members;
    }
    Cluster.Member leader = session.leader();
    if (victims == Victims.LEADER) {
      return List.of(leader);
    }
    members.remove(leader);
    return List.of(members.get(random.nextInt(members.size())));
  }

  private Cluster.Member any() {
    return session.cluster.members.get(random.nextInt(session.cluster.members.size()));
  }

  /** The node may be dead before it answers. */
  private void snapshotInBackground(Cluster.Member member) {
    new Thread(() -> {
      try {
        session.client.snapshot(member.port);
      } catch (RuntimeException e) {
        // As said.
      }
    }).start();
  }

  /** Kills a node, and has an empty one in its place. */
  private String replace() throws Exception {
    session.load.start();
    Cluster.Member member = any();
    session.replace(member);
    session.load.stop();
    return "node " + member.number + " replaced by an empty one";
  }

  private void pause(int most) throws InterruptedException {
    Thread.sleep(most / 2 + random.nextInt(most / 2));
  }
}
