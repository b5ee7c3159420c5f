#include "run.h"
int main(void) {
    volatile float a = 1.5f, b = -0.37f;
    for (int i = 1; i < 25; i++) {
        a = a * b + (float)i / 3; b = (a - b) / (i + 0.25f);
        hex((u32)(s32)(a * 1000)); hex(a > b); hex((u32)(s32)(b * 65536));
    }
    return 0;
}
