/* The core of a router that answers packets and resolves its next hops. What `[gpp.arp]` and `[gpp.icmp]` do, in C. */
#include "arp.h"
#include "icmp.h"
#include "packets.h"

int main(void)
{
    static struct exception packet;
    time_start();
    ports_start();
    icmp_start();
    arp_start();
    for (;;) {
        uint32_t entry = exception_wait();
        if (entry) {
            exception_read(&packet, entry);
            if (!arp_take(&packet) && !icmp_take(&packet))
                buffer_free(packet.handle);
        }
        if (rang) {
            rang = 0;
            uint64_t next = arp_due();
            if (next)
                time_alarm(next);
        }
    }
}
