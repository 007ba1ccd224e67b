package io.amqplocks.admin;

/**
 * The state of a token semaphore. Its numbers are read one after the other, without stopping
 * anybody. If the semaphore is busy, they may belong to different moments.
 *
 * @param slots the configured number of slots; 0 if the semaphore does not exist
 * @param tokens the number of tokens in the record; above the number of slots while some are still
 *     to be withdrawn
 * @param idle how many of them are in the queue and can be acquired
 * @param inUse how many are held or lost: {@code tokens - idle}, at least 0
 * @param pendingWithdrawals how many are to be withdrawn as they come back, after the semaphore was
 *     made smaller
 * @param unsettled how many tokens of an interrupted change may or may not exist; {@link
 *     TokenSemaphoreAdmin#repair} settles them
 */
public record TokenStatus(
    int slots, int tokens, int idle, int inUse, int pendingWithdrawals, int unsettled) {}
