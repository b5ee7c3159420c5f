/* Answers microengines: at an interrupt takes what is on a ring and puts the successors of the numbers onto
 * another one. Interrupts are counted in scratch by an atomic operation. */
#include "chip.h"

const volatile u32 import_TO_CORE_NUMBER = 0;
const volatile u32 import_FROM_CORE_NUMBER = 0;
const volatile u32 import_INTERRUPTS = 0;

void irq(void)
{
    INTERRUPTS(0x60) = INTERRUPTS(0x60);
    SCRATCH(0x300000 + import_INTERRUPTS) = 1;
}

int main(void)
{
    INTERRUPTS(0x160) = 0xffffffff;
    INTERRUPTS(0x10) = 1 << 16;
    for (;;) {
        /* Interrupts are masked but here, so that none is taken between the last look at the ring and the wait. */
        wait_for_interrupt();
        irq_on();
        irq_off();
        u32 number;
        while ((number = RING(import_TO_CORE_NUMBER)))
            RING(import_FROM_CORE_NUMBER) = number + 1;
    }
}
