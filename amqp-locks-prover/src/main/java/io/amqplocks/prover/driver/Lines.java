package io.amqplocks.prover.driver;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Commands, events and histories as lines of JSON. */
public final class Lines {

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .build();

  private Lines() {}

  /** An object as one line, without its end. */
  public static String write(Object value) {
    return JSON.writeValueAsString(value);
  }

  /** The object that a line stands for. */
  public static <T> T read(String line, Class<T> type) {
    return JSON.readValue(line, type);
  }
}
