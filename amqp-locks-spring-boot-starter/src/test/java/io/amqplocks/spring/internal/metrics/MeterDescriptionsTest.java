package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MeterDescriptionsTest {

  private final MeterDescriptions descriptions = new MeterDescriptions();

  @Test
  void whatObservationsBecomeIsDescribedAndElseAsItWas() {
    Meter.Id id =
        new Meter.Id(
            "amqp.locks.hold.active", Tags.of("a", "b"), "s", null, Meter.Type.LONG_TASK_TIMER);
    Meter.Id described = descriptions.map(id);
    assertThat(described.getDescription()).isNotBlank();
    assertThat(described).isEqualTo(id);
    assertThat(described.getBaseUnit()).isEqualTo("s");
    assertThat(described.getType()).isEqualTo(Meter.Type.LONG_TASK_TIMER);
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders.active", "amqp.locks", "amqp.locks.hold.percentile"})
  void othersAreLeftAlone(String name) {
    Meter.Id id = new Meter.Id(name, Tags.empty(), null, null, Meter.Type.TIMER);
    assertThat(descriptions.map(id)).isSameAs(id);
  }

  @Test
  void aDescriptionThatIsThereStays() {
    Meter.Id id =
        new Meter.Id("amqp.locks.hold", Tags.empty(), null, "own words", Meter.Type.TIMER);
    assertThat(descriptions.map(id)).isSameAs(id);
  }
}
