package io.amqplocks.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * When a process started. Its id alone does not name it for long, because another process may have
 * the id after its end.
 */
final class ProcessStart {

  /** Of field 22, where the first one here is field 3. */
  private static final int INDEX = 22 - 3;

  private ProcessStart() {}

  /**
   * In the unit and the form of {@code /proc}, as process.sh compares it; empty if the process has
   * ended, or where there is no {@code /proc}.
   */
  static String of(long pid) {
    try {
      String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
      // Before that is the program's name in parentheses, which may have spaces.
      return List.of(line.substring(line.lastIndexOf(')') + 1).strip().split(" ")).get(INDEX);
    } catch (IOException gone) {
      return "";
    }
  }
}
