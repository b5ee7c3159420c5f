/* The control law of XCP (draft-falk-xcp-spec-03, steps 7 to 18 and 32 to 35) in integers. Times are in 2^-28 s,
 * rates in bytes per second, fractions in parts per million. Does not depend on the chip. */
#ifndef XCP_LAW_H
#define XCP_LAW_H

#include <stdint.h>

/* The operator's settings. */
struct xcp_settings {
    uint64_t capacity; /* at most 2^34 */
    uint32_t alpha, beta, gamma;
    uint32_t initial_interval, min_interval, max_interval, allowed_queue;
};

/* mantissa * 2^-shift: 2^30 <= mantissa < 2^31 and shift <= 62, or a smaller mantissa with shift 62; 0 for
 * zero. */
struct xcp_factor {
    uint32_t mantissa, shift;
};

/* What remains to be distributed in an interval. */
struct xcp_pools {
    uint32_t residue_pos, residue_neg;
    struct xcp_factor cp, cn;
};

/* Traffic that has arrived in an interval. */
struct xcp_sums {
    uint32_t input_traffic;
    uint64_t sum_x, sum_xrtt;
};

/* State of a group of ports. */
struct xcp_control {
    struct xcp_settings settings;
    uint32_t avg_rtt, interval; /* never 0 */
    uint32_t min_queue, queue;
};

void xcp_start(struct xcp_control *it, const struct xcp_settings *settings);
/* Ends an interval: computes the average round-trip time, and the length and pools of the next interval. */
void xcp_fire(struct xcp_control *it, const struct xcp_sums *sums, struct xcp_pools *pools);
/* Finds the persistent queue, given that `bytes` bytes wait now; returns the time until the next call. */
uint32_t xcp_queue(struct xcp_control *it, uint32_t bytes);
/* numerator / denominator, rounded down. */
struct xcp_factor xcp_ratio(uint32_t numerator, uint64_t denominator);

#endif
