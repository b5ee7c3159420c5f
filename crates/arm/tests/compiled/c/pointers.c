#include "run.h"
static u32 add(u32 a, u32 b) { return a + b; }
static u32 sub(u32 a, u32 b) { return a - b; }
static u32 mul(u32 a, u32 b) { return a * b; }
static u32 ror(u32 a, u32 b) { b &= 31; return b ? a >> b | a << (32 - b) : a; }
static u32 (*const table[])(u32, u32) = {add, sub, mul, ror};
int main(void) { u32 v = 1; for (int i = 0; i < 100; i++) { v = table[next() & 3](v, next()); hex(v); } return 0; }
