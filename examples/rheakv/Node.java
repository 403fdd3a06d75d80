// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import com.alipay.sofa.jraft.option.NodeOptions;
import com.alipay.sofa.jraft.option.RaftOptions;
import com.alipay.sofa.jraft.rhea.client.DefaultRheaKVStore;
import com.alipay.sofa.jraft.rhea.errors.InvalidIteratorVersion;
import com.alipay.sofa.jraft.rhea.options.PlacementDriverOptions;
import com.alipay.sofa.jraft.rhea.options.RegionEngineOptions;
import com.alipay.sofa.jraft.rhea.options.RheaKVStoreOptions;
import com.alipay.sofa.jraft.rhea.options.RocksDBOptions;
import com.alipay.sofa.jraft.rhea.options.StoreEngineOptions;
import com.alipay.sofa.jraft.rhea.storage.KVIterator;
import com.alipay.sofa.jraft.util.Endpoint;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Node FOLDER OPTIONS SIZES MODE NODES PORT: one node of RheaKV on 127.0.0.1:PORT.
 *
 * <p>OPTIONS has the OPTIONS files, SIZES is for Storage, NODES are the addresses of all nodes. It
 * ends when stdin does. What it reads there: "records FILE" writes all records of the node's own
 * store to FILE.
 */
public final class Node {
  private static final String ANSWER = "node: ";

  public static void main(String[] args) {
    try {
      run(args);
    } catch (Throwable t) {
      t.printStackTrace();
      System.exit(1);
    }
    System.exit(0);
  }

  private static void run(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    Mode mode = Mode.of(args[3]);
    for (String tier : List.of("fast", "slow")) {
      Files.createDirectories(folder.resolve(tier));
    }
    Storage.register(Path.of(args[1]), args[2], folder);
    DefaultRheaKVStore kv = new DefaultRheaKVStore();
    if (!kv.init(options(folder, mode, args[4], Integer.parseInt(args[5])))) {
      throw new IllegalStateException("RheaKV does not start: see the log");
    }
    System.out.println(ANSWER + (Storage.isPlugged() ? "with plugins" : "without plugins"));
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      while (!writeRecords(kv, Path.of(line.substring("records ".length())))) {
        // Again.
      }
      System.out.println(ANSWER + line);
    }
    kv.shutdown();
  }

  private static RheaKVStoreOptions options(Path folder, Mode mode, String nodes, int port) {
    RocksDBOptions rocksDb = new RocksDBOptions();
    rocksDb.setDbPath(folder.resolve("store").toString());
    mode.apply(rocksDb);

    RaftOptions raft = new RaftOptions();
    // A write is acknowledged when most nodes have synced it in their logs. Terms and votes are
    // synced by this, too.
    raft.setSync(true);
    NodeOptions node = new NodeOptions();
    node.setRaftOptions(raft);
    // Snapshots are made on demand. Elections wait long enough for a busy machine.
    node.setSnapshotIntervalSecs(0);
    node.setElectionTimeoutMs(2000);

    List<RegionEngineOptions> regions = new ArrayList<>();
    for (long id : mode.regions) {
      RegionEngineOptions region = new RegionEngineOptions();
      region.setRegionId(id);
      region.setStartKey(mode.firstKey(id));
      region.setEndKey(mode.endKey(id));
      region.setNodeOptions(node.copy());
      regions.add(region);
    }

    StoreEngineOptions engine = new StoreEngineOptions();
    engine.setRocksDBOptions(rocksDb);
    engine.setRaftDataPath(folder.resolve("raft").toString());
    engine.setServerAddress(new Endpoint("127.0.0.1", port));
    engine.setRegionEngineOptionsList(regions);
    PlacementDriverOptions placement = new PlacementDriverOptions();
    placement.setFake(true);
    RheaKVStoreOptions options = new RheaKVStoreOptions();
    options.setClusterName(Mode.CLUSTER);
    options.setInitialServerList(nodes);
    options.setStoreEngineOptions(engine);
    options.setPlacementDriverOptions(placement);
    return options;
  }

  /** As Member.records() reads them. False: a snapshot took the place of the database meanwhile. */
  private static boolean writeRecords(DefaultRheaKVStore kv, Path path) throws Exception {
    try (KVIterator each = kv.unsafeLocalIterator();
        DataOutputStream file =
            new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(path)))) {
      for (each.seekToFirst(); each.isValid(); each.next()) {
        write(file, each.key());
        write(file, each.value());
      }
      return true;
    } catch (InvalidIteratorVersion e) {
      return false;
    }
  }

  private static void write(DataOutputStream file, byte[] bytes) throws IOException {
    file.writeInt(bytes.length);
    file.write(bytes);
  }

  private Node() {}
}
