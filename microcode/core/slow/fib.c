#include "fib.h"

#include <string.h>

#include "packets.h"

IMPORT(ROUTE_ROOT);
IMPORT(NEXT_HOPS);
/* Room for more blocks and next hops than the project's routes need: memory in the table's channel, at addresses
 * above the table. A block has 1024 bytes, a next hop 16. */
IMPORT(ROUTE_BLOCKS);
IMPORT(ROUTE_BLOCKS_SIZE);
IMPORT(ROUTE_HOPS);
IMPORT(ROUTE_HOPS_SIZE);
/* Microseconds after which no reader is left in a block that has become unreachable. */
IMPORT_OR(ROUTE_GRACE, 100);

enum { MOST_FIRST = 256 };
TABLE(ROUTES, struct route_entry, MOST_FIRST);

enum { ROOT = 65536, BLOCK = 256, MOST_BLOCKS = 512, MOST_ROUTES = 8192, MOST_HOPS = 32768 };
#define MORE 0x80000000u
enum { NO_OWNER = 0 };

struct fib_counts fib_counts;

/* ---- routes: a hash table by prefix and length ---- */

enum { SLOTS = 2 * MOST_ROUTES };
enum { EMPTY, USED };

static struct route {
    uint32_t prefix;
    uint16_t hop;
    uint8_t length, state;
} routes[SLOTS];
static uint32_t route_count;

static uint32_t mask(uint32_t length)
{
    return length ? 0xffffffffu << (32 - length) : 0;
}

static uint32_t hash(uint32_t a, uint32_t b)
{
    uint32_t all = (a ^ b * 0x9e3779b9u) * 0x85ebca6bu;
    return all ^ all >> 15;
}

/* The slot of a route, or the empty slot where it belongs. */
static struct route *slot_of(uint32_t prefix, uint32_t length)
{
    for (uint32_t at = hash(prefix, length);; at++) {
        struct route *it = &routes[at % SLOTS];
        if (it->state == EMPTY || (it->prefix == prefix && it->length == length))
            return it;
    }
}

/* Empties a slot. Routes in later slots that would no longer be found move up. */
static void vacate(struct route *it)
{
    uint32_t hole = (uint32_t)(it - routes);
    for (uint32_t at = (hole + 1) % SLOTS; routes[at].state == USED; at = (at + 1) % SLOTS) {
        uint32_t home = hash(routes[at].prefix, routes[at].length);
        if ((at - home) % SLOTS >= (at - hole) % SLOTS) {
            routes[hole] = routes[at];
            hole = at;
        }
    }
    routes[hole].state = EMPTY;
}

/* The contents of the entry that a lookup of an address finds. */
struct found {
    uint32_t word;
    uint8_t owner; /* 1 + the length of the route */
};

/* The longest route that covers an address and is no longer than `most`. */
static struct found best(uint32_t address, int most)
{
    for (int length = most; length >= 0; length--) {
        struct route *it = slot_of(address & mask((uint32_t)length), (uint32_t)length);
        if (it->state == USED)
            return (struct found){ it->hop, (uint8_t)(length + 1) };
    }
    return (struct found){ 0, NO_OWNER };
}

void fib_routes(void (*each)(uint32_t prefix, uint32_t length, uint32_t hop))
{
    for (uint32_t at = 0; at < SLOTS; at++)
        if (routes[at].state == USED)
            each(routes[at].prefix, routes[at].length, routes[at].hop);
}

uint32_t fib_route_count(void)
{
    return route_count;
}

/* ---- next hops ---- */

/* The next hops that the program has added, in order of their index, and a hash table of them. */
static uint32_t hops[MOST_HOPS][4];
static uint16_t hop_slots[2 * MOST_HOPS];
static uint32_t hop_count, first_hop, hop_room;

/* The slot of a next hop, or the empty slot where it belongs. */
static uint32_t hop_slot(const uint32_t *words)
{
    for (uint32_t at = hash(words[1] ^ words[0], words[2] ^ words[3]);; at++) {
        uint32_t slot = at % (2 * MOST_HOPS), number = hop_slots[slot];
        if (!number || !memcmp(hops[number - 1], words, sizeof hops[0]))
            return slot;
    }
}

