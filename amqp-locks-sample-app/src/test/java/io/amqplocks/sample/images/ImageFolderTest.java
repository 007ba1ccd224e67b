package io.amqplocks.sample.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ImageFolderTest {

  @TempDir Path parent;
  private ImageFolder folder = new ImageFolder(Path.of(""));

  @BeforeEach
  void fill() throws IOException {
    Path path = Files.createDirectory(parent.resolve("images"));
    folder = new ImageFolder(path);
    BufferedImage image = new BufferedImage(3, 2, BufferedImage.TYPE_INT_RGB);
    ImageIO.write(image, "png", path.resolve("b.png").toFile());
    ImageIO.write(image, "jpg", path.resolve("a.jpg").toFile());
    Files.writeString(path.resolve("c.txt"), "not an image");
    ImageIO.write(image, "png", parent.resolve("secret.png").toFile());
  }

  @Test
  void namesAndReadsItsFiles() throws IOException {
    assertThat(folder.names()).containsExactly("a.jpg", "b.png", "c.txt");
    assertThat(folder.read("a.jpg").getWidth()).isEqualTo(3);
    assertThat(folder.read("b.png").getWidth()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "c.txt",
        "none.png",
        "../secret.png",
        "sub/../../secret.png",
        "",
        ".",
        "a\u0000.jpg"
      })
  void readsNothingElse(String name) {
    assertThatIOException().isThrownBy(() -> folder.read(name));
  }
}
