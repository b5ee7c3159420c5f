@ The start of every program: vectors, stacks, main. Data that the file has no bytes for is
@ zero already: loaders of ELF files see to it, npsim's as well.

        .file   "crt0.s"
        .syntax unified
        .arm

        .section .vectors, "ax", %progbits
        .global __vectors
        .type   __vectors, %object
__vectors:
        ldr     pc, at_reset
        @ A longword of 0: handled by nothing. npsim stops and says where it was.
        .word   0                       @ undefined instruction
        .word   0                       @ software interrupt
        .word   0                       @ prefetch abort
        .word   0                       @ data abort
        .word   0
        ldr     pc, at_irq
        .word   0                       @ FIQ
at_reset:       .word   _start
at_irq:         .word   on_irq
        .size   __vectors, . - __vectors

        .section .text.start, "ax", %progbits
        .global _start
        .type   _start, %function
_start:
        msr     cpsr_c, #0xd2           @ IRQ mode, interrupts masked
        ldr     sp, =__irq_stack_end
        msr     cpsr_c, #0xd3           @ supervisor mode
        ldr     sp, =__stack_end
        mov     fp, #0
        bl      main
        @ main returned: the program has nothing more to do.
        .global halt
        .type   halt, %function
halt:
        mov     r0, #1
        mcr     p14, 0, r0, c7, c0, 0   @ wait for an interrupt
        b       halt
        .size   _start, . - _start

@ An IRQ: the C function `irq` acknowledges it.
        .type   on_irq, %function
on_irq:
        sub     lr, lr, #4
        push    {r0-r3, ip, lr}
        bl      irq
        ldm     sp!, {r0-r3, ip, pc}^
        .size   on_irq, . - on_irq

@ A program without a function `irq` enables no interrupt.
        .weak   irq
irq:    bx      lr
