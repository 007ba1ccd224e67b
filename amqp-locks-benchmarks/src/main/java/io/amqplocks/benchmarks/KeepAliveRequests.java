package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a request that keeps a lease HELD costs the broker, in time of its processor (ADR 60). Only
 * a broker that runs as a process of this machine can be measured.
 */
record KeepAliveRequests() implements RowSource {

  private static final int CONNECTIONS = 50;

  @Override
  public String name() {
    return "keep-alive, the broker's processor time for a request";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    List<Channel> channels = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      channels.add(lab.channel());
    }
    int requests = lab.quick() ? 5_000 : 20_000;
    ask(channels, requests / 4);
    Duration before = processorTime();
    long start = System.nanoTime();
    ask(channels, requests);
    long elapsed = System.nanoTime() - start;
    double each = processorTime().minus(before).toNanos() / 1e3 / requests;
    rows.accept(
        new Row(
            name(),
            Unit.MICROS,
            each > 0 ? each : Double.NaN,
            Double.NaN,
            Goal.NONE,
            each > 0
                ? "answered after %d µs".formatted(elapsed / 1_000 / requests)
                : "the broker is no process of this machine"));
  }

  private static void ask(List<Channel> channels, int requests) throws Exception {
    for (int i = 0; i < requests; i++) {
      channels.get(i % channels.size()).basicQos(1);
    }
  }

  private static Duration processorTime() {
    return ProcessHandle.current()
        .descendants()
        .filter(each -> each.info().command().orElse("").contains("beam"))
        .map(each -> each.info().totalCpuDuration().orElse(Duration.ZERO))
        .reduce(Duration.ZERO, Duration::plus);
  }
}
