/* The control law of RCP in integers. Times are in nanoseconds, rates in bytes per second, gains in parts per
 * million. Knows no chip. */
#ifndef RCP_LAW_H
#define RCP_LAW_H

#include <stdint.h>

/* What an operator sets. */
struct rcp_settings {
    uint64_t capacity, target; /* at most 2^34 */
    uint32_t alpha, beta;
    uint32_t period, initial_rate, initial_rtt; /* times at most 4 s */
};

/* What has arrived in an interval. */
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
/* Ends an interval of `length` at whose end `queue` bytes waited: average round-trip time, then the rate. */
void rcp_fire(struct rcp_link *it, uint64_t length, const struct rcp_counters *counters, uint32_t queue);
/* How long the interval that runs should be. */
uint32_t rcp_length(const struct rcp_link *it);

#endif
