#include "chip.h"

const volatile u32 import_FREE_BUFFERS_ENTRY = 0;

int main(void)
{
    /* Scratch: write, clear, set, add. */
    SCRATCH(0x3000) = 0xff;
    SCRATCH(0x103000) = 0x0f;
    SCRATCH(0x203000) = 0x101;
    SCRATCH(0x303000) = 0x1000;
    SCRATCH(0x3004) = swap(0xca303000, -1);
    SCRATCH(0x3008) = SCRATCH(0x3000);
    /* SRAM channel 0 and 1. */
    SRAM0(0x200) = 5;
    SCRATCH(0x300c) = swap(0x80000200, 6);
    SCRATCH(0x3010) = swap(0x88000200, 1);
    SRAM0(0x0c000200) = 3;
    SRAM0(0x10000200) = 1;
    SCRATCH(0x3014) = SRAM0(0x200);
    /* Bytes of SRAM. */
    *(volatile unsigned char *)0x80000201 = 0xab;
    SCRATCH(0x3018) = SRAM0(0x200);
    /* A queue: dequeue, and back. */
    u32 queue = 0xcc000100 + 4 * import_FREE_BUFFERS_ENTRY;
    u32 buffer = AT(queue);
    SCRATCH(0x301c) = buffer;
    AT(queue) = buffer;
    /* Registers behind the proxy. */
    SCRATCH(0x3020) = AT(0xc0004800) >> 30;
    AT(0xc0004b40) = 0x30;
    SCRATCH(0x3024) = AT(0xc0004b40);
    SCRATCH(0x3028) = AT(0xc0004b40);
    return 0;
}
