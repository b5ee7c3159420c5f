#include "run.h"
int main(void) {
    u64 a = 0x8123456789abcdefull;
    for (int i = 0; i < 64; i += 3) { hex(a << i); hex(a >> i); hex((s64)a >> i); hex(a << i | a >> (63 - i) >> 1); }
    return 0;
}
