package io.amqplocks.internal.consuming;

/** Whether a consumer admits others of its queue. */
public enum Access {
  /** It admits others of the same access. */
  SHARED,
  /** It admits no other. */
  EXCLUSIVE
}
