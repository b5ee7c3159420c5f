#include "icmp.h"

#include <string.h>

#include "ip.h"

/* The fast path's reason codes that call for an answer; NONE matches no code. */
enum { NONE = 0xffff };
IMPORT_OR(TTL_REASON, NONE);
IMPORT_OR(LOCAL_REASON, NONE);
IMPORT_OR(NO_ROUTE_REASON, NONE);
IMPORT_OR(TOO_BIG_REASON, NONE);
/* Error messages per second, the largest burst of them, and the time to live of all messages. */
IMPORT_OR(ICMP_RATE, 1000);
IMPORT_OR(ICMP_BURST, 50);
IMPORT_OR(ICMP_TTL, 64);

enum answer { ANSWER_NOTHING, ANSWER_ERROR, ANSWER_TOO_BIG, ANSWER_ECHO };

struct icmp_counts icmp_counts;

static struct network networks[MOST_PORTS];
static uint32_t identification;

/* The packet being answered, and the answer, each with its Ethernet header in front. */
static uint32_t request_words[FRAME_MOST / 4 + 8], reply_words[FRAME_MOST / 4 + 8];

/* ---- rate limit: a token bucket in ticks ---- */

static uint64_t bucket_level, bucket_full, bucket_at;
static uint32_t bucket_interval;

static int bucket_take(void)
{
    uint64_t now = time_now();
    bucket_level += now - bucket_at;
    bucket_at = now;
    if (bucket_level > bucket_full)
        bucket_level = bucket_full;
    if (bucket_level < bucket_interval)
        return 0;
    bucket_level -= bucket_interval;
    return 1;
}

void icmp_start(void)
{
    for (uint32_t port = 0; port < port_count; port++)
        networks[port] = (struct network){ ports[port].address, ports[port].length };
    bucket_interval = time_second() / VALUE_OR(ICMP_RATE);
    bucket_full = (uint64_t)bucket_interval * VALUE_OR(ICMP_BURST);
    bucket_level = bucket_full;
}

/* ---- choice of the answer ---- */

/* The kind of answer that a packet calls for. */
static enum answer answer(uint32_t reason, const struct datagram *packet, struct trouble *what)
{
    if (reason == VALUE_OR(TTL_REASON) || reason == REASON_EXPIRED) {
        *what = (struct trouble){ 11, 0, 0 };
    } else if (reason == VALUE_OR(NO_ROUTE_REASON)) {
        *what = (struct trouble){ 3, 0, 0 };
    } else if (reason == REASON_NO_HOST) {
        *what = (struct trouble){ 3, 1, 0 };
    } else if (reason == VALUE_OR(TOO_BIG_REASON) || reason == REASON_TOO_BIG) {
        /* Packets that may be fragmented are dropped: the router does not fragment. */
        return datagram_keeps_whole(packet) ? ANSWER_TOO_BIG : ANSWER_NOTHING;
    } else if (reason == VALUE_OR(LOCAL_REASON)) {
        uint32_t protocol = datagram_protocol(packet);
        if (protocol == ICMP)
            return datagram_first(packet) == 8 ? ANSWER_ECHO : ANSWER_NOTHING;
        *what = (struct trouble){ 3, protocol == UDP ? 3 : 2, 0 };
    } else {
        return ANSWER_NOTHING;
    }
    return ANSWER_ERROR;
}

static struct sending sending(uint32_t source)
{
    identification = (identification + 1) & 0xffff;
    return (struct sending){ source, VALUE_OR(ICMP_TTL), identification };
}

/* ---- sending ---- */

/* Sends the reply along the route to an address; its first `bytes` bytes are written, and the rest is
 * already in the buffer. Returns whether the reply was passed to a microengine or to ARP. */
