#include "run.h"
static u64 sum(u32 n, ...) {
    __builtin_va_list l; u64 s = 0;
    __builtin_va_start(l, n);
    for (u32 i = 0; i < n; i++) s = s * 31 + (i & 1 ? __builtin_va_arg(l, u64) : __builtin_va_arg(l, u32));
    __builtin_va_end(l);
    return s;
}
int main(void) { hex(sum(1, 5)); hex(sum(3, 7, 8ull << 33, 9)); hex(sum(6, 1, 2ull, 3, 4ull, 5, 6ull << 60)); return 0; }
