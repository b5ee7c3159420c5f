#include "run.h"
static u32 solve(u32 all, u32 columns, u32 left, u32 right) {
    if (columns == all) return 1;
    u32 count = 0;
    for (u32 free = all & ~(columns | left | right); free; free &= free - 1) {
        u32 bit = free & -free;
        count += solve(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}
int main(void) { for (u32 n = 4; n < 8; n++) hex(solve((1 << n) - 1, 0, 0, 0)); return 0; }
