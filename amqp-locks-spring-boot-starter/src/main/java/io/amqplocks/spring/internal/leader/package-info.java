/** Elections of leaders: their life with the application, and methods that only leaders run. */
@NullMarked
package io.amqplocks.spring.internal.leader;

import org.jspecify.annotations.NullMarked;
