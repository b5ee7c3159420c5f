#include "xcp_law.h"

#include "wide.h"

enum { SECOND_BITS = 28, RTT_SHIFT = 12, MOST_SHIFT = 62 };
#define LARGEST_POOL 0x7fffffffu

struct xcp_factor xcp_ratio(uint32_t numerator, uint64_t denominator)
{
    struct xcp_factor zero = { 0, 0 };
    if (!numerator || !denominator)
        return zero;
    /* The largest shift with numerator << shift < denominator << 31, so that the quotient has 31 bits. */
    struct wide top = wide_of(numerator), limit = wide_of(denominator);
    wide_shift_left(&limit, 31);
    if (wide_compare(&top, &limit) >= 0)
        return (struct xcp_factor){ LARGEST_POOL, 0 };
    uint32_t shift = wide_bits(&limit) - wide_bits(&top);
    if (shift > MOST_SHIFT)
        shift = MOST_SHIFT;
    wide_shift_left(&top, shift);
    if (wide_compare(&top, &limit) >= 0) {
        shift--;
        top = wide_of(numerator);
        wide_shift_left(&top, shift);
    }
    limit = wide_of(denominator);
    uint32_t mantissa = wide_divide(&top, &limit).word[0];
    return mantissa ? (struct xcp_factor){ mantissa, shift } : zero;
}

void xcp_start(struct xcp_control *it, const struct xcp_settings *settings)
{
    it->settings = *settings;
    it->avg_rtt = it->interval = settings->initial_interval;
    it->min_queue = it->queue = 0;
}

static uint32_t pool(struct wide *share, const struct wide *denominator)
{
    struct wide quotient = wide_divide(share, denominator);
    uint64_t rate = wide_to_64(&quotient);
    return rate < LARGEST_POOL ? (uint32_t)rate : LARGEST_POOL;
}

/* Replaces a by the magnitude of a - b; returns whether a - b is below 0. */
static int difference(struct wide *a, const struct wide *b)
{
    if (wide_compare(a, b) >= 0) {
        wide_subtract(a, b);
        return 0;
    }
    struct wide rest = *b;
    wide_subtract(&rest, a);
    *a = rest;
    return 1;
}

void xcp_fire(struct xcp_control *it, const struct xcp_sums *sums, struct xcp_pools *pools)
{
    const struct xcp_settings *set = &it->settings;
    uint32_t length = it->interval;
    if (sums->sum_x) {
        struct wide total = wide_of(sums->sum_xrtt), times = wide_of(sums->sum_x);
        wide_shift_left(&total, RTT_SHIFT);
        struct wide quotient = wide_divide(&total, &times);
        uint64_t average = wide_to_64(&quotient);
        if (average)
            it->avg_rtt = average < set->max_interval ? (uint32_t)average : set->max_interval;
    }
    uint32_t rtt = it->avg_rtt;
    /* Bytes in the interval * 2^28: divided by `length`, a rate. Terms divided by `denominator` are rates as well. */
    uint64_t input = (uint64_t)sums->input_traffic << SECOND_BITS;
    struct wide aggregate = wide_of(set->capacity), arrived = wide_of(input);
    wide_multiply(&aggregate, length);
    int below = difference(&aggregate, &arrived);
    wide_multiply(&aggregate, set->alpha);
    wide_multiply(&aggregate, rtt);
    struct wide standing = wide_of((uint64_t)it->queue << SECOND_BITS);
    wide_multiply(&standing, length);
    wide_multiply(&standing, set->beta);
    if (below)
        wide_add(&aggregate, &standing);
    else
        below = difference(&aggregate, &standing);
    /* Traffic that is shuffled between flows even when the link is exactly full. */
    struct wide shuffled = wide_of(input);
    wide_multiply(&shuffled, rtt);
    wide_multiply(&shuffled, set->gamma);
    if (difference(&shuffled, &aggregate))
        shuffled = wide_of(0);
    struct wide denominator = wide_of((uint64_t)length * rtt);
    wide_multiply(&denominator, 1000000);
    struct wide more = shuffled;
    wide_add(&more, &aggregate);
    uint32_t greater = pool(&more, &denominator), lesser = pool(&shuffled, &denominator);
    pools->residue_pos = below ? lesser : greater;
    pools->residue_neg = below ? greater : lesser;
    pools->cp = xcp_ratio(pools->residue_pos, sums->sum_x);
    pools->cn = xcp_ratio(pools->residue_neg, sums->input_traffic);
    it->interval = rtt > set->min_interval ? rtt : set->min_interval;
}

uint32_t xcp_queue(struct xcp_control *it, uint32_t bytes)
{
    it->queue = it->min_queue < bytes ? it->min_queue : bytes;
    it->min_queue = bytes;
    uint64_t drain = ((uint64_t)bytes << SECOND_BITS) / it->settings.capacity;
    uint32_t rest = drain < it->avg_rtt ? (it->avg_rtt - (uint32_t)drain) / 2 : 0;
    uint32_t least = it->settings.allowed_queue > 1 ? it->settings.allowed_queue : 1;
    return rest > least ? rest : least;
}
