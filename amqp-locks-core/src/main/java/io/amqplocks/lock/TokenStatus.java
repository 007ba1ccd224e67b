package io.amqplocks.lock;

/**
 * How a token semaphore stands. Its numbers were read one after the other, without stopping anybody: on
 * a busy semaphore they need not belong to one moment.
 *
 * @param slots how many holders at once are wanted; 0 if the semaphore does not exist
 * @param tokens how many tokens there are by the record: more than the slots while some are still to be
 *     withdrawn
 * @param idle how many of them wait to be taken
 * @param inUse how many are held by somebody, or lost: {@code tokens - idle}, 0 at least
 * @param pendingWithdrawals how many are to be withdrawn as they come back, after the semaphore was made
 *     smaller
 * @param unsettled how many tokens of an interrupted change may or may not exist; {@link
 *     TokenSemaphoreAdmin#repair} settles them
 */
public record TokenStatus(
    int slots, int tokens, int idle, int inUse, int pendingWithdrawals, int unsettled) {}
