#include "run.h"
static s32 a[9][9], b[9][9], c[9][9];
int main(void) {
    for (int i = 0; i < 81; i++) { a[0][i] = next() % 1000; b[0][i] = (s32)next() >> 20; }
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) { s32 s = 0; for (int k = 0; k < 9; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }
    for (int i = 0; i < 9; i++) hex((u32)c[i][(i * 4) % 9]);
    return 0;
}
