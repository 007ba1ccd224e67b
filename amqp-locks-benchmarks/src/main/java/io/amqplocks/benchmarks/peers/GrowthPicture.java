package io.amqplocks.benchmarks.peers;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.text.TextUtils;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.Range;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.jspecify.annotations.Nullable;

/**
 * A line for each kind of lock, in the color of its system; both axes are logarithmic. The lines of
 * one system differ in their dashes and marks.
 */
final class GrowthPicture {

  private static final int WIDTH = 900;
  private static final int HEIGHT = 450;

  /** VectorGraphics2D writes no size of 12 points, and so leaves it to the browser. */
  private static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

  private static final Font LARGE = new Font(Font.SANS_SERIF, Font.BOLD, 16);

  /** Of the first, second and third kind of a system. */
  private static final List<float[]> DASHES =
      List.of(new float[] {1, 0}, new float[] {8, 4}, new float[] {2, 4});

  private GrowthPicture() {}

  static void write(Run run, Growth growth, Path file) throws IOException {
    List<Grown> all = GrowthReport.of(run, growth);
    XYSeriesCollection lines = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer();
    Map<Color, Integer> ofColor = new HashMap<>();
    for (Kind kind : GrowthReport.kinds(all)) {
      XYSeries line =
          new XYSeries((kind.peer() == Peer.AMQP_LOCKS ? "ours: " : "") + kind.titleOfAnySize());
      for (Grown each : all) {
        if (each.kind() == kind && !each.micros().isEmpty()) {
          line.add(each.size(), GrowthReport.median(each));
        }
      }
      Color color = Picture.color(kind.peer());
      int nth = ofColor.merge(color, 1, Integer::sum) - 1;
      renderer.setSeriesPaint(lines.getSeriesCount(), color);
      renderer.setSeriesStroke(lines.getSeriesCount(), stroke(nth));
      lines.addSeries(line);
    }
    Rectangle2D size = new Rectangle2D.Double(0, 0, WIDTH, HEIGHT);
    VectorGraphics2D graphics = new VectorGraphics2D();
    chart(growth, lines, renderer).draw(graphics, size);
    try (OutputStream svg = Files.newOutputStream(file)) {
      new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(size)).writeTo(svg);
    }
  }

  private static BasicStroke stroke(int nth) {
    return new BasicStroke(
        2, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, DASHES.get(nth % DASHES.size()), 0);
  }

  private static JFreeChart chart(
      Growth growth, XYSeriesCollection lines, XYLineAndShapeRenderer renderer) {
    // Otherwise, it draws the outlines of what is written upwards.
    TextUtils.setUseDrawRotatedStringWorkaround(false);
    LogAxis times = axis(growth.operation() + ", median, µs, logarithmic");
    times.setRange(decades(lines.getRangeBounds(false)));
    XYPlot plot = new XYPlot(lines, axis("how many, logarithmic"), times, renderer);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    plot.setDomainGridlinePaint(Color.LIGHT_GRAY);
    JFreeChart chart = new JFreeChart(growth.title() + ": flat is better", LARGE, plot, true);
    chart.getLegend().setItemFont(SMALL);
    chart.getLegend().setPosition(RectangleEdge.RIGHT);
    chart.getLegend().setFrame(BlockBorder.NONE);
    chart.setPadding(new RectangleInsets(5, 5, 5, 20));
    chart.setBackgroundPaint(Color.WHITE);
    return chart;
  }

  /**
   * From a power of ten to another one, so that at least two of them are on the axis. A bit more,
   * because the logarithm of a thousand is less than three in floating point.
   */
  private static Range decades(@Nullable Range values) {
    return values == null
        ? new Range(1, 10)
        : new Range(
            0.999 * Math.pow(10, Math.floor(Math.log10(values.getLowerBound()))),
            1.001 * Math.pow(10, Math.floor(Math.log10(values.getUpperBound())) + 1));
  }

  private static LogAxis axis(String label) {
    LogAxis axis = new DecadesAxis(label);
    axis.setTickLabelFont(SMALL);
    axis.setLabelFont(SMALL);
    return axis;
  }
}
