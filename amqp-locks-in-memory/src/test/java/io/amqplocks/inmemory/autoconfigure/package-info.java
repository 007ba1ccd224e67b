@NullMarked
package io.amqplocks.inmemory.autoconfigure;

import org.jspecify.annotations.NullMarked;
