/**
 * The same scenarios through the locks of several systems, side by side; {@code bin/bench peers}
 * runs it. Each system has a server of its own here, as a private process.
 *
 * <p>A {@link io.amqplocks.benchmarks.peers.Peer} starts its server and connects clients to it. A
 * {@link io.amqplocks.benchmarks.peers.Kind} is one kind of lock of a peer. A {@link
 * io.amqplocks.benchmarks.peers.Scenario} runs with all kinds in turns. What comes out is a {@link
 * io.amqplocks.benchmarks.peers.Run}, which is kept as JSON; the tables, the page and the pictures
 * are made from it alone.
 */
@NullMarked
package io.amqplocks.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
