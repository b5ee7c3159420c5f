/* The whole slow path of a router: ICMP, ARP, and route changes from a list and from a shell on the UART. */
#include "arp.h"
#include "changes.h"
#include "fib.h"
#include "icmp.h"
#include "packets.h"
#include "shell.h"

int main(void)
{
    static struct exception packet;
    time_start();
    ports_start();
    icmp_start();
    arp_start();
    fib_start();
    shell_start();
    rang = 1;
    for (;;) {
        uint32_t entry = exception_wait();
        if (entry) {
            exception_read(&packet, entry);
            if (!arp_take(&packet) && !icmp_take(&packet))
                buffer_free(packet.handle);
        }
        if (rang) {
            rang = 0;
            shell_read();
            uint64_t asks = arp_due(), next = changes_due();
            if (!next || (asks && asks < next))
                next = asks;
            if (next)
                time_alarm(next);
        }
    }
}
