package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a {@link ChildJvm} is to run. */
public final class ChildJvmBuilder {

  private final Class<?> mainClass;
  private final List<String> jvmArgs = new ArrayList<>();
  private final List<String> args = new ArrayList<>();
  private final Map<String, String> environment = new LinkedHashMap<>();

  ChildJvmBuilder(Class<?> mainClass) {
    this.mainClass = mainClass;
  }

  /** Adds arguments for the program's {@code main}. */
  public ChildJvmBuilder args(String... more) {
    args.addAll(List.of(more));
    return this;
  }

  /** Adds an environment variable to those of this JVM. */
  public ChildJvmBuilder env(String name, String value) {
    environment.put(name, value);
    return this;
  }

  /** Sets a system property; those of this JVM are not passed on. */
  public ChildJvmBuilder systemProperty(String name, String value) {
    jvmArgs.add("-D" + name + "=" + value);
    return this;
  }

  /** Adds options for the Java machine, for instance {@code -Xmx64m}, to those for a short life. */
  public ChildJvmBuilder jvmArgs(String... more) {
    jvmArgs.addAll(List.of(more));
    return this;
  }

  /**
   * Starts the program and returns at once.
   *
   * @throws UncheckedIOException if the process cannot be started
   */
  public ChildJvm start() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It lives for seconds, on few cores: compiling better costs more than it gains.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(jvmArgs);
    command.add(ChildJvmMain.class.getName());
    command.add(Long.toString(ProcessHandle.current().pid()));
    command.add(mainClass.getName());
    command.addAll(args);
    ProcessBuilder builder = new ProcessBuilder(command);
    // By the environment, because a class path may be too long for a command line.
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    builder.environment().putAll(environment);
    try {
      return new ChildJvm(builder.start());
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start a child JVM", failed);
    }
  }
}
