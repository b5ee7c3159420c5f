#include "chip.h"

static volatile u32 ticks;

void irq(void)
{
    TIMERS(0x30) = 1;
    ticks++;
    print("tick\n");
}

int main(void)
{
    TIMERS(0x10) = 999;
    TIMERS(0x00) = 0x80;
    INTERRUPTS(0x10) = 1 << 4;
    irq_on();
    /* A flag in memory, and a wait. */
    while (ticks < 3)
        ;
    while (ticks < 5)
        wait_for_interrupt();
    TIMERS(0x00) = 0;
    print_number(ticks);
    return 0;
}
