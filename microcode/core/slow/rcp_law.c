#include "rcp_law.h"

#include "wide.h"

enum { NANOSECONDS = 1000000000, MILLION = 1000000, RTT_UNIT_BITS = 14 };
/* The longest interval and round-trip time, 4 s. */
#define LONGEST 4000000000u

void rcp_start(struct rcp_link *it, const struct rcp_settings *settings)
{
    it->settings = *settings;
    it->rate = settings->initial_rate;
    it->rtt = settings->initial_rtt;
}

uint32_t rcp_length(const struct rcp_link *it)
{
    return it->settings.period < it->rtt ? it->settings.period : it->rtt;
}

/* Moves the average d towards a mean: with the gain length / d if the mean is longer, and with the smaller gain
 * (rate / capacity) * (mean / d) * (length / d) if it is shorter. */
static uint32_t moved(uint64_t capacity, uint32_t rate, uint32_t length, uint32_t d, uint32_t mean)
{
    if (length > d)
        length = d;
    if (mean >= d)
        return d + (uint32_t)((uint64_t)length * (mean - d) / d);
    struct wide share = wide_of((uint64_t)rate * length);
    wide_multiply(&share, mean);
    wide_multiply(&share, d - mean);
    struct wide by = wide_of(capacity);
    wide_multiply(&by, d);
    wide_multiply(&by, d);
    struct wide quotient = wide_divide(&share, &by);
    uint64_t down = wide_to_64(&quotient);
    if (down < d - mean && !wide_is_zero(&share))
        down++;
    if (down > d - mean)
        down = d - mean;
    return d > down ? d - (uint32_t)down : 1;
}

/* value * numerator / denominator, rounded down; less if numerator / denominator does not fit in 32 bits. */
static uint64_t times_ratio(uint32_t value, struct wide numerator, const struct wide *denominator)
{
    struct wide whole = wide_divide(&numerator, denominator), rest = wide_of(0);
    /* One bit of the value at a time, since its product with the remainder may not fit. */
    uint64_t quotient = 0;
    for (int bit = 31; bit >= 0; bit--) {
        quotient <<= 1;
        wide_shift_left(&rest, 1);
        if (value >> bit & 1)
            wide_add(&rest, &numerator);
        while (wide_compare(&rest, denominator) >= 0) {
            wide_subtract(&rest, denominator);
            quotient++;
        }
    }
    /* The caller limits the rate to 32 bits, so a larger product would make no difference. */
    uint64_t times = wide_to_64(&whole);
    if (times >> 32)
        times = 0xffffffffu;
    return times * value + quotient;
}

/* rate * (1 + length / rtt * (alpha * (target - input) - beta * queue / rtt) / target), computed exactly, then
 * rounded down; at least ten bytes per round-trip time, at most the target and at most 2^32 - 1. */
static uint32_t update(const struct rcp_settings *set, uint32_t rate, uint32_t length, uint32_t rtt,
                       uint32_t bytes, uint32_t queue)
{
    struct wide gain = wide_of(set->target), arrived = wide_of((uint64_t)bytes * NANOSECONDS);
    wide_multiply(&gain, length);
    int below = wide_compare(&gain, &arrived) < 0;
    if (below) {
        struct wide spare = gain;
        gain = arrived;
        wide_subtract(&gain, &spare);
    } else {
        wide_subtract(&gain, &arrived);
    }
    wide_multiply(&gain, set->alpha);
    wide_multiply(&gain, rtt);
    struct wide drain = wide_of((uint64_t)queue * NANOSECONDS);
    wide_multiply(&drain, length);
    wide_multiply(&drain, set->beta);
    struct wide denominator = wide_of((uint64_t)rtt * rtt);
    wide_multiply_64(&denominator, set->target);
    wide_multiply(&denominator, MILLION);
    struct wide factor = denominator;
    if (below)
        wide_add(&drain, &gain);
    else
        wide_add(&factor, &gain);
    if (wide_compare(&factor, &drain) > 0)
        wide_subtract(&factor, &drain);
    else
        factor = wide_of(0);
    uint64_t wanted = times_ratio(rate, factor, &denominator);
    uint64_t least = 10ull * NANOSECONDS / rtt;
    if (wanted < least)
        wanted = least;
    if (wanted > set->target)
        wanted = set->target;
    return wanted >> 32 ? 0xffffffffu : (uint32_t)wanted;
}

void rcp_fire(struct rcp_link *it, uint64_t length, const struct rcp_counters *counters, uint32_t queue)
{
    uint32_t interval = length < LONGEST ? (uint32_t)length : LONGEST;
    if (!interval)
        interval = 1;
    if (counters->rtt_bytes) {
        struct wide told = wide_of(counters->rtt_sum);
        struct wide bytes = wide_of((uint64_t)counters->rtt_bytes << RTT_UNIT_BITS);
        wide_multiply(&told, NANOSECONDS);
        struct wide quotient = wide_divide(&told, &bytes);
        uint64_t mean = wide_to_64(&quotient);
        it->rtt = moved(it->settings.capacity, it->rate, interval, it->rtt, mean < LONGEST ? (uint32_t)mean : LONGEST);
    }
    it->rate = update(&it->settings, it->rate, interval, it->rtt, counters->bytes, queue);
}
