#include "arp.h"

#include <string.h>

#include "icmp.h"
#include "ip.h"

enum { MOST_HOPS = 64 };

IMPORT_OR(ARP_REASON, 1);
/* The reason code of packets for the router itself, among them those whose next hop is unresolved. */
IMPORT_OR(LOCAL_REASON, 0xffff);
/* Milliseconds between requests for a next hop, and the number of requests after which it counts as unreachable. */
IMPORT_OR(ARP_RETRY, 1000);
IMPORT_OR(ARP_TRIES, 3);
IMPORT(NEXT_HOPS);

TABLE(NEIGHBOURS, struct hop_entry, MOST_HOPS);

struct arp_counts arp_counts;

/* A next hop that is given by its IPv4 address. */
struct neighbour {
    uint32_t port, address;
    int known, asking;
    uint8_t mac[6];
    /* Requests sent in the current attempt to resolve it, and the packet that waits for it, with its next-hop entry. */
    uint32_t tries;
    struct exception packet;
    struct way way;
    /* No request is sent before this time. */
    uint64_t quiet_until;
};

/* Set when a request may be due that `arp_due` has not seen. */
static int more_due;
static struct neighbour neighbours[MOST_HOPS];
static uint32_t neighbour_count;
static uint64_t retry;

/* Buffer for the frames that this program builds. */
static uint32_t frame_words[LEAST_FRAME / 4 + 1];

/* The order in which requests are sent: by port, then by address. */
static int is_before(uint32_t port, uint32_t address, const struct neighbour *it)
{
    return port < it->port || (port == it->port && address < it->address);
}

static struct neighbour *find(uint32_t port, uint32_t address)
{
    for (uint32_t i = 0; i < neighbour_count; i++)
        if (neighbours[i].port == port && neighbours[i].address == address)
            return &neighbours[i];
    return 0;
}

void arp_start(void)
{
    retry = (uint64_t)(time_second() / 1000) * VALUE_OR(ARP_RETRY);
    for (uint32_t entry = 0; entry < table_NEIGHBOURS.count; entry++) {
        uint32_t port = table_NEIGHBOURS.record[entry].port;
        uint32_t address = table_NEIGHBOURS.record[entry].address;
        if (find(port, address))
            continue;
        uint32_t at = neighbour_count++;
        for (; at > 0 && is_before(port, address, &neighbours[at - 1]); at--)
            neighbours[at] = neighbours[at - 1];
        memset(&neighbours[at], 0, sizeof neighbours[at]);
        neighbours[at].port = port;
        neighbours[at].address = address;
    }
}

uint32_t arp_hops(void)
{
    return neighbour_count;
}

const uint8_t *arp_known(uint32_t number, uint32_t *port, uint32_t *address)
{
    const struct neighbour *it = &neighbours[number];
    *port = it->port;
    *address = it->address;
    return it->known ? it->mac : 0;
}

/* ---- messages ---- */

/* The EtherType of ARP, then the hardware type, the protocol type and the lengths of their addresses. */
static const uint8_t fixed[8] = { 8, 6, 0, 1, 8, 0, 6, 4 };
enum { OPERATION = 20, SENDER_MAC = 22, SENDER = 28, TARGET_MAC = 32, TARGET = 38 };
enum { REQUEST = 1, REPLY = 2 };

/* The operation of a usable message, otherwise 0. The address of the sender must be that of a single station. */
static uint32_t operation(const uint8_t *frame)
{
    static const uint8_t none[6];
    uint32_t what = get16(frame + OPERATION);
    if (memcmp(frame + 12, fixed, sizeof fixed) || (what != REQUEST && what != REPLY))
        return 0;
    if (frame[SENDER_MAC] & 1 || !memcmp(frame + SENDER_MAC, none, 6))
        return 0;
    return what;
}

static void put_mac(uint8_t *at, const struct port *port)
{
    put32(at, port->mac_high);
    put16(at + 4, port->mac_low);
}

