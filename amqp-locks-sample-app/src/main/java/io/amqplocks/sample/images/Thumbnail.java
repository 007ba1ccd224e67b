package io.amqplocks.sample.images;

import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import javax.imageio.ImageIO;

/** A picture scaled down to fit a square, as a JPEG file. */
public final class Thumbnail {

  /** The longest a side may be, in pixels. */
  public static final int EDGE = 480;

  private final String name;
  private final byte[] jpeg;

  private Thumbnail(String name, byte[] jpeg) {
    this.name = name;
    this.jpeg = jpeg;
  }

  /** Scales an image down; one that fits already keeps its size. */
  public static Thumbnail of(String name, BufferedImage image) {
    double scale = Math.min(1, (double) EDGE / Math.max(image.getWidth(), image.getHeight()));
    int width = Math.max(1, (int) Math.round(image.getWidth() * scale));
    int height = Math.max(1, (int) Math.round(image.getHeight() * scale));
    // Without an alpha channel, which JPEG does not have.
    BufferedImage scaled = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    Graphics2D canvas = scaled.createGraphics();
    canvas.setRenderingHint(
        RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
    canvas.drawImage(image, 0, 0, width, height, null);
    canvas.dispose();
    return new Thumbnail(name, encode(scaled));
  }

  /** Whether these bytes are a whole picture that {@link #of} could have made. */
  public static boolean isOne(byte[] bytes) {
    try {
      BufferedImage image = ImageIO.read(new ByteArrayInputStream(bytes));
      return image != null && Math.max(image.getWidth(), image.getHeight()) <= EDGE;
    } catch (IOException e) {
      return false;
    }
  }

  /** The name of the image it was made from. */
  public String name() {
    return name;
  }

  /** The length of the file in bytes. */
  public int size() {
    return jpeg.length;
  }

  /** The file's bytes. */
  public InputStream open() {
    return new ByteArrayInputStream(jpeg);
  }

  private static byte[] encode(BufferedImage image) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      if (!ImageIO.write(image, "jpg", bytes)) {
        throw new IllegalStateException("This Java runtime cannot write JPEG");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
