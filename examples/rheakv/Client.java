// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import com.alipay.sofa.jraft.CliService;
import com.alipay.sofa.jraft.RaftServiceFactory;
import com.alipay.sofa.jraft.Status;
import com.alipay.sofa.jraft.conf.Configuration;
import com.alipay.sofa.jraft.core.CliServiceImpl;
import com.alipay.sofa.jraft.entity.PeerId;
import com.alipay.sofa.jraft.option.CliOptions;
import com.alipay.sofa.jraft.rhea.JRaftHelper;
import com.alipay.sofa.jraft.rhea.client.DefaultRheaKVStore;
import com.alipay.sofa.jraft.rhea.client.RheaKVStore;
import com.alipay.sofa.jraft.rhea.client.pd.AbstractPlacementDriverClient;
import com.alipay.sofa.jraft.rhea.options.PlacementDriverOptions;
import com.alipay.sofa.jraft.rhea.options.RegionRouteTableOptions;
import com.alipay.sofa.jraft.rhea.options.RheaKVStoreOptions;
import com.alipay.sofa.jraft.rhea.util.ByteArray;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * A client of the cluster, and its administrator.
 *
 * <p>A call that fails throws, and is not repeated: RheaKV would do so, and a write whose first
 * attempt is late would come after newer ones. Whatever RheaKV throws may be a checked exception.
 */
final class Client implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 5000;
  private static final int KEYS_AT_ONCE = 200;

  private final Mode mode;
  private final Configuration nodes = new Configuration();
  private final RheaKVStore kv = new DefaultRheaKVStore();
  private final CliService admin;

  Client(Mode mode, String servers) {
    this.mode = mode;
    nodes.parse(servers);
    List<RegionRouteTableOptions> routes = new ArrayList<>();
    for (long id : mode.regions) {
      RegionRouteTableOptions route = new RegionRouteTableOptions();
      route.setRegionId(id);
      route.setStartKey(mode.firstKey(id));
      route.setEndKey(mode.endKey(id));
      routes.add(route);
    }
    PlacementDriverOptions placement = new PlacementDriverOptions();
    placement.setFake(true);
    placement.setRegionRouteTableOptionsList(routes);
    RheaKVStoreOptions options = new RheaKVStoreOptions();
    options.setClusterName(Mode.CLUSTER);
    options.setInitialServerList(servers);
    options.setPlacementDriverOptions(placement);
    options.setFutureTimeoutMillis(TIMEOUT_MILLIS);
    options.setFailoverRetries(0);
    if (!kv.init(options)) {
      throw new IllegalStateException("the client does not start");
    }
    CliOptions cli = new CliOptions();
    cli.setTimeoutMs(TIMEOUT_MILLIS);
    admin = RaftServiceFactory.createAndInitCliService(cli);
  }

  /** A value of null deletes. */
  void write(String key, byte[] value) throws Exception {
    boolean done = call(() -> value == null ? kv.bDelete(Oracle.bytes(key))
                                            : kv.bPut(Oracle.bytes(key), value));
    if (!done) {
      throw new IllegalStateException("not written: " + key);
    }
  }

  /** Sees all writes that were acknowledged before. */
  byte[] read(String key) throws Exception {
    return call(() -> kv.bGet(Oracle.bytes(key)));
  }

  /** The same for many keys; those without a record are not in the map. */
  Map<String, byte[]> read(List<String> keys) throws Exception {
    Map<String, byte[]> records = new HashMap<>();
    for (int from = 0; from < keys.size(); from += KEYS_AT_ONCE) {
      List<byte[]> some = new ArrayList<>();
      for (String key : keys.subList(from, Math.min(from + KEYS_AT_ONCE, keys.size()))) {
        some.add(Oracle.bytes(key));
      }
      for (Map.Entry<ByteArray, byte[]> each : call(() -> kv.bMultiGet(some)).entrySet()) {
        if (each.getValue() != null) {
          records.put(new String(each.getKey().getBytes(), StandardCharsets.UTF_8),
              each.getValue());
        }
      }
    }
    return records;
  }

  /** After a failure, looks for the leaders anew. */
  private <T> T call(Callable<T> call) throws Exception {
    try {
      return call.call();
    } catch (Exception e) {
      for (long region : mode.regions) {
        findLeader(region);
      }
      throw e;
    }
  }

  private void findLeader(long region) {
    try {
      placement().getLeader(region, true, TIMEOUT_MILLIS);
    } catch (RuntimeException e) {
      disconnect();
    }
  }

  private static String group(long region) {
    return JRaftHelper.getJRaftGroupId(Mode.CLUSTER, region);
  }

  /** The port of the node that leads a region. */
  int leader(long region) {
    PeerId leader = new PeerId();
    check("leader", admin.getLeader(group(region), nodes, leader));
    return leader.getPort();
  }

  /** Has the node make a snapshot of each region. */
  boolean snapshot(int port) {
    for (long region : mode.regions) {
      check("snapshot", admin.snapshot(group(region), peer(port)));
    }
    return true;
  }

  /** Takes a node out of a region's group, if it is there: an attempt may be late. */
  boolean remove(long region, int port) {
    if (isMember(region, port)) {
      check("remove", admin.removePeer(group(region), nodes, peer(port)));
    }
    return true;
  }

  /** Takes a node in, if it is not there. It votes when it has caught up. */
  boolean add(long region, int port) {
    if (!isMember(region, port)) {
      check("add", admin.addPeer(group(region), nodes, peer(port)));
    }
    return true;
  }

  private boolean isMember(long region, int port) {
    return admin.getPeers(group(region), nodes).contains(peer(port));
  }

  private static PeerId peer(int port) {
    return new PeerId("127.0.0.1", port);
  }

  private void check(String what, Status status) {
    if (!status.isOk()) {
      disconnect();
      throw new IllegalStateException(what + ": " + status);
    }
  }

  /**
   * Has connections made anew. Bolt, by which RheaKV talks, keeps a pool without connections for a
   * node that was away, and makes none.
   */
  private void disconnect() {
    for (PeerId node : nodes) {
      ((CliServiceImpl) admin).getCliClientService().disconnect(node.getEndpoint());
      placement().getRpcClient().closeConnection(node.getEndpoint());
    }
  }

  private AbstractPlacementDriverClient placement() {
    return (AbstractPlacementDriverClient) kv.getPlacementDriverClient();
  }

  @Override
  public void close() {
    admin.shutdown();
    kv.shutdown();
  }
}