/* Builds a message from a port. A request does not contain the target's link-layer address. */
static const uint8_t *message(uint32_t what, uint32_t port, const uint8_t *target_mac, uint32_t target)
{
    uint8_t *frame = (uint8_t *)frame_words;
    memset(frame, 0, LEAST_FRAME);
    if (target_mac)
        memcpy(frame, target_mac, 6);
    else
        memset(frame, 0xff, 6);
    put_mac(frame + 6, &ports[port]);
    memcpy(frame + 12, fixed, sizeof fixed);
    put16(frame + OPERATION, what);
    put_mac(frame + SENDER_MAC, &ports[port]);
    put32(frame + SENDER, ports[port].address);
    if (target_mac)
        memcpy(frame + TARGET_MAC, target_mac, 6);
    put32(frame + TARGET, target);
    return frame;
}

/* Sends a message in a buffer; returns whether the ring had room. */
static int send_message(uint32_t handle, const uint8_t *frame, uint32_t port)
{
    packet_write(handle, frame, LEAST_FRAME);
    if (packet_send(handle, LEAST_FRAME, port, port, 0))
        return 1;
    arp_counts.given_up++;
    buffer_free(handle);
    return 0;
}

/* ---- packets to a next hop ---- */

/* Passes a packet to ICMP with a reason that may differ from the fast path's. No message is sent about a packet
 * of the router itself. */
static void hand_on(struct exception *packet, uint32_t reason)
{
    int own = packet->reason == REASON_NO_WAY;
    packet->reason = reason;
    if (own || !icmp_take(packet))
        buffer_free(packet->handle);
}

/* The record of a next-hop table entry that ARP resolves, 0 if the entry is not one of these. */
static const volatile struct hop_entry *entry_of(uint32_t index)
{
    for (uint32_t entry = 0; entry < table_NEIGHBOURS.count; entry++)
        if (table_NEIGHBOURS.record[entry].index == index)
            return &table_NEIGHBOURS.record[entry];
    return 0;
}

/* The longwords of an entry once the address of its next hop is known. */
static void entry_words(const volatile struct hop_entry *entry, const struct neighbour *it, uint32_t *words)
{
    const struct port *port = &ports[it->port];
    words[0] = entry->mtu << 16 | it->port;
    words[1] = get32(it->mac);
    words[2] = get16(it->mac + 4) << 16 | port->mac_high >> 16;
    words[3] = port->mac_high << 16 | port->mac_low;
}

/* Sends a packet as the fast path would have done, and decrements the time to live, which the fast path has not. A
 * packet that the router itself has built keeps its time to live. */
static void forward(struct exception *packet, struct way *way)
{
    uint8_t *frame = header_of(packet);
    struct datagram datagram;
    const volatile struct hop_entry *entry = entry_of(way->index);
    struct neighbour *it = entry ? find(entry->port, entry->address) : 0;
    if (it && it->known)
        entry_words(entry, it, way->words);
    if (!datagram_in_frame(&datagram, frame, packet->known)) {
        arp_counts.given_up++;
        buffer_free(packet->handle);
        return;
    }
    int own = packet->reason == REASON_NO_WAY;
    uint8_t *left = frame + LINK_HEADER + 8, *sum = frame + LINK_HEADER + 10;
    if (!own && *left <= 1) {
        hand_on(packet, REASON_EXPIRED);
        return;
    }
    if (datagram.length > way_mtu(way)) {
        hand_on(packet, REASON_TOO_BIG);
        return;
    }
    way_link(way, frame);
    if (!own) {
        *left = (uint8_t)(*left - 1);
        put16(sum, checksum_ttl_step(get16(sum)));
    }
    packet_write(packet->handle, frame, LINK_HEADER + IP_HEADER);
    if (packet_send(packet->handle, packet->length, packet->input, way_port(way), way->index)) {
        arp_counts.forwarded++;
    } else {
        arp_counts.given_up++;
        buffer_free(packet->handle);
    }
}

/* Handles a packet whose next hop was unresolved in the fast path. */
static void unresolved(struct exception *packet)
{
    struct way way;
    if (!route_find(get32(header_of(packet) + LINK_HEADER + 16), &way)) {
        arp_counts.given_up++;
        buffer_free(packet->handle);
        return;
    }
    if (way_leads_out(&way)) {
        /* The address has been learnt since the fast path's lookup. */
        forward(packet, &way);
        return;
    }
    const volatile struct hop_entry *entry = entry_of(way.index);
    struct neighbour *it = entry ? find(entry->port, entry->address) : 0;
    if (!it) {
        /* The route is for the router itself, or no longer leads anywhere. */
        hand_on(packet, packet->reason);
        return;
    }
    /* The latest packet is kept (RFC 1122, 2.3.2.2). */
    if (it->asking) {
        arp_counts.displaced++;
        buffer_free(it->packet.handle);
    } else {
        it->asking = 1;
        it->tries = 0;
    }
    it->packet = *packet;
    it->way = way;
    rang = more_due = 1;
}

