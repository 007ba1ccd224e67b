/** The role that writes a report each night, once, whatever number of processes has it. */
@NullMarked
package io.amqplocks.sample.report;

import org.jspecify.annotations.NullMarked;
