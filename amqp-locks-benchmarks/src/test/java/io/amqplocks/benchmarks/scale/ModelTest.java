package io.amqplocks.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTest {

  private final Model model = new Model(Runs.known());

  @Test
  void theLastReadingHasNoPartInTheCoefficients() {
    assertThat(model.each(Subject.USED, Kind.MUTEX, Quantity.MEMORY)).isCloseTo(40e3, within(1e-3));
    assertThat(model.each(Subject.HOLDING, Kind.MUTEX, Quantity.BUSY))
        .isCloseTo(1e-4, within(1e-9));
    assertThat(model.each(Subject.USED, Kind.SLOTS, Quantity.MEMORY)).isNaN();
  }

  @Test
  void aHeldLockIsAnIdleOneAndALease() {
    assertThat(model.held(Kind.MUTEX, Quantity.MEMORY)).isCloseTo(40e3 + 50e3, within(1e-3));
    assertThat(model.residentForEach()).isCloseTo(1.5, within(1e-9));
    assertThat(model.base()).isCloseTo(120e6, within(1.0));
  }

  @Test
  void forecastsTheLastReading() {
    assertThat(model.forecasts())
        .filteredOn(each -> each.what().equals("locks, used once: mutex"))
        .filteredOn(each -> each.quantity() == Quantity.MEMORY)
        .singleElement()
        .satisfies(
            each -> {
              assertThat(each.fittedTo()).isEqualTo(300);
              assertThat(each.count()).isEqualTo(1_000);
              assertThat(each.forecast()).isCloseTo(100e6, within(1.0));
              assertThat(each.measured()).isEqualTo(105e6);
              assertThat(each.error()).isCloseTo(0.05, within(1e-6));
            });
  }

  @Test
  void forecastsClientsWithLocksFromTheirParts() {
    assertThat(model.forecasts())
        .filteredOn(each -> each.what().equals("connected clients + held mutexes"))
        .extracting(Forecast::quantity)
        .containsExactly(Quantity.MEMORY, Quantity.BUSY);
    assertThat(model.forecasts())
        .filteredOn(each -> each.what().equals("connected clients + held mutexes"))
        .first()
        .satisfies(
            each -> {
              assertThat(each.forecast())
                  .isCloseTo(60e6 + 1_000 * (70e3 + 40e3 + 50e3), within(1.0));
              assertThat(each.measured()).isEqualTo(60e6 + 1_000 * 160e3 + 5e6);
            });
  }

  @Test
  void aNodeCarriesAsMuchAsItsScarcestPart() {
    Limit clients =
        model.limits().stream()
            .filter(limit -> limit.what().equals(Subject.HOLDING.title()))
            .findFirst()
            .orElseThrow();
    assertThat(clients.byMemory()).isCloseTo((6e9 - 120e6) / 240e3, within(1.0));
    assertThat(clients.byProcessor()).isCloseTo(1 / 1e-4, within(1.0));
    assertThat(clients.byProcesses()).isCloseTo(1_048_576 / 20.0, within(1.0));
    assertThat(clients.byAtoms()).isInfinite();
    assertThat(clients.first()).isEqualTo("processors");
  }

  @Test
  void operationsOccupyHalfOfTheProcessors() {
    Cost cost = Runs.known().find(Operation.CYCLE, Kind.MUTEX).orElseThrow();
    assertThat(cost.medianMicros()).isEqualTo(300);
    assertThat(model.perSecond(cost)).isCloseTo(1e6 / 300, within(1e-6));
  }

  @Test
  void tooFewReadingsGiveNoLine() {
    List<Reading> two = List.of(new Reading(1, 1, 1, 1, 1, 0, 0), new Reading(3, 3, 3, 3, 3, 0, 0));
    Growth growth = new Growth(Subject.USED, Kind.MUTEX, two);
    assertThat(growth.line(Quantity.MEMORY).each()).isNaN();
  }
}
