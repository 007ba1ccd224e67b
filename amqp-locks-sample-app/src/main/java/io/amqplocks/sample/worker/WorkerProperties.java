package io.amqplocks.sample.worker;

import java.net.URI;
import java.nio.file.Path;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * Settings of a worker.
 *
 * @param queue the queue with the names of the images to do
 * @param folder where the images are
 * @param receiver where the receiver listens
 * @param bytesPerSecond how fast one upload goes at most
 */
@ConfigurationProperties("sample.worker")
record WorkerProperties(String queue, Path folder, URI receiver, DataSize bytesPerSecond) {}
