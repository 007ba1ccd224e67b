package io.amqplocks.sample.images;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.util.Arrays;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThumbnailTest {

  @ParameterizedTest
  @CsvSource({
    "960,640,480,320",
    "640,960,320,480",
    "300,200,300,200",
    "480,480,480,480",
    "9600,1,480,1"
  })
  void fitsTheEdgeAndKeepsItsShape(int width, int height, int scaledWidth, int scaledHeight)
      throws IOException {
    BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    BufferedImage scaled = ImageIO.read(Thumbnail.of("any.jpg", image).open());
    assertThat(scaled.getWidth()).isEqualTo(scaledWidth);
    assertThat(scaled.getHeight()).isEqualTo(scaledHeight);
  }

  @Test
  void takesImagesWithTransparency() throws IOException {
    BufferedImage image = new BufferedImage(600, 600, BufferedImage.TYPE_INT_ARGB);
    assertThat(ImageIO.read(Thumbnail.of("any.png", image).open())).isNotNull();
  }

  @Test
  void knowsItsLikes() throws IOException {
    BufferedImage large = new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB);
    byte[] whole = Thumbnail.of("any.jpg", large).open().readAllBytes();
    assertThat(Thumbnail.isOne(whole)).isTrue();
    assertThat(Thumbnail.isOne(new byte[0])).isFalse();
    assertThat(Thumbnail.isOne("not an image".getBytes(UTF_8))).isFalse();
    assertThat(Thumbnail.isOne(Arrays.copyOf(whole, 200))).isFalse();
  }
}
