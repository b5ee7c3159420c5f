/* A router's ARP (RFC 826): it answers for its ports' addresses, learns from the messages that it receives, and
 * sends requests for next hops of which the project gives only the IPv4 address. */
#ifndef ARP_H
#define ARP_H

#include "packets.h"

struct arp_counts {
    uint32_t requests, replies, learnt, forwarded, displaced, unanswered, given_up;
};

extern struct arp_counts arp_counts;

void arp_start(void);
/* Handles a packet if it is for ARP: an ARP message, or a packet whose next hop is unresolved. Returns whether
 * the buffer was consumed. */
int arp_take(struct exception *packet);
/* Does what is due: sends or repeats requests, gives up. Returns when something is due next, 0 if nothing is. */
uint64_t arp_due(void);
/* The number of next hops, and the link-layer address of one of them, 0 if it is not known. */
uint32_t arp_hops(void);
const uint8_t *arp_known(uint32_t number, uint32_t *port, uint32_t *address);

#endif
