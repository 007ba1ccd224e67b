package io.amqplocks.benchmarks.scale;

/**
 * What the broker used while there were so many.
 *
 * @param count how many there were
 * @param memory bytes by the broker's own account, after a garbage collection
 * @param resident bytes by the account of the operating system, after it too
 * @param processes of Erlang
 * @param atoms of Erlang
 * @param busy the part of one processor that it used while nothing was asked of the locks; NaN if
 *     that was not measured
 * @param written bytes a second to the disk meanwhile; NaN as well
 */
record Reading(
    int count,
    long memory,
    long resident,
    long processes,
    long atoms,
    double busy,
    double written) {}
