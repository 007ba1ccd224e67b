package io.amqplocks.sample.demo;

import java.awt.Color;
import java.awt.GradientPaint;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Path2D;
import java.awt.image.BufferedImage;
import java.util.Locale;
import java.util.Random;

/** One painted picture of hills under a sky; the same number always gives the same picture. */
final class Landscape {

  private static final int WIDTH = 960;
  private static final int HEIGHT = 640;
  private static final int RIDGES = 5;

  private enum Mood {
    DAWN(0xF7C59F, 0x8E9DCC, 0x5B5F97, 0xFFF1D0),
    NOON(0xCDEDF6, 0x5EB1D6, 0x2F6B4F, 0xFFF9DB),
    DUSK(0xF4845F, 0x53354A, 0x2B1B33, 0xFFD6A5),
    NIGHT(0x3D5A80, 0x0B132B, 0x060A17, 0xE8EDF3);

    final Color horizon;
    final Color zenith;
    final Color ground;
    final Color light;

    Mood(int horizon, int zenith, int ground, int light) {
      this.horizon = new Color(horizon);
      this.zenith = new Color(zenith);
      this.ground = new Color(ground);
      this.light = new Color(light);
    }
  }

  private final Mood mood;
  private final Random random;

  Landscape(int number) {
    this.mood = Mood.values()[number % Mood.values().length];
    this.random = new Random(number);
  }

  String mood() {
    return mood.name().toLowerCase(Locale.ROOT);
  }

  BufferedImage paint() {
    BufferedImage image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_INT_RGB);
    Graphics2D canvas = image.createGraphics();
    canvas.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    paintSky(canvas);
    for (int ridge = 0; ridge < RIDGES; ridge++) {
      paintRidge(canvas, (ridge + 1f) / RIDGES);
    }
    canvas.dispose();
    return image;
  }

  private void paintSky(Graphics2D canvas) {
    canvas.setPaint(new GradientPaint(0, 0, mood.zenith, 0, HEIGHT * 0.7f, mood.horizon));
    canvas.fillRect(0, 0, WIDTH, HEIGHT);
    canvas.setColor(mood.light);
    if (mood == Mood.NIGHT) {
      for (int star = 0; star < 120; star++) {
        disc(canvas, random.nextInt(WIDTH), random.nextInt(HEIGHT / 2), 0.6 + random.nextDouble());
      }
    }
    disc(canvas, WIDTH * between(0.15, 0.85), HEIGHT * between(0.15, 0.4), between(28, 52));
  }

  /** Far ridges are high and pale with haze, near ones low and dark. */
  private void paintRidge(Graphics2D canvas, float nearness) {
    double top = HEIGHT * (0.38 + 0.42 * nearness);
    double swing = HEIGHT * between(0.05, 0.1);
    double wide = between(1, 2.5);
    double narrow = between(3, 7);
    double shift = between(0, 2 * Math.PI);
    Path2D.Double outline = new Path2D.Double();
    outline.moveTo(0, HEIGHT);
    for (int x = 0; x <= WIDTH; x += 4) {
      double turn = 2 * Math.PI * x / WIDTH;
      double wave = Math.sin(wide * turn + shift) + 0.35 * Math.sin(narrow * turn + 2 * shift);
      outline.lineTo(x, top + swing * wave);
    }
    outline.lineTo(WIDTH, HEIGHT);
    outline.closePath();
    canvas.setColor(blend(mood.horizon, mood.ground, 0.2f + 0.8f * nearness));
    canvas.fill(outline);
  }

  private static void disc(Graphics2D canvas, double x, double y, double radius) {
    canvas.fill(new Ellipse2D.Double(x - radius, y - radius, 2 * radius, 2 * radius));
  }

  private double between(double low, double high) {
    return low + (high - low) * random.nextDouble();
  }

  private static Color blend(Color from, Color to, float part) {
    float[] a = from.getRGBColorComponents(null);
    float[] b = to.getRGBColorComponents(null);
    return new Color(
        a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part);
  }
}
