package io.amqplocks.benchmarks.peers;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that one run has measured, and where.
 *
 * @param date on which it was
 * @param quick whether with less of everything
 * @param only what it was limited to; empty if to nothing
 * @param commit of this project; null if unknown
 * @param java the version
 * @param processors of the machine
 * @param memory of the machine, in bytes; null in the file of an older run
 * @param load how many processes wanted a processor in the minute before; negative if unknown
 * @param servers the version of each
 * @param clients the version of each
 * @param skipped why a peer is missing
 * @param failures what could not be measured, and why
 * @param measurements in the order of scenarios and kinds
 * @param growths what was measured at several sizes; none in the file of an older run
 */
record Run(
    String date,
    boolean quick,
    String only,
    @Nullable String commit,
    String java,
    int processors,
    @Nullable Long memory,
    double load,
    Map<Peer, String> servers,
    Map<Peer, String> clients,
    Map<Peer, String> skipped,
    List<String> failures,
    List<Measurement> measurements,
    List<Grown> growths) {

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  @SuppressWarnings("NullAway") // the file of an older run has none
  Run {
    growths = growths == null ? List.of() : List.copyOf(growths);
  }

  static Run parse(String json) {
    return JSON.readValue(json, Run.class);
  }

  String json() {
    return JSON.writeValueAsString(this);
  }

  Optional<Measurement> find(Scenario scenario, Kind kind, Metric metric) {
    return measurements.stream()
        .filter(each -> each.scenario() == scenario)
        .filter(each -> each.kind() == kind && each.metric() == metric)
        .findFirst();
  }

  /** Whether more was going on than this; then the numbers say little. */
  boolean isDisturbed() {
    return load > processors / 4.0;
  }
}
