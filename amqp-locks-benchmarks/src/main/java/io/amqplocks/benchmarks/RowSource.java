package io.amqplocks.benchmarks;

import java.util.function.Consumer;

/** Measures something and gives rows of it. */
interface RowSource {

  /** What {@code --only} looks at. */
  String name();

  void measure(Lab lab, Consumer<Row> rows) throws Exception;
}
