/* Packets that the fast path leaves to the core, and those that the core sends. */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdint.h>

#include "ixp.h"

/* Bytes of a packet that are read before anything is decided about it: the headers of a link and of IPv4 without
 * options, and eight bytes behind them; and with options. */
enum { KNOWN = 48, KNOWN_WITH_OPTIONS = 64 };
/* The largest frame. */
enum { FRAME_MOST = 9232 };
enum { MOST_PORTS = 16 };

/* Reasons of the program's own; the fast path has those below. */
enum reason { REASON_TOO_BIG = 252, REASON_EXPIRED, REASON_NO_WAY, REASON_NO_HOST };

IMPORT(EXCEPTION_RING_NUMBER);

/* Whether the alarm went off, or something came by the UART. The program sets it back before it looks what is
 * due. */
extern volatile uint32_t rang;

/* A packet that came to the core. */
struct exception {
    uint32_t reason;
    uint32_t handle; /* longword address of its descriptor */
    uint32_t length, input;
    uint32_t known;                          /* bytes of `header` that were read */
    uint32_t header[KNOWN_WITH_OPTIONS / 4]; /* its first bytes */
};

/* Flag of a next hop: packets are for the core. */
enum { HOP_LOCAL = 0x100 };

/* An entry of the table of next hops. */
struct way {
    uint32_t index, words[4];
};

static inline uint8_t *header_of(struct exception *packet)
{
    return (uint8_t *)packet->header;
}

/* Waits for a packet and gives its entry of the ring of exceptions; 0 when the alarm went off. The loop
 * stores nothing, by which npsim sees that it waits. */
static inline uint32_t exception_wait(void)
{
    uint32_t entry;
    while (!(entry = ring_get(VALUE(EXCEPTION_RING_NUMBER))) && !rang)
        ;
    return entry;
}

/* The packet's buffer. */
static inline uint32_t exception_handle(uint32_t entry)
{
    return entry & 0x00ffffff;
}

/* Reads the packet of an entry. */
void exception_read(struct exception *packet, uint32_t entry);
/* Gives a packet's buffer back. */
void buffer_free(uint32_t handle);
/* A free buffer, 0 if there is none. */
uint32_t buffer_take(void);
/* Reads bytes of a packet, `from` and `bytes` multiples of 16, at most to the end of its buffer; gives how many. */
uint32_t packet_read(uint32_t handle, uint32_t from, uint32_t bytes, uint8_t *to);
/* Writes the first bytes of a packet, rounded up to a multiple of 16: what is behind them in `frame` has to be
 * what stands in the buffer, or of no account. */
void packet_write(uint32_t handle, const uint8_t *frame, uint32_t bytes);
/* Says in a packet's descriptor what is to be known of it, and sends it; whether the ring had room. */
int packet_send(uint32_t handle, uint32_t length, uint32_t input, uint32_t port, uint32_t next_hop);

/* Finds the way to an address in the routing table; whether there is one. */
int route_find(uint32_t address, struct way *way);

static inline uint32_t way_port(const struct way *way)
{
    return way->words[0] & 0xff;
}

static inline uint32_t way_mtu(const struct way *way)
{
    return way->words[0] >> 16;
}

/* Whether packets leave that go there. */
static inline int way_leads_out(const struct way *way)
{
    return (way->words[0] & 0xff00) == 0;
}

/* Whether it stands for a next hop whose address on the link is to be found. */
static inline int way_is_unresolved(const struct way *way)
{
    return (way->words[0] & HOP_LOCAL) && (way->words[1] | way->words[2] >> 16);
}

/* Puts destination and source address of the Ethernet header in front of a frame. */
void way_link(const struct way *way, uint8_t *frame);

/* Time in ticks of the timers, which only grows. Asked at least once a minute. */
uint64_t time_now(void);
/* Ticks in a second. */
uint32_t time_second(void);
void time_start(void);
/* Raises `rang` when a time has come, at once if it is past. */
void time_alarm(uint64_t at);

/* Ports of the router. */
extern uint32_t port_count;
extern struct port ports[MOST_PORTS];
void ports_start(void);

#endif
