/* Changes of the routing table while packets flow: routes, and the table that microengines read.
 *
 * A reader goes from an entry of the root to a block and possibly from there to another. Whenever it reads, the
 * route that it finds must be either the one before a change or the one after it. Three rules ensure this:
 *
 * - a longword is written as a whole, and for each address a single longword decides between before and after;
 * - a block and a next hop are written in full before the entry that leads to them;
 * - a block that has become unreachable stays unchanged for the time `grace`, by the end of which no reader is left
 *   in it. A next hop's entry is never reused: packets keep its number while they wait in queues. */
#ifndef FIB_H
#define FIB_H

#include <stdint.h>

enum change { CHANGE_ADD, CHANGE_REDIRECT, CHANGE_REMOVE };
enum changed {
    CHANGED,
    ROUTE_IS_THERE,
    ROUTE_IS_NOT_THERE,
    ROUTE_HAS_HOST_BITS,
    TABLE_IS_FULL,    /* no room for more blocks, routes or next hops */
    CHANGE_HAS_TO_WAIT /* for free blocks, until `fib_ready` */
};

struct fib_counts {
    uint32_t added, redirected, removed, longwords;
};

extern struct fib_counts fib_counts;

/* Takes over the project's routes. */
void fib_start(void);
/* Makes a change; `hop` is the next hop in the format of the table, ignored when a route is removed. */
enum changed fib_change(enum change what, uint32_t prefix, uint32_t length, const uint32_t *hop);
/* The time at which a change that has to wait can be made. */
uint64_t fib_ready(void);
/* Calls `each` for every route, in no particular order. */
void fib_routes(void (*each)(uint32_t prefix, uint32_t length, uint32_t hop));
uint32_t fib_route_count(void);
uint32_t fib_block_count(void);

#endif
