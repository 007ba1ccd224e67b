@NullMarked
package io.amqplocks.test;

import org.jspecify.annotations.NullMarked;
