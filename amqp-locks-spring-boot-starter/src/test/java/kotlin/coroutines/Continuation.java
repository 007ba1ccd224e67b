package kotlin.coroutines;

/**
 * As Kotlin's, which is not here: the last parameter of what its compiler makes of a suspending
 * function.
 */
public interface Continuation<T> {

  /** Goes on. */
  void resumeWith(Object result);
}
