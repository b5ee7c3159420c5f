#include "run.h"
static u16 h[400];
static void down(int i, int n) {
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && h[child + 1] > h[child]) child++;
        if (h[i] >= h[child]) return;
        u16 t = h[i]; h[i] = h[child]; h[child] = t;
    }
}
int main(void) {
    for (int i = 0; i < 400; i++) h[i] = next();
    for (int i = 199; i >= 0; i--) down(i, 400);
    for (int n = 400; n-- > 1;) { u16 t = h[0]; h[0] = h[n]; h[n] = t; down(0, n); }
    for (int i = 0; i < 400; i += 40) hex(h[i]);
    return 0;
}
