package io.amqplocks.benchmarks.scale;

import io.amqplocks.test.BrokerUsage;
import io.amqplocks.test.OwnedBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A private broker as a process of this machine, whose use of it the operating system counts. */
final class BrokerProcess {

  private final OwnedBroker broker;

  BrokerProcess(OwnedBroker broker) {
    this.broker = broker;
  }

  /** How long it was on a processor since its start. */
  Duration onProcessor() {
    return handle().info().totalCpuDuration().orElseThrow();
  }

  /** How many bytes it had written to the disk since its start, as whole pages. */
  long written() throws IOException {
    return number("io", "write_bytes:");
  }

  /**
   * What it uses now.
   *
   * @param count of what there is now
   * @param rest for how long to watch it at rest; zero for not at all
   */
  Reading read(int count, Duration rest) throws IOException, InterruptedException {
    // What was asked for a moment before still occupies it.
    TimeUnit.SECONDS.sleep(1);
    Duration used = onProcessor();
    long written = written();
    long start = System.nanoTime();
    TimeUnit.MILLISECONDS.sleep(rest.toMillis());
    double rested = rest.isZero() ? Double.NaN : System.nanoTime() - start;
    double busy = onProcessor().minus(used).toNanos() / rested;
    double writing = (written() - written) / (rested / 1e9);
    // What the first collection frees may be all that refers to something else.
    BrokerUsage unused = broker.faults().usage();
    BrokerUsage usage = broker.faults().usage();
    long resident = number("status", "VmRSS:") * 1024;
    return new Reading(
        count, usage.memory(), resident, usage.processes(), usage.atoms(), busy, writing);
  }

  private long number(String file, String label) throws IOException {
    return Files.readAllLines(Path.of("/proc", Long.toString(handle().pid()), file)).stream()
        .filter(line -> line.startsWith(label))
        .map(line -> line.replaceAll("\\D", ""))
        .mapToLong(Long::parseLong)
        .findFirst()
        .orElseThrow();
  }

  /** A restart gives it another process, so it is looked for each time. */
  private ProcessHandle handle() {
    return broker
        .process()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "The broker is no process of this machine, so nobody counts what it uses"));
  }
}
