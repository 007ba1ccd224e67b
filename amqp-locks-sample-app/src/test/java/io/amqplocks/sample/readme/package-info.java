/** The snippets of the READMEs, taken from the files, compiled and run. */
@NullMarked
package io.amqplocks.sample.readme;

import org.jspecify.annotations.NullMarked;
