/* The slow path of RCP: what `[gpp.rcp]` does, in C. The rate and the threads' counters are in scratch. */
#include "packets.h"
#include "rcp_law.h"
#include "traffic.h"

/* A longword for each group. */
IMPORT(RCP_RATE);
/* 16 bytes for each thread and group. */
IMPORT(RCP_COUNTERS);
IMPORT(RCP_COUNTERS_SIZE);
/* The threads that have counters; as many as there is room for, unless RCP_THREADS gives their number. */
IMPORT_OR(RCP_FIRST_THREAD, 0);
IMPORT_OR(RCP_THREADS, 0);
/* 1, or one for each port. */
IMPORT_OR(RCP_GROUPS, 1);
/* Gains and the target share of the capacity in parts per million, times in microseconds, the initial rate in bytes
 * per second; if that is 0, the initial rate is a twentieth of the capacity. */
IMPORT_OR(RCP_ALPHA, 400000);
IMPORT_OR(RCP_BETA, 400000);
IMPORT_OR(RCP_ETA, 1000000);
IMPORT_OR(RCP_PERIOD, 10000);
IMPORT_OR(RCP_INITIAL_RATE, 0);
IMPORT_OR(RCP_INITIAL_RTT, 200000);

enum { RECORD = 16, MOST_THREADS = 128 };

/* Inputs and results of the last interval, for outside observers. */
struct {
    struct rcp_link before;
    struct rcp_counters counters;
    uint64_t length;
    uint32_t queue, updates;
} rcp_last[MOST_PORTS];

static struct group {
    struct rcp_link link;
    uint64_t due, began;
} groups[MOST_PORTS];

static struct rcp_counters seen[MOST_PORTS][MOST_THREADS];
static uint32_t group_count, threads, first_thread, nanoseconds_per_tick;

/* Converts nanoseconds to ticks, rounded up; at least 1. */
static uint32_t ticks(uint32_t nanoseconds)
{
    uint32_t all = (nanoseconds + nanoseconds_per_tick - 1) / nanoseconds_per_tick;
    return all ? all : 1;
}

static struct rcp_counters thread_counters(uint32_t thread, uint32_t group)
{
    uint32_t words[4];
    record_read_4(VALUE(RCP_COUNTERS) + ((first_thread + thread) * group_count + group) * RECORD, words);
    return (struct rcp_counters){ words[0], words[1], wide_record(words + 2) };
}

/* Traffic of a group that has arrived since the last call. */
static struct rcp_counters arrived(uint32_t group)
{
    struct rcp_counters all = { 0, 0, 0 };
    for (uint32_t thread = 0; thread < threads; thread++) {
        struct rcp_counters now = thread_counters(thread, group), *before = &seen[group][thread];
        all.bytes += now.bytes - before->bytes;
        all.rtt_bytes += now.rtt_bytes - before->rtt_bytes;
        all.rtt_sum += now.rtt_sum - before->rtt_sum;
        *before = now;
    }
    return all;
}

static void start(void)
{
    group_count = VALUE_OR(RCP_GROUPS);
    nanoseconds_per_tick = 1000000000 / time_second();
    first_thread = VALUE_OR(RCP_FIRST_THREAD);
    threads = VALUE_OR(RCP_THREADS);
    if (!threads)
        threads = VALUE(RCP_COUNTERS_SIZE) / (RECORD * group_count) - first_thread;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    for (uint32_t group = 0; group < group_count; group++) {
        uint64_t capacity = group_capacity(group, group_count);
        uint32_t first = VALUE_OR(RCP_INITIAL_RATE);
        struct rcp_settings settings = {
            .capacity = capacity,
            .target = capacity * (VALUE_OR(RCP_ETA) / 1000) / 1000,
            .alpha = VALUE_OR(RCP_ALPHA),
            .beta = VALUE_OR(RCP_BETA),
            .period = VALUE_OR(RCP_PERIOD) * 1000,
            .initial_rate = first ? first : (uint32_t)(capacity / 20),
            .initial_rtt = VALUE_OR(RCP_INITIAL_RTT) * 1000,
        };
        struct group *it = &groups[group];
        rcp_start(&it->link, &settings);
        it->due = ticks(rcp_length(&it->link));
        scratch_write(VALUE(RCP_RATE) + 4 * group, it->link.rate);
        /* The initial values of the counters are left out. */
        for (uint32_t thread = 0; thread < threads; thread++)
            seen[group][thread] = thread_counters(thread, group);
    }
}

/* Ends an interval: computes the rate of every flow for the next one and publishes it. */
static void end_interval(uint32_t group)
{
    struct group *it = &groups[group];
    uint64_t ends = time_now();
    struct rcp_counters counters = arrived(group);
    uint32_t queue = queues_read(group, group_count);
    uint64_t length = (ends - it->began) * nanoseconds_per_tick;
    it->began = ends;
    rcp_last[group].before = it->link;
    rcp_last[group].counters = counters;
    rcp_last[group].length = length;
    rcp_last[group].queue = queue;
    rcp_fire(&it->link, length, &counters, queue);
    scratch_write(VALUE(RCP_RATE) + 4 * group, it->link.rate);
    rcp_last[group].updates++;
    uint64_t now = time_now(), next = it->due + ticks(rcp_length(&it->link));
    it->due = next > now ? next : now + ticks(rcp_length(&it->link));
}

static void due(void)
{
    for (;;) {
        uint64_t first = ~0ull;
        for (uint32_t group = 0; group < group_count; group++)
            if (groups[group].due < first)
                first = groups[group].due;
        if (first > time_now()) {
            time_alarm(first);
            return;
        }
        for (uint32_t group = 0; group < group_count; group++)
            if (groups[group].due == first)
                end_interval(group);
    }
}

int main(void)
{
    time_start();
    ports_start();
    start();
    law_run(due);
}