/* The index of a next hop, which is written to the table if it is new; 0 if there is no room. */
static uint32_t hop_index(const uint32_t *words)
{
    uint32_t slot = hop_slot(words);
    if (!hop_slots[slot]) {
        if (hop_count == hop_room)
            return 0;
        uint32_t index = first_hop + hop_count;
        for (uint32_t word = 0; word < 4; word++) {
            hops[hop_count][word] = words[word];
            sram_write(VALUE(NEXT_HOPS) + 16 * index + 4 * word, words[word]);
        }
        fib_counts.longwords += 4;
        hop_slots[slot] = (uint16_t)++hop_count;
    }
    return first_hop + hop_slots[slot] - 1;
}

/* ---- the table: the root, then blocks ---- */

/* A copy of those entries of the SRAM table that have been touched: `trie` has their longwords, `owners` has 2 + the
 * length of an entry's route, 1 if it has no route, 0 if it has not been touched. */
static uint32_t trie[ROOT + MOST_BLOCKS * BLOCK];
static uint8_t owners[ROOT + MOST_BLOCKS * BLOCK];
/* Of each block the prefix that it covers, the number of address bits that are resolved once it has been read, and
 * the number of routes that need it, which are those longer than the prefix. */
static struct block {
    uint32_t prefix;
    uint16_t bits, deeper;
} blocks[MOST_BLOCKS];
static uint32_t first_blocks, all_blocks, used_blocks;

/* The first block that was never used; the blocks that became free, in order, and the time when each did. */
static uint32_t new_block;
static struct free_block {
    uint16_t block;
    uint64_t since;
} free_blocks[MOST_BLOCKS];
static uint32_t free_first, free_count;
static uint64_t grace, ready;

static uint32_t first_of(uint32_t block)
{
    return ROOT + block * BLOCK;
}

/* The SRAM address of an entry. */
static uint32_t address_of(uint32_t at)
{
    uint32_t own = ROOT + first_blocks * BLOCK;
    return at < own ? VALUE(ROUTE_ROOT) + 4 * at : VALUE(ROUTE_BLOCKS) + 4 * (at - own);
}

static uint32_t leads_to(uint32_t block)
{
    return MORE | (address_of(first_of(block)) - VALUE(ROUTE_ROOT));
}

/* Takes over an entry from SRAM at first use. The routes must still be those from which the entry was made. */
static void touch(uint32_t at)
{
    if (owners[at])
        return;
    uint32_t prefix = at << 16, bits = 16;
    if (at >= ROOT) {
        struct block *it = &blocks[(at - ROOT) / BLOCK];
        bits = it->bits;
        prefix = it->prefix | (at - ROOT) % BLOCK << (32 - bits);
    }
    trie[at] = sram_read(address_of(at));
    owners[at] = (uint8_t)(best(prefix, (int)bits).owner + 1);
}

/* The block to which an entry leads, -1 if it leads to none. */
static int block_at(uint32_t at)
{
    touch(at);
    uint32_t word = trie[at];
    if (!(word & MORE))
        return -1;
    uint32_t entry = (word & ~MORE) / 4;
    if (entry >= ROOT + first_blocks * BLOCK)
        entry = ROOT + first_blocks * BLOCK + ((word & ~MORE) + VALUE(ROUTE_ROOT) - VALUE(ROUTE_BLOCKS)) / 4;
    return (int)((entry - ROOT) / BLOCK);
}

/* Takes over all entries that have not been touched yet, here and in the blocks below. */
static void touch_all(uint32_t first, uint32_t count)
{
    for (uint32_t at = first; at < first + count; at++) {
        int below = block_at(at);
        if (below >= 0)
            touch_all(first_of((uint32_t)below), BLOCK);
    }
}

/* Whether writes go to SRAM. A new block is written only once it is complete. */
static int live;

static void write_entry(uint32_t at, uint32_t word)
{
    if (live) {
        sram_write(address_of(at), word);
        fib_counts.longwords++;
    }
}

/* Writes an entry if its longword changes. */
static void set(uint32_t at, uint32_t word)
{
    if (trie[at] == word)
        return;
    trie[at] = word;
    write_entry(at, word);
}

/* The index, in the root or in a block, of the entry for an address that resolves its first `bits` bits. */
static uint32_t place(uint32_t address, uint32_t bits)
{
    return bits == 16 ? address >> 16 : address >> (32 - bits) & 0xff;
}

enum which { SHORTER, EQUAL };

