package io.amqplocks.benchmarks.scale;

import java.util.List;
import java.util.Optional;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * All that one run has measured, and where.
 *
 * @param quick whether with less of everything
 * @param broker its version
 * @param java the version
 * @param processors of the machine
 * @param memory of the machine, in bytes
 * @param load how many processes wanted a processor in the minute before; negative if unknown
 * @param idle the part of one processor that a broker uses without any client
 * @param growths what more and more of something cost
 * @param costs of operations
 * @param returns after the broker's end
 * @param failures what could not be measured, and why
 */
record ScaleRun(
    boolean quick,
    String broker,
    String java,
    int processors,
    long memory,
    double load,
    double idle,
    List<Growth> growths,
    List<Cost> costs,
    List<Return> returns,
    List<String> failures) {

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  static ScaleRun parse(String json) {
    return JSON.readValue(json, ScaleRun.class);
  }

  String json() {
    return JSON.writeValueAsString(this);
  }

  Optional<Growth> find(Subject subject, Kind kind) {
    return growths.stream()
        .filter(growth -> growth.subject() == subject && growth.kind() == kind)
        .findFirst();
  }

  Optional<Cost> find(Operation operation, Kind kind) {
    return costs.stream()
        .filter(cost -> cost.operation() == operation && cost.kind() == kind)
        .findFirst();
  }
}
