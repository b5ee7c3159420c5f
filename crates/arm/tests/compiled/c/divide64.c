#include "run.h"
int main(void) {
    for (int i = 0; i < 30; i++) {
        s64 a = (u64)next() << 32 | next(), b = ((s64)(s32)next() << 20 | next()) >> (i * 2);
        if (!b) b = 7;
        hex(a / b); hex(a % b); hex((u64)a / 1000000007u); hex(a * b);
    }
    return 0;
}
