package io.amqplocks.benchmarks.peers;

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
import java.text.NumberFormat;
import java.util.List;
import java.util.Locale;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** A line for each kind of lock, in the color of its system; both axes are logarithmic. */
final class GrowthPicture {

  private static final int WIDTH = 800;
  private static final int HEIGHT = 450;

  /** VectorGraphics2D writes no size of 12 points, and so leaves it to the browser. */
  private static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

  private static final Font LARGE = new Font(Font.SANS_SERIF, Font.BOLD, 16);

  private GrowthPicture() {}

  static void write(Run run, Growth growth, Path file) throws IOException {
    List<Grown> all = GrowthReport.of(run, growth);
    XYSeriesCollection lines = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer();
    for (Kind kind : GrowthReport.kinds(all)) {
      XYSeries line = new XYSeries((kind.peer() == Peer.AMQP_LOCKS ? "ours: " : "") + kind.title());
      for (Grown each : all) {
        if (each.kind() == kind && !each.micros().isEmpty()) {
          line.add(each.size(), GrowthReport.median(each));
        }
      }
      renderer.setSeriesPaint(lines.getSeriesCount(), Picture.color(kind.peer()));
      lines.addSeries(line);
    }
    Rectangle2D size = new Rectangle2D.Double(0, 0, WIDTH, HEIGHT);
    VectorGraphics2D graphics = new VectorGraphics2D();
    chart(growth, lines, renderer).draw(graphics, size);
    try (OutputStream svg = Files.newOutputStream(file)) {
      new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(size)).writeTo(svg);
    }
  }

  private static JFreeChart chart(
      Growth growth, XYSeriesCollection lines, XYLineAndShapeRenderer renderer) {
    XYPlot plot =
        new XYPlot(
            lines,
            axis("how many, logarithmic"),
            axis(growth.operation() + ", median, µs, logarithmic"),
            renderer);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    plot.setDomainGridlinePaint(Color.LIGHT_GRAY);
    JFreeChart chart = new JFreeChart(growth.title() + ": flat is better", LARGE, plot, true);
    chart.getLegend().setItemFont(SMALL);
    chart.setBackgroundPaint(Color.WHITE);
    return chart;
  }

  private static LogAxis axis(String label) {
    LogAxis axis = new LogAxis(label);
    axis.setTickLabelFont(SMALL);
    axis.setLabelFont(SMALL);
    axis.setTickUnit(new NumberTickUnit(1));
    axis.setNumberFormatOverride(NumberFormat.getIntegerInstance(Locale.ROOT));
    return axis;
  }
}
