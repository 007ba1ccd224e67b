package io.amqplocks.benchmarks;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One side of one path under JMH, for its profilers: {@code bin/bench jmh -p path=mutex -prof gc}.
 * Compare allocations and stacks by it, not times: those of two sides lie minutes apart.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 3, time = 2)
@Fork(1)
public class OneSide {

  /** The property by which the forked JVM is told its broker. */
  static final String BROKER = "bench.broker";

  /** The beginning of the path's name, without its commas. */
  @Param("mutex alone")
  public String path = "";

  /** The library or the bare client. */
  @Param({"ours", "floor"})
  public String side = "";

  private @Nullable Lab lab;
  private Timed turn = () -> 0;

  /** Opens the path. */
  @Setup
  public void open() throws Exception {
    Lab opened = new Lab(System.getProperty(BROKER), true);
    lab = opened;
    Sides sides = Suite.path(path).open(opened);
    turn = Objects.requireNonNull(side.equals("ours") ? sides.ours() : sides.floor());
  }

  /** One operation. */
  @Benchmark
  public long operation() throws Exception {
    return turn.nanos();
  }

  /** Closes it. */
  @TearDown
  public void close() throws Exception {
    if (lab != null) {
      lab.close();
    }
  }
}
