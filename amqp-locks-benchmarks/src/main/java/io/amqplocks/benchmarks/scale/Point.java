package io.amqplocks.benchmarks.scale;

/**
 * A value at a number of things.
 *
 * @param count how many there were
 * @param value what was measured then
 */
record Point(double count, double value) {}
