#include "traffic.h"

#include "packets.h"

/* A record of 64 bytes for each queue of each port: packets and bytes in, packets and bytes out, 64 bits each
 * with the high half first. */
IMPORT_OR(QUEUE_COUNTERS, 0);
IMPORT_OR(QUEUE_COUNTERS_SIZE, 0);

enum { RECORD = 64, BYTES_IN = 12, BYTES_OUT = 28 };

void record_read_4(uint32_t address, uint32_t *words)
{
    do
        burst_read_4(IXP_SCRATCH + address, words);
    while (scratch_read(address) != words[0]);
}

void record_read_8(uint32_t address, uint32_t *words)
{
    do
        burst_read_8(IXP_SCRATCH + address, words);
    while (scratch_read(address) != words[0]);
}

uint32_t queues_read(uint32_t group, uint32_t groups)
{
    uint32_t all = VALUE_OR(QUEUE_COUNTERS_SIZE) / RECORD, first = 0, end = all, bytes = 0;
    if (groups > 1) {
        uint32_t each = all / port_count;
        first = group * each;
        end = first + each;
    }
    for (uint32_t queue = first; queue < end; queue++) {
        uint32_t record = VALUE_OR(QUEUE_COUNTERS) + queue * RECORD;
        uint32_t in = sram_read(record + BYTES_IN);
        /* Packets may have left since `in` was read. */
        int32_t length = (int32_t)(in - sram_read(record + BYTES_OUT));
        if (length > 0)
            bytes += (uint32_t)length;
    }
    return bytes;
}

uint64_t group_capacity(uint32_t group, uint32_t groups)
{
    uint64_t mbps = 0;
    for (uint32_t port = 0; port < port_count; port++)
        if (groups == 1 || port == group)
            mbps += ports[port].mbps;
    return mbps * 125000;
}

void law_run(void (*due)(void))
{
    due();
    for (;;) {
        uint32_t entry = exception_wait();
        if (entry)
            buffer_free(exception_handle(entry));
        if (rang) {
            rang = 0;
            due();
        }
    }
}
