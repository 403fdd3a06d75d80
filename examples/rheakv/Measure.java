// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Throughput, latency and bytes to the disks: a load, and then reads and writes, half of each. */
final class Measure {
  private static final int CLIENTS = 8;
  private static final int VALUE_SIZE = 1000;
  /** Sectors that were written, in the statistics of a block device. */
  private static final int WRITTEN = 6;
  private static final int SECTOR = 512;

  private final Session session;
  private final int records;
  private final int seconds;
  private final Map<String, Object> results = new LinkedHashMap<>();

  Measure(Session session, int records, int seconds) {
    this.session = session;
    this.records = records;
    this.seconds = seconds;
  }

  /** Microseconds of each call of a client. */
  private static final class Latencies {
    long[] micros = new long[1024];
    int count;

    void time(Callable<?> call) throws Exception {
      long start = System.nanoTime();
      call.call();
      if (count == micros.length) {
        micros = Arrays.copyOf(micros, 2 * count);
      }
      micros[count++] = (System.nanoTime() - start) / 1000;
    }
  }

  private interface Work {
    void run(int client, Latencies reads, Latencies writes) throws Exception;
  }

  Map<String, Object> run() throws Exception {
    results.put("records", records);
    phase("load", (client, reads, writes) -> {
      for (int i = client; i < records; i += CLIENTS) {
        write(i, writes);
      }
    });
    phase("mixed", (client, reads, writes) -> {
      Random random = new Random(client);
      for (long end = System.nanoTime() + seconds * 1_000_000_000L; System.nanoTime() < end;) {
        // Small numbers are more frequent.
        int i = random.nextInt(1 + random.nextInt(1 + random.nextInt(records)));
        if (random.nextBoolean()) {
          write(i, writes);
        } else {
          reads.time(() -> read(i));
        }
      }
    });
    return results;
  }

  private void write(int i, Latencies writes) throws Exception {
    byte[] value = new byte[VALUE_SIZE];
    new Random(i).nextBytes(value);
    writes.time(() -> {
      session.client.write(key(i), value);
      return null;
    });
  }

  private byte[] read(int i) throws Exception {
    byte[] value = session.client.read(key(i));
    if (value == null) {
      throw new AssertionError("there is no record " + key(i));
    }
    return value;
  }

  /** All over both regions. */
  private static String key(int i) {
    return String.format("%s%08d", i % 2 == 0 ? "a" : "z", Integer.reverse(i) >>> 6);
  }

  private void phase(String name, Work work) throws Exception {
    List<Latencies> reads = new ArrayList<>();
    List<Latencies> writes = new ArrayList<>();
    List<Future<?>> clients = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    long processes = bytesOfProcesses();
    long disk = bytesOfDisk();
    long start = System.nanoTime();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      reads.add(new Latencies());
      writes.add(new Latencies());
      clients.add(threads.submit(() -> {
        work.run(client, reads.get(client), writes.get(client));
        return null;
      }));
    }
    for (Future<?> each : clients) {
      each.get();
    }
    threads.shutdown();
    double elapsed = (System.nanoTime() - start) / 1e9;
    put(name, elapsed, "reads", reads);
    put(name, elapsed, "writes", writes);
    results.put(name + "_process_bytes", bytesOfProcesses() - processes);
    results.put(name + "_disk_bytes", bytesOfDisk() - disk);
  }

  private void put(String phase, double elapsed, String what, List<Latencies> clients) {
    long[] all = clients.stream().flatMapToLong(each -> Arrays.stream(each.micros, 0, each.count))
        .sorted().toArray();
    if (all.length > 0) {
      results.put(phase + "_" + what, all.length);
      results.put(phase + "_" + what + "_per_second", Math.round(all.length / elapsed));
      results.put(phase + "_" + what + "_p50_us", all[all.length / 2]);
      results.put(phase + "_" + what + "_p99_us", all[all.length * 99 / 100]);
    }
  }

  /** What the nodes have written, without what file systems write for it. */
  private long bytesOfProcesses() throws IOException {
    long sum = 0;
    for (Cluster.Member each : session.cluster.members) {
      sum += each.bytesWritten();
    }
    return sum;
  }

  /** What was written to the disk of the nodes' folders, by anybody; 0: it is none. */
  private long bytesOfDisk() throws IOException, InterruptedException {
    Path folder = session.cluster.members.get(0).folder;
    new ProcessBuilder("sync", "-f", folder.toString()).inheritIO().start().waitFor();
    long device = (long) Files.getAttribute(folder, "unix:dev");
    long major = device >> 8 & 0xfff;
    long minor = device & 0xff | device >> 12 & 0xfff00;
    Path statistics = Path.of("/sys/dev/block/" + major + ":" + minor + "/stat");
    if (!Files.exists(statistics)) {
      return 0;
    }
    return SECTOR * Long.parseLong(Files.readString(statistics).trim().split(" +")[WRITTEN]);
  }
}
