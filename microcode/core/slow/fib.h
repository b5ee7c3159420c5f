/* Changes of the routing table while packets flow: routes, and the table that microengines read.
 *
 * A reader goes from an entry of the root to a block and from there perhaps to another. Whenever it comes, what it
 * finds has to be the way before a change or the way after it:
 *
 * - a longword is written as a whole, and for each address one longword decides between before and after;
 * - a block and a next hop are written in full before the entry that leads to them;
 * - a block to which nothing leads any more stays as it is for the time `grace`, in which the last reader has
 *   left it. A next hop is never used for anything else: packets keep its number while they wait in queues. */
#ifndef FIB_H
#define FIB_H

#include <stdint.h>

enum change { CHANGE_ADD, CHANGE_REDIRECT, CHANGE_REMOVE };
enum changed {
    CHANGED,
    ROUTE_IS_THERE,
    ROUTE_IS_NOT_THERE,
    ROUTE_HAS_HOST_BITS,
    TABLE_IS_FULL,    /* of blocks, routes or next hops */
    CHANGE_HAS_TO_WAIT /* for blocks, until fib_ready */
};

struct fib_counts {
    uint32_t added, redirected, removed, longwords;
};

extern struct fib_counts fib_counts;

/* Takes over the routes of the project. */
void fib_start(void);
/* Makes a change; `hop` is the next hop as it stands in the table, of no account where a route goes. */
enum changed fib_change(enum change what, uint32_t prefix, uint32_t length, const uint32_t *hop);
/* When a change that has to wait can be made. */
uint64_t fib_ready(void);
/* Routes, in no order: calls `each` for all. */
void fib_routes(void (*each)(uint32_t prefix, uint32_t length, uint32_t hop));
uint32_t fib_route_count(void);
uint32_t fib_block_count(void);

#endif
