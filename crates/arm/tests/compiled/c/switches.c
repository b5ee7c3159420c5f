#include "run.h"
static u32 step(u32 op, u32 v) {
    switch (op) {
    case 0: return v + 3; case 1: return v ^ 0xff00ff; case 2: return v << 3; case 3: return ~v; case 4: return v >> 5;
    case 5: return v * 17; case 6: return -v; case 7: return v & 0xffff; case 8: return v | 1; case 100: return v - 100;
    case 1000: return v / 3; default: return v;
    }
}
int main(void) { u32 v = 99; for (int i = 0; i < 120; i++) { v = step(next() % 12, v); v = step(i % 3 ? 100 : 1000, v); hex(v); } return 0; }
