#include "run.h"
static u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { hex(fib(17)); return fib(10); }
