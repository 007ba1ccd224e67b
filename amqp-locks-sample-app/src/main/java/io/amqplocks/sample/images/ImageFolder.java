package io.amqplocks.sample.images;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

/**
 * A folder of image files.
 *
 * @param path where it is
 */
public record ImageFolder(Path path) {

  /** The names of all files in it, sorted. */
  public List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(path)) {
      return files
          .filter(Files::isRegularFile)
          .map(f -> f.getFileName().toString())
          .sorted()
          .toList();
    }
  }

  /**
   * Reads and decodes one file.
   *
   * @throws IOException if there is no such file directly in the folder, or it is not an image
   */
  public BufferedImage read(String name) throws IOException {
    try {
      return decode(name);
    } catch (RuntimeException e) {
      // No file can have the name, or its content breaks the decoder.
      throw new IOException("'%s' is not an image of %s".formatted(name, path), e);
    }
  }

  private BufferedImage decode(String name) throws IOException {
    Path file = path.resolve(name).normalize();
    // Names come in messages: one with ".." in it must not read other folders.
    if (!path.normalize().equals(file.getParent())) {
      throw new IOException("'%s' is not a file of %s".formatted(name, path));
    }
    BufferedImage image = ImageIO.read(file.toFile());
    if (image == null) {
      throw new IOException("%s is not an image that Java can read".formatted(file));
    }
    return image;
  }
}
