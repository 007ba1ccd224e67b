package io.amqplocks.internal.session;

import java.util.function.Function;

/**
 * An object that one kind of lock keeps for each session. A session creates it once, at its first
 * use, and drops it when it ends. So the session does not need to know any kind of lock.
 *
 * @param <T> the type of the object
 */
public final class PerSession<T> {

  private final Function<Session, T> maker;

  /**
   * Does not create anything yet.
   *
   * @param maker creates the object for a session; must not block
   */
  public PerSession(Function<Session, T> maker) {
    this.maker = maker;
  }

  /** The object of that session. */
  public T of(Session session) {
    return session.extension(this, maker);
  }
}
