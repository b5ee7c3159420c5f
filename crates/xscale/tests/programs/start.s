        .file   "start.s"
        .section .vectors, "ax", %progbits
        .global __vectors
__vectors:
        b       _start
        .word   0, 0, 0, 0, 0
        b       on_irq
        b       on_fiq

        .text
        .global _start
        .type   _start, %function
_start:
        msr     cpsr_c, #0xd1
        ldr     sp, =fiq_stack
        msr     cpsr_c, #0xd2
        ldr     sp, =irq_stack
        msr     cpsr_c, #0xd3
        ldr     sp, =__stack_top
        bl      main
        .global halt
halt:
        mov     r0, #1
        mcr     p14, 0, r0, c7, c0, 0
        b       halt
        .size   _start, . - _start

        .type   on_irq, %function
on_irq:
        sub     lr, lr, #4
        push    {r0-r3, ip, lr}
        bl      irq
        ldm     sp!, {r0-r3, ip, pc}^
        .size   on_irq, . - on_irq

        .type   on_fiq, %function
on_fiq:
        sub     lr, lr, #4
        push    {r0-r7, lr}
        bl      fiq
        ldm     sp!, {r0-r7, pc}^
        .size   on_fiq, . - on_fiq

        .weak   irq, fiq
irq:
fiq:    bx      lr

        @ A word that is no instruction.
        .global undefined
        .type   undefined, %function
undefined:
        .word   0xe7f000f0
        bx      lr
        .size   undefined, . - undefined