void icmp_resolve(struct exception *packet)
{
    unresolved(packet);
}

/* Handles a message: learns its sender's address and answers a request. */
static void heard(struct exception *packet, uint32_t what)
{
    const uint8_t *frame = header_of(packet);
    uint32_t port = packet->input, sender = get32(frame + SENDER);
    int asked = what == REQUEST && port < port_count && ports[port].address == get32(frame + TARGET);
    struct neighbour *it = find(port, sender);
    int waited = it && it->asking;
    if (it && (waited || !it->known || memcmp(it->mac, frame + SENDER_MAC, 6))) {
        it->known = 1;
        it->asking = 0;
        memcpy(it->mac, frame + SENDER_MAC, 6);
        arp_counts.learnt++;
        /* Microengines read an entry in one access, but the core stores one longword at a time. Until all
         * the others are in place, the first longword therefore still sends packets to the core. */
        for (uint32_t entry = table_NEIGHBOURS.count; entry-- > 0;) {
            const volatile struct hop_entry *at = &table_NEIGHBOURS.record[entry];
            if (at->port != port || at->address != sender)
                continue;
            uint32_t words[4], hop = VALUE(NEXT_HOPS) + 16 * at->index;
            entry_words(at, it, words);
            sram_write(hop, words[0] | HOP_LOCAL);
            for (int word = 3; word >= 0; word--)
                sram_write(hop + 4 * word, words[word]);
        }
    }
    if (!asked)
        buffer_free(packet->handle);
    else if (send_message(packet->handle, message(REPLY, port, frame + SENDER_MAC, sender), port))
        arp_counts.replies++;
    if (waited)
        forward(&it->packet, &it->way);
}

/* ---- called by the main program ---- */

int arp_take(struct exception *packet)
{
    const uint8_t *frame = header_of(packet);
    uint32_t port = packet->input;
    if (packet->reason == VALUE_OR(ARP_REASON)) {
        uint32_t what = operation(frame);
        if (!what)
            return 0;
        int asked = what == REQUEST && port < port_count && ports[port].address == get32(frame + TARGET);
        if (!asked && !find(port, get32(frame + SENDER)))
            return 0;
        heard(packet, what);
        return 1;
    }
    if (packet->reason != VALUE_OR(LOCAL_REASON))
        return 0;
    struct datagram datagram;
    if (!datagram_in_frame(&datagram, frame, packet->known))
        return 0;
    for (uint32_t own = 0; own < port_count; own++)
        if (ports[own].address == datagram_destination(&datagram))
            return 0;
    unresolved(packet);
    return 1;
}

/* Sends a request for a next hop. */
static void ask(struct neighbour *it)
{
    uint32_t handle = buffer_take();
    if (!handle) {
        /* The next request will be sent when it is due. */
        arp_counts.given_up++;
        return;
    }
    if (send_message(handle, message(REQUEST, it->port, 0, it->address), it->port))
        arp_counts.requests++;
}

/* Does what is due now; returns when something is due next, 0 if nothing is. */
static uint64_t do_due(void)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < neighbour_count; i++) {
        struct neighbour *it = &neighbours[i];
        if (!it->asking)
            continue;
        uint64_t now = time_now();
        if (it->quiet_until <= now) {
            if (it->tries >= VALUE_OR(ARP_TRIES)) {
                it->asking = 0;
                arp_counts.unanswered++;
                hand_on(&it->packet, REASON_NO_HOST);
                continue;
            }
            it->tries++;
            it->quiet_until = now + retry;
            ask(it);
        }
        if (!next || it->quiet_until < next)
            next = it->quiet_until;
    }
    return next;
}

uint64_t arp_due(void)
{
    uint64_t next;
    do {
        more_due = 0;
        next = do_due();
    } while (more_due);
    return next;
}
