package io.amqplocks.benchmarks;

import java.util.List;
import java.util.function.Consumer;

/** One mutex, a thread in each of two processes. */
record TwoProcesses() implements RowSource {

  @Override
  public String name() {
    return "mutex, 2 processes contending";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    List<Contender> contenders = Contender.start(lab, "two", 2, 1);
    new Throughput(lab, rows)
        .measure(
            name(),
            Goal.NONE,
            "raw pairs of one connection",
            time -> Throughput.sum(Contender.contend(contenders, time)),
            null);
  }
}
