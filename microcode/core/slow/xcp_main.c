/* The slow path of XCP: what `[gpp.xcp]` does, in C. State and sums are in scratch. */
#include <string.h>

#include "packets.h"
#include "traffic.h"
#include "xcp_law.h"

IMPORT(XCP_STATE);
/* Sums of the threads, 32 bytes for each thread and group; without these, the sums are in the state. */
IMPORT_OR(XCP_SUMS, 0xffffffff);
IMPORT_OR(XCP_SUMS_SIZE, 0);
/* The threads that have sums; as many as there is room for, unless XCP_THREADS gives their number. */
IMPORT_OR(XCP_FIRST_THREAD, 0);
IMPORT_OR(XCP_THREADS, 0);
/* Whether the pools are in two banks without a lock; if not, whether there is a lock. */
IMPORT_OR(XCP_SPLIT, 0);
IMPORT_OR(XCP_LOCKED, 1);
/* 1, or one for each port. */
IMPORT_OR(XCP_GROUPS, 1);
/* Gains in parts per million, times in microseconds. */
IMPORT_OR(XCP_ALPHA, 400000);
IMPORT_OR(XCP_BETA, 226000);
IMPORT_OR(XCP_GAMMA, 100000);
IMPORT_OR(XCP_INITIAL_INTERVAL, 50000);
IMPORT_OR(XCP_MIN_INTERVAL, 10000);
IMPORT_OR(XCP_MAX_INTERVAL, 1000000);
IMPORT_OR(XCP_ALLOWED_QUEUE, 2000);

enum { STATE_STRIDE = 64, LOCK = 20, SUMS = 32, SCALES = 4, RESIDUES = 32, RECORD = 32, MOST_THREADS = 128 };

/* Inputs and results of the last interval, for outside observers. */
struct {
    struct xcp_control before;
    struct xcp_sums sums;
    struct xcp_pools pools;
    uint32_t intervals;
} xcp_last[MOST_PORTS];

static struct group {
    struct xcp_control control;
    uint32_t bank;
    uint64_t due, queue_due;
} groups[MOST_PORTS];

static struct xcp_sums seen[MOST_PORTS][MOST_THREADS];
static uint32_t group_count, threads, first_thread;

/* Converts microseconds to units of 2^-28 s. */
static uint32_t law_time(uint32_t microseconds)
{
    return (uint32_t)(((uint64_t)microseconds << 28) / 1000000);
}

/* Converts a time in units of 2^-28 s to ticks, rounded up; at least 1. */
static uint64_t ticks(uint32_t time)
{
    uint64_t all = (uint64_t)time * time_second() + (1u << 28) - 1;
    return all >> 28 ? all >> 28 : 1;
}

static uint32_t state_of(uint32_t group)
{
    return VALUE(XCP_STATE) + group * STATE_STRIDE;
}

static struct xcp_sums sums_of(const uint32_t *words)
{
    return (struct xcp_sums){ words[0], wide_record(words + 1), wide_record(words + 3) };
}

/* The sums of a thread for a group. */
static struct xcp_sums thread_sums(uint32_t thread, uint32_t group)
{
    uint32_t words[RECORD / 4];
    record_read_8(VALUE_OR(XCP_SUMS) + ((first_thread + thread) * group_count + group) * RECORD, words);
    return sums_of(words);
}

/* Traffic of a group that has arrived since the last call. */
static struct xcp_sums arrived(uint32_t group)
{
    struct xcp_sums all = { 0, 0, 0 };
    for (uint32_t thread = 0; thread < threads; thread++) {
        struct xcp_sums now = thread_sums(thread, group), *before = &seen[group][thread];
        all.input_traffic += now.input_traffic - before->input_traffic;
        all.sum_x += now.sum_x - before->sum_x;
        all.sum_xrtt += now.sum_xrtt - before->sum_xrtt;
        *before = now;
    }
    return all;
}

