#include "chip.h"

const volatile u32 default_CASE = 0;

static volatile int zero, one = 1;
static volatile long long wide_zero, wide_one = 1;

static __attribute__((noinline)) int divides(int dividend)
{
    return dividend / zero;
}

int main(void)
{
    switch (default_CASE) {
    case 1: return divides(one);
    case 2: return one % zero;
    case 3: return (int)((u32)one / (u32)zero);
    case 4: return (int)(wide_one / wide_zero);
    case 5: return (int)((unsigned long long)wide_one % (unsigned long long)wide_zero);
    }
    return 0;
}
