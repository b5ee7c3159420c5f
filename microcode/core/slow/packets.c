#include "packets.h"

#include <string.h>

#include "bytes.h"

IMPORT(CORE_RING_NUMBER);
IMPORT(CORE_RING_SIZE);
IMPORT(FREE_BUFFERS_CHANNEL);
IMPORT(FREE_BUFFERS_ENTRY);
IMPORT(BUFFER_SHIFT);
IMPORT(BUFFER_SIZE);
IMPORT(BUFFER_DESCRIPTOR);
IMPORT(ROUTE_ROOT);
IMPORT(NEXT_HOPS);

TABLE(PORTS, struct port, MOST_PORTS);
TABLE(CLOCKS, struct clocks, 1);

/* ---- buffers ---- */

static uint32_t data_of(uint32_t handle)
{
    return handle << VALUE(BUFFER_SHIFT);
}

static uint32_t descriptor_of(uint32_t handle)
{
    return VALUE(FREE_BUFFERS_CHANNEL) << 30 | handle << 2;
}

uint32_t buffer_take(void)
{
    /* The link bits are above the handle. */
    return queue_dequeue(VALUE(FREE_BUFFERS_CHANNEL), VALUE(FREE_BUFFERS_ENTRY)) & 0x00ffffff;
}

void buffer_free(uint32_t handle)
{
    queue_enqueue(VALUE(FREE_BUFFERS_CHANNEL), VALUE(FREE_BUFFERS_ENTRY), handle);
}

/* Converts longwords between values and bytes in network order; there is nothing to do on a big-endian core. */
static void turn(uint32_t *words, uint32_t count)
{
    if (network_longword(1) == 1)
        return;
    for (uint32_t word = 0; word < count; word++)
        words[word] = network_longword(words[word]);
}

uint32_t packet_read(uint32_t handle, uint32_t from, uint32_t bytes, uint8_t *to)
{
    uint32_t size = VALUE(BUFFER_SIZE), *words = (uint32_t *)(void *)to;
    if (bytes > size - from)
        bytes = size - from;
    uint32_t at = data_of(handle) + from, end = at + bytes;
    while (at < end) {
        if (at % 32 == 0 && end - at >= 32) {
            burst_read_8(at, words);
            at += 32;
            words += 8;
        } else {
            burst_read_4(at, words);
            at += 16;
            words += 4;
        }
    }
    turn((uint32_t *)(void *)to, bytes / 4);
    return bytes;
}

void packet_write(uint32_t handle, const uint8_t *frame, uint32_t bytes)
{
    uint32_t words[8];
    uint32_t at = data_of(handle), end = at + bytes;
    for (const uint8_t *from = frame; at < end; from += 32, at += 32) {
        memcpy(words, from, 32);
        turn(words, 8);
        if (end - at > 16)
            burst_write_8(at, words);
        else
            burst_write_4(at, words);
    }
}

/* ---- exceptions ---- */

void exception_read(struct exception *packet, uint32_t entry)
{
    packet->reason = entry >> 24;
    packet->handle = exception_handle(entry);
    uint32_t descriptor = descriptor_of(packet->handle), words[4];
    /* The queue link, the length, and the input port. */
    burst_read_4(sram_window(descriptor), words);
    packet->length = words[1];
    packet->input = words[2];
    uint8_t *header = header_of(packet);
    packet->known = packet_read(packet->handle, 0, KNOWN, header);
    /* Each burst is an access to DRAM, and most packets need no more. */
    if (get16(header + 12) == 0x0800 && header[14] != 0x45)
        packet->known += packet_read(packet->handle, KNOWN, KNOWN_WITH_OPTIONS - KNOWN, header + KNOWN);
}

int packet_send(uint32_t handle, uint32_t length, uint32_t input, uint32_t port, uint32_t next_hop)
{
    uint32_t descriptor = descriptor_of(handle), words = VALUE(BUFFER_DESCRIPTOR);
    sram_write(descriptor + 4, length);
    sram_write(descriptor + 8, input);
    sram_write(descriptor + 12, port << 24);
    if (words > 4)
        sram_write(descriptor + 16, next_hop);
    for (uint32_t word = 5; word < words && word < 8; word++)
        sram_write(descriptor + 4 * word, 0);
    if (!ring_has_room(VALUE(CORE_RING_NUMBER), VALUE(CORE_RING_SIZE)))
        return 0;
    ring_put(VALUE(CORE_RING_NUMBER), port << 24 | handle);
    return 1;
}

/* ---- routes ---- */

int route_find(uint32_t address, struct way *way)
{
    uint32_t root = VALUE(ROUTE_ROOT);
    uint32_t entry = sram_read(root + (address >> 16) * 4);
    for (int shift = 8; entry >> 31; shift -= 8)
        entry = sram_read(root + (entry & 0x7fffffff) + (address >> shift & 0xff) * 4);
    if (!entry)
        return 0;
    way->index = entry & 0xffff;
    burst_read_4(sram_window(VALUE(NEXT_HOPS) + way->index * 16), way->words);
    return 1;
}

void way_link(const struct way *way, uint8_t *frame)
{
    for (int word = 0; word < 3; word++)
        put32(frame + 4 * word, way->words[1 + word]);
}

/* ---- time ---- */

/* Timer 4 is free-running, timer 1 is the alarm. */
static uint64_t time_past;
static uint32_t time_last;
volatile uint32_t rang;

uint32_t time_second(void)
{
    return table_CLOCKS.record[0].timers;
}

void time_start(void)
{
    timer_start(4, 0xffffffffu);
    time_last = timer_count(4);
    interrupt_enable(1 << INTERRUPT_TIMER_1);
    irq_on();
}

uint64_t time_now(void)
{
    uint32_t count = timer_count(4);
    time_past += time_last - count;
    time_last = count;
    return time_past;
}

void time_alarm(uint64_t at)
{
    uint64_t now = time_now();
    timer_stop(1);
    timer_clear(1);
    if (at <= now) {
        rang = 1;
        return;
    }
    uint64_t ticks = at - now;
    timer_start(1, ticks >> 31 ? 0x7fffffffu : (uint32_t)ticks);
}

void irq(void)
{
    if (interrupt_status() & 1 << INTERRUPT_TIMER_1) {
        timer_stop(1);
        timer_clear(1);
        rang = 1;
    }
    if (interrupt_status() & 1 << INTERRUPT_UART) {
        interrupt_disable(1 << INTERRUPT_UART);
        rang = 1;
    }
}

/* ---- ports ---- */

uint32_t port_count;
struct port ports[MOST_PORTS];

void ports_start(void)
{
    port_count = table_PORTS.count;
    for (uint32_t port = 0; port < port_count; port++)
        ports[port] = table_PORTS.record[port];
}