/* Assigns another route to entries whose route is shorter than, or as long as, that of `owner`, here and below. */
static void cover(uint32_t first, uint32_t count, enum which which, uint32_t owner, struct found with)
{
    for (uint32_t at = first; at < first + count; at++) {
        int below = block_at(at);
        if (below >= 0) {
            cover(first_of((uint32_t)below), BLOCK, which, owner, with);
        } else if (which == EQUAL ? owners[at] == owner + 1 : owners[at] < owner + 1) {
            owners[at] = (uint8_t)(with.owner + 1);
            set(at, with.word);
        }
    }
}

/* The entries of a route in the block of its level: returns the first, and sets `count` to their number. */
static uint32_t entries(uint32_t prefix, uint32_t length, uint32_t *count)
{
    uint32_t block = 0, bits = 16;
    while (length > bits) {
        int below = block_at(block + place(prefix, bits));
        if (below < 0)
            break;
        block = first_of((uint32_t)below);
        bits += 8;
    }
    *count = 1u << (bits - length);
    return block + place(prefix, bits);
}

/* Adds `more` to the route counts of the blocks that a route needs. */
static void count_in(uint32_t prefix, uint32_t length, int more)
{
    uint32_t block = 0;
    for (uint32_t bits = 16; bits < length; bits += 8) {
        int below = block_at(block + place(prefix, bits));
        if (below < 0)
            return;
        blocks[below].deeper = (uint16_t)(blocks[below].deeper + more);
        block = first_of((uint32_t)below);
    }
}

/* The number of blocks that a new route would have to allocate. */
static uint32_t takes(uint32_t prefix, uint32_t length)
{
    uint32_t block = 0, need = 0;
    for (uint32_t bits = 16; bits < length; bits += 8) {
        int below = need ? -1 : block_at(block + place(prefix, bits));
        if (below < 0)
            need++;
        else
            block = first_of((uint32_t)below);
    }
    return need;
}

static uint32_t take_block(uint32_t prefix, uint32_t bits)
{
    uint32_t block;
    if (new_block < all_blocks) {
        block = new_block++;
    } else {
        block = free_blocks[free_first].block;
        free_first = (free_first + 1) % MOST_BLOCKS;
        free_count--;
    }
    blocks[block] = (struct block){ prefix, (uint16_t)bits, 0 };
    used_blocks++;
    return block;
}

static void give_block(uint32_t block)
{
    struct free_block *it = &free_blocks[(free_first + free_count) % MOST_BLOCKS];
    it->block = (uint16_t)block;
    it->since = time_now();
    free_count++;
    used_blocks--;
}

static void add(uint32_t prefix, uint32_t length, struct found own)
{
    uint32_t block = 0, bits = 16, new[2], news = 0, publish = 0, leads = 0, count;
    for (; length > bits; bits += 8) {
        uint32_t at = block + place(prefix, bits);
        int below = block_at(at);
        if (below < 0) {
            uint32_t taken = take_block(prefix & mask(bits), bits + 8), first = first_of(taken);
            for (uint32_t entry = first; entry < first + BLOCK; entry++) {
                trie[entry] = trie[at];
                owners[entry] = owners[at];
            }
            if (news)
                trie[at] = leads_to(taken);
            else
                publish = at, leads = leads_to(taken);
            new[news++] = taken;
            block = first;
        } else {
            block = first_of((uint32_t)below);
        }
    }
    count = 1u << (bits - length);
    if (!news) {
        cover(block + place(prefix, bits), count, SHORTER, own.owner, own);
        return;
    }
    int was = live;
    live = 0;
    cover(block + place(prefix, bits), count, SHORTER, own.owner, own);
    live = was;
    while (news--) {
        uint32_t first = first_of(new[news]);
        for (uint32_t entry = first; entry < first + BLOCK; entry += 8)
            burst_write_8(sram_window(address_of(entry)), &trie[entry]);
        fib_counts.longwords += BLOCK;
    }
    set(publish, leads);
}

static void remove_route(uint32_t prefix, uint32_t length)
{
    uint32_t block = 0, bits = 16;
    for (; length > bits; bits += 8) {
        uint32_t at = block + place(prefix, bits);
        int below = block_at(at);
        if (below < 0)
            return;
        if (!blocks[below].deeper) {
            /* Readers may still be in the blocks, so their contents do not change. */
            struct found entry = best(prefix, (int)bits);
            int more = length > 24 && bits == 16 ? block_at(first_of((uint32_t)below) + place(prefix, 24)) : -1;
            owners[at] = (uint8_t)(entry.owner + 1);
            set(at, entry.word);
            give_block((uint32_t)below);
            if (more >= 0)
                give_block((uint32_t)more);
            return;
        }
        block = first_of((uint32_t)below);
    }
    /* All entries of the route pass to the next shorter route. */
    struct found heir = best(prefix, (int)length - 1);
    cover(block + place(prefix, bits), 1u << (bits - length), EQUAL, length + 1, heir);
}

