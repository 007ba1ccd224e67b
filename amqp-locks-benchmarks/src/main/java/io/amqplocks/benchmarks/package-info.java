/**
 * What the locks cost, beside what the bare client needs for the same steps; {@code bin/bench} runs
 * it.
 *
 * <p>One method throughout: <b>taking turns</b>. On a small machine that others use too, a number
 * alone says little: the same operation takes twice as long a minute later. A ratio says much, but
 * only if both sides meet the same noise. JMH runs its benchmarks one after the other, each in a
 * process of its own, so minutes lie between two sides. Here lock and floor alternate within one
 * loop, on the same broker, and who goes first changes with each round; so whatever else happens
 * meets both. Medians, because a pause of the machine is no property of a lock. Throughput is
 * compared alike, by short slices in turns.
 *
 * <p>JMH is here for what it does best, looking into one side: {@link
 * io.amqplocks.benchmarks.OneSide} runs either side of any path under its profilers ({@code -prof
 * gc}, {@code -prof stack}, {@code -prof jfr}) and with any number of threads. Its times are not in
 * the table.
 */
@NullMarked
package io.amqplocks.benchmarks;

import org.jspecify.annotations.NullMarked;
