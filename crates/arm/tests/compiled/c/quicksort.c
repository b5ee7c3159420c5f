#include "run.h"
static s32 a[500];
static void sort(s32 *from, s32 *to) {
    if (to - from < 2) return;
    s32 pivot = from[(to - from) / 2], *i = from, *j = to - 1;
    while (i <= j) {
        while (*i < pivot) i++;
        while (*j > pivot) j--;
        if (i <= j) { s32 t = *i; *i++ = *j; *j-- = t; }
    }
    sort(from, j + 1);
    sort(i, to);
}
int main(void) {
    for (int i = 0; i < 500; i++) a[i] = next();
    sort(a, a + 500);
    for (int i = 0; i < 500; i += 50) hex((u32)a[i]);
    return 0;
}
