#include "run.h"
int main(void) {
    for (int i = 0; i < 60; i++) {
        s32 a = next(), b = (s32)next() >> (i % 31);
        if (!b) b = 3;
        hex((u32)(a / b)); hex((u32)(a % b)); hex((u32)a / (u32)b); hex((u32)a % 10);
    }
    return 0;
}