static void enter(struct route *it, uint32_t prefix, uint32_t length, uint32_t hop)
{
    *it = (struct route){ prefix, (uint16_t)hop, (uint8_t)length, USED };
    route_count++;
}

void fib_start(void)
{
    grace = (uint64_t)(time_second() / 1000000) * VALUE_OR(ROUTE_GRACE);
    static uint8_t is_new[MOST_FIRST];
    for (uint32_t route = 0; route < table_ROUTES.count; route++) {
        const volatile struct route_entry *it = &table_ROUTES.record[route];
        struct route *slot = slot_of(it->prefix, it->length);
        is_new[route] = slot->state == EMPTY;
        if (is_new[route])
            enter(slot, it->prefix, it->length, it->hop);
    }
    /* The loader's blocks follow the root; the entries that lead to them show how many there are. */
    first_blocks = MOST_BLOCKS;
    for (uint32_t route = 0; route < table_ROUTES.count; route++) {
        uint32_t prefix = table_ROUTES.record[route].prefix, length = table_ROUTES.record[route].length, block = 0;
        for (uint32_t bits = 16; is_new[route] && bits < length; bits += 8) {
            int below = block_at(block + place(prefix, bits));
            if (below < 0)
                break;
            if ((uint32_t)below >= used_blocks)
                used_blocks = (uint32_t)below + 1;
            blocks[below].prefix = prefix & mask(bits);
            blocks[below].bits = (uint16_t)(bits + 8);
            blocks[below].deeper++;
            block = first_of((uint32_t)below);
        }
    }
    new_block = first_blocks = used_blocks;
    all_blocks = first_blocks + VALUE(ROUTE_BLOCKS_SIZE) / (4 * BLOCK);
    if (all_blocks > MOST_BLOCKS)
        all_blocks = MOST_BLOCKS;
    first_hop = (VALUE(ROUTE_HOPS) - VALUE(NEXT_HOPS) + 15) / 16;
    hop_room = VALUE(ROUTE_HOPS_SIZE) / 16;
    if (hop_room > MOST_HOPS - 1)
        hop_room = MOST_HOPS - 1;
    live = 1;
}

uint64_t fib_ready(void)
{
    return ready;
}

uint32_t fib_block_count(void)
{
    return used_blocks;
}

enum changed fib_change(enum change what, uint32_t prefix, uint32_t length, const uint32_t *words)
{
    if (length > 32 || prefix & ~mask(length))
        return ROUTE_HAS_HOST_BITS;
    struct route *it = slot_of(prefix, length);
    if (what == CHANGE_ADD && it->state == USED)
        return ROUTE_IS_THERE;
    if (what != CHANGE_ADD && it->state != USED)
        return ROUTE_IS_NOT_THERE;
    uint32_t count, first;
    if (what == CHANGE_REMOVE) {
        /* The route's entries are taken over while the route still exists. */
        first = entries(prefix, length, &count);
        touch_all(first, count);
        vacate(it);
        route_count--;
        count_in(prefix, length, -1);
        remove_route(prefix, length);
        fib_counts.removed++;
        return CHANGED;
    }
    uint32_t need = what == CHANGE_ADD ? takes(prefix, length) : 0, new = all_blocks - new_block;
    if (need > new + free_count || (what == CHANGE_ADD && route_count == MOST_ROUTES))
        return TABLE_IS_FULL;
    if (need > new) {
        uint64_t since = free_blocks[(free_first + need - new - 1) % MOST_BLOCKS].since;
        if (time_now() < since + grace) {
            ready = since + grace;
            return CHANGE_HAS_TO_WAIT;
        }
    }
    uint32_t hop = hop_index(words);
    if (!hop)
        return TABLE_IS_FULL;
    struct found own = { hop, (uint8_t)(length + 1) };
    if (what == CHANGE_ADD) {
        add(prefix, length, own);
        enter(it, prefix, length, hop);
        count_in(prefix, length, 1);
        fib_counts.added++;
    } else {
        it->hop = (uint16_t)hop;
        first = entries(prefix, length, &count);
        cover(first, count, EQUAL, own.owner, own);
        fib_counts.redirected++;
    }
    return CHANGED;
}
