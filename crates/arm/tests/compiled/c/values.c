#include "run.h"
struct pair { s64 a; u8 b; s32 c; };
static struct pair swap(struct pair p, u16 x) { struct pair q = {p.c, (u8)(p.b + x), (s32)p.a}; return q; }
int main(void) {
    struct pair p = {1, 2, 3};
    for (int i = 0; i < 20; i++) { p = swap(p, next()); p.a += (s32)next(); hex(p.a); hex(p.b); hex((u32)p.c); }
    return 0;
}
