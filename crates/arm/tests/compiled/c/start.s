@ Calls main and ends with what it returns; write_bytes(bytes, count) writes to standard output.
        .syntax unified
        .arm
        .global _start, write_bytes
        .type _start, %function
        .type write_bytes, %function
_start: ldr     r0, =main
        blx     r0
        mov     r7, #1
        swi     0
write_bytes:
        push    {r7, lr}
        mov     r2, r1
        mov     r1, r0
        mov     r0, #1
        mov     r7, #4
        swi     0
        pop     {r7, pc}
