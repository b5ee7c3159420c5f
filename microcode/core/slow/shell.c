#include "shell.h"

#include <string.h>

#include "arp.h"
#include "changes.h"
#include "fib.h"
#include "icmp.h"
#include "packets.h"
#include "print.h"

/* Counters of the shipped routers; those that the project does not have are not shown. */
#define COUNTERS(each) \
    each(DROP_NO_BUFFER) each(DROP_TOO_LONG) each(DROP_RECEIVE_ERROR) each(DROP_LENGTH) \
    each(DROP_VERSION) each(DROP_CHECKSUM) each(DROP_MARTIAN) each(DROP_SOURCE) \
    each(DROP_DISCARD) each(DROP_PORT_DOWN) each(DROP_TX_RING_FULL) each(DROP_PROCESSING_FULL) \
    each(DROP_SLOW_PATH_FULL) each(DROP_QUEUE)
#define DECLARE(name) IMPORT_OR(name, 0xffffffff);
COUNTERS(DECLARE)

/* ---- parsing ---- */

static const char *at;

static void spaces(void)
{
    while (*at == ' ')
        at++;
}

/* Consumes the next word if it is `wanted`; returns whether it is. */
static int word(const char *wanted)
{
    spaces();
    const char *from = at;
    while (*wanted && *from == *wanted)
        from++, wanted++;
    if (*wanted || (*from && *from != ' '))
        return 0;
    at = from;
    return 1;
}

static int digit(char byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : 16;
}

/* Parses a number in a base, at most `most`; returns whether there is one. */
static int number(uint32_t base, uint32_t most, uint32_t *value)
{
    if ((uint32_t)digit(*at) >= base)
        return 0;
    for (*value = 0; (uint32_t)digit(*at) < base && *value <= most; at++)
        *value = *value * base + (uint32_t)digit(*at);
    return *value <= most;
}

static int sign(char wanted)
{
    if (*at != wanted)
        return 0;
    at++;
    return 1;
}

/* 10.1.0.0/16 */
static int prefix(uint32_t *address, uint32_t *length)
{
    spaces();
    *address = 0;
    for (int part = 0; part < 4; part++) {
        uint32_t byte;
        if ((part && !sign('.')) || !number(10, 255, &byte))
            return 0;
        *address = *address << 8 | byte;
    }
    return sign('/') && number(10, 32, length);
}

/* 02:00:5e:10:00:01, as in a next hop: bytes 0 to 3, and bytes 4 and 5 in the upper half of a longword. */
static int mac(uint32_t *high, uint32_t *low)
{
    uint32_t bytes[6];
    spaces();
    for (int part = 0; part < 6; part++)
        if ((part && !sign(':')) || !number(16, 255, &bytes[part]))
            return 0;
    *high = bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
    *low = bytes[4] << 24 | bytes[5] << 16;
    return 1;
}

/* ---- commands ---- */

static void show_route(uint32_t prefix, uint32_t length, uint32_t hop)
{
    print("%I/%u next hop %u\n", prefix, length, hop);
}

static void show_counters(void)
{
#define SHOW(name) \
    if (VALUE_OR(name) != 0xffffffff) \
        print("%s %u\n", #name, scratch_read(VALUE_OR(name)));
    COUNTERS(SHOW)
    print("icmp: time exceeded %u, unreachable %u, too big %u, echo replies %u, silent %u, limited %u\n",
          icmp_counts.time_exceeded, icmp_counts.unreachable, icmp_counts.too_big, icmp_counts.echo_replies,
          icmp_counts.silent, icmp_counts.limited);
    print("arp: requests %u, replies %u, learnt %u, forwarded %u\n", arp_counts.requests, arp_counts.replies,
          arp_counts.learnt, arp_counts.forwarded);
    print("routes: added %u, changed %u, removed %u, longwords %u\n", fib_counts.added, fib_counts.redirected,
          fib_counts.removed, fib_counts.longwords);
}

static void show_neighbours(void)
{
    for (uint32_t hop = 0; hop < arp_hops(); hop++) {
        uint32_t port, address;
        const uint8_t *mac = arp_known(hop, &port, &address);
        print("port %u %I ", port, address);
        if (mac)
            print("%02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
        else
            print("not known\n");
    }
}

static void tell(enum changed how)
{
    static const char *const texts[] = {
        "done", "the route is there already", "there is no such route", "bits behind the prefix are set",
        "the table is full", "the blocks that it needs are not free yet: try again",
    };
    print("%s\n", texts[how]);
}

/* PREFIX PORT MAC [MTU], or PREFIX discard. */
static void change_route(enum change what)
{
    uint32_t address, length, port, high, low, mtu = 1500, hop[4] = { 0x200, 0, 0, 0 };
    if (!prefix(&address, &length)) {
        print("which prefix? 10.1.0.0/16\n");
        return;
    }
    if (what != CHANGE_REMOVE && !word("discard")) {
        spaces();
        if (!number(10, port_count - 1, &port) || !mac(&high, &low)) {
            print("to which port and MAC address? 2 02:00:5e:10:00:02\n");
            return;
        }
        spaces();
        if (*at && !number(10, 65535, &mtu)) {
            print("which MTU?\n");
            return;
        }
        hop[0] = mtu << 16 | port;
        hop[1] = high;
        hop[2] = low | ports[port].mac_high >> 16;
        hop[3] = ports[port].mac_high << 16 | ports[port].mac_low;
    }
    tell(fib_change(what, address, length, hop));
}

static void command(void)
{
    spaces();
    if (!*at)
        return;
    if (word("routes")) {
        fib_routes(show_route);
        print("%u routes, %u blocks\n", fib_route_count(), fib_block_count());
    } else if (word("counters")) {
        show_counters();
    } else if (word("arp")) {
        show_neighbours();
    } else if (word("route")) {
        if (word("add"))
            change_route(CHANGE_ADD);
        else if (word("change"))
            change_route(CHANGE_REDIRECT);
        else if (word("remove"))
            change_route(CHANGE_REMOVE);
        else
            print("route add, change or remove?\n");
    } else {
        print("commands: routes, counters, arp, route add PREFIX PORT MAC [MTU], route add PREFIX discard,\n"
              "route change ..., route remove PREFIX\n");
    }
}

/* ---- lines ---- */

static char line[128];
static uint32_t length;

void shell_start(void)
{
    uart_interrupts(1);
    interrupt_enable(1 << INTERRUPT_UART);
}

void shell_read(void)
{
    int byte;
    while ((byte = uart_get()) >= 0) {
        if (byte == '\n' || byte == '\r') {
            line[length] = 0;
            print("> %s\n", line);
            at = line;
            command();
            length = 0;
        } else if (length < sizeof line - 1) {
            line[length++] = (char)byte;
        }
    }
    interrupt_enable(1 << INTERRUPT_UART);
}
