#include "chip.h"

/* In memory that can be written, unlike those of other programs: it may be loaded elsewhere than it is. */
volatile u32 default_CASE = 1;

static int deeper(volatile int depth)
{
    volatile int here[8];
    here[0] = depth;
    return deeper(depth + 1) + here[0];
}

void irq(void)
{
    if (default_CASE == 1) {
        TIMERS(0x30) = 1;
        deeper(0);
    }
    /* Else the timer is not told that it was heard. */
}

int main(void)
{
    if (default_CASE == 0)
        return 0;
    TIMERS(0x10) = 9;
    TIMERS(0x00) = 0x80;
    INTERRUPTS(0x10) = 1 << 4;
    irq_on();
    for (;;)
        wait_for_interrupt();
}
