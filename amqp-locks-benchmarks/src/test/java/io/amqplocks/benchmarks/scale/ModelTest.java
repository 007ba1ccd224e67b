package io.amqplocks.benchmarks.scale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTest {

  private final Model model = new Model(Runs.known());

  /** By how much the last reading makes lines steeper: its distance, by all squared distances. */
  private static final double STEEPER = Runs.OFF * (1_000 - 1_400 / 3.0) / (1_340_000 / 3.0);

  @Test
  void theFirstReadingHasNoPartInTheCoefficientsAndTheLastOneHas() {
    assertThat(model.each(Subject.USED, Kind.MUTEX, Quantity.MEMORY))
        .isCloseTo(40e3 + STEEPER, within(1e-3));
    assertThat(model.each(Subject.HOLDING, Kind.MUTEX, Quantity.BUSY))
        .isCloseTo(1e-4, within(1e-9));
    assertThat(model.each(Subject.USED, Kind.SLOTS, Quantity.MEMORY)).isNaN();
  }

  @Test
  void aHeldLockIsAnIdleOneAndALease() {
    assertThat(model.held(Kind.MUTEX, Quantity.MEMORY))
        .isCloseTo(40e3 + 50e3 + 2 * STEEPER, within(1e-3));
  }

  @Test
  void aHeldLockTakesNoLessThanAnIdleOne() {
    assertThat(model.each(Subject.HELD, Kind.CLASSIC_TOKENS, Quantity.MEMORY)).isNegative();
    assertThat(model.held(Kind.CLASSIC_TOKENS, Quantity.MEMORY))
        .isCloseTo(100e3 + STEEPER, within(1e-3));
  }

  @Test
  void memoryIsForecastAsTheOperatingSystemCountsIt() {
    assertThat(model.residentForEach()).isCloseTo(1.5, within(1e-9));
    double base = 60e6 + Runs.OFF / 3 - STEEPER * 1_400 / 3;
    assertThat(model.base()).isCloseTo(30e6 + 1.5 * base, within(1.0));
  }

  @Test
  void forecastsTheLastReadingWithoutIt() {
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
              assertThat(each.error()).isCloseTo(5 / 40.0, within(1e-6));
            });
  }

  @Test
  void aGrowthThatIsLostInNoiseHasNoError() {
    assertThat(new Forecast("", 3, 10, Quantity.MEMORY, 60e6, 64.9e6, 70e6).error()).isNaN();
    assertThat(new Forecast("", 3, 10, Quantity.MEMORY, 60e6, 65e6, 70e6).error())
        .isCloseTo(1, within(1e-6));
    assertThat(new Forecast("", 3, 10, Quantity.BUSY, 0.01, 0.012, 0.02).error()).isNaN();
    assertThat(new Forecast("", 3, 10, Quantity.BUSY, 0.01, 0.02, 0.015).error())
        .isCloseTo(-0.5, within(1e-6));
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
                  .isCloseTo(60e6 + 1_000 * (70e3 + 40e3 + 50e3 + 2 * STEEPER), within(1.0));
              assertThat(each.measured()).isEqualTo(60e6 + 1_000 * 160e3 + Runs.OFF);
            });
  }

  private Limit limit(Subject subject) {
    return model.limits().stream()
        .filter(limit -> limit.what().equals(subject.title()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aNodeCarriesAsMuchAsItsScarcestPart() {
    Limit clients = limit(Subject.HOLDING);
    double room = 6e9 - model.base();
    assertThat(clients.byMemory()).isCloseTo(room / (1.5 * (160e3 + STEEPER)), within(1.0));
    assertThat(clients.byProcessor()).isCloseTo(1 / 1e-4, within(1.0));
    assertThat(clients.byProcesses()).isCloseTo(1_048_576 / 20.0, within(1.0));
    assertThat(clients.byAtoms()).isInfinite();
    assertThat(clients.first()).isEqualTo("processors");
    assertThat(limit(Subject.CONNECTED).byMemory())
        .isCloseTo(room / (1.5 * (70e3 + STEEPER)), within(1.0));
  }

  @Test
  void whatHasNoLimitBendsNowhere() {
    double none = Double.POSITIVE_INFINITY;
    assertThat(new Limit("", none, none, none, none).first()).isEmpty();
    assertThat(new Limit("", none, none, none, 7).first()).isEqualTo("atoms");
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
    assertThat(growth.lineWithoutLast(Quantity.MEMORY).each()).isNaN();
    assertThat(new Growth(Subject.USED, Kind.MUTEX, List.of()).line(Quantity.BUSY).each()).isNaN();
  }
}
