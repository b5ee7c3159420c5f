/* Traffic counters that the fast path keeps for a control law. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdint.h>

/* Reads a consistent copy of a thread's record in scratch. A burst of the core is not atomic on every board, but a
 * thread writes a record in one access, which always changes its first longword: reads repeat until that is stable. */
void record_read_4(uint32_t address, uint32_t *words);
void record_read_8(uint32_t address, uint32_t *words);

/* Bytes waiting in the queues of a group, one of `groups`; a single group has all queues. */
uint32_t queues_read(uint32_t group, uint32_t groups);

/* Capacity of a group's ports in bytes per second. */
uint64_t group_capacity(uint32_t group, uint32_t groups);

/* Runs for ever: calls `due` now and whenever the alarm goes off, and drops packets that reach the core. */
_Noreturn void law_run(void (*due)(void));

static inline uint64_t wide_record(const uint32_t *low)
{
    return (uint64_t)low[1] << 32 | low[0];
}

#endif
