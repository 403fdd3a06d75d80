// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

/** Writers that go on while nodes die. Each has keys of its own, and reads them in between. */
final class Load {
  private static final int WRITERS = 4;
  private static final int KEYS = 500;
  private static final double READS = 0.2;
  /** Between two operations: nodes that start need the machine, too. */
  private static final int PACE_MILLIS = 2;
  /** After a failure. */
  private static final int PAUSE_MILLIS = 100;

  private final Client client;
  private final Oracle oracle;
  private final List<Writer> writers = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<String> wrong = new AtomicReference<>();
  private volatile boolean stopping;

  Load(Client client, Oracle oracle, long seed) {
    this.client = client;
    this.oracle = oracle;
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new Writer(i, seed));
    }
  }

  void start() {
    stopping = false;
    for (Writer each : writers) {
      Thread thread = new Thread(each, "writer");
      threads.add(thread);
      thread.start();
    }
  }

  /** Returns when no write is under way. Throws if a read has seen something wrong. */
  void stop() throws InterruptedException {
    stopping = true;
    for (Thread each : threads) {
      each.join();
    }
    threads.clear();
    if (wrong.get() != null) {
      throw new AssertionError("a read during the load: " + wrong.get());
    }
  }

  private final class Writer implements Runnable {
    private final String name;
    private final Random random;
    /** How often a key had to be left; see Oracle. */
    private final int[] generations = new int[KEYS];

    Writer(int number, long seed) {
      // Both regions have writers.
      this.name = (number % 2 == 0 ? "a" : "z") + number;
      this.random = new Random(seed + number);
    }

    @Override
    public void run() {
      while (!stopping) {
        int i = random.nextInt(KEYS);
        String key = String.format("%s-%04d-%d", name, i, generations[i]);
        if (random.nextDouble() < READS) {
          read(key);
        } else if (!write(key)) {
          generations[i]++;
        }
        pause(PACE_MILLIS);
      }
    }

    private boolean write(String key) {
      byte[] value = oracle.value(key, oracle.attempt(key));
      try {
        client.write(key, value);
      } catch (Exception e) {
        oracle.leave(key);
        pause(PAUSE_MILLIS);
        return false;
      }
      oracle.acknowledge(key);
      return true;
    }

    private void read(String key) {
      try {
        byte[] value = client.read(key);
        wrong.compareAndSet(null, oracle.wrong(key, value));
      } catch (Exception e) {
        // There is no leader now.
        pause(PAUSE_MILLIS);
      }
    }
  }

  private static void pause(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
