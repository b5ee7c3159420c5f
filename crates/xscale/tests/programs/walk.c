#include "chip.h"

static volatile u32 array[16384];

int main(void)
{
    u32 sum = 0;
    /* 64 KB twice, a longword of each line: the second round finds nothing that a cache of 32 KB kept. */
    for (int round = 0; round < 2; round++)
        for (int at = 0; at < 16384; at += 8)
            sum += array[at];
    /* 4 KB ten times: one miss a line. */
    for (int round = 0; round < 10; round++)
        for (int at = 0; at < 1024; at += 8)
            sum += array[at];
    return (int)sum;
}
