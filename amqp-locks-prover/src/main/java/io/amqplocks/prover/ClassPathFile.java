package io.amqplocks.prover;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Run by the build: writes down the class path, so that bin/prove need not ask Maven. */
final class ClassPathFile {

  private ClassPathFile() {}

  /**
   * Runs it.
   *
   * @param args the file
   */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of(args[0]), System.getProperty("java.class.path"));
  }
}
