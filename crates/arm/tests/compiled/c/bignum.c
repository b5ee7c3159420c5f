#include "run.h"
int main(void) {
    static u32 d[30] = {1};
    for (u32 n = 2; n < 90; n++) {
        u64 carry = 0;
        for (int i = 0; i < 30; i++) { carry += (u64)d[i] * n; d[i] = carry; carry >>= 32; }
        if (n % 11 == 0) { u64 c = 0; for (int i = 0; i < 30; i++) { c += (u64)d[i] + ~d[29 - i]; hex((u32)c); c >>= 32; } }
    }
    return 0;
}
