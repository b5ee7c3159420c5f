#include "run.h"
static double root(double x) { double r = x; for (int i = 0; i < 30; i++) r = (r + x / r) / 2; return r; }
int main(void) {
    double sum = 0;
    for (int i = 1; i < 12; i++) { sum += root(i) / (i * i); union { double d; u64 u; } v = {sum}; hex(v.u); hex((s64)(sum * 1e9)); }
    return 0;
}
