package io.amqplocks.benchmarks;

/**
 * Taking a token from a queue and returning it. The library has no lock of that kind yet: until then
 * the row has a floor only. A token semaphore joins by taking its place as {@code ours}, and its goal.
 *
 * @param type of the queue
 */
record TokenPath(String type) implements CorePath {

  @Override
  public String name() {
    return "token, " + type + " queue";
  }

  /** To become 1.1 for classic ones. */
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
