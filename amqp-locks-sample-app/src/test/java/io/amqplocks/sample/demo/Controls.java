package io.amqplocks.sample.demo;

/**
 * What the buttons of the page do. Each does the thing itself and says so by returning; any thread
 * may call.
 */
interface Controls {

  /**
   * Resizes the semaphore at the broker.
   *
   * @throws IllegalArgumentException if there cannot be so many slots here
   * @throws io.amqplocks.lock.LockException if the broker does not do it
   */
  void resize(int slots);

  /**
   * Ends a worker as {@code kill -9} does, and begins to start another one.
   *
   * @throws IllegalArgumentException if there is no such worker
   */
  void replace(int worker) throws InterruptedException;

  /**
   * Breaks all connections of a worker to the broker.
   *
   * @throws IllegalArgumentException if there is no such worker, or its connections cannot be cut
   */
  void cut(int worker);
}
