/* Packets that the fast path leaves to the core, and those that the core sends. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdint.h>

#include "ixp.h"

/* Bytes of a packet that are read before any decision about it: enough for the Ethernet header, an IPv4 header
 * without options and the eight bytes after it; and the number for a header with options. */
enum { KNOWN = 48, KNOWN_WITH_OPTIONS = 64 };
/* The largest frame. */
enum { FRAME_MOST = 9232 };
enum { MOST_PORTS = 16 };

/* The program's own reasons; the fast path has the codes below them. */
enum reason { REASON_TOO_BIG = 252, REASON_EXPIRED, REASON_NO_WAY, REASON_NO_HOST };

IMPORT(EXCEPTION_RING_NUMBER);

/* Set when the alarm has gone off, a byte has arrived on the UART, or work has become due at once. The program clears
 * it before it checks what is due. */
extern volatile uint32_t rang;

/* A packet that has reached the core. */
struct exception {
    uint32_t reason;
    uint32_t handle; /* longword address of its descriptor */
    uint32_t length, input;
    uint32_t known;                          /* bytes of `header` that were read */
    uint32_t header[KNOWN_WITH_OPTIONS / 4]; /* the packet's first bytes */
};

/* Flag of a next hop: packets to it are for the core. */
enum { HOP_LOCAL = 0x100 };

/* An entry of the table of next hops. */
struct way {
    uint32_t index, words[4];
};

static inline uint8_t *header_of(struct exception *packet)
{
    return (uint8_t *)packet->header;
}

/* Waits for a packet and returns its entry from the exception ring, or 0 once `rang` is set. The loop stores
 * nothing, which lets npsim recognise that it is waiting. */
static inline uint32_t exception_wait(void)
{
    uint32_t entry;
    while (!(entry = ring_get(VALUE(EXCEPTION_RING_NUMBER))) && !rang)
        ;
    return entry;
}

/* The handle of the packet's buffer. */
static inline uint32_t exception_handle(uint32_t entry)
{
    return entry & 0x00ffffff;
}

/* Reads the packet of an entry. */
void exception_read(struct exception *packet, uint32_t entry);
/* Returns a packet's buffer to the free list. */
void buffer_free(uint32_t handle);
/* Takes a buffer from the free list, 0 if there is none. */
uint32_t buffer_take(void);
/* Reads bytes of a packet, at most to the end of its buffer; returns how many. `from`, `bytes`: multiples of 16. */
uint32_t packet_read(uint32_t handle, uint32_t from, uint32_t bytes, uint8_t *to);
/* Writes the first bytes of a packet, rounded up to a multiple of 16: the bytes after them in `frame` must be the
 * same as in the buffer, or irrelevant. */
void packet_write(uint32_t handle, const uint8_t *frame, uint32_t bytes);
/* Fills in a packet's descriptor and sends the packet; returns whether the ring had room. */
int packet_send(uint32_t handle, uint32_t length, uint32_t input, uint32_t port, uint32_t next_hop);

/* Looks up the next hop for an address in the routing table; returns whether there is one. */
int route_find(uint32_t address, struct way *way);

static inline uint32_t way_port(const struct way *way)
{
    return way->words[0] & 0xff;
}

static inline uint32_t way_mtu(const struct way *way)
{
    return way->words[0] >> 16;
}

/* Whether packets to this next hop leave the router: they are neither for the core nor discarded. */
static inline int way_leads_out(const struct way *way)
{
    return (way->words[0] & 0xff00) == 0;
}

/* Whether the entry stands for a next hop whose link-layer address is still to be resolved. */
static inline int way_is_unresolved(const struct way *way)
{
    return (way->words[0] & HOP_LOCAL) && (way->words[1] | way->words[2] >> 16);
}

/* Writes the destination and source addresses of the Ethernet header at the start of a frame. */
void way_link(const struct way *way, uint8_t *frame);

/* Monotonic time in timer ticks. Must be called at least once a minute. */
uint64_t time_now(void);
/* Ticks per second. */
uint32_t time_second(void);
void time_start(void);
/* Sets `rang` at a given time: at once if it has passed, early if it is 2^31 ticks or more away. */
void time_alarm(uint64_t at);

/* Ports of the router. */
extern uint32_t port_count;
extern struct port ports[MOST_PORTS];
void ports_start(void);

#endif
