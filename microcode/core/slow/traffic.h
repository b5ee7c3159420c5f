/* What the fast path counts for a control law. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stdint.h>

/* Reads a record of a thread in scratch as it was at one time. A burst of the core is no atomic access on every
 * board, while threads write a record in one, of which the first longword always changes: it is read again. */
void record_read_4(uint32_t address, uint32_t *words);
void record_read_8(uint32_t address, uint32_t *words);

/* Bytes that wait in the queues of a group, one of so many; the only group has all. */
uint32_t queues_read(uint32_t group, uint32_t groups);

/* Capacity of a group's ports in bytes per second. */
uint64_t group_capacity(uint32_t group, uint32_t groups);

/* Runs for ever: does what is due, now and whenever the alarm rings, and lets packets that come to the core end. */
_Noreturn void law_run(void (*due)(void));

static inline uint64_t wide_record(const uint32_t *low)
{
    return (uint64_t)low[1] << 32 | low[0];
}

#endif
