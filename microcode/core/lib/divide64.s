@ r1:r0 / r3:r2 in registers as the byte order has them: quotient in r0 and r1, remainder in r2
@ and r3.

        .file   "divide64.s"
        .syntax unified
        .arm
        .text
        .global __aeabi_uldivmod
        .type   __aeabi_uldivmod, %function
__aeabi_uldivmod:
        push    {ip, lr}
        sub     sp, sp, #16             @ the pointer, and the remainder behind it
        add     ip, sp, #8
        str     ip, [sp]
        bl      divide64
        ldrd    r2, r3, [sp, #8]
        add     sp, sp, #16
        pop     {ip, pc}
        .size   __aeabi_uldivmod, . - __aeabi_uldivmod
