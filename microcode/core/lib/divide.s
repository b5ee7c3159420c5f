@ Division, which the processor has no instruction for. Debian's libgcc has none for a
@ big-endian core.

        .file   "divide.s"
        .syntax unified
        .arm
        .text

@ r0 / r1: quotient in r0, remainder in r1. Division by 0 goes by way of __aeabi_idiv0, where
@ npsim stops; on a board the quotient is 0 and the remainder the numerator.
        .global __aeabi_uidiv, __aeabi_uidivmod
        .type   __aeabi_uidivmod, %function
__aeabi_uidiv:
__aeabi_uidivmod:
        cmp     r1, #0
        moveq   r1, r0
        moveq   r0, #0
        beq     __aeabi_idiv0
        cmp     r0, r1
        movlo   r1, r0
        movlo   r0, #0
        bxlo    lr
        clz     r2, r0
        clz     r3, r1
        sub     r3, r3, r2              @ the divisor goes so far to the left
        lsl     r1, r1, r3
        mov     r2, #0                  @ the quotient
1:      cmp     r0, r1
        adc     r2, r2, r2              @ the carry is whether it fits
        subhs   r0, r0, r1
        lsr     r1, r1, #1
        subs    r3, r3, #1
        bpl     1b
        mov     r1, r0
        mov     r0, r2
        bx      lr
        .size   __aeabi_uidivmod, . - __aeabi_uidivmod

@ The same with signs; the remainder has that of the numerator.
        .global __aeabi_idiv, __aeabi_idivmod
        .type   __aeabi_idivmod, %function
__aeabi_idiv:
__aeabi_idivmod:
        push    {r4, lr}
        eor     r4, r0, r1              @ bit 31: the sign of the quotient
        and     r4, r4, #0x80000000
        orr     r4, r4, r0, lsr #31     @ bit 0: that of the remainder
        cmp     r0, #0
        rsblt   r0, r0, #0
        cmp     r1, #0
        rsblt   r1, r1, #0
        bl      __aeabi_uidivmod
        cmp     r4, #0
        rsblt   r0, r0, #0
        tst     r4, #1
        rsbne   r1, r1, #0
        pop     {r4, pc}
        .size   __aeabi_idivmod, . - __aeabi_idivmod

        .global __aeabi_idiv0, __aeabi_ldiv0
        .type   __aeabi_idiv0, %function
        .type   __aeabi_ldiv0, %function
__aeabi_idiv0:
        bx      lr
        .size   __aeabi_idiv0, . - __aeabi_idiv0
__aeabi_ldiv0:
        bx      lr
        .size   __aeabi_ldiv0, . - __aeabi_ldiv0
