#include "run.h"
int main(void) {
    u32 best = 0, which = 0;
    for (u32 n = 1; n < 300; n++) { u64 v = n; u32 k = 0; while (v != 1) v = v & 1 ? 3 * v + 1 : v / 2, k++; if (k > best) best = k, which = n; }
    hex(best); hex(which);
    return best;
}
