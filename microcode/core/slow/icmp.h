/* ICMP as a router sends it (RFC 792, RFC 1191, RFC 1812). */
#ifndef ICMP_H
#define ICMP_H

#include "packets.h"

/* Counts of what was done. */
struct icmp_counts {
    uint32_t time_exceeded, unreachable, too_big, echo_replies, silent, limited, given_up;
};

extern struct icmp_counts icmp_counts;

void icmp_start(void);
/* Answers a packet if its reason calls for an answer and one is allowed; returns whether the buffer was
 * consumed. */
int icmp_take(struct exception *packet);

/* Sends an answer whose next hop is unresolved as soon as it is resolved; the buffer is consumed. Without ARP,
 * the program only frees the buffer. */
void icmp_resolve(struct exception *packet);

#endif
