package io.amqplocks.sample.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;

/**
 * What the build does for the demo: paints the images that the workers work on, and writes down the
 * class path, so that the demo can start its processes without asking Maven.
 */
final class Preparation {

  /** Divisible by the four moods of {@link Landscape}. */
  private static final int IMAGES = 60;

  private Preparation() {}

  /**
   * Runs it.
   *
   * @param args the folder for the images, and the file for the class path
   */
  public static void main(String[] args) throws IOException {
    Path folder = Files.createDirectories(Path.of(args[0]));
    for (int number = 1; number <= IMAGES; number++) {
      Landscape landscape = new Landscape(number);
      // Photographs come as JPEG mostly, but not all: the workers must read either.
      String format = number % 5 == 0 ? "png" : "jpg";
      Path file = folder.resolve("%s-%02d.%s".formatted(landscape.mood(), number, format));
      ImageIO.write(landscape.paint(), format, file.toFile());
    }
    // Last, for its age tells bin/demo whether all this is up to date.
    Files.writeString(Path.of(args[1]), System.getProperty("java.class.path"));
  }
}
