@NullMarked
package io.amqplocks.juc;

import org.jspecify.annotations.NullMarked;
