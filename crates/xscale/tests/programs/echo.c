#include "chip.h"

const volatile u32 import_IN_NUMBER = 0;
const volatile u32 import_OUT_NUMBER = 0;

int main(void)
{
    for (;;) {
        u32 word = RING(import_IN_NUMBER);
        if (word)
            RING(import_OUT_NUMBER) = word + 1;
    }
}
