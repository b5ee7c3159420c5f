#include "chip.h"

const volatile u32 default_CASE = 0;

void undefined(void);
int __aeabi_idiv0(int);

/* In Thumb a function may begin in the middle of a longword of code. */
__asm__(".text\n"
        ".balign 4\n"
#ifdef __thumb__
        "nop\n"
#endif
        ".global __aeabi_idiv0\n"
        ".type __aeabi_idiv0, %function\n"
        "__aeabi_idiv0: mov r0, #0\n"
        "bx lr\n"
        ".size __aeabi_idiv0, . - __aeabi_idiv0");

static int deeper(volatile int depth)
{
    volatile int here[16];
    here[0] = depth;
    return deeper(depth + 1) + here[0];
}

static int divide(int dividend, int divisor)
{
    return divisor == 0 ? __aeabi_idiv0(dividend) : dividend;
}

int main(void)
{
    volatile u32 words[2] = { 0, 0 };
    u32 code = (u32)main & ~3u, half;
    /* What the compiler does not know to be aligned it takes apart. */
    __asm__ volatile("" : "+r"(code));
    switch (default_CASE) {
    case 1: return (int)AT(0x00500000);
    case 2: __asm__ volatile("str %0, [%1]" : : "r"(0), "r"(code) : "memory"); break;
    case 3: return deeper(0);
    case 4: wait_for_interrupt(); break;
    case 5: return divide(3, 0);
    case 6: ((void (*)(void))0x00500000)(); break;
    case 7: undefined(); break;
    case 8: __asm__ volatile("ldrh %0, [%1]" : "=r"(half) : "r"((u32)words + 1) : "memory"); return (int)half;
    case 9: return (int)AT(0xc4000000);
    case 10: return (int)RING(5);
    case 11: return (int)AT(0xcb400100);
    case 12: for (;;) ;
    case 13: return (int)AT(0x7ff00000);
    case 14: __asm__ volatile("swi 1"); break;
    case 15: *(volatile unsigned char *)0xca000001 = 1; break;
    case 16: for (;;) RING(0) = 1;
    case 17: AT(0x00500000) = 5; return (int)AT(0x00500000);
    case 18: return (int)AT(0xd6000400);
    case 20: return (int)AT(0xc8000000);
#ifdef __thumb__
    case 19: __asm__ volatile(".short 0xde00"); break;
#endif
    }
    return 0;
}