static int reply(struct exception *packet, uint32_t length, uint32_t bytes, uint32_t to)
{
    uint8_t *frame = (uint8_t *)reply_words;
    struct way way;
    if (!route_find(to, &way) || !(way_leads_out(&way) || way_is_unresolved(&way)))
        return 0;
    if (length > way_mtu(&way))
        return 0;
    way_link(&way, frame);
    put16(frame + 12, 0x0800);
    length += LINK_HEADER;
    if (length < LEAST_FRAME) {
        memset(frame + length, 0, LEAST_FRAME - length);
        length = LEAST_FRAME;
    }
    if (bytes > length)
        bytes = length;
    packet_write(packet->handle, frame, bytes);
    if (way_is_unresolved(&way)) {
        packet->reason = REASON_NO_WAY;
        packet->length = length;
        packet->known = KNOWN;
        memcpy(packet->header, frame, KNOWN);
        icmp_resolve(packet);
        return 1;
    }
    return packet_send(packet->handle, length, packet->input, way_port(&way), way.index);
}

void __attribute__((weak)) icmp_resolve(struct exception *packet)
{
    buffer_free(packet->handle);
}

static void given_up(struct exception *packet)
{
    icmp_counts.given_up++;
    buffer_free(packet->handle);
}

/* Answers with an error message. */
static void send_error(struct exception *packet, struct trouble what, const struct datagram *about)
{
    uint8_t *frame = (uint8_t *)reply_words;
    struct sending from = sending(networks[packet->input].address);
    uint32_t length = icmp_error(frame + LINK_HEADER, what, about, from);
    uint32_t *count = what.type == 11 ? &icmp_counts.time_exceeded
        : what.code == 4 ? &icmp_counts.too_big : &icmp_counts.unreachable;
    if (reply(packet, length, FRAME_MOST, datagram_source(about)))
        ++*count;
    else
        given_up(packet);
}

/* Answers an echo request, which has been read in full. */
static void send_echo(struct exception *packet, const struct datagram *request)
{
    uint8_t *frame = (uint8_t *)reply_words;
    struct sending from = sending(0);
    uint32_t length = icmp_echo_reply(frame + LINK_HEADER, request, from);
    /* If the request has no IPv4 options, the data of the echo stays where it is. */
    uint32_t bytes = request->header == IP_HEADER ? LINK_HEADER + IP_HEADER + MESSAGE_HEADER : FRAME_MOST;
    if (length && reply(packet, length, bytes, datagram_source(request)))
        icmp_counts.echo_replies++;
    else
        given_up(packet);
}

int icmp_take(struct exception *packet)
{
    struct datagram about;
    struct trouble what;
    if (!datagram_in_frame(&about, header_of(packet), packet->known))
        return 0;
    enum answer how = answer(packet->reason, &about, &what);
    if (how == ANSWER_NOTHING)
        return 0;
    int silent = how == ANSWER_ECHO ? !is_host(datagram_source(&about), networks, port_count)
        : must_be_silent(&about, networks, port_count);
    if (silent || packet->input >= port_count) {
        icmp_counts.silent++;
        return 0;
    }
    if (how != ANSWER_ECHO && !bucket_take()) {
        icmp_counts.limited++;
        return 0;
    }
    /* Read everything that the answer needs of the packet; the first bytes have already been read. */
    uint8_t *frame = (uint8_t *)request_words;
    uint32_t needed = LINK_HEADER + (how == ANSWER_ECHO ? about.length : datagram_quoted(&about));
    uint32_t known = packet->known;
    memcpy(request_words, packet->header, known);
    if (needed > known) {
        uint32_t most = needed < FRAME_MOST ? needed : FRAME_MOST;
        known += packet_read(packet->handle, known, (most - known + 15) & ~15u, frame + known);
        if (known > most)
            known = most;
    }
    datagram_in_frame(&about, frame, known);
    if (how == ANSWER_ECHO) {
        send_echo(packet, &about);
    } else if (how == ANSWER_ERROR) {
        send_error(packet, what, &about);
    } else {
        struct way way;
        if (!route_find(datagram_destination(&about), &way)) {
            given_up(packet);
            return 1;
        }
        send_error(packet, (struct trouble){ 3, 4, way_mtu(&way) }, &about);
    }
    return 1;
}
