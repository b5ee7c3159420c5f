/* ARP (RFC 826) as a router speaks it: it answers for its ports' addresses, learns from what it hears, and
 * asks for next hops of which the project knows the IPv4 address alone. */
#ifndef ARP_H
#define ARP_H

#include "packets.h"

struct arp_counts {
    uint32_t requests, replies, learnt, forwarded, displaced, unanswered, given_up;
};

extern struct arp_counts arp_counts;

void arp_start(void);
/* Takes a packet if it is for ARP: a message, or a packet whose next hop is to be found. Whether its buffer
 * is used up. */
int arp_take(struct exception *packet);
/* Does what is due: asks again, gives up. Gives when something is due next, 0 if nothing is. */
uint64_t arp_due(void);
/* How many next hops there are, and the address of one on its link: 0 if it is not known. */
uint32_t arp_hops(void);
const uint8_t *arp_known(uint32_t number, uint32_t *port, uint32_t *address);

#endif
