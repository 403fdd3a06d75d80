// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.util.Map;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.rocksdb.CompactionStyle;
import org.rocksdb.Options;

/** Puts all stores of an application on the FileSystem that its property "rocktier.env" names. */
public final class TieredStores implements RocksDBConfigSetter {
  public static final String ENV = "rocktier.env";

  @Override
  public void setConfig(String store, Options options, Map<String, Object> configs) {
    options.setEnv(NamedEnv.of((String) configs.get(ENV)));
    // Tiers are by level, and Kafka's default is universal compaction. The sizes are for the little
    // data of the example.
    options.setCompactionStyle(CompactionStyle.LEVEL)
        .setLevelCompactionDynamicLevelBytes(false)
        .setTargetFileSizeBase(64 << 10)
        .setMaxBytesForLevelBase(128 << 10)
        .setMaxBytesForLevelMultiplier(4);
  }

  /** The Env is shared, and stays. */
  @Override
  public void close(String store, Options options) {}
}
