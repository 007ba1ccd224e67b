package io.amqplocks.admin;

/** The type of queue that keeps the tokens of a token semaphore. */
public enum TokenQueueType {
  /**
   * A classic queue, which is the fastest. It lives on one node. While that node is down, nobody
   * acquires, and leases held through other nodes are lost.
   */
  CLASSIC,
  /**
   * A quorum queue. It is several times slower and survives the loss of a minority of its nodes. It
   * counts how often each token came back, which provides fencing tokens at no further cost.
   */
  QUORUM
}