static void start(void)
{
    group_count = VALUE_OR(XCP_GROUPS);
    struct xcp_settings settings = {
        .alpha = VALUE_OR(XCP_ALPHA),
        .beta = VALUE_OR(XCP_BETA),
        .gamma = VALUE_OR(XCP_GAMMA),
        .initial_interval = law_time(VALUE_OR(XCP_INITIAL_INTERVAL)),
        .min_interval = law_time(VALUE_OR(XCP_MIN_INTERVAL)),
        .max_interval = law_time(VALUE_OR(XCP_MAX_INTERVAL)),
        .allowed_queue = law_time(VALUE_OR(XCP_ALLOWED_QUEUE)),
    };
    if (VALUE_OR(XCP_SUMS) != 0xffffffff) {
        first_thread = VALUE_OR(XCP_FIRST_THREAD);
        threads = VALUE_OR(XCP_THREADS);
        if (!threads)
            threads = VALUE_OR(XCP_SUMS_SIZE) / (RECORD * group_count) - first_thread;
        if (threads > MOST_THREADS)
            threads = MOST_THREADS;
    }
    for (uint32_t group = 0; group < group_count; group++) {
        settings.capacity = group_capacity(group, group_count);
        struct group *it = &groups[group];
        xcp_start(&it->control, &settings);
        it->due = ticks(it->control.interval);
        it->queue_due = ticks(settings.allowed_queue);
        /* The initial values of the sums are left out. */
        for (uint32_t thread = 0; thread < threads; thread++)
            seen[group][thread] = thread_sums(thread, group);
    }
}

static void write_words(uint32_t address, const uint32_t *words, uint32_t count)
{
    for (uint32_t word = 0; word < count; word++)
        scratch_write(address + 4 * word, words[word]);
}

/* Computes the pools of the next interval. */
static void law(uint32_t group, const struct xcp_sums *sums, uint32_t *words)
{
    struct xcp_pools *pools = &xcp_last[group].pools;
    xcp_last[group].before = groups[group].control;
    xcp_last[group].sums = *sums;
    xcp_fire(&groups[group].control, sums, pools);
    xcp_last[group].intervals++;
    words[0] = pools->residue_pos;
    words[1] = pools->residue_neg;
    words[2] = pools->cp.mantissa;
    words[3] = pools->cn.mantissa;
    words[4] = pools->cn.shift << 8 | pools->cp.shift;
}

/* Ends an interval. */
static void end_interval(uint32_t group)
{
    static const uint32_t zeros[5];
    struct group *it = &groups[group];
    uint32_t state = state_of(group), words[5];
    struct xcp_sums sums;
    if (threads) {
        sums = arrived(group);
        law(group, &sums, words);
    }
    if (VALUE_OR(XCP_SPLIT)) {
        /* The idle bank is written before the microengines switch to it. */
        uint32_t bank = 1 - it->bank;
        write_words(state + RESIDUES + 8 * bank, words, 2);
        write_words(state + SCALES + 12 * bank, words + 2, 3);
        it->bank = bank;
        scratch_write(state, bank);
    } else {
        if (VALUE_OR(XCP_LOCKED))
            while (scratch_test(ATOMIC_SET, state + LOCK, 1) & 1)
                ;
        if (!threads) {
            uint32_t found[5];
            for (uint32_t word = 0; word < 5; word++)
                found[word] = scratch_read(state + SUMS + 4 * word);
            sums = sums_of(found);
            law(group, &sums, words);
        }
        write_words(state, words, 5);
        if (!threads)
            write_words(state + SUMS, zeros, 5);
        if (VALUE_OR(XCP_LOCKED))
            scratch_atomic(ATOMIC_CLEAR, state + LOCK, 1);
    }
    uint64_t now = time_now(), length = ticks(it->control.interval);
    it->due = it->due + length > now ? it->due + length : now + length;
}

static void look_at_queues(uint32_t group)
{
    struct group *it = &groups[group];
    uint32_t next = xcp_queue(&it->control, queues_read(group, group_count));
    it->queue_due = time_now() + ticks(next);
}

/* Does what is due; a queue is checked before an interval that ends at the same time. */
static void due(void)
{
    for (;;) {
        uint64_t first = ~0ull;
        for (uint32_t group = 0; group < group_count; group++) {
            if (groups[group].due < first)
                first = groups[group].due;
            if (groups[group].queue_due < first)
                first = groups[group].queue_due;
        }
        if (first > time_now()) {
            time_alarm(first);
            return;
        }
        for (uint32_t group = 0; group < group_count; group++)
            if (groups[group].queue_due == first)
                look_at_queues(group);
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
