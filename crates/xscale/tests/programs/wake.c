#include "chip.h"

static volatile u32 interrupts;

void irq(void)
{
    INTERRUPTS(0x60) = INTERRUPTS(0x60);
    interrupts++;
}

int main(void)
{
    INTERRUPTS(0x160) = 0xff;
    INTERRUPTS(0x10) = 1 << 16;
    irq_on();
    for (;;) {
        wait_for_interrupt();
        SCRATCH(0x3000) = interrupts;
    }
}
