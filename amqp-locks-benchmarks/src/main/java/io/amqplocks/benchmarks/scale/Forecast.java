package io.amqplocks.benchmarks.scale;

/**
 * What the model says about a point to which it was not fitted, beside what was measured there.
 *
 * @param what it is about
 * @param fittedTo up to how many the lines were fitted
 * @param count of the point
 * @param quantity that is forecast
 * @param base what there is without any, by the model
 * @param forecast by the model
 * @param measured by the run
 */
record Forecast(
    String what,
    int fittedTo,
    int count,
    Quantity quantity,
    double base,
    double forecast,
    double measured) {

  /** By what part the measured growth exceeds the forecast one; NaN if that is lost in noise. */
  double error() {
    double growth = forecast - base;
    return growth < quantity.noise() ? Double.NaN : (measured - base) / growth - 1;
  }
}
