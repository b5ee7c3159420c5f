#include "chip.h"

const volatile u32 import_IN_NUMBER = 0;
const volatile u32 default_COUNTS = 0;
static volatile u32 rang;

void fiq(void)
{
    TIMERS(0x00) = 0;
    TIMERS(0x30) = 1;
    rang++;
}

int main(void)
{
    TIMERS(0x10) = default_COUNTS;
    INTERRUPTS(0x1c) = 1 << 4;
    fiq_on();
    TIMERS(0x00) = 0x80;
    /* A loop in which nothing changes but by the alarm. */
    while (!RING(import_IN_NUMBER) && !rang)
        ;
    print_number(rang);
    return 0;
}
