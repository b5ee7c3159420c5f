#include "run.h"
static u8 packet[1500];
static u16 sum(const u8 *p, u32 n) {
    u32 s = 0;
    for (; n > 1; n -= 2, p += 2) s += p[0] << 8 | p[1];
    if (n) s += *p << 8;
    while (s >> 16) s = (s & 0xffff) + (s >> 16);
    return ~s;
}
int main(void) {
    for (int i = 0; i < 1500; i++) packet[i] = next();
    for (u32 n = 20; n < 1500; n += 77) { hex(sum(packet, n)); hex(sum(packet + 1, n)); }
    return 0;
}
