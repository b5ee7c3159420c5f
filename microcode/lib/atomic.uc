; Counting in shared memory without a lock: the unit that has the longword does
; the addition. None of these waits; a register may be used again when `done` has
; come.

#ifndef ATOMIC_UC
#define ATOMIC_UC

; atomic_add_read($value, base, offset, space, done)
;   Adds `$value` to the longword at base + offset in `space`, scratch or sram;
;   `$value` <- what was there before when `done`, a pair of signals, has come.
#macro atomic_add_read(value, base, offset, space, done)
    space[test_and_add, value, base, offset], sig_done[done]
#endm

; atomic_add($value, base, offset, space, done)
;   Adds `$value`.
#macro atomic_add(value, base, offset, space, done)
    space[add, value, base, offset], sig_done[done]
#endm

; atomic_sub($value, base, offset, amount, space, done)
;   Subtracts `amount`, a register, by way of `$value`. SRAM cannot subtract; there
;   the negative is added.
#macro atomic_sub(value, base, offset, amount, space, done)
#if (streq('space', 'scratch'))
    alu[value, --, B, amount]
    scratch[sub, value, base, offset], sig_done[done]
#else
    alu[value, amount, B-A, 0]
    space[add, value, base, offset], sig_done[done]
#endif
#endm

#endif
