/* 64-bit division. The ABI requires the remainder in r2 and r3, which C cannot express, so divide64.s calls
 * this function. */
#include <stdint.h>

uint64_t divide64(uint64_t numerator, uint64_t denominator, uint64_t *rest);
void __aeabi_ldiv0(void);

uint64_t divide64(uint64_t numerator, uint64_t denominator, uint64_t *rest)
{
    uint64_t quotient = 0;
    if (!denominator) {
        __aeabi_ldiv0();
    } else if (numerator >= denominator) {
        if (!(numerator >> 32)) {
            uint32_t n = (uint32_t)numerator, d = (uint32_t)denominator;
            *rest = n % d;
            return n / d;
        }
        int up = __builtin_clz((uint32_t)(numerator >> 32));
        up = (denominator >> 32 ? __builtin_clz((uint32_t)(denominator >> 32))
                                : 32 + __builtin_clz((uint32_t)denominator)) - up;
        denominator <<= up;
        for (; up >= 0; up--) {
            quotient <<= 1;
            if (numerator >= denominator) {
                numerator -= denominator;
                quotient |= 1;
            }
            denominator >>= 1;
        }
    }
    *rest = numerator;
    return quotient;
}
