/** Administration of locks: creating, resizing, auditing, repairing and inspecting them. */
@NullMarked
package io.amqplocks.admin;

import org.jspecify.annotations.NullMarked;
