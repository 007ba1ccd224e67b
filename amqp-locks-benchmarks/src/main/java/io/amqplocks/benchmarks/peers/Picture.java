package io.amqplocks.benchmarks.peers;

import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.svg.SVGProcessor;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.Color;
import java.awt.Font;
import java.awt.Paint;
import java.awt.geom.Rectangle2D;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.NumberFormat;
import java.util.List;
import java.util.Locale;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.CategoryAxis;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.labels.ItemLabelAnchor;
import org.jfree.chart.labels.ItemLabelPosition;
import org.jfree.chart.labels.StandardCategoryItemLabelGenerator;
import org.jfree.chart.plot.CategoryPlot;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.renderer.category.BarRenderer;
import org.jfree.chart.renderer.category.StandardBarPainter;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.category.CategoryDataset;
import org.jfree.data.category.DefaultCategoryDataset;

/** A bar for each kind of lock, in the color of its system; the axis is logarithmic. */
final class Picture {

  private static final int WIDTH = 800;
  private static final int FRAME = 100;
  private static final int BAR = 28;

  /** VectorGraphics2D writes no size of 12 points, and so leaves it to the browser. */
  private static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 13);

  private static final Font LARGE = new Font(Font.SANS_SERIF, Font.BOLD, 16);

  private Picture() {}

  static void write(Run run, Scenario scenario, Path file) throws IOException {
    List<Kind> kinds =
        Kind.all().stream().filter(kind -> Double.isFinite(value(run, scenario, kind))).toList();
    DefaultCategoryDataset values = new DefaultCategoryDataset();
    for (Kind kind : kinds) {
      String name = kind.peer() == Peer.AMQP_LOCKS ? "ours: " : "";
      values.addValue(
          value(run, scenario, kind) / divisor(scenario.metric()), "", name + kind.title());
    }
    Rectangle2D size = new Rectangle2D.Double(0, 0, WIDTH, FRAME + BAR * kinds.size());
    VectorGraphics2D graphics = new VectorGraphics2D();
    chart(scenario, values, kinds).draw(graphics, size);
    try (OutputStream svg = Files.newOutputStream(file)) {
      new SVGProcessor().getDocument(graphics.getCommands(), new PageSize(size)).writeTo(svg);
    }
  }

  /** NaN if it was not measured; infinite if it has no end, and so no bar. */
  private static double value(Run run, Scenario scenario, Kind kind) {
    return run.find(scenario, kind, scenario.metric()).map(Measurement::median).orElse(Double.NaN);
  }

  /** Where the least is milliseconds, microseconds would not be read. */
  private static double divisor(Metric metric) {
    return metric == Metric.FREED ? 1e3 : 1;
  }

  private static String unit(Metric metric) {
    return switch (metric) {
      case LATENCY, SERVER_CPU, CLIENT_CPU, VERIFICATION -> "median, µs";
      case FREED -> "median, ms";
      case RATE -> "leases/s";
      case LEAST_SHARE -> "share";
      case GROWTH -> "ratio";
      case MEMORY, CLIENT_HEAP -> "bytes";
    };
  }

  private static JFreeChart chart(Scenario scenario, CategoryDataset values, List<Kind> kinds) {
    boolean lessIsBetter = scenario.metric().lessIsBetter();
    LogAxis axis = new DecadesAxis(unit(scenario.metric()) + ", logarithmic");
    axis.setTickLabelFont(SMALL);
    axis.setLabelFont(SMALL);
    // Without a zero to begin with, the shortest bar must not vanish. Right of the longest one is
    // room for its number.
    axis.setLowerMargin(0.15);
    axis.setUpperMargin(0.2);
    CategoryAxis names = new CategoryAxis();
    names.setTickLabelFont(SMALL);
    names.setMaximumCategoryLabelWidthRatio(1);
    CategoryPlot plot = new CategoryPlot(values, names, axis, new Bars(kinds));
    plot.setOrientation(PlotOrientation.HORIZONTAL);
    plot.setRangeAxisLocation(AxisLocation.BOTTOM_OR_RIGHT);
    plot.setBackgroundPaint(Color.WHITE);
    plot.setRangeGridlinePaint(Color.LIGHT_GRAY);
    String better = lessIsBetter ? ": less is better" : ": more is better";
    JFreeChart chart = new JFreeChart(scenario.title() + better, LARGE, plot, false);
    chart.setBackgroundPaint(Color.WHITE);
    // A label of the axis may be at the plot's very end.
    chart.setPadding(new RectangleInsets(0, 0, 0, 30));
    return chart;
  }

  /** That of a system. They can be told apart in print and by the color-blind. */
  static Color color(Peer peer) {
    return switch (peer) {
      case AMQP_LOCKS -> new Color(0xd55e00);
      case REDISSON -> new Color(0x0072b2);
      case CURATOR -> new Color(0x009e73);
      case POSTGRESQL -> new Color(0x999999);
      case JETCD -> new Color(0xcc79a7);
      case SPRING_INTEGRATION_REDIS, SPRING_INTEGRATION_JDBC -> new Color(0x56b4e9);
      case SHED_LOCK_REDIS, SHED_LOCK_JDBC -> new Color(0xe69f00);
    };
  }

  /** Of flat colors. */
  private static final class Bars extends BarRenderer {
    private static final long serialVersionUID = 1;

    private final transient List<Kind> kinds;

    Bars(List<Kind> kinds) {
      this.kinds = kinds;
      setBarPainter(new StandardBarPainter());
      setShadowVisible(false);
      setIncludeBaseInRange(false);
      setDefaultItemLabelGenerator(
          new StandardCategoryItemLabelGenerator(
              "{2}", NumberFormat.getIntegerInstance(Locale.ROOT)));
      setDefaultItemLabelFont(SMALL);
      setDefaultPositiveItemLabelPosition(
          new ItemLabelPosition(ItemLabelAnchor.OUTSIDE3, TextAnchor.CENTER_LEFT));
      setDefaultItemLabelsVisible(true);
    }

    @Override
    public Paint getItemPaint(int row, int column) {
      return color(kinds.get(column).peer());
    }
  }
}
