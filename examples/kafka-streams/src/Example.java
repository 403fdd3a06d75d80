// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Example write|read|without OPTIONS FOLDER: the last reading of each sensor, in a store in tiers.
 *
 * <p>OPTIONS is an OPTIONS file, whose line "env=" is used. "write" feeds readings to the topology,
 * and compares the store with them. "read" finds all of them in another process. "without" is for a
 * JVM that has no librocktier.so.
 */
public final class Example {
  private static final int SENSORS = 140;
  private static final int ROUNDS = 4;
  private static final int SECONDS = 60;

  private final Path options;
  private final Path folder;

  private Example(Path options, Path folder) {
    this.options = options;
    this.folder = folder.toAbsolutePath();
  }

  public static void main(String[] args) throws Exception {
    Example example = new Example(Path.of(args[1]), Path.of(args[2]));
    switch (args[0]) {
      case "write":
        example.write();
        break;
      case "read":
        example.read();
        break;
      case "without":
        example.without();
        break;
      default:
        throw new IllegalArgumentException(args[0]);
    }
  }

  /** Ends the process as if it were killed: closing the test driver would delete the store. */
  private static void halt() {
    System.out.flush();
    Runtime.getRuntime().halt(0);
  }

  private static Topology topology() {
    StreamsBuilder builder = new StreamsBuilder();
    builder.table("readings", Consumed.with(Serdes.String(), Serdes.String()),
        Materialized.as("latest"));
    return builder.build();
  }

  private TopologyTestDriver driver(boolean tiered) throws IOException {
    Properties properties = new Properties();
    properties.setProperty(StreamsConfig.APPLICATION_ID_CONFIG, "sensors");
    properties.setProperty(StreamsConfig.STATE_DIR_CONFIG, folder.resolve("state").toString());
    if (tiered) {
      properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, TieredStores.class);
      properties.setProperty(TieredStores.ENV, env());
    }
    return new TopologyTestDriver(topology(), properties);
  }

  private String env() throws IOException {
    Matcher line = Pattern.compile("^ *env=(.*)$", Pattern.MULTILINE).matcher(
        Files.readString(options));
    if (!line.find()) {
      throw new IllegalArgumentException(options + " has no line env=");
    }
    return line.group(1).replace("FOLDER", folder.toString());
  }

  private static String sensor(int i) {
    return String.format("sensor%05d", i);
  }

  private static String reading(int i, int round) {
    return new Random(i * 31L + round).ints(4000, 'a', 'z').mapToObj(Character::toString)
        .collect(Collectors.joining());
  }

  private void write() throws Exception {
    for (String tier : List.of("fast", "slow")) {
      Files.createDirectories(folder.resolve(tier));
    }
    TopologyTestDriver driver = driver(true);
    TestInputTopic<String, String> topic =
        driver.createInputTopic("readings", new StringSerializer(), new StringSerializer());
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < SENSORS; i++) {
        topic.pipeInput(sensor(i), reading(i, round));
      }
    }
    check(driver);
    System.out.println(SENSORS * ROUNDS + " readings written, and found; " + filesInTiers());
    halt();
  }

  private void read() throws IOException {
    check(driver(true));
    System.out.println("all readings are there");
    halt();
  }

  private void check(TopologyTestDriver driver) {
    KeyValueStore<String, String> store = driver.getKeyValueStore("latest");
    for (int i = 0; i < SENSORS; i++) {
      if (!reading(i, ROUNDS - 1).equals(store.get(sensor(i)))) {
        throw new IllegalStateException("another reading than the last one: " + sensor(i));
      }
    }
  }

  /** Waits until the statistics file, which is renewed each second, has files in both tiers. */
  private String filesInTiers() throws Exception {
    Path file = folder.resolve("state/sensors/0_0/rocksdb/latest/rocktier_tiered_env.prom");
    for (int tenths = 0; tenths < SECONDS * 10; tenths++) {
      String text = Files.exists(file) ? Files.readString(file) : "";
      int fast = files(text, "fast");
      int slow = files(text, "slow");
      if (fast > 0 && slow > 0) {
        return "tier_files: fast " + fast + ", slow " + slow;
      }
      Thread.sleep(100);
    }
    throw new IllegalStateException(file + " does not count files in both tiers");
  }

  private static int files(String text, String tier) {
    Matcher line = Pattern.compile(
        "^rocktier_tiered_env_tier_files\\{.*tier=\"" + tier + "\".* (\\d+)$", Pattern.MULTILINE)
        .matcher(text);
    return line.find() ? Integer.parseInt(line.group(1)) : 0;
  }

  private void without() throws IOException {
    System.out.println("with TieredStores:    refused: " + refusal(true));
    System.out.println("without TieredStores: refused: " + refusal(false));
  }

  private String refusal(boolean tiered) throws IOException {
    try {
      check(driver(tiered));
    } catch (RuntimeException e) {
      Throwable reason = e;
      while (reason.getCause() != null) {
        reason = reason.getCause();
      }
      return reason.getMessage().lines().findFirst().orElse("");
    }
    throw new IllegalStateException("the store was opened");
  }
}
