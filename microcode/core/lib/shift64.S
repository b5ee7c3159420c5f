@ 64-bit shifts by a number of bits that is known only at run time. The byte order determines which
@ register holds which half.

        .file   "shift64.S"
        .syntax unified
        .arm
        .text
#ifdef __ARM_BIG_ENDIAN
#define HIGH r0
#define LOW r1
#else
#define HIGH r1
#define LOW r0
#endif

        .global __aeabi_llsl
        .type   __aeabi_llsl, %function
__aeabi_llsl:
        subs    r3, r2, #32
        rsb     ip, r2, #32
        lslmi   HIGH, HIGH, r2
        lslpl   HIGH, LOW, r3
        orrmi   HIGH, HIGH, LOW, lsr ip
        lsl     LOW, LOW, r2
        bx      lr
        .size   __aeabi_llsl, . - __aeabi_llsl

        .global __aeabi_llsr
        .type   __aeabi_llsr, %function
__aeabi_llsr:
        subs    r3, r2, #32
        rsb     ip, r2, #32
        lsrmi   LOW, LOW, r2
        lsrpl   LOW, HIGH, r3
        orrmi   LOW, LOW, HIGH, lsl ip
        lsr     HIGH, HIGH, r2
        bx      lr
        .size   __aeabi_llsr, . - __aeabi_llsr
