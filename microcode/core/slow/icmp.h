/* ICMP as a router sends it (RFC 792, RFC 1191, RFC 1812). */
#ifndef ICMP_H
#define ICMP_H

#include "packets.h"

/* What was done. */
struct icmp_counts {
    uint32_t time_exceeded, unreachable, too_big, echo_replies, silent, limited, given_up;
};

extern struct icmp_counts icmp_counts;

void icmp_start(void);
/* Answers a packet, if its reason calls for an answer and one may be given: whether its buffer is used
 * up. */
int icmp_take(struct exception *packet);

/* Sends an answer whose next hop is not known yet as soon as it is; the buffer is used up. A program without
 * ARP gives the buffer back. */
void icmp_resolve(struct exception *packet);

#endif
