package io.amqplocks;

import org.junit.jupiter.api.Order;

/** On the newest line, where all metadata needs a majority. */
@Order(1) // of the longest
class FlapTest extends FlapContract {

  FlapTest() {
    super("4.3");
  }

  @Override
  boolean onMnesia() {
    return false;
  }
}
