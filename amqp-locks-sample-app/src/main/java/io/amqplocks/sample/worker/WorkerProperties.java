package io.amqplocks.sample.worker;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * Settings of a worker.
 *
 * @param queue the queue with the names of the images to do
 * @param folder where the images are
 * @param receiver where the receiver listens
 * @param patience how long an image waits for an upload slot before it goes back to the queue
 * @param bytesPerSecond how fast one upload goes at most
 */
@ConfigurationProperties("sample.worker")
record WorkerProperties(
    String queue, Path folder, URI receiver, Duration patience, DataSize bytesPerSecond) {}
