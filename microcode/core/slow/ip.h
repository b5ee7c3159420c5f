/* IPv4 packets in Ethernet frames, as far as their bytes have been read, and ICMP messages about them. Does
 * not depend on the chip. */
#ifndef IP_H
#define IP_H

#include <stdint.h>

#include "bytes.h"

enum { LINK_HEADER = 14, IP_HEADER = 20, MESSAGE_HEADER = 8, QUOTED = 8, ICMP = 1, UDP = 17 };
/* Bytes of the shortest frame without its frame check sequence. */
enum { LEAST_FRAME = 60 };

/* A packet of which at least the fixed part of the header has been read and is plausible. */
struct datagram {
    const uint8_t *link;   /* start of its frame, 0 if there is none */
    const uint8_t *packet; /* from the IPv4 header on */
    uint32_t known;        /* bytes of it that have been read, without the padding of the frame */
    uint32_t header;       /* bytes of its header */
    uint32_t length;       /* bytes of the packet */
};

/* An address of the router and its network. */
struct network {
    uint32_t address, length;
};

/* The contents of an error message: type, code, and the longword after the checksum. */
struct trouble {
    uint8_t type, code;
    uint32_t rest;
};

/* Adds the carries back until 16 bits are left. */
uint32_t checksum_fold(uint32_t sum);
/* The ones' complement sum of 16-bit words; an odd last byte is the upper half of a word. */
uint32_t checksum_sum(const uint8_t *bytes, uint32_t count);
/* The checksum of a header after its time to live has been decremented. */
uint32_t checksum_ttl_step(uint32_t checksum);

/* Finds the IPv4 packet in the first bytes of a frame; returns whether there is one. */
int datagram_in_frame(struct datagram *it, const uint8_t *frame, uint32_t known);

static inline uint32_t datagram_source(const struct datagram *it)
{
    return get32(it->packet + 12);
}

static inline uint32_t datagram_destination(const struct datagram *it)
{
    return get32(it->packet + 16);
}

static inline uint32_t datagram_protocol(const struct datagram *it)
{
    return it->packet[9];
}

/* The first byte after the header, -1 if it has not been read. */
static inline int datagram_first(const struct datagram *it)
{
    return it->known > it->header ? it->packet[it->header] : -1;
}

/* Whether a packet must not be fragmented. */
static inline int datagram_keeps_whole(const struct datagram *it)
{
    return (it->packet[6] & 0x40) != 0;
}

/* The number of bytes of the packet, from its header on, that an error message quotes. */
uint32_t datagram_quoted(const struct datagram *it);

/* Whether an address may be that of a single host (RFC 1812, 4.3.2.7). */
int is_host(uint32_t address, const struct network *networks, uint32_t count);
/* Whether no error message may be sent about a packet (RFC 1812, 4.3.2.7). */
int must_be_silent(const struct datagram *about, const struct network *networks, uint32_t count);

/* Header fields of packets that the router itself sends. */
struct sending {
    uint32_t source, ttl, identification;
};

/* Writes an error message about a packet, from the IPv4 header on; returns its length. */
uint32_t icmp_error(uint8_t *to, struct trouble what, const struct datagram *about, struct sending sending);
/* Writes the reply to an echo request; returns its length, 0 if the packet is not a valid echo request. */
uint32_t icmp_echo_reply(uint8_t *to, const struct datagram *request, struct sending sending);

#endif
