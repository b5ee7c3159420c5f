/* The core of a router that answers: time exceeded, destination unreachable, packet too big, and echo
 * replies. What `[gpp.icmp]` does, in C. */
#include "icmp.h"
#include "packets.h"

int main(void)
{
    static struct exception packet;
    time_start();
    ports_start();
    icmp_start();
    for (;;) {
        exception_read(&packet, exception_wait());
        if (!icmp_take(&packet))
            buffer_free(packet.handle);
    }
}
