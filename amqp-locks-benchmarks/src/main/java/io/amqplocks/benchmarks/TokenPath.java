package io.amqplocks.benchmarks;

/**
 * Taking a token from a queue and returning it. Nobody can create a token semaphore yet, so the rows have
 * a floor only. It joins by taking the place of {@code ours}, with the goal of design.md: on a classic
 * queue at most 1.1 times. {@link QuorumMutexPath} is the example.
 *
 * @param type of the queue
 */
record TokenPath(String type) implements CorePath {

  @Override
  public String name() {
    return "token, " + type + " queue";
  }

  /** A goal that nothing can meet yet would count as missed. */
  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "get + return; ours is still to come";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    Raw raw = new Raw(lab.channel());
    String queue = lab.leaving(lab.prefix() + "floor.token-" + type);
    raw.declareToken(queue, type);
    return new Sides(null, Timed.of(() -> raw.getAndReturn(queue)));
  }
}
