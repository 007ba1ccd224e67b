package io.amqplocks.benchmarks.scale;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Color;
import java.awt.Font;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** The points that were measured, and the lines through them. */
final class ScalePicture {

  private static final int WIDTH = 800;
  private static final int HEIGHT = 450;

  /** The SVG writer leaves out a size of 12, and browsers then draw at 16. */
  private static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

  private static final Font LARGE = new Font(Font.SANS_SERIF, Font.BOLD, 16);

  /** Can be told apart in print and by the color-blind. */
  private static final List<Color> COLORS =
      List.of(
          new Color(0xd55e00),
          new Color(0x0072b2),
          new Color(0x009e73),
          new Color(0xcc79a7),
          new Color(0xe69f00),
          new Color(0x56b4e9),
          new Color(0x999999),
          new Color(0x000000));

  private ScalePicture() {}

  /** Draws the memory of those that are wanted, above what there is without any. */
  static void write(ScaleRun run, Predicate<Growth> wanted, String of, Path file)
      throws IOException {
    XYSeriesCollection all = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer();
    for (Growth growth : run.growths().stream().filter(wanted).toList()) {
      String title =
          growth.subject().title()
              + (growth.subject().isOfClients() ? "" : ": " + growth.kind().title());
      Color color = COLORS.get(all.getSeriesCount() / 2 % COLORS.size());
      add(all, renderer, line(growth, title), color, false);
      add(all, renderer, points(growth, title + ", measured"), color, true);
    }
    VectorGraphics2D graphics = new VectorGraphics2D();
    chart(all, renderer, of).draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
    try (OutputStream svg = Files.newOutputStream(file)) {
      new SVGProcessor()
          .getDocument(graphics.getCommands(), new PageSize(0, 0, WIDTH, HEIGHT))
          .writeTo(svg);
    }
  }

  private static void add(
      XYSeriesCollection all,
      XYLineAndShapeRenderer renderer,
      XYSeries series,
      Color color,
      boolean arePoints) {
    int index = all.getSeriesCount();
    all.addSeries(series);
    renderer.setSeriesPaint(index, color);
    renderer.setSeriesLinesVisible(index, !arePoints);
    renderer.setSeriesShapesVisible(index, arePoints);
    renderer.setSeriesVisibleInLegend(index, !arePoints);
  }

  private static XYSeries line(Growth growth, String title) {
    XYSeries series = new XYSeries(title);
    double last = growth.last(Quantity.MEMORY).count();
    series.add(0, 0);
    series.add(last, growth.line(Quantity.MEMORY).each() * last / 1e6);
    return series;
  }

  private static XYSeries points(Growth growth, String title) {
    XYSeries series = new XYSeries(title);
    double base = growth.line(Quantity.MEMORY).base();
    growth
        .points(Quantity.MEMORY)
        .forEach(point -> series.add(point.count(), (point.value() - base) / 1e6));
    return series;
  }

  private static JFreeChart chart(
      XYSeriesCollection all, XYLineAndShapeRenderer renderer, String of) {
    NumberAxis counts = axis("how many");
    NumberAxis memory = axis("memory of the broker, MB");
    XYPlot plot = new XYPlot(all, counts, memory, renderer);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    plot.setDomainGridlinePaint(Color.LIGHT_GRAY);
    JFreeChart chart =
        new JFreeChart("What " + of + " add: measured, and the fitted lines", LARGE, plot, true);
    chart.getLegend().setItemFont(SMALL);
    chart.setBackgroundPaint(Color.WHITE);
    return chart;
  }

  private static NumberAxis axis(String label) {
    NumberAxis axis = new NumberAxis(label);
    axis.setTickLabelFont(SMALL);
    axis.setLabelFont(SMALL);
    return axis;
  }
}
