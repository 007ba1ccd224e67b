package io.amqplocks.test;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Objects;

/**
 * What a {@link ChildJvm} really starts: it ends the process with its parent, also when that is
 * killed, and runs the program.
 */
final class ChildJvmMain {

  private ChildJvmMain() {}

  /**
   * Runs a program.
   *
   * @param args the parent's process id, the program's main class, the program's arguments
   */
  public static void main(String[] args) throws Throwable {
    ProcessHandle parent =
        ProcessHandle.of(Long.parseLong(args[0]))
            .orElseThrow(() -> new IllegalStateException("The parent has ended"));
    Thread watch = new Thread(() -> endWith(parent), "child-jvm-parent");
    watch.setDaemon(true);
    watch.start();
    Method main = Class.forName(args[1]).getDeclaredMethod("main", String[].class);
    main.setAccessible(true);
    try {
      main.invoke(null, (Object) Arrays.copyOfRange(args, 2, args.length));
    } catch (InvocationTargetException thrown) {
      throw Objects.requireNonNullElse(thrown.getCause(), thrown);
    }
  }

  private static void endWith(ProcessHandle parent) {
    parent.onExit().join();
    Runtime.getRuntime().halt(1);
  }
}
