/**
 * What locks, leases, waiters and clients cost a broker, and what one node can therefore carry;
 * {@code bin/bench scale} runs it.
 *
 * <p>One method throughout: there are more and more of something, and the broker's own account and
 * the operating system's say what it uses. A {@link io.amqplocks.benchmarks.scale.Line} through
 * these points is what one of them costs. The last point of each is also forecast, by the line
 * without it, and then compared. Memory, time on a processor and bytes written are measured,
 * because other work on the machine does not change them much; times by the clock it does.
 *
 * <p>What comes out is a {@link io.amqplocks.benchmarks.scale.ScaleRun}, which is kept as JSON; the
 * tables, the page and the pictures are made from it alone.
 */
@NullMarked
package io.amqplocks.benchmarks.scale;

import org.jspecify.annotations.NullMarked;
