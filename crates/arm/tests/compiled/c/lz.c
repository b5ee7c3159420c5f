#include "run.h"
static u8 in[700], out[1500];
int main(void) {
    u32 n = 0;
    for (int i = 0; i < 700; i++) in[i] = i % 50 < 30 ? i % 10 : next() & 3;
    for (u32 i = 0; i < 700;) {
        u32 best = 0, from = 0;
        for (u32 j = i > 200 ? i - 200 : 0; j < i; j++) { u32 k = 0; while (i + k < 700 && k < 63 && in[j + k] == in[i + k]) k++; if (k > best) best = k, from = i - j; }
        if (best > 2) out[n++] = 0x80 | best, out[n++] = from, i += best; else out[n++] = in[i++];
    }
    u32 h = 0;
    for (u32 i = 0; i < n; i++) h = h * 33 + out[i];
    hex(n); hex(h);
    return 0;
}
