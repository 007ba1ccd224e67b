package io.amqplocks.benchmarks.scale;

/**
 * How clients came back after the broker was killed and started.
 *
 * @param clients how many there were
 * @param subject {@code HOLDING}, each with a lock of its own, or {@code CONTENDING} for one
 * @param half seconds from the broker's start until half of them were back
 * @param most the same of 95 of 100
 * @param all the same of all of them
 * @param busy seconds that the broker was on a processor, from its start until all were back
 * @param errors that calls ended with in between
 */
record Return(
    int clients, Subject subject, double half, double most, double all, double busy, int errors) {}
