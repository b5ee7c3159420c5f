#include "chip.h"

#define KEEP __attribute__((noinline))
#define TEN(it) it it it it it it it it it it

static volatile u32 sink, ticks;

/* Leaves by BX LR. */
KEEP static u32 leaf(u32 value)
{
    return value ^ sink;
}

/* Leaves by POP {..., PC}. */
KEEP static u32 popped(u32 value)
{
    sink += leaf(value);
    return leaf(value) + sink;
}

/* Leaves by POP {r3} and BX r3: what it pushed first are arguments. */
KEEP static u32 variadic(u32 count, ...)
{
    __builtin_va_list all;
    u32 sum = 0;
    __builtin_va_start(all, count);
    for (; count; count--)
        sum += leaf(__builtin_va_arg(all, u32));
    __builtin_va_end(all);
    return sum;
}

KEEP static u32 recursive(u32 depth)
{
    if (depth == 0)
        return sink;
    return recursive(depth - 1) + sink;
}

/* Too long for the jumps of Thumb: the compiler takes BL for one, which is no call. */
KEEP static u32 far(u32 value)
{
    if (value & 1)
        __asm__ volatile(TEN(TEN(TEN("nop\n\tnop\n\t"))));
    return leaf(value);
}

/* Its last call is a jump. */
u32 hands_over(u32 value);
__attribute__((used)) static u32 (*const popped_at)(u32) = popped;
__asm__(".text\n"
        ".balign 4\n"
        ".type hands_over, %function\n"
        ".thumb_func\n"
        "hands_over: ldr r3, 1f\n"
        "ldr r3, [r3]\n"
        "bx r3\n"
        ".balign 4\n"
        "1: .word popped_at\n"
        ".size hands_over, . - hands_over");

/* ARM code, which Thumb code calls, and which calls Thumb code. */
KEEP __attribute__((target("arm"))) static u32 in_arm(u32 (*callback)(u32), u32 value)
{
    return callback(value) + 1;
}

/* The compiler looks into the table of the cases by a function of libgcc, which returns elsewhere than behind its call. */
KEEP __attribute__((optimize("Os"))) static u32 chosen(u32 which, u32 value)
{
    switch (which) {
    case 0: return leaf(value);
    case 1: return value * 3;
    case 2: sink = value; return 7;
    case 3: return popped(value);
    case 4: return value << 4 | 1;
    case 5: return sink - value;
    case 6: return leaf(value) + leaf(value + 1);
    default: return 0;
    }
}

KEEP static void tick(void)
{
    ticks++;
}

void irq(void)
{
    TIMERS(0x30) = 1;
    tick();
}

int main(void)
{
    TIMERS(0x10) = 99;
    TIMERS(0x00) = 0x80;
    INTERRUPTS(0x10) = 1 << 4;
    irq_on();
    for (u32 round = 0; round < 20; round++) {
        sink += popped(round) + variadic(3, round, 1, 2);
        sink += recursive(5) + far(round);
        sink += hands_over(round) + in_arm(popped, round);
        sink += chosen(round & 7, round);
    }
    wait_for_interrupt();
    irq_off();
    return 0;
}
