@NullMarked
package io.amqplocks.inmemory;

import org.jspecify.annotations.NullMarked;
