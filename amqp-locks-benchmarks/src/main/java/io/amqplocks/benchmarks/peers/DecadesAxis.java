package io.amqplocks.benchmarks.peers;

import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.text.NumberFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.axis.NumberTickUnit;
import org.jfree.chart.axis.TickType;
import org.jfree.chart.axis.ValueTick;
import org.jfree.chart.ui.RectangleEdge;

/**
 * A logarithmic axis with the powers of ten, as whole numbers. A {@link LogAxis} draws the outlines
 * of its numbers, which an SVG has as hollow letters.
 */
final class DecadesAxis extends LogAxis {
  private static final long serialVersionUID = 1;

  DecadesAxis(String label) {
    super(label);
    setTickUnit(new NumberTickUnit(1));
    setNumberFormatOverride(NumberFormat.getIntegerInstance(Locale.ROOT));
  }

  @Override
  public List<NumberTick> refreshTicks(
      Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
    List<NumberTick> ticks = new ArrayList<>();
    for (Object each : super.refreshTicks(graphics, state, area, edge)) {
      ValueTick tick = (ValueTick) each;
      boolean isNamed = tick.getTickType().equals(TickType.MAJOR);
      ticks.add(
          new NumberTick(
              tick.getTickType(),
              tick.getValue(),
              isNamed ? getNumberFormatOverride().format(tick.getValue()) : "",
              tick.getTextAnchor(),
              tick.getRotationAnchor(),
              tick.getAngle()));
    }
    return ticks;
  }
}
