#include "chip.h"

const volatile u32 import_IN_NUMBER = 0;
const volatile u32 default_OTHER = 7;
const volatile u32 default_GIVEN = 8;
static volatile unsigned char bytes[4] = { 1, 2, 3, 4 };
static volatile struct { u32 count, record[15]; } table_PORTS = { 0 };
static volatile struct { u32 count, record[3]; } table_CLOCKS = { 0 };

int main(void)
{
    print("hello\n");
    print_number(import_IN_NUMBER);
    print_number(default_OTHER);
    print_number(default_GIVEN);
    print_number(bytes[1]);
    print_number(*(volatile u32 *)bytes);
    print_number(table_PORTS.count);
    print_number(table_PORTS.record[0]);
    print_number(table_CLOCKS.record[1]);
    /* What comes in goes out again. */
    for (;;) {
        if (!(UART(0x14) & 1))
            continue;
        u32 byte = UART(0);
        if (byte == '.')
            return 0;
        UART(0) = byte;
    }
}
