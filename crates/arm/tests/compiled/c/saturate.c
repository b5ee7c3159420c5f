#include "run.h"
static s32 clip(s64 v) { return v > 0x7fffffff ? 0x7fffffff : v < -0x7fffffff - 1 ? -0x7fffffff - 1 : v; }
int main(void) {
    s32 sum = 0;
    for (int i = 0; i < 80; i++) { sum = clip((s64)sum + (s32)next()); hex((u32)sum); hex((u32)clip((s64)sum * 3)); }
    return 0;
}
