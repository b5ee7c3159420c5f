#include "run.h"
struct f { u32 a : 3; s32 b : 5; u32 c : 11; s32 d : 13; u8 e; s16 g; } __attribute__((packed));
int main(void) {
    struct f f[5]; 
    for (int i = 0; i < 5; i++) { f[i].a = next(); f[i].b = next(); f[i].c = next(); f[i].d = next(); f[i].e = next(); f[i].g = next(); }
    for (int i = 0; i < 5; i++) { hex(f[i].a); hex((s64)f[i].b); hex(f[i].c); hex((s64)f[i].d); hex(f[i].e); hex((s64)f[i].g); }
    return sizeof f[0];
}
