/* The control law of RCP in integers. Times are in nanoseconds, rates in bytes per second, gains in parts per
 * million. Does not depend on the chip. */
#ifndef RCP_LAW_H
#define RCP_LAW_H

#include <stdint.h>

/* The operator's settings. */
struct rcp_settings {
    uint64_t capacity, target; /* at most 2^34 */
    uint32_t alpha, beta;
    uint32_t period, initial_rate, initial_rtt; /* times at most 4 s */
};

/* Traffic that has arrived in an interval. */
struct rcp_counters {
    uint32_t bytes, rtt_bytes;
    uint64_t rtt_sum;
};

/* State of a link. */
struct rcp_link {
    struct rcp_settings settings;
    uint32_t rate, rtt;
};

void rcp_start(struct rcp_link *it, const struct rcp_settings *settings);
/* Ends an interval of `length` with `queue` bytes waiting: updates the average round-trip time, then the rate. */
void rcp_fire(struct rcp_link *it, uint64_t length, const struct rcp_counters *counters, uint32_t queue);
/* How long the current interval should be. */
uint32_t rcp_length(const struct rcp_link *it);

#endif
