#include "run.h"
int main(void) {
    for (int i = 0; i < 60; i++) {
        u32 v = next() >> (i & 31) | 1;
        hex(__builtin_clz(v)); hex(__builtin_ctz(v)); hex(__builtin_popcount(v)); hex(__builtin_parity(v)); hex(__builtin_bswap32(v));
        hex((s64)(s8)v); hex((s64)(s16)v); hex((u8)v); hex((u16)(v >> 3));
    }
    return 0;
}
