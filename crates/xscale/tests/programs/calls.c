#include "chip.h"

#define KEEP __attribute__((noinline))

/* How long `longer` is. */
const volatile u32 default_LONGER = 10;

static volatile u32 sink, ticks;

KEEP static void count(u32 times)
{
    for (; times; times--)
        sink++;
}

KEEP static void shorter(void)
{
    count(10);
    sink++;
}

KEEP static void longer(void)
{
    u32 times = default_LONGER;
    for (; times; times--)
        sink++;
}

KEEP static u32 recursive(u32 depth)
{
    if (depth == 0)
        return sink;
    return recursive(depth - 1) + sink;
}

/* Its last call is a jump. */
KEEP static void __attribute__((optimize("optimize-sibling-calls"))) hands_over(void)
{
    sink++;
    count(20);
}

KEEP static void tick(void)
{
    ticks++;
}

void irq(void)
{
    TIMERS(0x30) = 1;
    tick();
}

int main(void)
{
    TIMERS(0x10) = 99;
    TIMERS(0x00) = 0x80;
    INTERRUPTS(0x10) = 1 << 4;
    irq_on();
    for (u32 round = 0; round < 20; round++) {
        shorter();
        longer();
        sink += recursive(5);
        hands_over();
    }
    wait_for_interrupt();
    irq_off();
    return 0;
}
