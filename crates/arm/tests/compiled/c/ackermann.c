#include "run.h"
static u32 ack(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }
int main(void) { for (u32 i = 0; i < 5; i++) hex(ack(2, i)); hex(ack(3, 3)); return 0; }
