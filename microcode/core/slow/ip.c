#include "ip.h"

#include <string.h>

uint32_t checksum_fold(uint32_t sum)
{
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

uint32_t checksum_sum(const uint8_t *bytes, uint32_t count)
{
    uint32_t sum = 0;
    /* A frame is far shorter than the 128 KB after which the carries would be lost. */
    for (; count >= 2; count -= 2, bytes += 2)
        sum += get16(bytes);
    if (count)
        sum += (uint32_t)*bytes << 8;
    return checksum_fold(sum);
}

uint32_t checksum_ttl_step(uint32_t checksum)
{
    uint32_t sum = checksum_fold(checksum + 0x100);
    return sum == 0xffff ? 0 : sum;
}

int datagram_in_frame(struct datagram *it, const uint8_t *frame, uint32_t known)
{
    if (known < LINK_HEADER + IP_HEADER || get16(frame + 12) != 0x0800)
        return 0;
    const uint8_t *packet = frame + LINK_HEADER;
    known -= LINK_HEADER;
    *it = (struct datagram){
        .link = frame,
        .packet = packet,
        .header = (packet[0] & 0xfu) * 4,
        .length = get16(packet + 2),
    };
    it->known = known < it->length ? known : it->length;
    return packet[0] >> 4 == 4 && it->header >= IP_HEADER && it->length >= it->header;
}

uint32_t datagram_quoted(const struct datagram *it)
{
    uint32_t bytes = it->header + QUOTED;
    return bytes < it->length ? bytes : it->length;
}

/* All host bits are ones or, by an old convention, zeros. A network of two addresses has no broadcast address. */
static int is_broadcast(uint32_t address, const struct network *in)
{
    if (in->length >= 31)
        return 0;
    uint32_t host = 0xffffffffu >> in->length;
    return ((in->address ^ address) & ~host) == 0 && ((address & host) == host || (address & host) == 0);
}

static int is_group(uint32_t address, const struct network *networks, uint32_t count)
{
    if (address >> 28 == 14 || address == 0xffffffffu)
        return 1;
    for (uint32_t i = 0; i < count; i++)
        if (is_broadcast(address, &networks[i]))
            return 1;
    return 0;
}

int is_host(uint32_t address, const struct network *networks, uint32_t count)
{
    uint32_t first = address >> 24;
    return first != 0 && first != 127 && first < 224 && !is_group(address, networks, count);
}

static int is_error(int type)
{
    return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

int must_be_silent(const struct datagram *about, const struct network *networks, uint32_t count)
{
    if (about->link && about->link[0] & 1)
        return 1;
    if (is_group(datagram_destination(about), networks, count))
        return 1;
    if (!is_host(datagram_source(about), networks, count))
        return 1;
    if (get16(about->packet + 6) & 0x1fff)
        return 1;
    int type = datagram_first(about);
    return datagram_protocol(about) == ICMP && (type < 0 || is_error(type));
}

/* Writes the IPv4 header in front of a message that is already in place, and the checksum into the message. */
static uint32_t packet(uint8_t *to, struct sending sending, uint32_t destination, uint8_t service, uint32_t bytes)
{
    uint8_t *message = to + IP_HEADER;
    put16(message + 2, 0);
    put16(message + 2, ~checksum_sum(message, bytes));
    to[0] = 0x45;
    to[1] = service;
    put16(to + 2, IP_HEADER + bytes);
    put16(to + 4, sending.identification);
    put16(to + 6, 0);
    to[8] = (uint8_t)sending.ttl;
    to[9] = ICMP;
    put16(to + 10, 0);
    put32(to + 12, sending.source);
    put32(to + 16, destination);
    put16(to + 10, ~checksum_sum(to, IP_HEADER));
    return IP_HEADER + bytes;
}

uint32_t icmp_error(uint8_t *to, struct trouble what, const struct datagram *about, struct sending sending)
{
    uint8_t *message = to + IP_HEADER;
    uint32_t quote = datagram_quoted(about);
    if (quote > about->known)
        quote = about->known;
    message[0] = what.type;
    message[1] = what.code;
    put32(message + 4, what.rest);
    memcpy(message + MESSAGE_HEADER, about->packet, quote);
    /* Precedence 6, internetwork control (RFC 1812, 4.3.2.5). */
    return packet(to, sending, datagram_source(about), 0xc0, MESSAGE_HEADER + quote);
}

uint32_t icmp_echo_reply(uint8_t *to, const struct datagram *request, struct sending sending)
{
    const uint8_t *message = request->packet + request->header;
    uint32_t bytes = request->length - request->header;
    if (request->known != request->length || get16(request->packet + 6) & 0x3fff)
        return 0;
    if (bytes < MESSAGE_HEADER || message[0] != 8 || message[1] != 0 || datagram_protocol(request) != ICMP)
        return 0;
    if (checksum_sum(message, bytes) != 0xffff)
        return 0;
    uint8_t service = request->packet[1];
    uint32_t from = datagram_source(request);
    sending.source = datagram_destination(request);
    memmove(to + IP_HEADER, message, bytes);
    to[IP_HEADER] = 0;
    return packet(to, sending, from, service, bytes);
}
